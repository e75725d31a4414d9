// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists as options and queries have them.

#include <algorithm>
#include <string_view>
#include <vector>

namespace smd::base {

/// What stands between commas, empty parts too; at least one.
inline std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= list.size();) {
    const auto comma = std::min(list.find(',', from), list.size());
    parts.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

}  // namespace smd::base
