// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "routing/cabling/below_a_leaf.h"
#include "routing/cabling/between_trees.h"
#include "routing/cabling/dealt_out.h"
#include "routing/cabling/group_swaps.h"
#include "routing/cabling/lattice_swaps.h"
#include "routing/cabling/levels.h"
#include "routing/cabling/swap_trial.h"
#include "routing/cabling/tree_part.h"

namespace smd::routing::inline cabling {

namespace {

constexpr unsigned kMostSwaps = 64;
/// Each takes as long as all checks.
constexpr std::size_t kMostTrials = 16;
constexpr unsigned kMostPorts = 254;
/// With more faults, or cables that may be swapped, two of them are no explanation.
constexpr std::ptrdiff_t kMostFaults = 8;
constexpr std::size_t kMostWrongCables = 4;

std::ptrdiff_t faults_of(const Health& health) { return std::ranges::count_if(health.findings, is_fault); }

/// What all checks but those for swaps find in the fabric as it is.
Health check_as_it_is(const HealthInput& in, const SwitchRanking& ranking,
                      const TreeTemplate& tree_template) {
  Health health;
  check_cables(in, ranking, tree_template, health);
  check_uplink_imbalance(in, ranking, tree_template, health);
  check_misplaced_cables(in, ranking, tree_template, health);
  check_one_cable_short(in, ranking, tree_template, health);
  check_rails(in, health);
  return health;
}

/// Whether the findings say more than that the switch is a cable short: that it lacks another one, or that
/// cables of others of its group are misplaced.
bool say_too_much(const Health& health, const Topology& topology, const SwitchGroup& group, SwitchIndex s) {
  std::size_t lacked = 0, misplaced = 0;
  for (const auto& finding : health.findings) {
    const bool beside = std::ranges::any_of(finding.ports, [&](const PortName& port) {
      const auto at = topology.find(port.node);
      return at != s && std::ranges::binary_search(group.members, at);
    });
    misplaced += finding.kind == CablingFault::swapped && beside ? 1U : 0U;
    const bool own = !finding.ports.empty() && finding.ports.front().node == topology.guid(s);
    lacked += finding.kind == CablingFault::missing && own ? 1U : 0U;
  }
  return lacked + misplaced >= 2;
}

/// Where uplinks are dealt out in turns a missing cable may look like several faults. So the switch that is a
/// cable short has it on trial, to the upper switch with which least is found.
void try_the_cable_that_is_short(const HealthInput& in, const SwitchRanking& ranking,
                                 const SwitchGroup& group, SwitchIndex s, Health& health) {
  std::optional<Health> best;
  for (std::size_t i = 0; i < std::min(group.slots.size(), kMostTrials); ++i) {
    const auto peer = group.slots[i].peer;
    if (std::max(in.topology.ports(s), in.topology.ports(peer)) >= kMostPorts) continue;
    const auto whole = with_cable(in.topology, s, peer);
    auto then = check_as_it_is({whole, in.rate, in.name}, ranking, find_tree_template(whole, ranking));
    if (!best || faults_of(then) < faults_of(*best)) best = std::move(then);
  }
  if (!best || faults_of(*best) + 1 >= faults_of(health)) return;
  best->findings.push_back(describe_one_cable_short(in, ranking, group, s));
  for (auto& level : best->levels) level.cables -= level.rank == ranking.rank[s] ? 1U : 0U;
  health = *std::move(best);
}

/// What all checks but those for swaps find.
Health check_all_but_swaps(const HealthInput& in, const SwitchRanking& ranking) {
  const auto tree_template = find_tree_template(in.topology, ranking);
  auto health = check_as_it_is(in, ranking, tree_template);
  for (const auto& group : tree_template.groups) {
    const auto s = find_one_cable_short(in.topology, ranking, group);
    if (s && say_too_much(health, in.topology, group, *s))
      try_the_cable_that_is_short(in, ranking, group, *s, health);
  }
  return health;
}

/// The cables between switches that findings say are wrong, each by one end, ascending.
std::vector<std::pair<SwitchIndex, PortNum>> wrong_cables(const Topology& topology, const Health& health) {
  std::vector<std::pair<SwitchIndex, PortNum>> cables;
  for (const auto& finding : health.findings) {
    if (finding.kind != CablingFault::extra && finding.kind != CablingFault::swapped) continue;
    for (const auto& port : finding.ports) {
      const auto s = topology.find(port.node);
      const auto far = s == kNoSwitch ? PortPeer{} : topology.peer(s, port.port);
      if (far.sw != kNoSwitch && far.sw != s)
        cables.push_back(std::min(std::pair(s, port.port), std::pair(far.sw, far.port)));
    }
  }
  std::ranges::sort(cables);
  cables.erase(std::ranges::unique(cables).begin(), cables.end());
  return cables;
}

/// The ways to exchange the ends of two of these cables.
std::vector<CableSwap> exchanges(const Topology& topology,
                                 const std::vector<std::pair<SwitchIndex, PortNum>>& cables) {
  std::vector<CableSwap> found;
  for (std::size_t i = 0; i < cables.size(); ++i) {
    const auto [a, a_port] = cables[i];
    const auto a_far = topology.peer(a, a_port).sw;
    for (auto j = i + 1; j < cables.size(); ++j) {
      const auto [b, b_port] = cables[j];
      const auto b_far = topology.peer(b, b_port);
      if (a == b || a_far == b_far.sw || a == b_far.sw || a_far == b) continue;
      found.push_back({a, a_port, b, b_port});
      found.push_back({a, a_port, b_far.sw, b_far.port});
    }
  }
  return found;
}

/// Swapped cables of different levels: to each level they look like a cable too many and one that is missing.
/// Of two cables that `rest` has faults of, the exchange that leaves fewest is tried; it must explain two.
std::optional<Topology> check_swaps_of_faults(const HealthInput& in, const Health& rest, Health& health) {
  const auto faults = faults_of(rest);
  const auto cables = wrong_cables(in.topology, rest);
  if (faults < 2 || faults > kMostFaults || cables.size() > kMostWrongCables) return std::nullopt;
  std::optional<Topology> right;
  std::optional<CableSwap> best;
  auto least = faults - 1;
  for (const auto& swap : exchanges(in.topology, cables)) {
    auto then = with_swap(in.topology, swap);
    const auto ranking = find_levels(then, find_tree(then));
    const auto left = faults_of(check_all_but_swaps({then, in.rate, in.name}, ranking));
    if (left >= least) continue;
    least = left;
    best = swap;
    right = std::move(then);
  }
  if (best) health.findings.push_back(describe(in, *best));
  return right;
}

/// Swapped cables come first. The other checks see the fabric with them put right, or they would report them
/// again. Swaps that leave these more to find are none, as the design is another than was taken for it.
void check_cabling_of_tree(const HealthInput& in, const SwitchRanking& tree, Health& health) {
  std::optional<Topology> right;
  auto ranking = find_levels(in.topology, tree);
  auto rest = check_all_but_swaps(in, ranking);
  Health swaps;
  std::size_t kept = 0;  // of the swaps' findings
  for (unsigned i = 0; i < kMostSwaps; ++i) {
    const HealthInput now{right ? *right : in.topology, in.rate, in.name};
    auto next = check_swaps(now, ranking, swaps);
    if (!next) next = check_paired_switches(now, ranking, swaps);
    if (!next && kept == swaps.findings.size()) next = check_swaps_of_faults(now, rest, swaps);
    if (!next) break;
    right = std::move(next);
    ranking = find_levels(*right, find_tree(*right));
    auto then = check_all_but_swaps({*right, in.rate, in.name}, ranking);
    if (faults_of(then) > faults_of(rest)) continue;  // cables that were moved together may follow
    rest = std::move(then);
    kept = swaps.findings.size();
  }
  swaps.findings.resize(kept);
  std::ranges::move(swaps.findings, std::back_inserter(health.findings));
  std::ranges::move(rest.findings, std::back_inserter(health.findings));
  health.levels = std::move(rest.levels);
}

bool hosts_everywhere(const Topology& topology) {
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (!topology.leaf(s)) return false;
  }
  return true;
}

/// Whether the switches are a row, each cabled to the next one: every other one would be a top.
bool is_row(const Topology& topology) {
  std::size_t ends = 0;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (topology.groups(s) > 2) return false;
    ends += 2 - topology.groups(s);
  }
  return topology.switches() > 3 && topology.components() == 1 && ends == 2;
}

