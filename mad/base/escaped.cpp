// SPDX-License-Identifier: Apache-2.0
#include "mad/base/escaped.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace smd::base {
namespace {

/// A character of UTF-8 at the front of a text; no bytes: there is none. Overlong forms, surrogates and what
/// is beyond U+10FFFF are none.
struct Character {
  std::size_t bytes = 0;
  std::uint32_t code = 0;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])) : 0U;
  };
  const auto lead = byte(0);
  if (lead < 0x80) return {.bytes = 1, .code = lead};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {};
  auto code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (overlong || surrogate || code > 0x10FFFF) return {};
  return {.bytes = bytes, .code = code};
}

/// It moves a terminal's cursor, ends a line or turns the text round.
bool is_harmful(std::uint32_t code) {
  return (code >= 0x80 && code <= 0x9F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool is_c0_or_del(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

}  // namespace

std::size_t control_length(std::string_view text) {
  if (text.empty()) return 0;
  if (is_c0_or_del(text.front())) return 1;
  const auto [bytes, code] = first_character(text);
  return is_harmful(code) ? bytes : 0;
}

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [bytes, code] = first_character(text);
    if (bytes == 0 || is_c0_or_del(text.front())) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (is_harmful(code)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return out;
}

}  // namespace smd::base
