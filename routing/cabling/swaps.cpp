// SPDX-License-Identifier: Apache-2.0
// Detects swapped cables by the improvement that a swap would bring: switches have the same uplinks as others
// again, and upper switches as many cables to each pod as to the others.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "routing/cabling/below_a_leaf.h"
#include "routing/cabling/health.h"
#include "routing/cabling/positions.h"
#include "routing/cabling/swap_trial.h"
#include "routing/statistics.h"

namespace smd::routing::inline cabling {
namespace {

using Uplinks = std::vector<SwitchIndex>;  ///< one element per cable, ascending
using UplinkKind = std::pair<std::int32_t, Uplinks>;

/// Of equally good swaps at most so many are compared by port positions, which takes time.
constexpr std::size_t kMostEqual = 24;
/// With more irregular cables in a level, a swap of two cables is no explanation.
constexpr std::size_t kMostOdd = 1024;

struct Uplink {
  SwitchIndex sw = 0, peer = 0;
  PortNum port;
};

class Swaps {
 public:
  Swaps(const Topology& topology, const SwitchRanking& ranking)
      : topology_(topology), ranking_(ranking), pods_(topology, ranking), above_(topology.switches()) {
    for (SwitchIndex s = 0; s < above_.size(); ++s) {
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        const auto [peer, ports] = topology.group(s, g);
        if (ranking.rank[peer] >= ranking.rank[s]) continue;
        above_[s].insert(above_[s].end(), ports.size(), peer);
        cells_[cell(s, peer, s)] += ports.size();
      }
      ++kinds_[{ranking.rank[s], above_[s]}];
    }
    find_usual_kind_sizes();
    find_usual_cells();
    count_pods();
  }

  /// The swaps with the largest gain, lowest level first, since a swap there joins pods.
  std::vector<CableSwap> find() const {
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Uplink>> odd;
    for (SwitchIndex s = 0; s < above_.size(); ++s) add_odd(s, odd);
    for (auto level = odd.rbegin(); level != odd.rend(); ++level) {
      if (level->second.size() > kMostOdd) continue;
      auto best = best_of(level->second);
      if (!best.empty()) return best;
    }
    return {};
  }

 private:
  using Cell = std::tuple<std::int32_t, SwitchIndex, std::uint32_t>;  ///< rank below, switch above, pod
  using Level = std::pair<std::int32_t, std::int32_t>;
  struct Usual {
    std::size_t cables = 0;
    bool uniform = false;  ///< nearly all have that many
  };

  Level level(SwitchIndex s, SwitchIndex peer) const { return {ranking_.rank[s], ranking_.rank[peer]}; }
  /// Counts cables between `peer` and the pod of `s`, for the rank of `like`.
  Cell cell(SwitchIndex like, SwitchIndex peer, SwitchIndex s) const {
    return {ranking_.rank[like], peer, pods_.of(s, ranking_.rank[like])};
  }
  std::size_t kind_size(SwitchIndex s) const { return kinds_.at({ranking_.rank[s], above_[s]}); }

  /// By rank the number of switches that are like the median switch.
  void find_usual_kind_sizes() {
    std::map<std::int32_t, std::vector<std::size_t>> sizes;
    for (SwitchIndex s = 0; s < above_.size(); ++s) sizes[ranking_.rank[s]].push_back(kind_size(s));
    for (auto& [rank, all] : sizes) usual_kind_size_[rank] = median(all);
  }

  void find_usual_cells() {
    std::map<Level, std::map<std::size_t, std::size_t>> counts;
    for (const auto& [at, cables] : cells_) {
      ++counts[{std::get<0>(at), ranking_.rank[std::get<1>(at)]}][cables];
    }
    for (const auto& [level, numbers] : counts) {
      auto& usual = usual_cells_[level];
      usual.cables =
          std::ranges::max_element(numbers, {}, [](const auto& entry) { return entry.second; })->first;
      std::size_t all = 0, beyond = 0;
      for (const auto& [cables, times] : numbers) {
        all += cables * times;
        beyond += cables > usual.cables ? (cables - usual.cables) * times : 0;
      }
      usual.uniform = beyond * 4 <= all;
    }
  }

  /// By upper switch the pods that it leads to, and by level the most of them.
  void count_pods() {
    for (const auto& [at, cables] : cells_) {
      const auto [below, peer, pod] = at;
      auto& pods = pods_below_[{below, peer}];
      auto& most = most_pods_[{below, ranking_.rank[peer]}];
      most = std::max(most, ++pods);
    }
  }

  bool few(SwitchIndex s, std::size_t size) const {
    return size * 2 <= usual_kind_size_.at(ranking_.rank[s]);
  }

  /// Cables of switches that are like few others, and cables from a switch to a pod that has too many. A
  /// switch below a leaf is like no other by design.
  void add_odd(SwitchIndex s, std::map<Level, std::vector<Uplink>>& odd) const {
    if (leaf_above(topology_, s)) return;
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto [peer, ports] = topology_.group(s, g);
      if (ranking_.rank[peer] >= ranking_.rank[s]) continue;
      const auto& usual = usual_cells_.at(level(s, peer));
      const bool many = usual.uniform && cells_.at(cell(s, peer, s)) > usual.cables;
      if (!many && !few(s, kind_size(s))) continue;
      for (const auto port : ports) odd[level(s, peer)].push_back({s, peer, port});
    }
  }

  std::vector<CableSwap> best_of(const std::vector<Uplink>& odd) const {
    std::vector<CableSwap> best;
    int most = 0;
    for (std::size_t i = 0; i < odd.size(); ++i) {
      for (std::size_t j = i + 1; j < odd.size(); ++j) {
        const auto gained = gain(odd[i], odd[j]);
        if (gained <= 0 || gained < most) continue;
        if (gained > most) best.clear();
        most = gained;
        best.push_back({odd[i].sw, odd[i].port, odd[j].sw, odd[j].port});
      }
    }
    return best;
  }

