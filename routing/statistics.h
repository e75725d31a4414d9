// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is usual: the middle of numbers, and what nearly all have.

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace smd::routing {

/// Of two in the middle the greater. Not of none. The numbers change places.
template <class T>
T median(std::vector<T>& numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

/// What three of four have; `counts`: how many have each.
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
