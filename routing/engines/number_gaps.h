// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers that no destination gets, so that round robin has no seam where the last destination is followed by
// the first.

#include <cstdint>
#include <span>
#include <vector>

namespace smd::routing::inline engines {

/// The round robin of the switches of one level, all with equally many uplinks.
struct RoundRobinLevel {
  std::uint32_t unit = 1;    ///< so many numbers left out together change nothing on the levels below
  std::uint32_t period = 1;  ///< after so many numbers the turns of this level and of those below repeat
  /// The leaves below the groups of the level, as numbers of leaves that follow each other in their order.
  std::vector<std::uint32_t> blocks;
};

/// The numbers of `places` destinations, ascending. `windows`: by level the most destinations of a block.
/// Where so many of them, the last ones and the first ones together, would take some turn of a level more
/// often than need be (shifts have them follow each other), numbers are left out: so many that their count,
/// with them, is a multiple of the period. They are spread evenly, and belong to the turns that have one
/// destination less anyway. None are left out where any so many destinations would then collide elsewhere.
std::vector<std::uint32_t> numbers_with_gaps(std::uint32_t places, std::span<const RoundRobinLevel> levels,
                                             std::span<const std::uint32_t> windows);

}  // namespace smd::routing::inline engines
