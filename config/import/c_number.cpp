// SPDX-License-Identifier: Apache-2.0
#include "config/import/c_number.h"

#include <limits>

namespace smd::config {
namespace {

/// 16 and more for what is no digit.
unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 16;
}

unsigned take_base(std::string_view& text) {
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && digit_value(text[2]) < 16) {
    text.remove_prefix(2);
    return 16;
  }
  return text.starts_with('0') ? 8 : 10;
}

}  // namespace

CNumber read_c_number(std::string_view text) {
  CNumber number{.value = 0, .rest = text, .digits = false};
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  while (!text.empty() && kSpace.contains(text[0])) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const unsigned base = take_base(text);
  bool too_large = false;
  while (!text.empty() && digit_value(text[0]) < base) {
    const auto digit = digit_value(text[0]);
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    too_large = too_large || number.value > (kMost - digit) / base;
    number.value = number.value * base + digit;
    number.digits = true;
    text.remove_prefix(1);
  }
  if (!number.digits) return number;
  number.rest = text;
  number.exact = !negative && !too_large;
  if (negative) number.value = 0 - number.value;
  if (too_large) number.value = std::numeric_limits<std::uint64_t>::max();
  return number;
}

}  // namespace smd::config
