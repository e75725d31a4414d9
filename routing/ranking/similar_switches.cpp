// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/similar_switches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "routing/ranking/disjoint_sets.h"

namespace smd::routing::inline ranking {
namespace {

/// Cables to one switch above.
struct Cables {
  SwitchIndex peer = 0;
  std::size_t count = 0;
  friend auto operator<=>(const Cables&, const Cables&) = default;
};

/// Switches of one rank with identical cables upwards.
struct Kind {
  std::vector<Cables> above;  ///< ascending
  std::vector<SwitchIndex> switches;
  std::int32_t rank = 0;

  std::size_t cables() const {
    std::size_t all = 0;
    for (const auto& entry : above) all += entry.count;
    return all;
  }
  bool repeated() const { return switches.size() > 1; }
};

std::vector<Kind> kinds_of(const Topology& topology, const SwitchRanking& ranking) {
  std::vector<Kind> kinds;
  std::map<std::pair<std::int32_t, std::vector<Cables>>, std::size_t> known;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    std::vector<Cables> up;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto group = topology.group(s, g);
      if (ranking.rank[group.peer] < ranking.rank[s]) up.push_back({group.peer, group.ports.size()});
    }
    // Switches without uplinks form a group per rank.
    const auto [at, fresh] = known.try_emplace(std::pair(ranking.rank[s], up), kinds.size());
    if (fresh) kinds.push_back({std::move(up), {}, ranking.rank[s]});
    kinds[at->second].switches.push_back(s);
  }
  return kinds;
}

/// Two kinds, the first with the smaller number, that may be one group.
struct Similar {
  std::uint32_t one = 0, other = 0;
  std::size_t apart = 0;  ///< upper switches that only one of them has
  std::size_t lacks = 0;  ///< of these, the ones of that which has more of them
};

class Grouping {
 public:
  Grouping(const Topology& topology, std::span<const Kind> kinds)
      : kinds_(kinds), sets_(kinds.size()), nearest_(kinds.size()) {
    std::vector<std::vector<Below>> below(topology.switches());
    for (std::uint32_t i = 0; i < kinds.size(); ++i) {
      for (const auto& [upper, cables] : kinds[i].above) below[upper].push_back({i, cables});
    }
    find_similar(below);
  }

  /// A single switch, damaged perhaps, joins the repeated kind that is most like it, so that it does not join
  /// two generations; single ones join each other where there is no such kind.
  DisjointSets run() {
    for (const auto& pair : similar_) {
      if (!kinds_[pair.one].repeated()) propose(pair.one, pair.other, pair.apart);
      if (!kinds_[pair.other].repeated()) propose(pair.other, pair.one, pair.apart);
    }
    for (const auto& pair : similar_) {
      if (joined(pair)) sets_.join(pair.one, pair.other);
    }
    return std::move(sets_);
  }

 private:
  struct Below {
    std::uint32_t kind;
    std::size_t cables;
  };
  struct Shared {
    std::size_t peers = 0, cables = 0;
  };
  struct Nearest {
    std::size_t apart = 0, fewer = 0;  ///< `fewer`: switches of other kinds than that
    std::uint32_t kind = 0;
    friend auto operator<=>(const Nearest&, const Nearest&) = default;
  };

  /// Pairs of one rank that share more than half of the upper switches of the smaller one, unless they share
  /// only half of its cables: two switches with swapped cables have something of both groups.
  void find_similar(std::span<const std::vector<Below>> below) {
    std::vector<Shared> shared(kinds_.size());
    std::vector<std::uint32_t> touched;
    for (std::uint32_t i = 0; i < kinds_.size(); ++i) {
      touched.clear();
      for (const auto& [upper, own] : kinds_[i].above) {
        for (const auto& [other, cables] : below[upper]) {
          if (other <= i) continue;
          if (shared[other].peers++ == 0) touched.push_back(other);
          shared[other].cables += std::min(own, cables);
        }
      }
      for (const auto other : touched) {
        const auto [peers, both] = std::exchange(shared[other], {});
        const auto one = kinds_[i].above.size(), two = kinds_[other].above.size();
        const auto smaller = std::min(one, two);
        const auto cables = std::min(kinds_[i].cables(), kinds_[other].cables());
        if (kinds_[i].rank == kinds_[other].rank && peers * 2 > smaller &&
            (peers == smaller || both * 2 > cables))
          similar_.push_back({i, other, one + two - 2 * peers, std::max(one, two) - peers});
      }
    }
  }

  void propose(std::uint32_t single, std::uint32_t kind, std::size_t apart) {
    if (!kinds_[kind].repeated()) return;
    const Nearest found{apart, ~kinds_[kind].switches.size(), kind};
    auto& best = nearest_[single];
    if (!best || found < *best) best = found;
  }

  /// Not by chance: several switches that lost the same cables are rare.
  bool are_generations(const Similar& pair) const {
    const auto &one = kinds_[pair.one], &other = kinds_[pair.other];
    const auto fewer = std::min(one.switches.size(), other.switches.size());
    const bool design = pair.lacks > 2 || (pair.lacks == 2 && fewer > 3);
    return design && pair.lacks * 8 >= std::max(one.above.size(), other.above.size());
  }

  bool nearest_is(std::uint32_t single, std::uint32_t kind) const {
    const auto& best = nearest_[single];
    return best && best->kind == kind;
  }

  bool joined(const Similar& pair) const {
    const bool one = kinds_[pair.one].repeated(), other = kinds_[pair.other].repeated();
    if (one && other) return !are_generations(pair);
    if (one) return nearest_is(pair.other, pair.one);
    if (other) return nearest_is(pair.one, pair.other);
    return !nearest_[pair.one] || !nearest_[pair.other];
  }

  std::span<const Kind> kinds_;
  DisjointSets sets_;
  std::vector<Similar> similar_;
  std::vector<std::optional<Nearest>> nearest_;  ///< by kind that occurs once: the repeated kind most like it
};

}  // namespace

std::vector<std::uint32_t> similar_switches(const Topology& topology, const SwitchRanking& ranking) {
  const auto kinds = kinds_of(topology, ranking);
  auto sets = Grouping(topology, kinds).run();
  std::vector<std::uint32_t> group(topology.switches());
  for (std::uint32_t i = 0; i < kinds.size(); ++i) {
    for (const auto s : kinds[i].switches) group[s] = sets.first(i);
  }
  return group;
}

}  // namespace smd::routing::inline ranking
