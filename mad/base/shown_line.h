// SPDX-License-Identifier: Apache-2.0
#pragma once
// Foreign text in messages.

#include <string>
#include <string_view>

namespace smd::base {

/// As much of a line as an error message shows, without what would upset a terminal.
inline std::string shown(std::string_view line) {
  std::string text(line.substr(0, 60));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return text;
}

}  // namespace smd::base
