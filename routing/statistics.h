// SPDX-License-Identifier: Apache-2.0
#pragma once
// Order statistics: median, and the value held by at least 75 %.

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace smd::routing {

/// The upper median. `numbers` must not be empty, and is reordered.
template <class T>
T median(std::vector<T>& numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

/// The value that at least 75 % have, if there is one; `counts`: occurrences by value.
template <class T>
std::optional<T> three_quarter_majority(const std::map<T, std::size_t>& counts) {
  std::size_t all = 0;
  for (const auto& [value, count] : counts) all += count;
  for (const auto& [value, count] : counts) {
    if (count * 4 >= all * 3) return value;
  }
  return std::nullopt;
}

}  // namespace smd::routing
