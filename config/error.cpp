// SPDX-License-Identifier: Apache-2.0
#include "config/error.h"

#include <fmt/format.h>

namespace smd::config {

std::string to_string(const ConfigError& error) {
  auto text = error.file;
  if (error.line != 0) text += fmt::format(":{}", error.line);
  text += ": ";
  if (!error.key.empty()) text += error.key + ": ";
  text +=
      error.found.empty() ? error.expected : fmt::format("got {}, expected {}", error.found, error.expected);
  if (!error.hint.empty()) text += "; " + error.hint;
  return text;
}

}  // namespace smd::config
