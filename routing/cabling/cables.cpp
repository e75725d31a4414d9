// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "routing/cabling/below_a_leaf.h"
#include "routing/cabling/between_trees.h"
#include "routing/cabling/dealt_out.h"
#include "routing/cabling/free_ports.h"
#include "routing/cabling/health.h"
#include "routing/cabling/other_kind.h"

namespace smd::routing::inline cabling {
namespace {

/// A cable upwards that a switch should have and lacks.
struct Lack {
  SwitchIndex sw = 0, wanted = 0;
  bool used = false;      ///< explained by a cable that leads elsewhere
  bool in_turns = false;  ///< no fault: cabled_in_turns()
};

/// A cable that it has and should not have.
struct Surplus {
  SwitchIndex sw = 0, peer = 0;
  PortNum port;
  bool used = false;
};

class Cables {
 public:
  Cables(const HealthInput& in, const SwitchRanking& ranking, const TreeTemplate& tree_template,
         Health& health)
      : in_(in),
        topology_(in.topology),
        ranking_(ranking),
        template_(tree_template),
        health_(health),
        free_ports_(in.topology, ranking, tree_template),
        tree_of_(trees(in.topology, ranking)) {}

  void check_cabling() {
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) compare(s);
    set_apart_turns();
    set_apart_other_kinds();
    set_apart_pairs();
    find_swapped();
    find_misled();
    report_designs();
    for (const auto& lack : lacks_) {
      if (!lack.used) report_missing(lack);
    }
    report_others();
    for (const auto& surplus : surplus_) {
      if (surplus.used || shared(surplus) || joins_islands(surplus)) continue;
      const auto below = hangs_below(surplus);
      below ? report_below(surplus, *below) : report_extra(surplus);
    }
    sum_levels();
  }

 private:
  std::string name(SwitchIndex s) const { return in_.name(topology_.guid(s)); }
  PortName port_name(SwitchIndex s, PortNum port) const { return {topology_.guid(s), port}; }

  std::span<const PortNum> ports_to(SwitchIndex s, SwitchIndex peer) const {
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto group = topology_.group(s, g);
      if (group.peer == peer) return group.ports;
    }
    return {};
  }

  /// The ports to `peer`, first those that the other switches of the group use.
  std::vector<PortNum> usual_first(SwitchIndex s, SwitchIndex peer) const {
    const auto found = ports_to(s, peer);
    std::vector<PortNum> ports(found.begin(), found.end());
    const auto usual = free_ports_.usual_ports(s, peer);
    std::ranges::sort(ports, {}, [&](PortNum port) {
      const auto at = usual.find(port);
      return std::pair(at == usual.end() ? 0 : -static_cast<int>(at->second), port);
    });
    return ports;
  }