/// A fabric in which more than a quarter of the cables would be extra is not a tree either. With hosts on all
/// switches nothing tells top switches from others: small lattices look like trees that lack an eighth or
/// more of their cables.
std::string why_not_built_so(const Topology& topology, const Health& health) {
  const auto count = [&](CablingFault kind) {
    return static_cast<std::size_t>(std::ranges::count(health.findings, kind, &Finding::kind));
  };
  if (const auto extra = count(CablingFault::extra); extra * 4 > topology.cables())
    return fmt::format("{} of {} cables would be too many", extra, topology.cables());
  if (hosts_everywhere(topology) && is_row(topology)) return "switches with hosts are in a row";
  const auto missing = count(CablingFault::missing);
  if (missing >= 2 && missing * 8 >= topology.cables() && hosts_everywhere(topology))
    return fmt::format("hosts are on all switches, and {} cables would be missing beside {}", missing,
                       topology.cables());
  return "";
}

/// Of what is left without the cables within levels: else it is no tree, as other fabrics have levels, too.
bool few_faults(const Topology& topology, const Health& health) {
  return static_cast<std::size_t>(faults_of(health)) <= 1 + topology.cables() / 20;
}

/// Adds what check_positions() finds at ports that no finding names yet.
void add_positions(const HealthInput& in, Health& health) {
  Health found;
  check_positions(in, found);
  for (auto& finding : found.findings) {
    const bool known = std::ranges::any_of(health.findings, [&](const Finding& other) {
      return is_fault(other) && std::ranges::any_of(finding.ports, [&](const PortName& port) {
               return std::ranges::count(other.ports, port) != 0;
             });
    });
    if (!known) health.findings.push_back(std::move(finding));
  }
}

