// SPDX-License-Identifier: Apache-2.0
#include "mad/base/file_error.h"

#include <fmt/format.h>

namespace smd::base {

std::string to_string(const FileError& error) {
  if (error.file.empty()) return error.what;
  if (error.line == 0) return fmt::format("{}: {}", error.file, error.what);
  return fmt::format("{}:{}: {}", error.file, error.line, error.what);
}

std::string to_string(const FileErrors& errors) {
  std::string text;
  for (const auto& error : errors) {
    if (!text.empty()) text += '\n';
    text += to_string(error);
  }
  return text;
}

}  // namespace smd::base
