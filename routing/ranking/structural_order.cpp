// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/structural_order.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "routing/ranking/columns.h"

namespace smd::routing::inline ranking {
namespace {

/// Rounds of refinement: more than any tree has levels.
constexpr int kRounds = 16;

/// Turns the keys of these switches into numbers with the same order.
void number(std::span<const SwitchIndex> switches, std::span<const std::uint64_t> keys,
            std::vector<std::uint32_t>& numbers) {
  std::vector<std::uint64_t> sorted(keys.begin(), keys.end());
  std::ranges::sort(sorted);
  const auto repeated = std::ranges::unique(sorted);
  sorted.erase(repeated.begin(), repeated.end());
  for (std::size_t i = 0; i < switches.size(); ++i) {
    const auto at = std::ranges::lower_bound(sorted, keys[i]) - sorted.begin();
    numbers[switches[i]] = static_cast<std::uint32_t>(at);
  }
}

class Ordering {
 public:
  Ordering(const Topology& topology, const SwitchRanking& ranking, const TreeTemplate& tree_template)
      : topology_(topology),
        ranking_(ranking),
        template_(tree_template),
        by_rank_(topology.switches()),
        from_above_(topology.switches()),
        from_below_(topology.switches()),
        colour_(topology.switches()) {
    std::iota(by_rank_.begin(), by_rank_.end(), SwitchIndex{0});
    std::ranges::sort(by_rank_, {}, [&](SwitchIndex s) { return std::pair(ranking_.rank[s], s); });
    find_positions();
    if (positions_repeat()) refine();
  }

  std::vector<SwitchIndex> order() {
    const auto columns = columns_of_groups(ranking_, template_);
    const auto column_order = order_of_columns(columns);
    const auto key = [&](SwitchIndex s) {
      return std::tuple(ranking_.rank[s], column_order[columns[template_.group_of[s]]], from_below_[s],
                        from_above_[s], colour_[s], s);
    };
    std::ranges::sort(by_rank_, {}, key);
    return std::move(by_rank_);
  }

 private:
  bool above(SwitchIndex s, SwitchIndex peer) const { return ranking_.rank[peer] < ranking_.rank[s]; }
  bool below(SwitchIndex s, SwitchIndex peer) const { return ranking_.rank[peer] > ranking_.rank[s]; }

  /// Positions in the tree as the ports of the neighbours show them: from the top by the ports that lead to a
  /// switch, from the bottom by the ports that lead up to it.
  void find_positions() {
    for (std::size_t begin = 0; begin < by_rank_.size();) begin = number_rank(begin, end_of(begin), true);
    for (std::size_t end = by_rank_.size(); end > 0;) {
      auto begin = end - 1;
      while (begin > 0 && ranking_.rank[by_rank_[begin - 1]] == ranking_.rank[by_rank_[end - 1]]) --begin;
      number_rank(begin, end, false);
      end = begin;
    }
  }

  std::size_t end_of(std::size_t begin) const {
    auto end = begin;
    while (end < by_rank_.size() && ranking_.rank[by_rank_[end]] == ranking_.rank[by_rank_[begin]]) ++end;
    return end;
  }

  std::size_t number_rank(std::size_t begin, std::size_t end, bool from_above) {
    const auto switches = std::span(by_rank_).subspan(begin, end - begin);
    auto& numbers = from_above ? from_above_ : from_below_;
    std::vector<std::uint64_t> keys;
    for (const auto s : switches) keys.push_back(usual_position(s, from_above, numbers));
    number(switches, keys, numbers);
    return end;
  }

  /// The most frequent (number of the neighbour, its port to `s`); the smallest of equally frequent ones. 0
  /// without neighbours in that direction.
  std::uint64_t usual_position(SwitchIndex s, bool from_above, std::span<const std::uint32_t> numbers) {
    seen_.clear();
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto group = topology_.group(s, g);
      if (!(from_above ? above(s, group.peer) : below(s, group.peer))) continue;
      auto port = kMaxPort;
      for (const auto own : group.ports) port = std::min(port, topology_.peer(s, own).port);
      seen_.push_back(std::uint64_t{numbers[group.peer]} << 8 | port.value());
    }
    std::ranges::sort(seen_);
    std::uint64_t best = 0;
    std::size_t most = 0;
    for (std::size_t i = 0; i < seen_.size();) {
      auto end = i;
      while (end < seen_.size() && seen_[end] == seen_[i]) ++end;
      if (end - i > most) best = seen_[i];
      most = std::max(most, end - i);
      i = end;
    }
    return best;
  }

