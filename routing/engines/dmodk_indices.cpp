// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/dmodk_indices.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <utility>

namespace smd::routing::inline engines {
namespace {

/// A divider beyond the LID space has no further effect.
constexpr std::uint64_t kMaxDivider = 0x10000;

/// Destinations that a lower switch sends up: number % divider == residue.
struct Arrival {
  std::uint32_t divider = 1;
  std::uint32_t residue = 0;
  friend auto operator<=>(const Arrival&, const Arrival&) = default;
};

struct Counted {
  Arrival arrival;
  std::size_t count = 0;
};

/// The divider of most arrivals, the largest of equally frequent ones.
std::uint32_t usual_divider(std::span<const Counted> counted) {
  std::uint32_t best = 1;
  std::size_t most = 0;
  for (std::size_t i = 0; i < counted.size();) {
    const auto divider = counted[i].arrival.divider;
    std::size_t count = 0;
    for (; i < counted.size() && counted[i].arrival.divider == divider; ++i) count += counted[i].count;
    if (count >= most) best = divider;
    most = std::max(most, count);
  }
  return best;
}

/// Removes a period that is a part of the divider: residues 1 and 3 of 4 are residue 1 of 2.
void shorten(DmodkIndex& index) {
  for (std::uint32_t prime = 2; prime <= index.residues.size(); ++prime) {
    while (index.divider % prime == 0 && index.residues.size() % prime == 0) {
      const auto part = index.divider / prime;
      auto rest = index.residues;
      for (auto& residue : rest) residue %= part;
      std::ranges::sort(rest);
      const auto repeated = std::ranges::unique(rest);
      rest.erase(repeated.begin(), repeated.end());
      if (rest.size() * prime != index.residues.size()) break;
      index = {part, std::move(rest)};
    }
  }
}

/// What most lower switches send: single misplaced cables do not count.
DmodkIndex index_of(std::vector<Arrival>& arrivals) {
  if (arrivals.empty()) return {};
  if (std::ranges::adjacent_find(arrivals, std::ranges::not_equal_to{}) == arrivals.end()) {
    return {arrivals.front().divider, {arrivals.front().residue}};
  }
  std::ranges::sort(arrivals);
  std::vector<Counted> counted;
  for (const auto& arrival : arrivals) {
    if (counted.empty() || counted.back().arrival != arrival) counted.push_back({arrival, 0});
    ++counted.back().count;
  }
  DmodkIndex index{usual_divider(counted), {}};
  std::size_t most = 0;
  const auto usual = [&](const Counted& entry) { return entry.arrival.divider == index.divider; };
  for (const auto& entry : counted | std::views::filter(usual)) most = std::max(most, entry.count);
  for (const auto& entry : counted | std::views::filter(usual)) {
    if (entry.count * 2 > most) index.residues.push_back(entry.arrival.residue);
  }
  shorten(index);
  return index;
}

/// The numbers of the places in the order of turns, without a whole period of equal rounds.
std::vector<std::size_t> turns_of(std::span<const UplinkPlace> places) {
  std::vector<std::size_t> turns;
  const bool even =
      std::ranges::adjacent_find(places, std::ranges::not_equal_to{}, &UplinkPlace::cables) == places.end();
  for (std::size_t round = 0, before = places.size(); before != 0; ++round) {
    const auto size = turns.size();
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i].cables > round) turns.push_back(i);
    }
    before = even ? 0 : turns.size() - size;
  }
  return turns;
}

class Indices {
 public:
  Indices(const Topology& topology, const SwitchRanking& ranking, const TreeTemplate& tree_template)
      : topology_(topology), ranking_(ranking), template_(tree_template), arrivals_(topology.switches()) {}

  std::vector<DmodkIndex> find() {
    std::vector<DmodkIndex> indices(topology_.switches());
    std::vector<SwitchIndex> upwards(topology_.switches());
    std::iota(upwards.begin(), upwards.end(), SwitchIndex{0});
    std::ranges::sort(upwards, std::ranges::greater{},
                      [&](SwitchIndex s) { return std::pair(ranking_.rank[s], s); });
    for (const auto s : upwards) {
      indices[s] = index_of(arrivals_[s]);
      send_up(s, indices[s]);
    }
    return indices;
  }

 private:
  void send_up(SwitchIndex s, const DmodkIndex& index) {
    if (arrivals_[s].empty() && topology_.hosts(s) == 0) return;  // no host sends by it
    const auto places = uplink_places(topology_, ranking_, template_, s);
    const auto turns = turns_of(places);
    if (turns.empty()) return;
    const std::size_t count = index.residues.size(), rounds = turns.size() / std::gcd(turns.size(), count);
    const auto divider =
        static_cast<std::uint32_t>(std::min(std::uint64_t{index.divider} * rounds, kMaxDivider));
    for (std::size_t round = 0, turn = 0; round < rounds; ++round) {
      for (const auto residue : index.residues) {
        const auto peer = places[turns[turn++ % turns.size()]].peer;
        if (peer == kNoSwitch || ranking_.rank[peer] >= ranking_.rank[s]) continue;
        const auto number = residue + std::uint64_t{round} * index.divider;
        arrivals_[peer].push_back({divider, static_cast<std::uint32_t>(number % divider)});
      }
    }
  }

  const Topology& topology_;
  const SwitchRanking& ranking_;
  const TreeTemplate& template_;
  std::vector<std::vector<Arrival>> arrivals_;  ///< by switch
};

}  // namespace

std::vector<DmodkIndex> dmodk_indices(const Topology& topology, const SwitchRanking& order,
                                      const TreeTemplate& tree_template) {
  return Indices(topology, order, tree_template).find();
}

}  // namespace smd::routing::inline engines
