// SPDX-License-Identifier: Apache-2.0
#include "mad/base/escaped.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <system_error>

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

/// The number of so many hexadecimal digits at the front; nothing: there are fewer.
std::optional<std::uint32_t> hex_digits(std::string_view text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  const auto digits = text.substr(0, count);
  std::uint32_t value = 0;
  const auto* const begin = digits.data();
  const auto* const end = begin + digits.size();
  const auto read = std::from_chars(begin, end, value, 16);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(value) : std::nullopt;
}

/// What escaped() writes at the front of `text` for one byte or character, as bytes; empty: it is none of it.
std::string unescaped_front(std::string_view text) {
  constexpr std::size_t kOfByte = 2, kOfCharacter = 4;
  const auto digits = text.substr(std::min<std::size_t>(text.size(), 2));
  if (text.starts_with("\\x")) {
    const auto byte = hex_digits(digits, kOfByte);
    if (byte && (*byte < 0x20 || *byte >= 0x7F)) return {static_cast<char>(*byte)};
  }
  if (text.starts_with("\\u")) {
    const auto code = hex_digits(digits, kOfCharacter);
    if (!code || !is_harmful(*code)) return {};
    if (*code < 0x800)
      return {static_cast<char>(0xC0U | *code >> 6U), static_cast<char>(0x80U | (*code & 0x3FU))};
    return {static_cast<char>(0xE0U | *code >> 12U), static_cast<char>(0x80U | (*code >> 6U & 0x3FU)),
            static_cast<char>(0x80U | (*code & 0x3FU))};
  }
  return {};
}

}  // namespace

std::string kept_name(std::string_view words) {
  std::string name;
  while (!words.empty()) {
    const auto meant = unescaped_front(words);
    if (meant.empty()) {
      name += words.front();
      words.remove_prefix(1);
    } else {
      name += meant;
      words.remove_prefix(words[1] == 'x' ? 4 : 6);
    }
  }
  std::ranges::replace_if(name, is_c0_or_del, ' ');
  return name;
}

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
