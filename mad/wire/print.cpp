// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/print.h"

namespace smd::wire::detail {

void append_number(std::string& out, std::uint64_t number, std::size_t width, Style style) {
  if (style == Style::hex) {
    fmt::format_to(std::back_inserter(out), "0x{:0{}x}", number, (width + 3) / 4);
  } else {
    fmt::format_to(std::back_inserter(out), "{}", number);
  }
}

// The text comes from the fabric: control characters, and what would end the quotes, are escaped.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  out += '"';
}

}  // namespace smd::wire::detail
