// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/qos_lanes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace smd::sm::inline decisions {
namespace {

constexpr std::size_t kSlCount = 16;
constexpr std::uint8_t kBlock = 8;  ///< SLs that differ in the bits of layers only
/// A weight counts 64 bytes. A packet of 4 KiB and its headers is a bit more than 64 of them, and 255 are
/// less than four, so that a turn that is rounded up to whole packets sends one to four.
constexpr unsigned kUnitsOfPacket = 64, kPacketsOfTurn = 4, kMostUnits = 255;
constexpr double kCloseEnough = 0.005;
constexpr double kSame = 1e-9;     ///< errors that differ by less are equal
constexpr double kWorthAVl = 0.1;  ///< of the link: so much less error is worth a class's own VL

std::size_t turns_of(unsigned packets) { return (packets + kPacketsOfTurn - 1) / kPacketsOfTurn; }

/// VLs that have a part together: those of a class.
struct LaneGroup {
  double part = 0;
  std::vector<std::size_t> lanes{};  ///< places in the list
  std::size_t turns(unsigned packets) const { return std::max(lanes.size(), turns_of(packets)); }
};

std::vector<LaneGroup> groups_of(std::span<const LaneWeight> lanes, std::span<const double> parts) {
  std::map<std::size_t, LaneGroup> by_class;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    auto& group = by_class[lanes[i].of_class];
    group.part += parts[i];
    group.lanes.push_back(i);
  }
  std::vector<LaneGroup> groups;
  for (auto& [of_class, group] : by_class) groups.push_back(std::move(group));
  return groups;
}

/// Packets of each group in a round of `round` packets, one for each of its VLs at least: largest remainders.
std::vector<unsigned> packets_of(std::span<const LaneGroup> groups, unsigned round) {
  std::vector<unsigned> packets(groups.size());
  std::vector<std::size_t> order(groups.size());
  unsigned given = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    packets[i] = std::max(static_cast<unsigned>(groups[i].lanes.size()),
                          static_cast<unsigned>(groups[i].part * round));
    given += packets[i];
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto remainder = [&](std::size_t i) { return groups[i].part * round - packets[i]; };
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::pair(-remainder(a), a) < std::pair(-remainder(b), b);
  });
  for (std::size_t i = 0; given < round && i < order.size(); ++i, ++given) ++packets[order[i]];
  return packets;
}

std::vector<double> parts_of(std::span<const LaneWeight> lanes) {
  std::vector<double> parts;
  const double sum = std::accumulate(lanes.begin(), lanes.end(), 0.0,
                                     [](double s, const auto& one) { return s + one.part; });
  for (const auto& one : lanes)
    parts.push_back(sum > 0 ? one.part / sum : 1.0 / static_cast<double>(lanes.size()));
  return parts;
}

/// Takes packets from the largest group until the turns of all fit: one turn for each VL does.
void fit_turns(std::span<const LaneGroup> groups, std::vector<unsigned>& packets, std::size_t entries) {
  std::size_t turns = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) turns += groups[i].turns(packets[i]);
  for (; turns > entries; --turns) {
    std::size_t largest = groups.size();
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const bool can = turns_of(packets[i]) > groups[i].lanes.size();
      if (can && (largest == groups.size() || packets[i] > packets[largest])) largest = i;
    }
    packets[largest] = static_cast<unsigned>(turns_of(packets[largest]) - 1) * kPacketsOfTurn;
  }
}

/// A group's packets by VL, each as near to its part as the turns allow. `spare`: turns that no group needs;
/// those that are taken are taken away.
void divide(const LaneGroup& group, std::span<const double> parts, unsigned packets, std::size_t& spare,
            std::vector<unsigned>& into) {
  const auto needed = group.turns(packets);
  auto left = needed - group.lanes.size() + spare;
  for (const auto lane : group.lanes) into[lane] = 1;
  const auto lacks = [&](std::size_t lane) {
    const double part = group.part > 0 ? parts[lane] / group.part : 1.0;
    return part * packets - into[lane];
  };
  for (auto given = group.lanes.size(); given < packets; ++given) {
    std::optional<std::size_t> next;
    for (const auto lane : group.lanes) {
      const bool can = left != 0 || into[lane] % kPacketsOfTurn != 0;
      if (can && (!next || lacks(lane) > lacks(*next) + kSame)) next = lane;
    }
    if (into[*next] % kPacketsOfTurn == 0) --left;
    ++into[*next];
  }
  spare = std::min(spare, left);
}

