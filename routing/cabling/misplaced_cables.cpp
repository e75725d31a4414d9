// SPDX-License-Identifier: Apache-2.0
// Detects misplaced cables at switches with few uplinks. There half of the uplinks of the switch are wrong,
// so that it resembles no other switch.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "routing/cabling/health.h"
#include "routing/cabling/positions.h"
#include "routing/statistics.h"

namespace smd::routing::inline cabling {
namespace {

using Peers = std::vector<SwitchIndex>;

/// `sw` would fit the group if its cable to `has` led to `lacks`.
struct Misfit {
  SwitchIndex sw = 0;
  std::uint32_t group = 0;
  SwitchIndex has = 0, lacks = 0;
};

class MisplacedCables {
 public:
  MisplacedCables(const HealthInput& in, const SwitchRanking& ranking, const TreeTemplate& tree_template,
                  Health& health)
      : in_(in),
        topology_(in.topology),
        ranking_(ranking),
        template_(tree_template),
        health_(health),
        pods_(in.topology, ranking) {
    for (std::uint32_t f = 0; f < tree_template.groups.size(); ++f) {
      for (const auto& slot : tree_template.groups[f].slots) below_[slot.peer].push_back(f);
    }
    find_usual_sizes();
  }

  void check_cabling() {
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      if (template_.of(s).members.size() * 2 <= usual(s) && !in_each_pod(s)) find_misfits(s);
    }
    while (const auto pair = best_swap()) {
      report_swapped(pair->first, pair->second);
      forget(pair->first);
      forget(pair->second);
    }
    while (const auto one = best_misled()) {
      report_misled(*one);
      forget(*one);
    }
  }

 private:
  std::string name(SwitchIndex s) const { return in_.name(topology_.guid(s)); }
  std::size_t usual(SwitchIndex s) const { return usual_.at(ranking_.rank[s]); }

  /// By rank the size of the group of the median switch, and the pods.
  void find_usual_sizes() {
    std::map<std::int32_t, std::vector<std::size_t>> sizes;
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      sizes[ranking_.rank[s]].push_back(template_.of(s).members.size());
      pods_of_rank_[ranking_.rank[s]].insert(pods_.of(s, ranking_.rank[s]));
    }
    for (auto& [rank, all] : sizes) usual_[rank] = median(all);
  }

  /// A group with a member in each of several pods is no accident: uplinks are dealt out in turns, say.
  bool in_each_pod(SwitchIndex s) const {
    const auto rank = ranking_.rank[s];
    std::set<std::uint32_t> with_member;
    for (const auto member : template_.of(s).members) with_member.insert(pods_.of(member, rank));
    const auto all = pods_of_rank_.at(rank).size();
    return all > 1 && with_member.size() == all;
  }

