// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which adapters reach one another by what is programmed into the switches.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mad/sim/state/state.h"

namespace smd::sim {

/// Ordered pairs of CA ports (a port to itself left out), how many of them have a way that a packet can go,
/// and the first walks that did not arrive, as text.
struct Reach {
  std::uint64_t pairs = 0, delivered = 0;
  std::vector<std::string> failures{};
  bool all() const { return pairs == delivered; }  ///< true where there is no pair
};

/// Walks between all ordered pairs of linked CA ports; at most `most_failures` failed walks become text.
Reach reach(const State& state, std::size_t most_failures = 10);
/// The same between these ports.
Reach reach(const State& state, std::span<const PortIndex> ends, std::size_t most_failures = 10);

/// The linked CA ports that a path of cables through switches joins to the end port `from`, itself among
/// them, ascending. A CA does not forward.
std::vector<PortIndex> joined_to(const State& state, PortIndex from);

}  // namespace smd::sim
