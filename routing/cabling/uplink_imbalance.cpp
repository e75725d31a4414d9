// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "routing/cabling/below_a_leaf.h"
#include "routing/cabling/free_ports.h"
#include "routing/cabling/health.h"

namespace smd::routing::inline cabling {
namespace {

/// A sentence names at most so many ports without a link.
constexpr std::size_t kMostNamed = 8;

std::size_t wanted_cables(const SwitchGroup& group) {
  std::size_t cables = 0;
  for (const auto& slot : group.slots) cables += slot.cables;
  return cables;
}

/// Most cables upwards of any of the switches.
std::size_t most_cables(const Topology& topology, const SwitchRanking& ranking,
                        const std::vector<SwitchIndex>& switches) {
  std::size_t most = 0;
  for (const auto s : switches) most = std::max(most, cables_upwards(topology, ranking, s));
  return most;
}

Finding report_uneven(const HealthInput& in, const FreePorts& free_ports, const SwitchGroup& group,
                      std::size_t usual, CablingFault kind) {
  const auto& topology = in.topology;
  const auto name = [&](SwitchIndex s) { return in.name(topology.guid(s)); };
  Finding finding{kind, {}, {}};
  std::vector<std::string> empty;
  for (const auto s : group.members) {
    finding.ports.push_back({topology.guid(s), PortNum{}});
    const auto ports = free_ports.empty(s);
    for (const auto& [port, usual_peer] : ports) {
      auto peer = usual_peer;
      if (peer == kNoSwitch && ports.size() == 1) peer = free_ports.not_reached(s).value_or(kNoSwitch);
      finding.ports.push_back({topology.guid(s), port});
      auto text = fmt::format("{} port {}", name(s), port);
      const auto far = peer == kNoSwitch ? std::nullopt : free_ports.upper(s, peer);
      if (peer != kNoSwitch) text += fmt::format(" (to {}", name(peer));
      if (far) text += fmt::format(" port {}", *far);
      if (far) finding.ports.push_back({topology.guid(peer), *far});
      empty.push_back(text + (peer != kNoSwitch ? ")" : ""));
    }
  }
  const auto more = group.members.size() - 1;
  finding.text =
      fmt::format("{}{} {} {} cables upwards where others of their level have {}",
                  name(group.members.front()), more == 0 ? "" : fmt::format(" and {} like it", more),
                  more == 0 ? "has" : "have", wanted_cables(group), usual);
  if (empty.empty() || kind == CablingFault::differs) return finding;
  const auto named = std::min(empty.size(), kMostNamed);
  finding.text += "; nothing is at ";
  for (std::size_t i = 0; i < named; ++i) finding.text += (i == 0 ? "" : ", ") + empty[i];
  if (empty.size() > named) finding.text += fmt::format(" and {} more", empty.size() - named);
  return finding;
}

/// Several leaves, which have some of the upper switches of others: another generation of them.
bool is_generation(const Topology& topology, const TreeTemplate& tree_template, const SwitchGroup& group) {
  if (group.members.size() < 2 || !topology.leaf(group.members.front())) return false;
  return std::ranges::any_of(tree_template.groups, [&](const SwitchGroup& other) {
    return other.slots.size() > group.slots.size() &&
           std::ranges::includes(other.slots, group.slots, {}, &UplinkSlot::peer, &UplinkSlot::peer);
  });
}

/// The switches without cables upwards in levels with switches above, such as a middle switch that has lost
/// its only one.
class Tops {
 public:
  Tops(const Topology& topology, const SwitchRanking& ranking)
      : topology_(topology), ranking_(ranking), pods_(topology, ranking) {
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      auto& pods = of_rank_[ranking.rank[s]];
      pods.all.insert(pods_.of(s, ranking.rank[s]));
      if (is_top(s)) pods.with_top.insert(pods_.of(s, ranking.rank[s]));
    }
  }

  /// Whether these are above others and lead nowhere. `group` is one of a rank with switches above.
  bool all(const SwitchGroup& group) const {
    return std::ranges::all_of(group.members, [&](SwitchIndex s) { return is_top(s); });
  }
  /// Whether each of several pods has such a switch: they are built so.
  bool in_each_pod(const SwitchGroup& group) const {
    const auto& pods = of_rank_.at(ranking_.rank[group.members.front()]);
    return pods.all.size() > 1 && pods.with_top.size() == pods.all.size();
  }

 private:
  bool is_top(SwitchIndex s) const {
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      if (ranking_.rank[topology_.group(s, g).peer] <= ranking_.rank[s]) return false;
    }
    return topology_.groups(s) != 0;
  }

  struct PodsOfRank {
    std::set<std::uint32_t> all, with_top;
  };
  const Topology& topology_;
  const SwitchRanking& ranking_;
  Pods pods_;
  std::map<std::int32_t, PodsOfRank> of_rank_;
};

/// A design rather than a fault: the group is a generation of leaves, three groups of the rank have as few
/// cables, or the group has another number of members than most groups, so that it is not built as they are.
bool built_so(const Topology& topology, const SwitchRanking& ranking, const TreeTemplate& tree_template,
              const SwitchGroup& group) {
  if (is_generation(topology, tree_template, group)) return true;
  const auto rank = ranking.rank[group.members.front()];
  std::size_t same = 0, as_large = 0, groups = 0;
  for (const auto& other : tree_template.groups) {
    if (ranking.rank[other.members.front()] != rank) continue;
    ++groups;
    same += wanted_cables(other) == wanted_cables(group) ? 1 : 0;
    as_large += other.members.size() == group.members.size() ? 1 : 0;
  }
  return same >= 3 || (groups >= 3 && as_large == 1);
}

}  // namespace

void check_uplink_imbalance(const HealthInput& in, const SwitchRanking& ranking,
                            const TreeTemplate& tree_template, Health& health) {
  std::map<std::int32_t, std::map<std::size_t, std::size_t>> by_rank;  // members by expected number of cables
  std::map<std::int32_t, std::size_t> most;                            // by rank, of any switch as it is
  for (const auto& group : tree_template.groups) {
    const auto rank = ranking.rank[group.members.front()];
    by_rank[rank][wanted_cables(group)] += group.members.size();
    most[rank] = std::max(most[rank], most_cables(in.topology, ranking, group.members));
  }
  const FreePorts free_ports(in.topology, ranking, tree_template);
  const Tops tops(in.topology, ranking);
  for (const auto& group : tree_template.groups) {
    const auto rank = ranking.rank[group.members.front()];
    const auto& counts = by_rank[rank];
    std::size_t all = 0;
    for (const auto& [cables, count] : counts) all += count;
    const auto usual = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    if (usual->second * 4 < all * 3 || wanted_cables(group) >= usual->first) continue;
    // Uplinks that are dealt out in turns: no switch has all that its group has.
    if (most[rank] <= most_cables(in.topology, ranking, group.members)) continue;
    if (group.members.size() == 1 && leaf_above(in.topology, group.members.front()))
      continue;  // check_cables() names it
    const bool top = tops.all(group);
    const bool design = top ? tops.in_each_pod(group) : built_so(in.topology, ranking, tree_template, group);
    const auto fault = top ? CablingFault::missing : CablingFault::uneven;
    const auto kind = design ? CablingFault::differs : fault;
    health.findings.push_back(report_uneven(in, free_ports, group, usual->first, kind));
  }
}

}  // namespace smd::routing::inline cabling
