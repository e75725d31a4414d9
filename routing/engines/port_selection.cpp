// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/port_selection.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace smd::routing::inline engines {
namespace {
/// Long enough to copy most rows in few pieces.
constexpr std::size_t kPattern = 512;
/// A longer pattern is not worth its memory.
constexpr std::size_t kMostMemory = 0x10000;
/// The substitution of missing ports may repeat after so many turns.
constexpr std::size_t kLongestPattern = 4096;
/// Designs with two speeds need few rounds: three where half of the spines are EDR beside HDR. Only whole
/// rotations are shared exactly.
constexpr std::uint64_t kMostExactRounds = 4;
}  // namespace

std::vector<UplinkPlace> uplink_places(const Topology& topology, const SwitchRanking& ranking,
                                       const TreeTemplate& tree_template, SwitchIndex s) {
  const auto& switch_group = tree_template.of(s);
  const auto& wanted = switch_group.slots;
  const std::size_t cables = wanted.empty() ? 1 : wanted.front().cables;
  std::vector<UplinkPlace> places(switch_group.width(), UplinkPlace{kNoSwitch, cables, {}, 0});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    places[switch_group.place(i)] = {wanted[i].peer, wanted[i].cables, {}, 0};
  }
  for (std::size_t g = 0; g < topology.groups(s); ++g) {
    const auto group = topology.group(s, g);
    if (!ranking.up(s, group.peer)) continue;
    const auto at = std::ranges::lower_bound(wanted, group.peer, {}, &UplinkSlot::peer);
    const bool known = at != wanted.end() && at->peer == group.peer;
    // A cable to a switch beside it leads to what is below that one only.
    if (!known && !wanted.empty() && ranking.rank[group.peer] == ranking.rank[s]) continue;
    auto& place = known ? places[switch_group.place(static_cast<std::size_t>(at - wanted.begin()))]
                        : places.emplace_back(UplinkPlace{group.peer, 0, {}, 0});
    place.cables = std::max(place.cables, group.ports.size());
    place.ports = group.ports;
    place.group = static_cast<std::uint8_t>(g);
  }
  return places;
}

namespace {

/// Whether both have cables of the same rates to the same upper switches, as far as both are there.
bool same_rates(const Topology& topology, SwitchIndex one, SwitchIndex other,
                std::span<const UplinkPlace> places) {
  for (const auto& place : places) {
    if (place.peer == kNoSwitch) continue;
    for (std::size_t g = 0; g < topology.groups(other); ++g) {
      const auto group = topology.group(other, g);
      if (group.peer != place.peer) continue;
      for (std::size_t i = 0; i < std::min(group.ports.size(), place.ports.size()); ++i) {
        if (topology.rate(one, place.ports[i]) != topology.rate(other, group.ports[i])) return false;
      }
    }
  }
  return true;
}

/// Whether the two members beside `s` in its group have the same rates.
bool rates_by_design(const Topology& topology, const TreeTemplate& tree_template, SwitchIndex s,
                     std::span<const UplinkPlace> places) {
  if (topology.one_rate()) return true;
  const auto& members = tree_template.of(s).members;
  const auto at = static_cast<std::size_t>(std::ranges::lower_bound(members, s) - members.begin());
  const auto n = members.size();
  return same_rates(topology, s, members[(at + 1) % n], places) &&
         same_rates(topology, s, members[(at + n - 1) % n], places);
}

}  // namespace

RoundRobin uplink_round_robin(const Topology& topology, const SwitchRanking& ranking,
                              const TreeTemplate& tree_template, SwitchIndex s,
                              std::span<const SwitchIndex> only) {
  auto places = uplink_places(topology, ranking, tree_template, s);
  if (!only.empty()) {
    std::erase_if(places, [&](const UplinkPlace& place) {
      return place.peer == kNoSwitch || !std::ranges::binary_search(only, place.peer);
    });
  }
  RoundRobin result;
  result.rates_by_design = rates_by_design(topology, tree_template, s, places);
  bool more = true;
  for (std::size_t round = 0; more; ++round) {
    more = false;
    for (const auto& place : places) {
      if (place.cables <= round) continue;
      more = true;
      const bool there = place.ports.size() > round;
      result.turns.push_back({there ? place.ports[round].value() : std::uint8_t{0}, place.group});
    }
  }
  return result;
}

std::size_t turn_of(std::uint32_t number, const DmodkIndex& index, std::size_t turns) {
  const auto rest = number % index.divider;
  const auto& residues = index.residues;
  const auto at = std::ranges::lower_bound(residues, rest);
  const bool own = at != residues.end() && *at == rest;
  const auto first = own ? static_cast<std::size_t>(at - residues.begin())
                         : (rest + index.divider - residues.front()) % index.divider;
  return (std::size_t{number / index.divider} * residues.size() + first) % turns;
}