/// What a list errs by: its classes, then its VLs. What is near enough counts as right.
using ListError = std::pair<double, double>;

ListError error_of_packets(std::span<const LaneGroup> groups, std::span<const double> parts,
                           const std::vector<unsigned>& packets) {
  const double sum = std::accumulate(packets.begin(), packets.end(), 0U);
  ListError error{kCloseEnough, kCloseEnough};
  for (const auto& group : groups) {
    unsigned of_group = 0;
    for (const auto lane : group.lanes) {
      of_group += packets[lane];
      error.second = std::max(error.second, std::abs(packets[lane] / sum - parts[lane]));
    }
    error.first = std::max(error.first, std::abs(of_group / sum - group.part));
  }
  return error;
}

/// Packets of each VL in a round. There are as many entries as VLs, at least; none is spare.
std::vector<unsigned> best_packets(std::span<const LaneWeight> lanes, std::size_t entries) {
  const auto parts = parts_of(lanes);
  const auto groups = groups_of(lanes, parts);
  std::vector<unsigned> best;
  ListError least{2, 2};
  const auto most = static_cast<unsigned>(entries * kPacketsOfTurn);
  for (auto round = static_cast<unsigned>(lanes.size());
       round <= most && least > ListError{kCloseEnough, kCloseEnough}; ++round) {
    auto of_groups = packets_of(groups, round);
    fit_turns(groups, of_groups, entries);
    auto spare = entries;
    for (std::size_t i = 0; i < groups.size(); ++i) spare -= groups[i].turns(of_groups[i]);
    std::vector<unsigned> packets(lanes.size());
    for (std::size_t i = 0; i < groups.size(); ++i) divide(groups[i], parts, of_groups[i], spare, packets);
    const auto found = error_of_packets(groups, parts, packets);
    const bool better = found.first < least.first - kSame ||
                        (found.first < least.first + kSame && found.second < least.second - kSame);
    if (!better) continue;
    least = found;
    best = std::move(packets);
  }
  return best;
}

std::size_t all_turns(const std::vector<unsigned>& packets) {
  std::size_t turns = 0;
  for (const auto one : packets) turns += turns_of(one);
  return turns;
}

/// The link's VLs while the first `own` classes have VLs of their own. `ranks_used`: so many of the indexes
/// have routes, the others are spare.
QosLanes lanes_with(std::span<const QosPart::Class> classes, std::span<const double> loads,
                    const std::vector<std::size_t>& used, std::size_t own, const LaneLimits& limits,
                    std::size_t ranks_used) {
  const bool has_high = limits.high != 0;
  QosLanes lanes;
  lanes.own = own;
  const double load = std::accumulate(loads.begin(), loads.end(), 0.0);
  std::map<Vl, LaneWeight> low, high;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto at = i < own ? i : 0;
    const auto vl_of = [&](std::size_t rank) {
      return Vl{static_cast<std::uint8_t>(limits.in_blocks ? at * used.size() + rank : rank * own + at)};
    };
    auto& of_class = lanes.vls.emplace_back(loads.size(), vl_of(0));
    for (std::size_t rank = 0; rank < used.size(); ++rank) {
      const auto vl = vl_of(rank);
      of_class[used[rank]] = vl;
      auto& table = has_high && classes[at].high ? high : low;
      auto& lane = table[vl];
      lane.vl = vl;
      lane.of_class = at;
      lane.spare = rank >= ranks_used;
      // Shares of the two priorities are of different wholes.
      if (has_high && classes[i].high != classes[at].high) continue;
      lane.part += classes[i].share * (load > 0 ? loads[used[rank]] / load : 1.0);
    }
  }
  for (const auto& [vl, lane] : low) lanes.low.push_back(lane);
  for (const auto& [vl, lane] : high) lanes.high.push_back(lane);
  return lanes;
}

