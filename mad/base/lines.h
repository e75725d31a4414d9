// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text as lines.

#include <algorithm>
#include <string_view>

#include "mad/base/parse.h"

namespace smd::base {

/// Calls `take(number, line)` for each line, from 1, without the spaces and line ends around it. A byte order
/// mark at the start is no part of the text.
void for_each_line(std::string_view text, auto&& take) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (unsigned number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    take(number, trim(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace smd::base