void Candidates::round_robin(const Topology& topology, SwitchIndex s, const GroupSet& set,
                             std::vector<std::uint8_t>& out) {
  out.clear();
  groups_.clear();
  for (std::size_t w = 0; w < set.words.size(); ++w) {
    for (auto word = set.words[w]; word != 0; word &= word - 1) {
      groups_.push_back(topology.group(s, w * 64 + static_cast<std::size_t>(std::countr_zero(word))));
    }
  }
  bool more = true;
  for (std::size_t turn = 0; more; ++turn) {
    more = false;
    for (const auto& group : groups_) {
      if (group.ports.size() > turn) out.push_back(group.ports[turn].value());
      more = more || group.ports.size() > turn + 1;
    }
  }
}

bool Candidates::rates_differ(const Topology& topology, SwitchIndex s) const {
  const auto rate = [&](std::uint8_t port) { return topology.rate(s, PortNum{port}); };
  return std::ranges::any_of(live_, [&](std::uint8_t port) { return rate(port) != rate(live_.front()); });
}

/// The turns of one rotation by rate, in whole numbers: over `rounds` rounds each port takes its quota. A
/// slow port keeps some of its own turns, evenly spread, and leaves the others to the same fast ports each
/// time, so that no window of destinations gives many turns to one port. Each `rotation` starts at another
/// round: what several switches send to the same destinations is shared by rate too. Empty if the rotation is
/// too long.
std::vector<std::uint8_t> Candidates::exact_shares(const Topology& topology, SwitchIndex s,
                                                   std::size_t rotation, std::uint32_t divider) const {
  std::uint64_t all = 0, common = 0;
  std::array<std::uint64_t, 256> quota{};  // by port
  for (const auto port : live_) all += topology.rate(s, PortNum{port});
  for (const auto port : live_) {
    quota[port] = std::uint64_t{own_.size()} * topology.rate(s, PortNum{port});
    common = std::gcd(common, quota[port]);
  }
  common = std::gcd(common, all);
  const auto rounds = all / common;
  if (rounds > kMostExactRounds || rounds * own_.size() * divider > kLongestPattern) return {};
  std::vector<std::uint8_t> turns(rounds * own_.size());
  std::vector<std::size_t> left;  // turns without a port
  std::array<std::uint64_t, 256> used{};
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const auto port = own_[i];
    const auto keeps = port == 0 ? 0 : std::min(quota[port] / common, rounds);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const auto at = round * own_.size() + i;
      const auto phase = (round + i) % rounds;
      if ((phase + 1) * keeps / rounds != phase * keeps / rounds) {
        turns[at] = port;
        ++used[port];
      } else {
        left.push_back(at);
      }
    }
  }
  auto next = live_.begin();
  for (const auto at : left) {
    while (next != live_.end() && used[*next] >= quota[*next] / common) ++next;
    if (next == live_.end()) return {};
    turns[at] = *next;
    ++used[*next];
  }
  std::ranges::rotate(turns, turns.begin() + static_cast<std::ptrdiff_t>(rotation % rounds * own_.size()));
  return turns;
}

/// A port takes its own turn while it is behind its share of all turns so far. Otherwise, and if it is
/// missing, the least used port takes the turn. So every prefix of the rotation is well balanced, for any
/// number of destinations.
void Candidates::share_by_rate(const Topology& topology, SwitchIndex s, std::size_t rotation,
                               std::uint32_t divider) {
  if (ports_ = exact_shares(topology, s, rotation, divider); !ports_.empty()) return;
  std::uint64_t all = 0, unit = 0;
  for (const auto port : live_) {
    const std::uint64_t rate = topology.rate(s, PortNum{port});
    all += rate;
    unit = std::gcd(unit, rate);
  }
  const auto most = std::max<std::uint64_t>(kLongestPattern / own_.size() / divider, 1);
  const auto rounds = std::clamp<std::uint64_t>(all / unit, 1, most);
  std::array<std::uint32_t, 256> used{};
  ports_.clear();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < own_.size(); ++i) {
      auto port = own_[i];
      const auto made = std::uint64_t{ports_.size()} + 1;
      const bool behind = port != 0 && used[port] * all < made * topology.rate(s, PortNum{port});
      if (!behind) {
        const auto first = port != 0 ? i : round + i + rotation;
        port = live_[least_used(topology, s, live_, used, first % live_.size())];
      }
      ++used[port];
      ports_.push_back(port);
    }
  }
}

void Candidates::reset(const Topology& topology, SwitchIndex s, const GroupSet& set) {
  pattern_.clear();
  written_ = 0;
  skewed_ = false;
  round_robin(topology, s, set, ports_);
}

void Candidates::reset(const Topology& topology, SwitchIndex s, const GroupSet& set, std::uint32_t divider) {
  reset(topology, s, set);
  if (topology.one_rate()) return;
  live_ = own_ = ports_;
  if (rates_differ(topology, s)) share_by_rate(topology, s, 0, divider);
}

