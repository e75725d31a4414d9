// SPDX-License-Identifier: Apache-2.0
#include "routing/chain/candidates.h"

#include <algorithm>

namespace smd::routing::inline chain {

bool joins_leaves(const Topology& topology) {
  return std::ranges::any_of(topology.leaves(), [&](SwitchIndex leaf) {
    for (std::size_t g = 0; g < topology.groups(leaf); ++g) {
      if (topology.leaf(topology.group(leaf, g).peer)) return true;
    }
    return false;
  });
}

std::uint64_t search_work(const Topology& topology) {
  std::uint64_t channels = 0;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) channels += topology.groups(s);
  return channels * topology.switches();
}

std::vector<std::string_view> engines_for(const Shape& shape, std::uint64_t work, bool layered) {
  using Kind = Shape::Kind;
  const bool lattice = shape.kind == Kind::mesh || shape.kind == Kind::torus ||
                       shape.kind == Kind::hypercube || shape.kind == Kind::hyperx;
  const bool all = work <= kCompareAll;
  std::vector<std::string_view> engines;
  if (lattice) engines.emplace_back("dor");
  // In large tori and meshes the balance of dfsssp takes long, and needs more layers than there are.
  const bool in_order = shape.kind == Kind::mesh || shape.kind == Kind::torus;
  const bool torus = layered && shape.kind == Kind::torus;
  if (layered && !all) engines.emplace_back(in_order ? "lash" : "dfsssp");
  if (torus && !all) engines.emplace_back("torus-2QoS");
  engines.emplace_back("updn");
  engines.emplace_back("minhop");
  if (all) engines.insert(engines.end(), {"sssp", "dnup"});
  if (layered && all) engines.insert(engines.end(), {"dfsssp", "lash"});
  if (torus && all) engines.emplace_back("torus-2QoS");
  if (work <= kCompareNue) engines.emplace_back("nue");
  return engines;
}

}  // namespace smd::routing::inline chain