  bool positions_repeat() const {
    std::vector<std::tuple<std::int32_t, std::uint32_t, std::uint32_t>> all;
    for (const auto s : by_rank_) all.emplace_back(ranking_.rank[s], from_below_[s], from_above_[s]);
    std::ranges::sort(all);
    return std::ranges::adjacent_find(all) != all.end();
  }

  static std::uint64_t mix(std::uint64_t value) {
    value = (value ^ value >> 31) * 0x9E3779B97F4A7C15U;
    value = (value ^ value >> 29) * 0xBF58476D1CE4E5B9U;
    return value ^ value >> 32;
  }

  /// Tells switches in equal positions apart by the cables around them, ever farther away.
  void refine() {
    std::vector<std::uint64_t> next(colour_.size());
    for (SwitchIndex s = 0; s < next.size(); ++s) {
      const auto rank = static_cast<std::uint32_t>(ranking_.rank[s]);
      colour_[s] = mix(mix(mix(mix(rank) + from_above_[s]) + from_below_[s]) + topology_.hosts(s));
    }
    std::size_t classes = 0;
    for (int round = 0; round < kRounds; ++round) {
      for (SwitchIndex s = 0; s < next.size(); ++s) next[s] = refined(s);
      colour_.swap(next);
      auto sorted = colour_;
      std::ranges::sort(sorted);
      const auto repeated = std::ranges::unique(sorted);
      const auto now = sorted.size() - repeated.size();
      if (now == classes) return;
      classes = now;
    }
  }

  std::uint64_t refined(SwitchIndex s) const {
    auto value = mix(colour_[s]);
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto group = topology_.group(s, g);
      for (const auto port : group.ports) {
        const auto cable = std::uint64_t{port.value()} << 40 |
                           std::uint64_t{topology_.peer(s, port).port.value()} << 32 |
                           topology_.rate(s, port);
        value += mix(mix(cable) + colour_[group.peer]);  // a sum: in any order
      }
    }
    return value;
  }

  /// By column its place among the columns of its rank: by the position that most of its switches have.
  std::vector<std::uint32_t> order_of_columns(std::span<const std::uint32_t> columns) const {
    struct Key {
      std::map<std::uint32_t, std::size_t> positions;
      std::uint64_t colour = ~std::uint64_t{0}, position = ~std::uint64_t{0};
      SwitchIndex first = kNoSwitch;
    };
    std::vector<Key> keys(template_.groups.size());
    for (SwitchIndex s = 0; s < topology_.switches(); ++s) {
      auto& key = keys[columns[template_.group_of[s]]];
      ++key.positions[from_below_[s]];
      key.colour = std::min(key.colour, colour_[s]);
      key.position = std::min(key.position, std::uint64_t{from_below_[s]} << 32 | from_above_[s]);
      key.first = std::min(key.first, s);
    }
    std::vector<std::uint32_t> sorted(keys.size()), place(keys.size());
    std::iota(sorted.begin(), sorted.end(), std::uint32_t{0});
    std::ranges::sort(sorted, {}, [&](std::uint32_t column) {
      const auto& key = keys[column];
      const auto usual = std::ranges::max_element(key.positions, {}, [](const auto& p) { return p.second; });
      return std::tuple(usual == key.positions.end() ? 0 : usual->first, key.colour, key.position, key.first,
                        column);
    });
    for (std::uint32_t i = 0; i < sorted.size(); ++i) place[sorted[i]] = i;
    return place;
  }

  static constexpr PortNum kMaxPort{255};

  const Topology& topology_;
  const SwitchRanking& ranking_;
  const TreeTemplate& template_;
  std::vector<SwitchIndex> by_rank_;
  std::vector<std::uint32_t> from_above_, from_below_;  ///< positions: numbers within the rank
  std::vector<std::uint64_t> colour_;                   ///< 0: positions suffice
  std::vector<std::uint64_t> seen_;
};

}  // namespace

std::vector<SwitchIndex> structural_order(const Topology& topology, const SwitchRanking& ranking,
                                          const TreeTemplate& tree_template) {
  return Ordering(topology, ranking, tree_template).order();
}

bool is_ordered(const Topology& topology, const SwitchRanking& ranking, std::span<const SwitchIndex> order) {
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const auto ascending = [&](SwitchIndex s, bool up) {
    std::uint32_t last = 0;
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      const auto peer = topology.group(s, g).peer;
      if (ranking.up(s, peer) != up) continue;
      if (place[peer] < last) return false;
      last = place[peer];
    }
    return true;
  };
  for (SwitchIndex s = 0; s < order.size(); ++s) {
    if (!ascending(s, true) || !ascending(s, false)) return false;
  }
  return std::ranges::is_sorted(topology.leaves(), {}, [&](SwitchIndex leaf) { return place[leaf]; });
}

}  // namespace smd::routing::inline ranking
