// SPDX-License-Identifier: Apache-2.0
#include "routing/multicast/spanning.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace smd::routing::inline multicast {
namespace {

constexpr std::size_t kMostRoots = 32;  ///< in a small component
constexpr std::size_t kMedium = 500;    ///< switches of a component of which fewer roots are tried
constexpr std::size_t kFewRoots = 8;
constexpr std::size_t kLarge = 2000;  ///< switches of a component of which only one root is tried

SwitchIndex top_of(const SwitchRanking& ranking, std::span<const SwitchIndex> all) {
  return *std::ranges::min_element(all, {}, [&](SwitchIndex s) { return ranking.position[s]; });
}

/// `all`: the switches of a component.
std::vector<SwitchIndex> root_candidates(const Topology& topology, const SwitchRanking& ranking,
                                         const std::vector<SwitchIndex>& all) {
  const auto top = top_of(ranking, all);
  if (all.size() > kLarge) return {top};
  const auto most = all.size() > kMedium ? kFewRoots : kMostRoots;
  std::vector<SwitchIndex> roots{top};
  for (const auto s : by_eccentricity(topology, all)) {
    if (s != top && roots.size() < most) roots.push_back(s);
  }
  return roots;
}

class PlainGrower {
 public:
  PlainGrower(const Topology& topology, const SwitchRanking& ranking)
      : topology_(topology),
        ranking_(ranking),
        trees_{.ports = std::vector<std::vector<PortNum>>(topology.switches()), .roots = {}},
        in_tree_(topology.switches()),
        goes_up_(topology.switches()) {}

  void grow(SwitchIndex root) {
    trees_.roots.push_back(root);
    reached_.assign(1, root);
    in_tree_[root] = true;
    std::size_t at = 0;
    // What is left is joined by a turn upwards, one switch at a time: more may be reached from it.
    for (std::size_t late = 0; late < reached_.size();) {
      for (; at < reached_.size(); ++at) attach(reached_[at], true);
      if (!attach(reached_[late], false)) ++late;
    }
  }

  SpanningTrees trees() && { return std::move(trees_); }

 private:
  /// All neighbours of `s` that need no second branch upwards (`legal`), or the first one that is left. False
  /// if there is none.
  bool attach(SwitchIndex s, bool legal) {
    bool any = false;
    for (std::size_t g = 0; g < topology_.groups(s); ++g) {
      const auto group = topology_.group(s, g);
      const bool up = ranking_.up(s, group.peer);
      if (in_tree_[group.peer] || (legal && up && goes_up_[s])) continue;
      any = in_tree_[group.peer] = true;
      goes_up_[up ? s : group.peer] = true;
      reached_.push_back(group.peer);
      const auto far = topology_.peer(s, group.ports.front());
      trees_.ports[s].push_back(group.ports.front());
      trees_.ports[far.sw].push_back(far.port);
      if (!legal) break;
    }
    return any;
  }

  const Topology& topology_;
  const SwitchRanking& ranking_;
  SpanningTrees trees_;
  std::vector<bool> in_tree_, goes_up_;
  std::vector<SwitchIndex> reached_;
};

class SpanningGrower {
 public:
  SpanningGrower(const Topology& topology, TurnGraph graph)
      : topology_(topology), graph_(std::move(graph)), ports_(topology.switches()) {}

  /// False, and nothing is done, if the tree from this root does not reach all switches of its component, of
  /// which there are `size`.
  bool grow(SwitchIndex root, std::size_t size) {
    const auto before = graph_;
    std::vector<SwitchIndex> reached{root};
    std::vector<bool> in_tree(topology_.switches());
    in_tree[root] = true;
    // A cable that closes a cycle now does so for good: each switch is looked at once.
    for (std::size_t at = 0; at < reached.size(); ++at) {
      const auto s = reached[at];
      for (std::size_t g = 0; g < topology_.groups(s); ++g) {
        const auto group = topology_.group(s, g);
        if (in_tree[group.peer]) continue;
        if (!std::ranges::any_of(group.ports, [&](PortNum port) { return attach(s, port); })) continue;
        in_tree[group.peer] = true;
        reached.push_back(group.peer);
      }
    }
    if (reached.size() == size) return true;
    for (const auto s : reached) ports_[s].clear();
    graph_ = before;
    return false;
  }

  std::vector<std::vector<PortNum>> ports() && { return std::move(ports_); }

 private:
  bool attach(SwitchIndex s, PortNum port) {
    turns_.clear();
    for (const auto other : ports_[s]) {
      turns_.push_back({s, other, port});
      turns_.push_back({s, port, other});
    }
    if (!graph_.add(turns_)) return false;
    const auto far = topology_.peer(s, port);
    ports_[s].push_back(port);
    ports_[far.sw].push_back(far.port);
    return true;
  }

  const Topology& topology_;
  TurnGraph graph_;
  std::vector<std::vector<PortNum>> ports_;
  std::vector<McTurn> turns_;
};

}  // namespace

SpanningTrees plain_trees(const Topology& topology, const SwitchRanking& ranking) {
  PlainGrower grower(topology, ranking);
  for (const auto& all : switches_by_component(topology)) grower.grow(top_of(ranking, all));
  return std::move(grower).trees();
}

std::vector<McTurn> turns_of(const SpanningTrees& trees) {
  std::vector<McTurn> turns;
  for (SwitchIndex s = 0; s < trees.ports.size(); ++s) {
    for (const auto in : trees.ports[s]) {
      for (const auto out : trees.ports[s]) {
        if (in != out) turns.push_back({s, in, out});
      }
    }
  }
  return turns;
}

std::optional<SpanningTrees> grow_spanning_trees(const Topology& topology, const SwitchRanking& ranking,
                                                 TurnGraph graph) {
  SpanningGrower grower(topology, std::move(graph));
  SpanningTrees trees;
  for (const auto& all : switches_by_component(topology)) {
    const auto roots = root_candidates(topology, ranking, all);
    const auto root = std::ranges::find_if(roots, [&](SwitchIndex s) { return grower.grow(s, all.size()); });
    if (root == roots.end()) return std::nullopt;
    trees.roots.push_back(*root);
  }
  trees.ports = std::move(grower).ports();
  return trees;
}

}  // namespace smd::routing::inline multicast