  void compare(SwitchIndex s) {
    const auto& slots = template_.of(s).slots;
    for (const auto& slot : slots) {
      const auto have = ports_to(s, slot.peer).size();
      for (auto i = have; i < slot.cables; ++i) lacks_.push_back({s, slot.peer});
    }
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto peer = topology_.group(s, g).peer;
      if (ranking_.rank[peer] > ranking_.rank[s] || (ranking_.rank[peer] == ranking_.rank[s] && peer < s))
        continue;
      const auto slot = std::ranges::find(slots, peer, &UplinkSlot::peer);
      const std::size_t wanted = slot != slots.end() ? slot->cables : 0;
      if (topology_.group(s, g).ports.size() <= wanted) continue;
      const auto ports = usual_first(s, peer);
      for (auto i = wanted; i < ports.size(); ++i) surplus_.push_back({s, peer, ports[i]});
    }
  }

  /// Leaves out what switches have instead of others by design. Small lattices, whose switches all have
  /// hosts, would look like such trees.
  void set_apart_turns() {
    if (topology_.leaves().size() == topology_.switches()) return;
    std::map<SwitchIndex, Deviation> deviations;
    for (const auto& lack : lacks_) deviations[lack.sw].lacked.push_back(lack.wanted);
    for (const auto& surplus : surplus_) {
      if (upwards(surplus)) deviations[surplus.sw].surplus.push_back(surplus.peer);
    }
    for (auto& [s, deviation] : deviations) {
      std::ranges::sort(deviation.lacked);
      std::ranges::sort(deviation.surplus);
    }
    auto by_design = dealt_to_few(topology_, ranking_, template_, deviations)
                         ? deviations
                         : cabled_in_turns(deviations, template_);
    const auto take = [&](SwitchIndex s, SwitchIndex peer, std::vector<SwitchIndex> Deviation::* cables) {
      const auto at = by_design.find(s);
      if (at == by_design.end()) return false;
      auto& left = at->second.*cables;
      const auto found = std::ranges::find(left, peer);
      if (found == left.end()) return false;
      left.erase(found);
      return true;
    };
    for (auto& lack : lacks_) lack.in_turns = take(lack.sw, lack.wanted, &Deviation::lacked);
    std::erase_if(surplus_,
                  [&](const Surplus& s) { return upwards(s) && take(s.sw, s.peer, &Deviation::surplus); });
  }

  bool upwards(const Surplus& surplus) const {
    return ranking_.rank[surplus.peer] < ranking_.rank[surplus.sw];
  }

  /// Whether the lack waits for a reason.
  static bool open(const Lack& lack) { return !lack.used && !lack.in_turns; }

  /// What a switch of another kind lacks is no fault if it is two of five of its cables, or one of two, or if
  /// its cables leave no room for it: no cable has been plugged in elsewhere instead.
  void set_apart_other_kinds() {
    std::map<SwitchIndex, Peers> lacked;
    for (const auto& lack : lacks_) {
      if (open(lack)) lacked[lack.sw].push_back(lack.wanted);
    }
    std::erase_if(lacked, [&](const auto& entry) {
      const auto& [s, peers] = entry;
      const auto all = wanted_cables(s);
      const bool few = peers.size() * 2 < all && (peers.size() < 2 || peers.size() * 5 < all * 2);
      if (few) return !leaves_no_room(s, peers);
      return !is_of_another_kind(in_, ranking_, template_.of(s), free_ports_, s);
    });
    report_designs(std::move(lacked));
  }

  bool leaves_no_room(SwitchIndex s, const std::vector<SwitchIndex>& lacked) const {
    return std::ranges::all_of(lacked, [&](SwitchIndex peer) {
      return ports_to(s, peer).empty() && closes_up_without(topology_, ranking_, free_ports_, s, peer);
    });
  }

  /// Finds two cables that are swapped at one end each.
  void find_swapped() {
    for (auto& one : surplus_) {
      for (auto& other : surplus_) {
        if (one.used || other.used || &one == &other) continue;
        if (!swapped(one, other)) {
          const auto far = topology_.peer(other.sw, other.port).port;
          if (!swapped(one, {other.peer, other.sw, far})) continue;
        }
        one.used = other.used = true;
      }
    }
  }

  bool swapped(const Surplus& one, const Surplus& other) {
    auto* const a = lack_between(one.sw, other.peer);
    auto* const b = lack_between(other.sw, one.peer);
    if (a == nullptr || b == nullptr || a == b) return false;
    a->used = b->used = true;
    health_.findings.push_back(
        {CablingFault::swapped,
         {port_name(one.sw, one.port), port_name(other.sw, other.port)},
         fmt::format("the cables at {} port {} and {} port {} are swapped: the first leads to {} and the "
                     "second to {}, it should be the other way round",
                     name(one.sw), one.port, name(other.sw), other.port, name(one.peer), name(other.peer))});
    return true;
  }

  /// Finds a cable in place of another: wrong at its upper end or at its lower end.
  void find_misled() {
    for (auto& surplus : surplus_) {
      if (surplus.used || (joins_islands(surplus) && only_way(surplus))) continue;
      const auto far = topology_.peer(surplus.sw, surplus.port).port;
      const auto at = [&](auto&& predicate) {
        return std::ranges::find_if(lacks_, [&](const Lack& l) { return open(l) && predicate(l); });
      };
      auto lack = at([&](const Lack& l) { return l.sw == surplus.sw; });
      const bool upper = lack != lacks_.end();
      if (!upper) lack = at([&](const Lack& l) { return l.wanted == surplus.peer; });
      if (lack == lacks_.end()) continue;
      surplus.used = lack->used = true;
      health_.findings.push_back(
          {CablingFault::swapped,
           {port_name(surplus.sw, surplus.port), port_name(surplus.peer, far)},
           upper ? fmt::format("{} port {} leads to {} port {} and should lead to {}", name(surplus.sw),
                               surplus.port, name(surplus.peer), far, name(lack->wanted))
                 : fmt::format("{} port {} leads to {} port {} and should lead to {}", name(surplus.peer),
                               far, name(surplus.sw), surplus.port, name(lack->sw))});
    }
  }

  Lack* lack_between(SwitchIndex a, SwitchIndex b) {
    const auto at = std::ranges::find_if(lacks_, [&](const Lack& l) {
      return open(l) && ((l.sw == a && l.wanted == b) || (l.sw == b && l.wanted == a));
    });
    return at != lacks_.end() ? &*at : nullptr;
  }

  /// The switches of the group of `s`, without it, that have a cable to `peer`.
  std::size_t others_with(SwitchIndex s, SwitchIndex peer) const {
    return static_cast<std::size_t>(std::ranges::count_if(template_.of(s).members, [&](SwitchIndex other) {
      return other != s && !ports_to(other, peer).empty();
    }));
  }

  /// Whether two thirds of the others of its group have the cable.
  bool wanted_by_majority(const Lack& lack) const {
    return others_with(lack.sw, lack.wanted) * 3 >= (template_.of(lack.sw).members.size() - 1) * 2;
  }

  using Peers = std::vector<SwitchIndex>;

  /// Cables that a switch lacks as a design: they are no faults. Few other switches have them, or what is
  /// left is three or more and more than a quarter of its cables, or others lack several of the same.
  void report_designs() {
    std::map<SwitchIndex, Peers> rare, usual;
    for (const auto& lack : lacks_) {
      const bool expected = wanted_by_majority(lack) && !lack.in_turns;
      if (!lack.used) (expected ? usual : rare)[lack.sw].push_back(lack.wanted);
    }
    std::map<Peers, std::size_t> alike;
    for (const auto& [s, peers] : usual) ++alike[peers];
    auto designs = rare;
    for (const auto& [s, peers] : usual) {
      const bool many = peers.size() >= 3 && peers.size() * 4 > wanted_cables(s);
      const bool several = peers.size() >= 2 && alike.at(peers) >= 2;
      if (many || several) designs[s].insert(designs[s].end(), peers.begin(), peers.end());
    }
    report_designs(std::move(designs));
  }

  /// `lacked` by switch.
  void report_designs(std::map<SwitchIndex, Peers> lacked) {
    std::map<Peers, Peers> switches;  // by what they lack
    for (auto& [s, peers] : lacked) {
      std::ranges::sort(peers);
      switches[peers].push_back(s);
    }
    for (const auto& [peers, members] : switches) {
      Peers fewer;
      std::ranges::copy_if(members, std::back_inserter(fewer), [&](SwitchIndex s) { return has_fewer(s); });
      if (!fewer.empty()) report_design(peers, fewer);
      take_as_designed(peers, members);
    }
  }

  /// Whether it has fewer cables upwards than most of its group: others may have as many to other switches.
  bool has_fewer(SwitchIndex s) const {
    std::map<std::size_t, std::size_t> counts;
    for (const auto other : template_.of(s).members) ++counts[cables_upwards(topology_, ranking_, other)];
    const auto usual = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
    return usual == counts.end() || cables_upwards(topology_, ranking_, s) < usual->first;
  }

  std::size_t wanted_cables(SwitchIndex s) const {
    std::size_t cables = 0;
    for (const auto& slot : template_.of(s).slots) cables += slot.cables;
    return cables;
  }

  void report_design(const Peers& lacked, const Peers& switches) {
    Finding finding{CablingFault::differs, {}, {}};
    for (const auto s : switches) finding.ports.push_back(port_name(s, PortNum{}));
    const auto more = switches.size() - 1, all = wanted_cables(switches.front());
    finding.text = fmt::format("{}{} {} {} of the {} cables upwards that others of {} group have",
                               name(switches.front()), more == 0 ? "" : fmt::format(" and {} like it", more),
                               more == 0 ? "has" : "have", all - std::min(lacked.size(), all), all,
                               more == 0 ? "its" : "their");
    health_.findings.push_back(std::move(finding));
  }

  /// What these switches lack is no fault.
  void take_as_designed(const Peers& lacked, const Peers& switches) {
    by_design_[ranking_.rank[switches.front()]] += lacked.size() * switches.size();
    for (auto& lack : lacks_) {
      const bool designed =
          std::ranges::count(switches, lack.sw) != 0 && std::ranges::count(lacked, lack.wanted) != 0;
      lack.used = lack.used || designed;
    }
  }

  /// Whether two others of the group have as many cables to that switch: no stray cable.
  bool shared(const Surplus& surplus) const {
    if (ranking_.rank[surplus.sw] == ranking_.rank[surplus.peer]) return false;
    const auto own = ports_to(surplus.sw, surplus.peer).size();
    const auto like_it = std::ranges::count_if(template_.of(surplus.sw).members, [&](SwitchIndex other) {
      return other != surplus.sw && ports_to(other, surplus.peer).size() >= own;
    });
    return like_it >= 2;
  }

  /// Two or more cables upwards, all of which another switch of the group has beside those of most, too: both
  /// are of another kind.
  void set_apart_pairs() {
    std::map<SwitchIndex, Peers> own;
    for (const auto& surplus : surplus_) {
      if (!surplus.used && upwards(surplus)) own[surplus.sw].push_back(surplus.peer);
    }
    std::map<std::pair<std::uint32_t, Peers>, std::size_t> alike;  // by group
    for (auto& [s, peers] : own) {
      std::ranges::sort(peers);
      ++alike[{template_.group_of[s], peers}];
    }
    for (auto& surplus : surplus_) {
      const auto at = own.find(surplus.sw);
      if (surplus.used || !upwards(surplus) || at == own.end() || at->second.size() < 2) continue;
      surplus.used = alike.at({template_.group_of[surplus.sw], at->second}) >= 2;
    }
  }

  /// Three or more cables upwards that no switch like it has, and more than a quarter of all that it has
  /// there: another kind of switch.
  void report_others() {
    std::map<SwitchIndex, std::size_t> own;
    for (const auto& surplus : surplus_) {
      if (!surplus.used && upwards(surplus) && !shared(surplus)) ++own[surplus.sw];
    }
    for (const auto& [s, count] : own) {
      const auto all = cables_upwards(topology_, ranking_, s);
      if (count < 3 || count * 4 <= all) continue;
      health_.findings.push_back(
          {CablingFault::differs,
           {port_name(s, PortNum{})},
           fmt::format("{} of the {} cables upwards of {} are such as no switch like it has", count, all,
                       name(s))});
      for (auto& surplus : surplus_) surplus.used = surplus.used || surplus.sw == s;
    }
  }

  /// Between two tops of trees that have no neighbour of another level in common.
  bool between_islands(const Surplus& surplus) const {
    const auto rank = ranking_.rank[surplus.sw];
    if (surplus.sw == surplus.peer || rank != ranking_.rank[surplus.peer]) return false;
    for (std::size_t g = 0; g < topology_.groups(surplus.sw); ++g) {
      const auto peer = topology_.group(surplus.sw, g).peer;
      if (ranking_.rank[peer] != rank && !ports_to(surplus.peer, peer).empty()) return false;
    }
    return true;
  }

  /// Whether cables between switches of one level are all that joins the ends of this one.
  bool only_way(const Surplus& surplus) const { return tree_of_[surplus.sw] != tree_of_[surplus.peer]; }

  /// Trees that are joined at their tops: by two cables of a pair of switches, by three cables, or by two
  /// that have all switches of the level at their ends or without which they would not be one fabric. One may
  /// be a mistake, unless it joins all tops that there are.
  bool joins_islands(const Surplus& surplus) const {
    if (!between_islands(surplus)) return false;
    const auto all = static_cast<std::size_t>(std::ranges::count_if(
        surplus_, [&](const Surplus& other) { return !other.used && between_islands(other); }));
    const auto of_level =
        static_cast<std::size_t>(std::ranges::count(ranking_.rank, ranking_.rank[surplus.sw]));
    return all >= 3 || (all == 2 && (of_level == 4 || only_way(surplus))) ||
           (all == 1 && of_level == 2 && only_way(surplus)) || ports_to(surplus.sw, surplus.peer).size() >= 2;
  }

  /// The end of the cable that is a switch with hosts and no cable to any switch but one leaf.
  std::optional<SwitchIndex> hangs_below(const Surplus& surplus) const {
    for (const auto s : {surplus.sw, surplus.peer}) {
      if (leaf_above(topology_, s)) return s;
    }
    return std::nullopt;
  }

  void report_below(const Surplus& surplus, SwitchIndex s) {
    const auto above = s == surplus.sw ? surplus.peer : surplus.sw;
    const auto port = port_name(s, PortNum{});
    const bool known = std::ranges::any_of(health_.findings, [&](const Finding& finding) {
      return finding.kind == CablingFault::differs && std::ranges::count(finding.ports, port) != 0;
    });
    if (known) return;
    health_.findings.push_back({CablingFault::differs,
                                {port},
                                fmt::format("{} hangs below {}, a switch with hosts", name(s), name(above))});
  }

  void report_missing(const Lack& lack) {
    const auto lower = free_ports_.lower(lack.sw, lack.wanted),
               upper = free_ports_.upper(lack.sw, lack.wanted);
    if (lower) free_ports_.take(lack.sw, *lower);
    if (upper) free_ports_.take(lack.wanted, *upper);
    const auto end = [&](SwitchIndex s, const std::optional<PortNum>& port) {
      return port ? fmt::format("{} port {}", name(s), *port) : name(s);
    };
    const auto& group = template_.of(lack.sw);
    const auto others = others_with(lack.sw, lack.wanted);
    health_.findings.push_back(
        {CablingFault::missing,
         {port_name(lack.sw, lower.value_or(PortNum{})), port_name(lack.wanted, upper.value_or(PortNum{}))},
         fmt::format("no cable between {} and {}, which {} of {} switches like {} have", end(lack.sw, lower),
                     end(lack.wanted, upper), others, group.members.size() - 1, name(lack.sw))});
  }

  void report_extra(const Surplus& surplus) {
    const auto far = topology_.peer(surplus.sw, surplus.port).port;
    const bool sibling = ranking_.rank[surplus.sw] == ranking_.rank[surplus.peer];
    health_.findings.push_back({CablingFault::extra,
                                {port_name(surplus.sw, surplus.port), port_name(surplus.peer, far)},
                                fmt::format("the cable between {} port {} and {} port {} {}",
                                            name(surplus.sw), surplus.port, name(surplus.peer), far,
                                            sibling ? "joins two switches of one level"
                                                    : "is one that no switch like the first has")});
  }

  void sum_levels() {
    std::map<std::int32_t, LevelHealth> levels;
    for (const auto& group : template_.groups) {
      auto& level = levels[ranking_.rank[group.members.front()]];
      level.rank = ranking_.rank[group.members.front()];
      for (const auto s : group.members) {
        for (const auto& slot : group.slots) {
          level.wanted += slot.cables;
          level.cables += std::min<std::uint64_t>(slot.cables, ports_to(s, slot.peer).size());
        }
      }
    }
    for (auto& [rank, level] : levels) {
      level.wanted -= std::min(level.wanted, by_design_[rank]);
      if (level.wanted != 0) health_.levels.push_back(level);
    }
  }

  const HealthInput& in_;
  const Topology& topology_;
  const SwitchRanking& ranking_;
  const TreeTemplate& template_;
  Health& health_;
  FreePorts free_ports_;
  std::vector<SwitchIndex> tree_of_;
  std::vector<Lack> lacks_;
  std::vector<Surplus> surplus_;
  std::map<std::int32_t, std::uint64_t> by_design_;  ///< by rank: cables that are lacked by design
};

}  // namespace

void check_cables(const HealthInput& in, const SwitchRanking& ranking, const TreeTemplate& tree_template,
                  Health& health) {
  Cables(in, ranking, tree_template, health).check_cabling();
}

}  // namespace smd::routing::inline cabling
