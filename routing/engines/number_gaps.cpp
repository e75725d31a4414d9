// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/number_gaps.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace smd::routing::inline engines {
namespace {

std::uint64_t rounded_up(std::uint64_t number, std::uint64_t unit) {
  return (number + unit - 1) / unit * unit;
}

/// The units to be left out of `all`, ascending: evenly spread, and the last `count` turns of `turns`, once
/// each. The turns descend: so those left out are `turns` - 1 apart (or more by a multiple of `turns`), round
/// the end too. With ascending ones the seam would make up for the difference.
std::vector<std::uint64_t> units_left_out(std::uint64_t all, std::uint64_t turns, std::uint64_t count) {
  std::vector<std::uint64_t> units;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto near = (2 * i + 1) * all / (2 * count);
    units.push_back(near / turns * turns + turns - 1 - i);
  }
  std::ranges::sort(units);  // some may be left out of the same round of turns
  return units;
}

/// Leaves numbers out so that the next one after the last is a multiple of the period.
std::vector<std::uint32_t> close_level(std::span<const std::uint32_t> numbers, const RoundRobinLevel& level) {
  const auto used = rounded_up(std::uint64_t{numbers.back()} + 1, level.unit);
  const auto all = rounded_up(used, level.period);
  const auto skipped = units_left_out(all / level.unit, level.period / level.unit, (all - used) / level.unit);
  std::vector<std::uint32_t> moved;
  moved.reserve(numbers.size());
  std::size_t before = 0;
  for (const auto number : numbers) {
    while (before < skipped.size() && number / level.unit + before >= skipped[before]) ++before;
    moved.push_back(static_cast<std::uint32_t>(number + before * level.unit));
  }
  return moved;
}

/// Whether the destinations of each window are so near each other that each turn is taken as few times as if
/// no number was left out, also by destinations of a part of the window.
bool windows_fit(std::span<const std::uint32_t> numbers, std::uint32_t window, std::uint32_t period) {
  if (window == 0) return true;
  const auto most = rounded_up(window, period);
  for (std::size_t last = window - 1; last < numbers.size(); ++last) {
    if (std::uint64_t{numbers[last]} - numbers[last + 1 - window] >= most) return false;
  }
  return true;
}

/// Whether some `window` destinations that follow each other, round the end too, take some turn more often
/// than need be.
bool windows_collide(std::span<const std::uint32_t> numbers, std::uint32_t window, std::uint32_t period) {
  if (window < 2 || window > numbers.size()) return false;
  const auto most = static_cast<std::uint32_t>(rounded_up(window, period) / period);
  std::vector<std::uint32_t> taken(period);
  for (const auto number : numbers.first(window)) {
    if (++taken[number % period] > most) return true;
  }
  for (std::size_t first = 0; first + 1 < numbers.size(); ++first) {
    --taken[numbers[first] % period];
    if (++taken[numbers[(first + window) % numbers.size()] % period] > most) return true;
  }
  return false;
}

}  // namespace

std::vector<std::uint32_t> numbers_with_gaps(std::uint32_t places, std::span<const RoundRobinLevel> levels,
                                             std::span<const std::uint32_t> windows) {
  std::vector<std::uint32_t> numbers(places);
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  if (numbers.empty()) return numbers;
  for (std::size_t at = 0; at < levels.size(); ++at) {
    if (!windows_collide(numbers, windows[at], levels[at].period)) continue;
    auto moved = close_level(numbers, levels[at]);
    if (windows_collide(moved, windows[at], levels[at].period)) return numbers;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (i != at && !windows_fit(moved, windows[i], levels[i].period)) return numbers;
    }
    numbers = std::move(moved);
  }
  return numbers;
}

}  // namespace smd::routing::inline engines