  Peers above(SwitchIndex s) const {
    Peers peers;
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto peer = topology_.group(s, g).peer;
      if (ranking_.rank[peer] < ranking_.rank[s]) peers.push_back(peer);
    }
    return peers;
  }

  void find_misfits(SwitchIndex s) {
    const auto own = above(s);
    std::map<std::uint32_t, std::size_t> shared;  // by group
    for (const auto peer : own) {
      const auto at = below_.find(peer);
      if (at == below_.end()) continue;
      for (const auto group : at->second) ++shared[group];
    }
    for (const auto& [f, count] : shared) {
      const auto& group = template_.groups[f];
      if (f == template_.group_of[s] || count + 1 != own.size() || group.slots.size() != own.size() ||
          ranking_.rank[group.members.front()] != ranking_.rank[s]) {
        continue;
      }
      const auto belongs = [&](SwitchIndex peer) {
        return std::ranges::find(group.slots, peer, &UplinkSlot::peer) != group.slots.end();
      };
      const auto has = std::ranges::find_if_not(own, belongs);
      const auto lacks = std::ranges::find_if_not(
          group.slots, [&](const UplinkSlot& slot) { return std::ranges::count(own, slot.peer) != 0; });
      if (has == own.end() || lacks == group.slots.end()) continue;
      misfits_.push_back({s, f, *has, lacks->peer});
    }
  }

  /// Distance of GUIDs: switches that were bought together have near GUIDs and are installed together. Of two
  /// explanations the nearer one is reported; either correction repairs the fabric.
  std::uint64_t distance(const Misfit& misfit) const {
    const auto& group = template_.groups[misfit.group];
    const auto apart = [&](SwitchIndex a, SwitchIndex b) {
      const auto one = topology_.guid(a).value(), other = topology_.guid(b).value();
      return std::max(one, other) - std::min(one, other);
    };
    auto leaves = ~std::uint64_t{0}, tops = leaves;
    for (const auto member : group.members) leaves = std::min(leaves, apart(member, misfit.sw));
    for (const auto& slot : group.slots) {
      if (slot.peer != misfit.lacks) tops = std::min(tops, apart(slot.peer, misfit.lacks));
    }
    return (leaves >> 1U) + (tops >> 1U);
  }

  /// Two swapped cables: each leads to where the other should.
  std::optional<std::pair<Misfit, Misfit>> best_swap() const {
    std::optional<std::pair<Misfit, Misfit>> best;
    auto least = ~std::uint64_t{0};
    for (const auto& one : misfits_) {
      for (const auto& other : misfits_) {
        if (one.sw >= other.sw || one.has != other.lacks || one.lacks != other.has) continue;
        const auto far = distance(one) / 2 + distance(other) / 2;
        if (far >= least) continue;
        least = far;
        best = {one, other};
      }
    }
    return best;
  }

  /// The smallest group comes first: it is the one that lacks a switch.
  std::optional<Misfit> best_misled() const {
    const auto key = [&](const Misfit& misfit) {
      return std::tuple(misfit.sw, template_.groups[misfit.group].members.size(), distance(misfit));
    };
    const auto best = std::ranges::min_element(misfits_, {}, key);
    return best == misfits_.end() ? std::nullopt : std::optional(*best);
  }

  /// Removes candidates that the reported one explains.
  void forget(const Misfit& told) {
    const auto own = template_.group_of[told.sw];
    std::erase_if(misfits_, [&](const Misfit& misfit) {
      const auto group = template_.group_of[misfit.sw];
      return misfit.group == own || group == own || group == told.group;
    });
  }

  PortNum port_to(SwitchIndex s, SwitchIndex peer) const {
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      if (topology_.group(s, g).peer == peer) return topology_.group(s, g).ports.front();
    }
    return {};
  }

  void report_swapped(const Misfit& one, const Misfit& other) {
    const auto a = port_to(one.sw, one.has), b = port_to(other.sw, other.has);
    health_.findings.push_back(
        {CablingFault::swapped,
         {{topology_.guid(one.sw), a}, {topology_.guid(other.sw), b}},
         fmt::format("the cables at {} port {} and {} port {} are swapped: the first leads to {} and the "
                     "second to {}, "
                     "it should be the other way round",
                     name(one.sw), a, name(other.sw), b, name(one.has), name(other.has))});
  }

  void report_misled(const Misfit& one) {
    const auto port = port_to(one.sw, one.has), far = topology_.peer(one.sw, port).port;
    health_.findings.push_back({CablingFault::swapped,
                                {{topology_.guid(one.sw), port}, {topology_.guid(one.has), far}},
                                fmt::format("{} port {} leads to {} port {} and should lead to {}",
                                            name(one.sw), port, name(one.has), far, name(one.lacks))});
  }

  const HealthInput& in_;
  const Topology& topology_;
  const SwitchRanking& ranking_;
  const TreeTemplate& template_;
  Health& health_;
  Pods pods_;
  std::map<SwitchIndex, std::vector<std::uint32_t>> below_;  ///< by upper switch: the groups below it
  std::map<std::int32_t, std::size_t> usual_;
  std::map<std::int32_t, std::set<std::uint32_t>> pods_of_rank_;
  std::vector<Misfit> misfits_;
};

}  // namespace

void check_misplaced_cables(const HealthInput& in, const SwitchRanking& ranking,
                            const TreeTemplate& tree_template, Health& health) {
  MisplacedCables(in, ranking, tree_template, health).check_cabling();
}

}  // namespace smd::routing::inline cabling
