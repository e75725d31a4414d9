// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/rank_order.h"

#include <cstdint>
#include <optional>

#include "routing/engines/destination_order.h"
#include "routing/engines/next_hops.h"
#include "routing/engines/tree.h"
#include "routing/ranking/costs.h"
#include "routing/ranking/structural_order.h"
#include "routing/ranking/tree_template.h"

namespace smd::routing::inline engines {
namespace {

template <class Cost>
std::vector<SwitchIndex> by_nearness(const Topology& topology, const Costs<Cost>& costs,
                                     std::span<const SwitchIndex> destinations) {
  const auto column = columns_by_switch(topology, destinations);
  return leaves_by_nearness(
      topology, [&](SwitchIndex a, SwitchIndex b) { return Costs<Cost>::length(costs.row(a)[column[b]]); });
}

/// As routes_by() orders them: those of a tree with its switches in structural order. Nothing if paths are
/// too long for the cost type.
template <class Cost>
std::optional<std::vector<SwitchIndex>> leaves_of(const RoutingContext& in, const SwitchRanking* ranking) {
  auto all = switches_by_lid(in.topology, in.lids);
  const Costs<Cost> costs(in.topology, ranking, all, in.parallel);
  if (!costs.complete()) return std::nullopt;
  if (ranking == nullptr || !ranking->tree) return by_nearness(in.topology, costs, all);
  const auto order = structural_order(in.topology, *ranking, find_tree_template(in.topology, *ranking));
  std::vector<SwitchIndex> place(order.size());
  for (SwitchIndex i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (auto& s : all) s = place[s];
  auto leaves = by_nearness(in.topology.reordered(order), costs.reordered(order), all);
  for (auto& leaf : leaves) leaf = order[leaf];
  return leaves;
}

}  // namespace

std::vector<EndIndex> rank_order(const RoutingContext& in, std::span<const Guid> root_guids) {
  const auto& topology = in.topology;
  const auto ranking = ranking_of_tree(topology, root_guids);
  const auto* const tree = ranking ? &*ranking : nullptr;
  auto leaves = leaves_of<std::uint8_t>(in, tree);
  if (!leaves) leaves = leaves_of<std::uint16_t>(in, tree);

  const auto ends = topology.end_ports();
  std::vector<EndIndex> order;
  const auto add = [&](EndIndex e) {
    if (ends[e].kind != EndKind::aggregation) order.push_back(e);
  };
  for (const auto leaf : leaves ? *leaves : std::vector(topology.leaves().begin(), topology.leaves().end())) {
    const auto first = topology.first_end(leaf);
    for (EndIndex i = 0; i < topology.end_ports_of(leaf).size(); ++i) add(first + i);
  }
  for (EndIndex e = 0; e < ends.size(); ++e) {
    if (ends[e].sw == kNoSwitch) add(e);
  }
  return order;
}

}  // namespace smd::routing::inline engines
