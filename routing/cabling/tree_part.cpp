// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/tree_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "routing/cabling/below_a_leaf.h"
#include "routing/ranking/intra_level_links.h"
#include "routing/ranking/tree_template.h"

namespace smd::routing::inline cabling {
namespace {

/// Switches below leaves; none where most leaves look so, as in a star with hosts at its centre, or where
/// nothing tells leaves from others.
std::vector<SwitchIndex> below_leaves(const Topology& topology) {
  std::vector<SwitchIndex> below;
  if (topology.leaves().size() == topology.switches()) return below;
  std::ranges::copy_if(topology.leaves(), std::back_inserter(below),
                       [&](SwitchIndex s) { return leaf_above(topology, s).has_value(); });
  if (below.size() * 2 >= topology.leaves().size()) below.clear();
  return below;
}

/// The fabric without these switches (ascending) and the cables for which `leave_out` is true.
template <class LeaveOut>
Topology part_of(const Topology& topology, const std::vector<SwitchIndex>& without, LeaveOut leave_out) {
  TopologyInput input;
  std::vector<SwitchIndex> number(topology.switches(), kNoSwitch);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (std::ranges::binary_search(without, s)) continue;
    number[s] = static_cast<SwitchIndex>(input.switches.size());
    input.switches.push_back({topology.guid(s), topology.ports(s)});
  }
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto [peer, ports] = topology.group(s, g);
      if (peer < s || number[s] == kNoSwitch || number[peer] == kNoSwitch || leave_out(s, peer)) continue;
      for (const auto port : ports)
        input.links.push_back({number[s], port, number[peer], topology.peer(s, port).port});
    }
  }
  for (const auto& end : topology.end_ports()) {
    if (number[end.sw] == kNoSwitch) continue;
    input.end_ports.push_back({end.guid, number[end.sw], end.port, end.kind, end.node, end.system_image});
  }
  return Topology(input);
}

/// Why it is not a tree; empty if it is one.
std::string why_no_tree(const HealthInput& in, const Topology& topology, const SwitchRanking& ranking) {
  const auto name = [&](SwitchIndex s) { return in.name(topology.guid(s)); };
  if (topology.leaves().empty()) return "no switch has hosts";
  if (const auto sibling = find_intra_level_link(topology, ranking)) {
    return fmt::format("switches of one level are cabled with each other, as {} and {}", name(sibling->first),
                       name(sibling->second));
  }
  return ranking.tree ? "" : "switches with hosts have cables to switches at their level or below";
}

/// Whether leaves are alike, as those of a tree: three quarters are in groups of three or more with the same
/// switches above, two or more.
bool alike(const Topology& topology, const SwitchRanking& ranking) {
  std::size_t in_groups = 0;
  for (const auto& group : find_tree_template(topology, ranking).groups) {
    if (topology.leaf(group.members.front()) && group.members.size() >= 3 && group.slots.size() >= 2)
      in_groups += group.members.size();
  }
  return in_groups * 4 >= topology.leaves().size() * 3;
}

}  // namespace

TreePart find_tree_part(const HealthInput& in) {
  TreePart part;
  const auto none = [](SwitchIndex, SwitchIndex) { return false; };
  if (const auto below = below_leaves(in.topology); !below.empty())
    part.topology = part_of(in.topology, below, none);
  const auto& all = part.topology ? *part.topology : in.topology;
  part.ranking = find_tree(all);
  part.why_not_all = why_no_tree(in, all, part.ranking);
  part.tree = part.why_not_all.empty();
  if (part.tree || all.leaves().empty() || all.leaves().size() == all.switches()) return part;
  auto rest = part_of(all, {}, [&](SwitchIndex a, SwitchIndex b) {
    return part.ranking.rank[a] == part.ranking.rank[b] || (all.leaf(a) && all.leaf(b));
  });
  // Of separate trees find_tree() may take one for another's lower levels.
  for (const auto& ranking : {find_tree(rest), rank_from_leaves(rest)}) {
    part.tree = why_no_tree(in, rest, ranking).empty() && alike(rest, ranking);
    if (!part.tree) continue;
    part.topology = std::move(rest);
    part.ranking = ranking;
    break;
  }
  return part;
}

void check_below_leaves(const HealthInput& in, Health& health) {
  for (const auto s : below_leaves(in.topology)) {
    const auto guid = in.topology.guid(s), above = in.topology.guid(in.topology.group(s, 0).peer);
    health.findings.push_back(
        {CablingFault::differs,
         {{guid, PortNum{}}},
         fmt::format("{} hangs below {}, a switch with hosts", in.name(guid), in.name(above))});
  }
}

}  // namespace smd::routing::inline cabling
