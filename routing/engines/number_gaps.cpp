// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/number_gaps.h"

#include <numeric>
#include <utility>

namespace smd::routing::inline engines {
namespace {

std::uint64_t rounded_up(std::uint64_t number, std::uint64_t unit) {
  return (number + unit - 1) / unit * unit;
}

/// The units to be left out of `all`, ascending: evenly spread, and the last `count` turns of `turns`, once
/// each.
std::vector<std::uint64_t> units_left_out(std::uint64_t all, std::uint64_t turns, std::uint64_t count) {
  std::vector<std::uint64_t> units;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto near = (2 * i + 1) * all / (2 * count);
    units.push_back(near / turns * turns + turns - count + i);
  }
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

/// Whether the destinations of each window take each turn as few times as if no number was left out.
bool windows_fit(std::span<const std::uint32_t> numbers, std::uint32_t window, std::uint32_t period) {
  if (window == 0) return true;
  const auto most = rounded_up(window, period);
  for (std::size_t last = window - 1; last < numbers.size(); ++last) {
    if (std::uint64_t{numbers[last]} - numbers[last + 1 - window] >= most) return false;
  }
  return true;
}

/// Whether some `window` destinations that follow each other round the place behind the last one take some
/// turn more often than need be.
bool seam_collides(std::span<const std::uint32_t> numbers, std::uint32_t window, std::uint32_t period) {
  if (window < 2 || window > numbers.size()) return false;
  const auto most = static_cast<std::uint32_t>(rounded_up(window, period) / period);
  std::vector<std::uint32_t> taken(period);
  for (const auto number : numbers.first(window)) ++taken[number % period];
  for (std::uint32_t before = 1; before < window; ++before) {
    --taken[numbers[window - before] % period];
    if (++taken[numbers[numbers.size() - before] % period] > most) return true;
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
    if (!seam_collides(numbers, windows[at], levels[at].period)) continue;
    auto moved = close_level(numbers, levels[at]);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (!windows_fit(moved, windows[i], levels[i].period)) return numbers;
    }
    numbers = std::move(moved);
  }
  return numbers;
}

}  // namespace smd::routing::inline engines
