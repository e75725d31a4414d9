// SPDX-License-Identifier: Apache-2.0
#include "routing/topology/online_order.h"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace smd::routing {
namespace {

/// The edges of a graph that the order under test is told of, and the answers that need no order.
class Graph {
 public:
  explicit Graph(std::size_t nodes) : after_(nodes), before_(nodes) {}

  void add(std::uint32_t from, std::uint32_t to) {
    after_[from].insert(to);
    before_[to].insert(from);
  }
  void remove(std::uint32_t from, std::uint32_t to) {
    after_[from].erase(to);
    before_[to].erase(from);
  }
  bool leads(std::uint32_t from, std::uint32_t to) const {
    std::vector<std::uint32_t> found{from};
    std::set<std::uint32_t> seen{from};
    for (std::size_t at = 0; at < found.size(); ++at) {
      for (const auto next : after_[found[at]]) {
        if (seen.insert(next).second) found.push_back(next);
      }
    }
    return seen.contains(to);
  }
  auto after() const {
    return [this](std::uint32_t node, const auto& fn) { std::ranges::for_each(after_[node], fn); };
  }
  auto before() const {
    return [this](std::uint32_t node, const auto& fn) { std::ranges::for_each(before_[node], fn); };
  }

 private:
  std::vector<std::set<std::uint32_t>> after_, before_;
};

RC_GTEST_PROP(OnlineOrder, RefusesTheEdgesThatCloseACycleAndNoOthers, ()) {
  const auto nodes = *rc::gen::inRange(1U, 300U);
  const auto node = rc::gen::inRange(0U, nodes);
  Graph graph(nodes);
  OnlineOrder order(nodes);
  const auto edges = *rc::gen::container<std::vector<std::pair<std::uint32_t, std::uint32_t>>>(
      *rc::gen::inRange(1U, 3 * nodes), rc::gen::pair(node, node));
  for (const auto& [from, to] : edges) {
    RC_ASSERT(order.leads(to, from, graph.after(), graph.before()) == graph.leads(to, from));
    if (from % 7 == 0) graph.remove(to, from);
    const bool closes = graph.leads(to, from);
    RC_ASSERT(order.insert(from, to, graph.after(), graph.before()) != closes);
    if (!closes) graph.add(from, to);
  }
}

// As those of a proof that follows a fabric that changes: some equal, others above the number of channels.
RC_GTEST_PROP(OnlineOrder, BeginsWithNumbersThatAreNoPlaces, ()) {
  const auto nodes = *rc::gen::inRange(1U, 200U);
  const auto node = rc::gen::inRange(0U, nodes);
  const auto numbers = *rc::gen::container<std::vector<std::uint32_t>>(nodes, rc::gen::inRange(0U, 300U));
  Graph graph(nodes);
  for (std::uint32_t from = 0; from < nodes; ++from) {
    const auto to = *node;
    if (numbers[from] < numbers[to]) graph.add(from, to);
  }
  OnlineOrder order(numbers);
  const auto edges = *rc::gen::container<std::vector<std::pair<std::uint32_t, std::uint32_t>>>(
      2 * nodes, rc::gen::pair(node, node));
  for (const auto& [from, to] : edges) {
    const bool closes = graph.leads(to, from);
    RC_ASSERT(order.insert(from, to, graph.after(), graph.before()) != closes);
    if (!closes) graph.add(from, to);
  }
}

}  // namespace
}  // namespace smd::routing
