// SPDX-License-Identifier: Apache-2.0
#pragma once
// A topological order of a graph that grows, mended locally where a new edge runs against it.

#include <algorithm>
#include <bit>
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
  explicit OnlineOrder(std::size_t nodes) : OnlineOrder(numbered(nodes)) {}
  /// `numbers`: by node a number, lower than those of all nodes that its edges lead to. Some may be equal,
  /// and others far apart. O(nodes), O(nodes log nodes) where they are not each number from 0 on.
  explicit OnlineOrder(std::vector<std::uint32_t> numbers)
      : places_of_(std::move(numbers)),
        node_at_(places_of_.size()),
        ahead_(places_of_.size()),
        behind_(places_of_.size()) {
    if (!fill()) {
      std::iota(node_at_.begin(), node_at_.end(), 0U);
      std::ranges::sort(node_at_, {}, [&](Node node) { return std::pair(places_of_[node], node); });
      for (std::uint32_t place = 0; place < node_at_.size(); ++place) places_of_[node_at_[place]] = place;
    }
  }

  /// Makes the order right for an edge that is about to be added. False, and nothing is done, if it would
  /// close a cycle.
  template <class After, class Before>
  bool insert(Node from, Node to, const After& after, const Before& before) {
    if (places_of_[from] < places_of_[to]) return true;
    const bool closes = meet(to, from, after, before, Ends::both);
    if (!closes) reorder(places_of_[to], places_of_[from]);
    clear();
    return !closes;
  }
  /// Whether edges lead from `from` to `to`.
  template <class After, class Before>
  bool leads(Node from, Node to, const After& after, const Before& before) {
    if (places_of_[from] > places_of_[to]) return false;
    const bool leads = meet(from, to, after, before, Ends::one);
    clear();
    return leads;
  }

 private:
  /// Where no way has been found, and from which ends no more nodes can be reached.
  enum class Ends : std::uint8_t { one, both };

  /// The places that a search has been to, with a bit each: a search through many nodes has them in order
  /// without a sort.
  struct Places {
    explicit Places(std::size_t count) : bits(count / 64 + 1) {}

    bool has(std::uint32_t place) const { return ((bits[place / 64] >> (place % 64)) & 1U) != 0; }
    void add(std::uint32_t place) {
      bits[place / 64] |= std::uint64_t{1} << (place % 64);
      found.push_back(place);
    }
    void clear() {
      for (const auto place : found) bits[place / 64] = 0;
      found.clear();
    }
    /// Puts `found`, all from `lowest` to `highest`, in ascending order.
    void sort(std::uint32_t lowest, std::uint32_t highest) {
      if ((highest - lowest) / 64 > found.size()) {
        std::ranges::sort(found);
        return;
      }
      auto next = found.begin();
      for (auto word = lowest / 64; word <= highest / 64; ++word) {
        for (auto left = bits[word]; left != 0; left &= left - 1)
          *next++ = word * 64 + static_cast<std::uint32_t>(std::countr_zero(left));
      }
    }

    std::vector<std::uint64_t> bits;
    std::vector<std::uint32_t> found;
  };

  /// Of places_of_ node_at_; false where that is no place for each.
  bool fill() {
    std::vector<bool> taken(places_of_.size());
    for (Node node = 0; node < places_of_.size(); ++node) {
      const auto place = places_of_[node];
      if (place >= taken.size() || taken[place]) return false;
      taken[place] = true;
      node_at_[place] = node;
    }
    return true;
  }

  static std::vector<std::uint32_t> numbered(std::size_t nodes) {
    std::vector<std::uint32_t> places(nodes);
    std::iota(places.begin(), places.end(), 0U);
    return places;
  }

  /// Collects in ahead_ the places of the nodes that `from` leads to, up to that of `to`, and in behind_ of
  /// those that lead to `to`, down to that of `from`, in turns: a way from one to the other is found after
  /// few of its nodes. True, and the places are not complete, where there is one; `until`: where there is
  /// none.
  template <class After, class Before>
  bool meet(Node from, Node to, const After& after, const Before& before, Ends until) {
    const auto lowest = places_of_[from], highest = places_of_[to];
    ahead_.add(lowest);
    behind_.add(highest);
    bool met = from == to;
    const auto follow = [&](Places& own, const Places& other, std::size_t at, const auto& neighbours) {
      if (at >= own.found.size()) return;
      neighbours(node_at_[own.found[at]], [&](Node next) {
        const auto place = places_of_[next];
        if (place < lowest || place > highest || own.has(place)) return;
        met = met || other.has(place);
        own.add(place);
      });
    };
    const auto more = [&](std::size_t at) {
      const auto a = ahead_.found.size(), b = behind_.found.size();
      return at < (until == Ends::both ? std::max(a, b) : std::min(a, b));
    };
    for (std::size_t at = 0; !met && more(at); ++at) {
      follow(ahead_, behind_, at, after);
      follow(behind_, ahead_, at, before);
    }
    return met;
  }

  void clear() {
    ahead_.clear();
    behind_.clear();
  }

  /// The nodes behind come before those ahead, in the places that both have.
  void reorder(std::uint32_t lowest, std::uint32_t highest) {
    behind_.sort(lowest, highest);
    ahead_.sort(lowest, highest);
    moved_.clear();
    for (const auto place : behind_.found) moved_.push_back(node_at_[place]);
    for (const auto place : ahead_.found) moved_.push_back(node_at_[place]);
    places_.resize(moved_.size());
    std::ranges::merge(behind_.found, ahead_.found, places_.begin());
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      places_of_[moved_[i]] = places_[i];
      node_at_[places_[i]] = moved_[i];
    }
  }

  std::vector<std::uint32_t> places_of_;  ///< by node
  std::vector<Node> node_at_;             ///< by place
  Places ahead_, behind_;                 ///< of a search
  std::vector<Node> moved_;               ///< scratch
  std::vector<std::uint32_t> places_;     ///< scratch
};

}  // namespace smd::routing::inline topology