bool Candidates::reset(const Topology& topology, SwitchIndex s, const GroupSet& set,
                       const RoundRobin& round_robin_of_tree, std::size_t rotation, std::uint32_t divider) {
  const auto holds = [&](const RoundRobin::Turn& turn) {
    return turn.port != 0 && (set.words[turn.group / 64U] >> (turn.group % 64U) & 1U) != 0;
  };
  pattern_.clear();
  written_ = 0;
  ports_.clear();
  skewed_ = true;
  if (!topology.one_rate()) {
    round_robin(topology, s, set, live_);
    if (round_robin_of_tree.rates_by_design && rates_differ(topology, s)) {
      own_.clear();
      for (const auto& turn : round_robin_of_tree.turns)
        own_.push_back(holds(turn) ? turn.port : std::uint8_t{0});
      share_by_rate(topology, s, rotation, divider);
      return true;
    }
  }
  const bool whole = std::ranges::all_of(round_robin_of_tree.turns, holds);
  if (whole) {
    for (const auto& turn : round_robin_of_tree.turns) ports_.push_back(turn.port);
    return false;
  }
  round_robin(topology, s, set, live_);
  if (live_.size() == 1) {  // it takes all turns anyway
    ports_ = live_;
    return false;
  }
  const std::size_t n = round_robin_of_tree.turns.size();
  const std::size_t rounds = std::clamp<std::size_t>(kLongestPattern / n / divider, 1, live_.size());
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto& turn = round_robin_of_tree.turns[i];
      ports_.push_back(holds(turn) ? turn.port : live_[(round + i + rotation) % live_.size()]);
    }
  }
  return true;
}

/// The turn of the first destination with that remainder. Downwards a switch with one residue does not tell
/// others apart: it receives them only after faults, and then from above.
std::size_t Candidates::first_turn(std::uint32_t rest, const DmodkIndex& index) const {
  if (!skewed_ && index.residues.size() == 1) return 0;
  return turn_of(rest, index, ports_.size());
}

std::uint8_t Candidates::at(std::uint32_t number, const DmodkIndex& index) const {
  const auto turn = std::size_t{number / index.divider} * index.residues.size();
  return ports_[(turn + first_turn(number % index.divider, index)) % ports_.size()];
}

void Candidates::make_pattern(std::size_t period, const DmodkIndex& index) {
  period_ = period;
  pattern_.clear();
  pattern_.reserve(std::max(period * 2, kPattern * 2));
  const std::size_t n = ports_.size(), step = index.residues.size() % n;
  first_.clear();
  for (std::uint32_t rest = 0; rest < index.divider; ++rest) first_.push_back(first_turn(rest, index));
  for (std::size_t round = 0, turn = 0; round < n; ++round) {
    for (const auto first : first_) {
      const auto at = turn + first;
      pattern_.push_back(ports_[at < n ? at : at - n]);
    }
    turn = (turn + step) % n;
  }
  while (pattern_.size() < kPattern) pattern_.insert(pattern_.end(), pattern_.begin(), pattern_.end());
}

void Candidates::write(std::span<std::uint8_t> out, std::uint32_t number, const DmodkIndex& index) {
  if (ports_.size() == 1) {
    std::ranges::fill(out, ports_[0]);
    return;
  }
  const auto period = ports_.size() * index.divider;
  if (pattern_.empty()) {
    written_ += out.size();
    if (period > kMostMemory || written_ * 4 < period) {  // not worth a pattern yet
      for (auto& entry : out) entry = at(number++, index);
      return;
    }
    make_pattern(period, index);
  }
  for (std::size_t phase = number % period_; !out.empty(); phase = 0) {
    const std::size_t length = std::min(out.size(), pattern_.size() - phase);
    std::memcpy(out.data(), pattern_.data() + phase, length);
    out = out.subspan(length);
  }
}

std::size_t least_used(const Topology& topology, SwitchIndex s, std::span<const std::uint8_t> ports,
                       std::span<const std::uint32_t, 256> used, std::size_t first) {
  const auto least = [&](const auto& less) {
    std::size_t best = first;
    for (std::size_t i = 1, at = best; i < ports.size(); ++i) {
      at = at + 1 == ports.size() ? 0 : at + 1;
      if (less(ports[at], ports[best])) best = at;
    }
    return best;
  };
  if (topology.one_rate()) {
    return least([&](std::uint8_t a, std::uint8_t b) { return used[a] < used[b]; });
  }
  const auto with_one_more = [&](std::uint8_t port, std::uint8_t rival) {
    return (std::uint64_t{used[port]} + 1) * topology.rate(s, PortNum{rival});
  };
  return least([&](std::uint8_t a, std::uint8_t b) { return with_one_more(a, b) < with_one_more(b, a); });
}

void LeastUsed::write(std::span<std::uint8_t> out, std::span<const std::uint8_t> ports, LidKind kind) {
  auto& used = used_[static_cast<std::size_t>(kind)];
  auto& turn = turns_[static_cast<std::size_t>(kind)];
  for (auto& entry : out) {
    entry = ports[least_used(topology_, switch_, ports, used, turn++ % ports.size())];
    ++used[entry];
  }
}

}  // namespace smd::routing::inline engines
