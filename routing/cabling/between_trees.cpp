// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/between_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "routing/cabling/free_ports.h"
#include "routing/ranking/disjoint_sets.h"

namespace smd::routing::inline cabling {
namespace {

/// So many others have all cables to the other tree: few cables are not dealt out evenly by design, above all
/// where some switches have none.
constexpr std::size_t kOthersWithOne = 5, kOthersWithMore = 3;

/// Where a switch is in the part of the fabric that is compared as a tree.
struct PlaceInTree {
  SwitchIndex tree = kNoSwitch;
  std::int32_t rank = 0;
};

/// The ports by which switches of one level of a tree lead to another tree.
using PortsToTree = std::map<SwitchIndex, std::vector<PortNum>>;

/// The switches of a level that lack a cable to the other tree, and how many cables the others have.
struct LackingCables {
  std::vector<SwitchIndex> switches;
  std::size_t usual = 0, others = 0;
};

std::vector<PlaceInTree> places_in_trees(const HealthInput& in, const TreePart& part) {
  const auto& compared = part.topology ? *part.topology : in.topology;
  const auto tree_of = trees(compared, part.ranking);
  std::vector<PlaceInTree> places(in.topology.switches());
  for (SwitchIndex s = 0; s < compared.switches(); ++s)
    places[in.topology.find(compared.guid(s))] = {tree_of[s], part.ranking.rank[s]};
  return places;
}

LackingCables find_lacking(const PortsToTree& ports) {
  std::map<std::size_t, std::size_t> counts;
  for (const auto& [s, own] : ports) ++counts[own.size()];
  const auto most = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  LackingCables found{.switches = {}, .usual = most->first, .others = most->second};
  for (const auto& [s, own] : ports) {
    if (own.size() == found.usual) continue;
    if (own.size() + 1 != found.usual) return {};
    found.switches.push_back(s);
  }
  const bool one = found.usual == 1;
  const bool few = one ? found.switches.size() == 1 : found.switches.size() * 4 <= ports.size();
  return few && found.others >= (one ? kOthersWithOne : kOthersWithMore) ? found : LackingCables{};
}

class BetweenTrees {
 public:
  BetweenTrees(const HealthInput& in, const TreePart& part, Health& health)
      : in_(in), topology_(in.topology), health_(health), places_(places_in_trees(in, part)) {
    for (SwitchIndex s = 0; s < places_.size(); ++s) {
      for (std::size_t g = 0; g < topology_.groups(s); ++g) add_cables(s, topology_.group(s, g));
    }
  }

  void check() {
    for (const auto& [way, ports] : cables_) {
      const auto other = cables_.find({way.second, way.first});
      if (way.first < way.second && other != cables_.end())
        compare(with_level(way.first, ports), with_level(way.second, other->second));
    }
  }

 private:
  void add_cables(SwitchIndex s, const NeighbourGroup& group) {
    const auto own = places_[s].tree, other = places_[group.peer].tree;
    if (own == kNoSwitch || other == kNoSwitch || own == other || topology_.leaf(s) ||
        topology_.leaf(group.peer))
      return;
    auto& ports = cables_[{own, other}][s];
    ports.insert(ports.end(), group.ports.begin(), group.ports.end());
  }

  /// With those of the level that have no cable to the other tree. Empty: cables are at several levels.
  PortsToTree with_level(SwitchIndex tree, PortsToTree ports) const {
    const auto rank = places_[ports.begin()->first].rank;
    for (const auto& [s, own] : ports) {
      if (places_[s].rank != rank) return {};
    }
    for (SwitchIndex s = 0; s < places_.size(); ++s) {
      if (places_[s].tree == tree && places_[s].rank == rank && !topology_.leaf(s)) ports[s];
    }
    return ports;
  }

  void compare(const PortsToTree& one, const PortsToTree& other) {
    if (one.empty() || other.empty()) return;
    const auto here = find_lacking(one), there = find_lacking(other);
    for (const auto s : here.switches) {
      if (const auto peer = lost_peer(s, here, there))
        report(s, *peer, {port_of(s, one), port_of(*peer, other)}, here);
    }
  }

  /// The end of the missing cable in the other tree: the only switch there that lacks one, or the only one of
  /// these to which other cables lead.
  std::optional<SwitchIndex> lost_peer(SwitchIndex s, const LackingCables& here,
                                       const LackingCables& there) const {
    if (here.switches.size() == 1 && there.switches.size() == 1) return there.switches.front();
    std::optional<SwitchIndex> found;
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto peer = topology_.group(s, g).peer;
      if (std::ranges::count(there.switches, peer) == 0) continue;
      if (found) return std::nullopt;
      found = peer;
    }
    return found;
  }

  /// The port without a link by which most of the others lead to the other tree.
  PortNum port_of(SwitchIndex s, const PortsToTree& ports) const {
    std::map<PortNum, std::size_t> usual;
    for (const auto& [other, own] : ports) {
      for (const auto port : own) ++usual[port];
    }
    return most_usual_unlinked(topology_, s, usual);
  }

  void report(SwitchIndex s, SwitchIndex peer, std::pair<PortNum, PortNum> ports, const LackingCables& here) {
    const PortName one{topology_.guid(s), ports.first}, other{topology_.guid(peer), ports.second};
    const bool known = std::ranges::any_of(health_.findings, [&](const Finding& finding) {
      return is_fault(finding) &&
             (std::ranges::count(finding.ports, one) != 0 || std::ranges::count(finding.ports, other) != 0);
    });
    if (known) return;
    const auto end = [&](const PortName& port) {
      const auto name = in_.name(port.node);
      return port.port == PortNum{} ? name : fmt::format("{} port {}", name, port.port);
    };
    health_.findings.push_back(
        {CablingFault::missing,
         {one, other},
         fmt::format(
             "no cable between {} and {}: {} of {} switches like {} have {} cable{} to the tree of {}",
             end(one), end(other), here.others, here.others + here.switches.size() - 1, in_.name(one.node),
             here.usual, here.usual == 1 ? "" : "s", in_.name(other.node))});
  }

  const HealthInput& in_;
  const Topology& topology_;
  Health& health_;
  std::vector<PlaceInTree> places_;  ///< by switch
  std::map<std::pair<SwitchIndex, SwitchIndex>, PortsToTree>
      cables_;  ///< by tree, and by the one they lead to
};

}  // namespace

std::vector<SwitchIndex> trees(const Topology& topology, const SwitchRanking& ranking) {
  DisjointSets parts(topology.switches());
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (ranking.rank[peer] != ranking.rank[s]) parts.join(s, peer);
    }
  }
  std::vector<SwitchIndex> tree_of;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) tree_of.push_back(parts.first(s));
  return tree_of;
}

void check_between_trees(const HealthInput& in, const TreePart& part, Health& health) {
  BetweenTrees(in, part, health).check();
}

}  // namespace smd::routing::inline cabling
