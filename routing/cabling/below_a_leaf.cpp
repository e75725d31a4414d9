// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/below_a_leaf.h"

namespace smd::routing::inline cabling {

std::optional<SwitchIndex> leaf_above(const Topology& topology, SwitchIndex s) {
  if (!topology.leaf(s) || topology.groups(s) != 1) return std::nullopt;
  const auto above = topology.group(s, 0).peer;
  if (!topology.leaf(above) || topology.groups(above) == 1) return std::nullopt;
  return above;
}

}  // namespace smd::routing::inline cabling