  /// Improvement by the swap; 0 if there is none. An extra cable at one pod is a missing one at another, so
  /// it counts twice.
  int gain(const Uplink& one, const Uplink& other) const {
    if (one.sw == other.sw || one.peer == other.peer) return 0;
    const auto of_kinds = kind_gain(one, other), of_balance = balance_gain(one, other);
    if (of_kinds < 2 && (spreads(one, other) || spreads(other, one))) return 0;
    return of_kinds == 2 || of_balance == 2 ? std::max(of_kinds + of_balance * 2, 0) : 0;
  }

  UplinkKind kind_with(const Uplink& own, SwitchIndex peer) const {
    auto above = above_[own.sw];
    above.erase(std::ranges::find(above, own.peer));
    above.insert(std::ranges::upper_bound(above, peer), peer);
    return {ranking_.rank[own.sw], std::move(above)};
  }

  /// Decrease in the number of kinds of switches. 2 only if both switches become usual.
  int kind_gain(const Uplink& one, const Uplink& other) const {
    const auto a = kind_with(one, other.peer), b = kind_with(other, one.peer);
    std::map<UplinkKind, int> change;
    ++change[a], ++change[b];
    --change[{ranking_.rank[one.sw], above_[one.sw]}], --change[{ranking_.rank[other.sw], above_[other.sw]}];
    int gained = 0;
    const auto now = [&](const UplinkKind& kind) {
      const auto at = kinds_.find(kind);
      return at == kinds_.end() ? 0 : static_cast<int>(at->second);
    };
    for (const auto& [kind, by] : change) {
      gained += (now(kind) > 0 ? 1 : 0) - (now(kind) + by > 0 ? 1 : 0);
    }
    const auto then = [&](const UplinkKind& kind) {
      const auto members = now(kind) + change[kind];
      return static_cast<std::size_t>(members);
    };
    if (gained == 2 && (few(one.sw, then(a)) || few(other.sw, then(b)))) return 0;
    return gained;
  }

  /// Whether the swap leads the upper switch of `one` to one pod more than any upper switch of its level has
  /// now: a swap by mistake has taken a pod away from it. In a director with several cables to each edge
  /// switch, and uplinks that are no multiple of its line boards, some boards have more cables than others by
  /// design.
  bool spreads(const Uplink& one, const Uplink& other) const {
    if (cells_.contains(cell(one.sw, one.peer, other.sw))) return false;
    const auto rank = ranking_.rank[one.sw];
    return pods_below_.at({rank, one.peer}) >= most_pods_.at(level(one.sw, one.peer));
  }

  /// Decrease in the number of extra cables.
  int balance_gain(const Uplink& one, const Uplink& other) const {
    const auto& usual = usual_cells_.at(level(one.sw, one.peer));
    const auto at = [&](const Cell& where) {
      const auto found = cells_.find(where);
      return found == cells_.end() ? std::size_t{0} : found->second;
    };
    const auto a = cell(one.sw, one.peer, one.sw), a_then = cell(one.sw, one.peer, other.sw);
    const auto b = cell(one.sw, other.peer, other.sw), b_then = cell(one.sw, other.peer, one.sw);
    if (!usual.uniform || a == a_then) return 0;
    const auto less = [&](const Cell& where) { return at(where) > usual.cables ? 1 : 0; };
    const auto more = [&](const Cell& where) { return at(where) >= usual.cables ? 1 : 0; };
    return less(a) + less(b) - more(a_then) - more(b_then);
  }

  const Topology& topology_;
  const SwitchRanking& ranking_;
  Pods pods_;
  std::vector<Uplinks> above_;  ///< by switch
  std::map<UplinkKind, std::size_t> kinds_;
  std::map<Cell, std::size_t> cells_;
  std::map<std::int32_t, std::size_t> usual_kind_size_;
  std::map<Level, Usual> usual_cells_;
  std::map<std::pair<std::int32_t, SwitchIndex>, std::size_t>
      pods_below_;  ///< by rank below and switch above
  std::map<Level, std::size_t> most_pods_;
};

/// Of equally good swaps those that port positions confirm, if the cabling follows a plan. Those that bring
/// near GUIDs together come first.
std::vector<CableSwap> by_positions(const Topology& topology, const SwitchRanking& ranking,
                                    std::vector<CableSwap> equal) {
  std::ranges::sort(equal, {}, [&](const CableSwap& e) {
    return std::tuple(distance(topology, ranking, e), e.a, e.a_port, e.b, e.b_port);
  });
  if (equal.size() < 2) return equal;
  if (equal.size() > kMostEqual) equal.resize(kMostEqual);
  std::vector<PortOrder> rankings;
  for (const auto& swap : equal) rankings.push_back(port_order(with_swap(topology, swap), ranking));
  const auto best = std::ranges::min(rankings, {}, &PortOrder::odd);
  if (!best.planned()) return equal;
  std::vector<CableSwap> left;
  for (std::size_t i = 0; i < equal.size(); ++i) {
    if (rankings[i].odd == best.odd) left.push_back(equal[i]);
  }
  return left;
}

}  // namespace

std::optional<Topology> check_swaps(const HealthInput& in, const SwitchRanking& ranking, Health& health) {
  auto equal = by_positions(in.topology, ranking, Swaps(in.topology, ranking).find());
  if (equal.empty()) return std::nullopt;
  const auto best = equal.front();
  equal.erase(equal.begin());
  health.findings.push_back(describe(in, best, equal));
  return with_swap(in.topology, best);
}

}  // namespace smd::routing::inline cabling