/// A swapped cable has the rate of another place.
void leave_out_rates_of_swapped(const Topology& topology, Health& health) {
  std::vector<PortName> ends;
  for (const auto& finding : health.findings) {
    if (finding.kind != CablingFault::swapped) continue;
    for (const auto& port : finding.ports) {
      ends.push_back(port);
      const auto s = topology.find(port.node);
      const auto far = s == kNoSwitch ? PortPeer{} : topology.peer(s, port.port);
      if (far.sw != kNoSwitch) ends.push_back({topology.guid(far.sw), far.port});
    }
  }
  std::erase_if(health.findings, [&](const Finding& finding) {
    return (finding.kind == CablingFault::slow || finding.kind == CablingFault::width) &&
           std::ranges::any_of(finding.ports,
                               [&](const PortName& port) { return std::ranges::count(ends, port) != 0; });
  });
}

/// What the checks leave out.
std::string left_out(const std::string& why_no_tree, bool part) {
  return fmt::format(
      "not a tree: {}; {}only speeds, widths, swapped cables of dragonflies and lattices, and single missing "
      "cables that "
      "port numbers show are looked at",
      why_no_tree, part ? "of cables between switches of one level " : "");
}

/// All checks but that of cables between groups.
Health check_levels(const HealthInput& in, TreePart part) {
  Health health;
  if (part.tree) {
    const auto& compared = part.topology ? *part.topology : in.topology;
    check_cabling_of_tree({compared, in.rate, in.name}, part.ranking, health);
    auto other = why_not_built_so(compared, health);
    if (!part.why_not_all.empty() && !few_faults(compared, health)) other = part.why_not_all;
    if (!other.empty()) {
      health = {};
      part.tree = false;
      part.why_not_all = std::move(other);
    }
  }
  if (part.tree) check_between_trees(in, part, health);
  health.tree = part.why_not_all.empty();
  if (!part.why_not_all.empty()) {
    health.left_out = left_out(part.why_not_all, part.tree);
    add_positions(in, health);
  }
  if (part.tree) {
    check_below_leaves(in, health);
    check_small_switches(in, health);
  }
  check_loopbacks(in, health);
  check_isolated_switches(in, health);
  check_rates(in, part.topology ? find_tree(in.topology) : part.ranking, health);
  leave_out_rates_of_swapped(in.topology, health);
  return health;
}

}  // namespace

Health check_cabling(const HealthInput& in) {
  auto part = find_tree_part(in);
  Health swaps;
  auto right = part.why_not_all.empty() ? std::nullopt : check_group_swaps(in, swaps);
  if (!right) right = check_lattice_swaps(in, swaps);
  if (!right) return check_levels(in, std::move(part));
  const HealthInput put_right{*right, in.rate, in.name};
  auto health = check_levels(put_right, find_tree_part(put_right));
  health.findings.insert(health.findings.begin(), swaps.findings.begin(), swaps.findings.end());
  return health;
}

}  // namespace smd::routing::inline cabling
