// SPDX-License-Identifier: Apache-2.0
// Detects swapped cables between switches whose group has two members, such as the leaves of a pod of two.
// There is no majority, so every swap of two cables is tried until all pairs match.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "routing/cabling/below_a_leaf.h"
#include "routing/cabling/health.h"
#include "routing/cabling/swap_trial.h"

namespace smd::routing::inline cabling {
namespace {

using Above = std::vector<SwitchIndex>;  ///< one element per cable, ascending

/// With more unmatched switches, a swap of two cables is no explanation.
constexpr std::size_t kMostSingles = 32;

/// Elements of `one` that `other` lacks.
Above beyond(const Above& one, const Above& other) {
  Above rest;
  std::ranges::set_difference(one, other, std::back_inserter(rest));
  return rest;
}

/// Number of cables to each upper switch, ascending.
std::vector<std::size_t> profile(const Above& above) {
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < above.size(); ++i) {
    if (i == 0 || above[i] != above[i - 1]) counts.push_back(0);
    ++counts.back();
  }
  std::ranges::sort(counts);
  return counts;
}

/// The cables from `a` to `from_a` and from `b` to `from_b` should be swapped.
struct Change {
  SwitchIndex a = 0, from_a = 0, b = 0, from_b = 0;
};

class PairedSwitches {
 public:
  PairedSwitches(const Topology& topology, const SwitchRanking& ranking)
      : topology_(topology), above_(topology.switches()) {
    std::map<std::int32_t, std::map<Above, std::vector<SwitchIndex>>> ranks;
    for (SwitchIndex s = 0; s < above_.size(); ++s) {
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        const auto group = topology.group(s, g);
        if (ranking.rank[group.peer] < ranking.rank[s])
          above_[s].insert(above_[s].end(), group.ports.size(), group.peer);
      }
      if (!leaf_above(topology, s)) ranks[ranking.rank[s]][above_[s]].push_back(s);
    }
    for (const auto& [rank, alike] : ranks) add_rank(alike);
  }

  std::optional<Change> find() const {
    for (const auto& [singles, usual] : ranks_) {
      if (const auto found = within_a_pair(singles, usual)) return found;
      if (const auto found = between_pairs(singles, usual)) return found;
    }
    return std::nullopt;
  }

 private:
  struct Rank {
    std::vector<SwitchIndex> singles;  ///< unmatched
    std::vector<std::size_t> usual;    ///< profile of the pairs
  };

  /// Adds a rank if more of its switches are in pairs than in larger groups and few are unmatched.
  void add_rank(const std::map<Above, std::vector<SwitchIndex>>& alike) {
    Rank rank;
    std::size_t in_more = 0, in_pairs = 0;
    std::map<std::vector<std::size_t>, std::size_t> profiles;
    for (const auto& [above, switches] : alike) {
      in_more += switches.size() > 2 ? switches.size() : 0;
      if (switches.size() == 1) rank.singles.push_back(switches.front());
      if (switches.size() != 2 || above.size() < 2) continue;
      in_pairs += 2;
      ++profiles[profile(above)];
    }
    const auto singles = rank.singles.size();
    if (in_pairs <= in_more || singles > kMostSingles || singles > in_pairs + 4) return;
    std::ranges::sort(rank.singles);
    rank.usual =
        std::ranges::max_element(profiles, {}, [](const auto& entry) { return entry.second; })->first;
    ranks_.push_back(std::move(rank));
  }

  /// One has an extra cable to where the other lacks one, and vice versa.
  std::optional<Change> within_a_pair(std::span<const SwitchIndex> singles,
                                      const std::vector<std::size_t>& usual) const {
    for (const auto a : singles) {
      for (const auto b : singles) {
        if (a >= b) continue;
        const auto x = beyond(above_[a], above_[b]), y = beyond(above_[b], above_[a]);
        if (x.size() != 2 || y.size() != 2 || x[0] != x[1] || y[0] != y[1]) continue;
        const Change found{a, x[0], b, y[0]};
        auto right = without(a, x[0]);
        right.insert(std::ranges::upper_bound(right, y[0]), y[0]);
        if (profile(right) == usual) return found;
      }
    }
    return std::nullopt;
  }

  /// Two switches that would be a pair if `a` had a cable to `y` instead of `x`.
  struct Pair {
    SwitchIndex a = 0, c = 0, x = 0, y = 0;
  };
  std::vector<Pair> almost_pairs(std::span<const SwitchIndex> singles,
                                 const std::vector<std::size_t>& usual) const {
    std::vector<Pair> pairs;
    for (const auto a : singles) {
      for (const auto c : singles) {
        const auto x = beyond(above_[a], above_[c]), y = beyond(above_[c], above_[a]);
        const bool one = a != c && x.size() == 1 && y.size() == 1;
        if (one && profile(above_[c]) == usual) pairs.push_back({a, c, x[0], y[0]});
      }
    }
    return pairs;
  }

  /// Of four switches in two such pairs, cables of two are swapped. The swap could also be at the other two,
  /// and with few cables the pairs could be others: near GUIDs decide.
  std::optional<Change> between_pairs(std::span<const SwitchIndex> singles,
                                      const std::vector<std::size_t>& usual) const {
    std::optional<Change> best;
    auto least = ~std::uint64_t{0};
    const auto pairs = almost_pairs(singles, usual);
    for (const auto& [a, c, x, y] : pairs) {
      for (const auto& [b, d, other_y, other_x] : pairs) {
        if (other_x != x || other_y != y || a >= b || a == d || c == b || c == d) continue;
        const auto rest = without(a, x), other = without(b, y);
        const auto apart = near(a, {c}) + near(b, {d}) + near(y, rest) + near(x, other);
        if (apart >= least) continue;
        least = apart;
        best = {a, x, b, y};
      }
    }
    return best;
  }

  /// The upper switches of `s` without one cable to `peer`.
  Above without(SwitchIndex s, SwitchIndex peer) const {
    auto above = above_[s];
    above.erase(std::ranges::find(above, peer));
    return above;
  }

  std::uint64_t near(SwitchIndex s, const Above& others) const {
    auto least = std::uint64_t{1} << 60U;  // small enough for sums of several
    const auto own = topology_.guid(s).value();
    for (const auto other : others) {
      const auto guid = topology_.guid(other).value();
      least = std::min(least, std::max(own, guid) - std::min(own, guid));
    }
    return least;
  }

  const Topology& topology_;
  std::vector<Above> above_;  ///< by switch
  std::vector<Rank> ranks_;
};

PortNum last_port_to(const Topology& topology, SwitchIndex s, SwitchIndex peer) {
  std::size_t g = 0;
  while (topology.group(s, g).peer != peer) ++g;
  return topology.group(s, g).ports.back();
}

}  // namespace

std::optional<Topology> check_paired_switches(const HealthInput& in, const SwitchRanking& ranking,
                                              Health& health) {
  const auto& topology = in.topology;
  const auto found = PairedSwitches(topology, ranking).find();
  if (!found) return std::nullopt;
  const auto [a, from_a, b, from_b] = *found;
  const CableSwap swap{a, last_port_to(topology, a, from_a), b, last_port_to(topology, b, from_b)};
  health.findings.push_back(describe(in, swap));
  return with_swap(topology, swap);
}

}  // namespace smd::routing::inline cabling
