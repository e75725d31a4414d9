// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/rank_order.h"

#include "routing/engines/destination_order.h"
#include "routing/engines/leaf_order.h"
#include "routing/engines/next_hops.h"
#include "routing/engines/tree.h"
#include "routing/ranking/costs.h"

namespace smd::routing::inline engines {
namespace {

/// Empty if paths are too long.
std::vector<SwitchIndex> by_hops(const RoutingContext& in) {
  const auto leaves = in.topology.leaves();
  const WideCosts costs(in.topology, nullptr, leaves, in.parallel);
  if (!costs.complete()) return {};
  const auto column = columns_by_switch(in.topology, leaves);
  return leaves_by_nearness(
      in.topology, [&](SwitchIndex a, SwitchIndex b) { return WideCosts::length(costs.row(a)[column[b]]); });
}

}  // namespace

std::vector<EndIndex> rank_order(const RoutingContext& in, std::span<const Guid> root_guids) {
  const auto& topology = in.topology;
  const auto ranking = ranking_of_tree(topology, root_guids);
  auto leaves = ranking ? leaves_in_order(in, *ranking) : by_hops(in);
  if (leaves.empty()) leaves.assign(topology.leaves().begin(), topology.leaves().end());

  auto order = hosts_of_leaves(topology, leaves);
  const auto ends = topology.end_ports();
  for (EndIndex e = 0; e < ends.size(); ++e) {
    if (ends[e].sw == kNoSwitch && ends[e].kind != EndKind::aggregation) order.push_back(e);
  }
  return order;
}

}  // namespace smd::routing::inline engines
