// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/leaf_order.h"

#include "routing/engines/destination_order.h"
#include "routing/engines/next_hops.h"
#include "routing/ranking/costs.h"
#include "routing/ranking/structural_order.h"

namespace smd::routing::inline engines {

std::vector<SwitchIndex> leaves_in_order(const RoutingContext& in, const SwitchRanking& ranking) {
  const auto order = structural_order(in.topology, ranking, find_tree_template(in.topology, ranking));
  const WideCosts costs(in.topology, &ranking, in.topology.leaves(), in.parallel);
  if (!costs.complete()) return {};
  const auto column = columns_by_switch(in.topology, in.topology.leaves());
  auto leaves = leaves_by_nearness(in.topology.reordered(order), [&](SwitchIndex a, SwitchIndex b) {
    return WideCosts::length(costs.row(order[a])[column[order[b]]]);
  });
  for (auto& leaf : leaves) leaf = order[leaf];
  return leaves;
}

std::vector<EndIndex> hosts_of_leaves(const Topology& topology, std::span<const SwitchIndex> leaves) {
  std::vector<EndIndex> hosts;
  for (const auto leaf : leaves) {
    const auto ends = topology.end_ports_of(leaf);
    for (EndIndex i = 0; i < ends.size(); ++i) {
      if (ends[i].kind != EndKind::aggregation) hosts.push_back(topology.first_end(leaf) + i);
    }
  }
  return hosts;
}

}  // namespace smd::routing::inline engines
