// SPDX-License-Identifier: Apache-2.0
#pragma once
// A topological order of a graph that grows, mended locally where a new edge runs against it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace smd::routing::inline topology {

/// Pearce and Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs", 2006. The edges are
/// the caller's: `after(node, fn)` calls fn with each node that an edge leads to from `node`, `before(node,
/// fn)` with each from which one leads to it. An edge may be taken away at any time; the order stays right.
class OnlineOrder {
 public:
  using Node = std::uint32_t;

  /// Of a graph without edges.
  explicit OnlineOrder(std::size_t nodes) : places_of_(nodes), seen_(nodes) {
    std::iota(places_of_.begin(), places_of_.end(), 0U);
  }
  /// `places`: by node its place, each place once, lower than those of all nodes that its edges lead to.
  explicit OnlineOrder(std::vector<std::uint32_t> places)
      : places_of_(std::move(places)), seen_(places_of_.size()) {}

  /// Makes the order right for an edge that is about to be added. False, and nothing is done, if it would
  /// close a cycle.
  template <class After, class Before>
  bool insert(Node from, Node to, const After& after, const Before& before) {
    if (places_of_[from] < places_of_[to]) return true;
    if (reaches(to, from, after)) return false;
    collect_before(from, places_of_[to], before);
    reorder();
    return true;
  }
  /// Whether edges lead from `from` to `to`.
  template <class After>
  bool leads(Node from, Node to, const After& after) {
    return places_of_[from] <= places_of_[to] && reaches(from, to, after);
  }

 private:
  /// Collects in ahead_ the nodes that `from` leads to, up to the place of `to`.
  template <class After>
  bool reaches(Node from, Node to, const After& after) {
    ++search_;
    ahead_.assign(1, from);
    seen_[from] = search_;
    const auto highest = places_of_[to];
    bool found = from == to;
    for (std::size_t at = 0; at < ahead_.size() && !found; ++at) {
      after(ahead_[at], [&](Node next) {
        found = found || next == to;
        if (places_of_[next] >= highest || seen_[next] == search_) return;
        seen_[next] = search_;
        ahead_.push_back(next);
      });
    }
    return found;
  }

  template <class Before>
  void collect_before(Node from, std::uint32_t lowest, const Before& before) {
    behind_.assign(1, from);
    seen_[from] = search_;
    for (std::size_t at = 0; at < behind_.size(); ++at) {
      before(behind_[at], [&](Node previous) {
        if (places_of_[previous] <= lowest || seen_[previous] == search_) return;
        seen_[previous] = search_;
        behind_.push_back(previous);
      });
    }
  }

  /// behind_ comes before ahead_, in the places that both have.
  void reorder() {
    const auto place = [&](Node node) { return places_of_[node]; };
    std::ranges::sort(behind_, {}, place);
    std::ranges::sort(ahead_, {}, place);
    places_.clear();
    for (const auto node : behind_) places_.push_back(places_of_[node]);
    for (const auto node : ahead_) places_.push_back(places_of_[node]);
    std::ranges::sort(places_);
    std::size_t at = 0;
    for (const auto node : behind_) places_of_[node] = places_[at++];
    for (const auto node : ahead_) places_of_[node] = places_[at++];
  }

  std::vector<std::uint32_t> places_of_;  ///< by node
  std::vector<std::uint32_t> seen_;       ///< by node: the search that saw it last
  std::uint32_t search_ = 0;
  std::vector<Node> behind_, ahead_;  ///< scratch of a search
  std::vector<std::uint32_t> places_;
};

}  // namespace smd::routing::inline topology