/// Of what a table sends, by VL, with the turns that it has room for.
std::map<Vl, double> sent_by_vl(std::span<const LaneWeight> lanes, std::size_t entries) {
  std::map<Vl, double> sent;
  if (lanes.empty() || lanes.size() > entries) return sent;
  const auto packets = best_packets(lanes, entries);
  const double sum = std::accumulate(packets.begin(), packets.end(), 0U);
  for (std::size_t i = 0; i < lanes.size(); ++i) sent[lanes[i].vl] = packets[i] / sum;
  return sent;
}

/// The sum of what classes get too much or too little of what their priority sends, where those on one VL
/// have equal parts of it. A class of high priority on a VL of low has lost it: nothing is worse.
double error_of(std::span<const QosPart::Class> classes, const QosLanes& lanes, const LaneLimits& limits) {
  constexpr double kLostPriority = 10;
  const auto low = sent_by_vl(lanes.low, limits.low), high = sent_by_vl(lanes.high, limits.high);
  std::map<Vl, unsigned> on_vl;
  std::array<double, 2> asked{};
  const auto of = [&](const QosPart::Class& one) -> std::size_t { return limits.high != 0 && one.high; };
  for (std::size_t i = 0; i < classes.size(); ++i) {
    ++on_vl[lanes.vls[i].front()];
    asked[of(classes[i])] += classes[i].share;
  }
  double error = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto vl = lanes.vls[i].front();
    const auto& sent = of(classes[i]) != 0 ? high : low;
    const auto at = sent.find(vl);
    if (at == sent.end()) {
      error += kLostPriority;
      continue;
    }
    error += std::abs(at->second / on_vl[vl] - classes[i].share / std::max(asked[of(classes[i])], 1.0));
  }
  return error;
}

/// Entries that a list leaves over; as many as may be needed where there is none.
std::size_t entries_left(std::span<const LaneWeight> lanes, std::size_t entries) {
  constexpr std::size_t kAny = 64;
  if (entries == 0) return kAny;
  return lanes.empty() ? entries : entries - all_turns(best_packets(lanes, entries));
}

/// The same lanes with those of indexes that no route has, as many as there are VLs and entries left for.
QosLanes with_spare(QosLanes lanes, std::span<const QosPart::Class> classes, std::span<const double> loads,
                    std::vector<std::size_t> used, const LaneLimits& limits) {
  const auto ranks_used = used.size();
  const auto of_index = [&](const std::vector<LaneWeight>& list) { return list.size() / ranks_used; };
  const auto low = of_index(lanes.low), high = of_index(lanes.high);
  auto low_left = low == 0 ? 0 : entries_left(lanes.low, limits.low);
  auto high_left = high == 0 ? 0 : entries_left(lanes.high, limits.high);
  for (auto index = used.back() + 1; index < loads.size(); ++index) {
    if (lanes.own * (used.size() + 1) > limits.vls || low > low_left || high > high_left) break;
    used.push_back(index);
    low_left -= low;
    high_left -= high;
  }
  if (used.size() == ranks_used) return lanes;
  return lanes_with(classes, loads, used, lanes.own, limits, ranks_used);
}

}  // namespace

std::expected<WireSls, LaneBudget> wire_sls(std::span<const Sl> classes, unsigned layers, const WireSls& kept,
                                            bool in_blocks) {
  const LaneBudget budget{.needed = classes.size() * layers, .available = kSlCount};
  if (budget.needed > budget.available) return std::unexpected(budget);
  WireSls sls;
  std::set<Sl> used;
  const auto give = [&](Sl of, unsigned layer, Sl sl) {
    return used.insert(sl).second && sls.emplace(std::pair(of, layer), sl).second;
  };
  for (const auto of : classes) {
    for (unsigned layer = 0; layer < layers; ++layer) {
      if (const auto at = kept.find({of, layer}); at != kept.end()) give(of, layer, at->second);
    }
  }
  for (const auto of : classes) {
    if (!in_blocks || layers > kBlock || sls.contains({of, 0})) continue;
    const auto own = static_cast<std::uint8_t>(of.value() / kBlock * kBlock);
    for (const auto first : {own, static_cast<std::uint8_t>(kBlock - own)}) {
      const auto taken = [&](Sl sl) { return sl.value() >= first && sl.value() < first + layers; };
      if (std::ranges::any_of(used, taken)) continue;
      for (unsigned layer = 0; layer < layers; ++layer)
        give(of, layer, Sl{static_cast<std::uint8_t>(first + layer)});
      break;
    }
  }
  std::map<Sl, unsigned> resting;  // of classes and layers that may come back: the layers
  for (const auto& [key, sl] : kept) {
    if (!used.contains(sl)) resting.emplace(sl, key.second);
  }
  for (const auto of : classes) {
    if (!sls.contains({of, 0}) && !used.contains(of) && !resting.contains(of)) give(of, 0, of);
  }
  // Connections may go on on an SL that rests: in the layer that it was of they close no credit loop.
  enum class From : std::uint8_t { free, resting_in_layer, any };
  for (const auto from : {From::free, From::resting_in_layer, From::any}) {
    const auto is_for = [&](Sl sl, unsigned layer) {
      const auto rests = resting.find(sl);
      return from == From::any || rests == resting.end() ||
             (from == From::resting_in_layer && rests->second == layer);
    };
    for (unsigned layer = 0; layer < layers; ++layer) {
      for (const auto of : classes) {
        for (std::uint8_t sl = 0; sl < kSlCount && !sls.contains({of, layer}); ++sl) {
          if (!used.contains(Sl{sl}) && is_for(Sl{sl}, layer)) give(of, layer, Sl{sl});
        }
      }
    }
  }
  for (const auto& [key, sl] : kept) {
    if (!sls.contains(key)) give(key.first, key.second, sl);
  }
  return sls;
}

