// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers as C's strtoul reads them with base 0, which files of OpenSM's are read by.

#include <cstdint>
#include <string_view>

namespace smd::config {

struct CNumber {
  std::uint64_t value = 0;  ///< 0 where there are no digits; all ones where 64 bits do not hold it
  std::string_view rest{};  ///< what follows the digits
  bool digits = false;      ///< false: there is no number, and `rest` is the whole text
  bool exact = true;        ///< false: it is negative, or 64 bits do not hold it
};

/// White space, a sign, "0x" for hexadecimal, "0" for octal, else decimal; "-1" is all ones, as in C.
CNumber read_c_number(std::string_view text);

}  // namespace smd::config