std::expected<QosLanes, LaneBudget> qos_lanes(std::span<const QosPart::Class> classes,
                                              std::span<const double> loads, const LaneLimits& limits) {
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (loads[i] > 0) used.push_back(i);
  }
  if (used.empty()) used.push_back(0);  // no route, but the table is written
  const LaneBudget budget{.needed = classes.size() * used.size(), .available = limits.vls};
  if (used.size() > limits.vls) return std::unexpected(LaneBudget{used.size(), limits.vls});
  // Layers that come and go move no VL: their number alone says how many classes have VLs of their own.
  const bool by_error = loads.size() == 1 && limits.low != 0;
  std::optional<QosLanes> best;
  double least = 0;
  for (auto own = std::min(classes.size(), limits.vls / used.size()); own > 0; --own) {
    auto lanes = lanes_with(classes, loads, used, own, limits, used.size());
    const bool fits = (limits.low == 0 || lanes.low.size() <= limits.low) &&
                      (limits.high == 0 || lanes.high.size() <= limits.high);
    if (!fits) continue;
    const double error = by_error ? error_of(classes, lanes, limits) : 0;
    if (best && error >= least - kWorthAVl) continue;
    least = error;
    best = std::move(lanes);
    if (least < kWorthAVl) break;  // no VL is worth giving up
  }
  if (!best) return std::unexpected(budget);
  // The VLs of a block would move by further ones.
  const bool may_add = !limits.in_blocks && loads[used.front()] > 0;
  auto lanes = may_add ? with_spare(*std::move(best), classes, loads, used, limits) : *std::move(best);
  lanes.budget = budget;
  return lanes;
}

std::vector<wire::VlWeight> arbitration_list(std::span<const LaneWeight> all, std::size_t entries) {
  if (entries == 0 || all.empty() || all.size() > entries) return {};
  const auto used = std::ranges::find(all, true, &LaneWeight::spare) - all.begin();
  auto packets = best_packets(all.first(static_cast<std::size_t>(used)), entries);
  packets.resize(std::min(all.size(), packets.size() + entries - all_turns(packets)), 1);
  std::vector<std::pair<double, wire::VlWeight>> turns;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const auto count = turns_of(packets[i]);
    for (std::size_t turn = 0; turn < count; ++turn) {
      const auto of_turn = static_cast<unsigned>(packets[i] * (turn + 1) / count - packets[i] * turn / count);
      const auto weight = static_cast<std::uint8_t>(std::min(of_turn * kUnitsOfPacket, kMostUnits));
      turns.push_back({(static_cast<double>(turn) + 0.5) / static_cast<double>(count), {all[i].vl, weight}});
    }
  }
  std::ranges::sort(turns, {}, [](const auto& one) { return std::pair(one.first, one.second.vl); });
  std::vector<wire::VlWeight> list;
  for (const auto& [place, turn] : turns) list.push_back(turn);
  return list;
}

}  // namespace smd::sm::inline decisions
