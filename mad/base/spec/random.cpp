// SPDX-License-Identifier: Apache-2.0
// random: a connected graph of switches.
#include "mad/base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "mad/base/spec/builder.h"
#include "mad/base/spec/generators.h"

namespace smd::base::spec {
namespace {

/// Switches with free ports for each other, and who is linked to whom.
class Wiring {
 public:
  Wiring(FabricBuilder& fabric, Random& random, unsigned switches, unsigned degree, unsigned hosts)
      : fabric_(fabric), random_(random), degree_(degree), first_port_(hosts + 1), used_(switches, 0) {}

  /// Each switch, in random order, gets a link to one of those before it: connected.
  void tree() {
    std::vector<NodeIndex> order(used_.size()), open;
    for (NodeIndex i = 0; i < order.size(); ++i) order[i] = i;
    random_.shuffle(order);
    for (const auto node : order) {
      if (!open.empty()) {
        const auto place = static_cast<std::size_t>(random_.below(open.size()));
        const auto parent = open[place];
        link(node, parent);
        if (free(parent) == 0) open.erase(open.begin() + static_cast<std::ptrdiff_t>(place));
      }
      if (free(node) > 0) open.push_back(node);
    }
  }

  /// Pairs up the ports that are left, if possible with none of two switches linked twice.
  void fill() {
    std::vector<NodeIndex> ends;
    for (NodeIndex i = 0; i < used_.size(); ++i) ends.insert(ends.end(), free(i), i);
    random_.shuffle(ends);
    while (ends.size() > 1) {
      const auto node = ends.back();
      ends.pop_back();
      if (const auto other = partner(node, ends); other != ends.end()) {
        link(node, *other);
        std::iter_swap(other, ends.end() - 1);
        ends.pop_back();
      }
    }
  }

 private:
  using Ends = std::vector<NodeIndex>;
  unsigned free(NodeIndex node) const { return degree_ - used_[node]; }
  unsigned take_port(NodeIndex node) { return first_port_ + used_[node]++; }
  void link(NodeIndex a, NodeIndex b) {
    linked_.emplace(std::min(a, b), std::max(a, b));
    fabric_.link(a, take_port(a), b, take_port(b));
  }
  /// The last one (the order is random) that is new to the node, else the last that is not itself, else none.
  Ends::iterator partner(NodeIndex node, Ends& ends) const {
    auto second_choice = ends.end();
    for (auto other = ends.end(); other != ends.begin();) {
      --other;
      if (*other == node) continue;
      if (!linked_.contains({std::min(node, *other), std::max(node, *other)})) return other;
      if (second_choice == ends.end()) second_choice = other;
    }
    return second_choice;
  }

  FabricBuilder& fabric_;
  Random& random_;
  unsigned degree_, first_port_;
  std::vector<unsigned> used_;
  std::set<std::pair<NodeIndex, NodeIndex>> linked_;
};

}  // namespace

Result random(Args args) {
  const auto numbers = spec::numbers(
      args.first(3), {{"SWITCHES", 1, kMostLids}, {"DEGREE", 0, kMostPorts}, {"HOSTS", 0, kMostPorts}});
  if (!numbers) return std::unexpected(numbers.error());
  const auto seed = number(args[3], {"SEED", 0, ~std::uint64_t{0}});
  if (!seed) return std::unexpected(seed.error());
  const unsigned switches = (*numbers)[0], degree = (*numbers)[1], hosts = (*numbers)[2];
  const unsigned least = switches > 2 ? 2 : switches - 1;
  if (degree < least) {
    return std::unexpected(
        fmt::format("DEGREE is {}: {} switches need at least {} to be connected", degree, switches, least));
  }
  auto why = too_large(switches, times(switches, hosts), degree + hosts);
  if (!why.empty()) return std::unexpected(std::move(why));

  FabricBuilder fabric;
  Random random(*seed);
  for (unsigned i = 0; i < switches; ++i) fabric.add_switch(fmt::format("s{:05}", i), degree + hosts);
  for (unsigned i = 0; i < switches * hosts; ++i) {
    fabric.link(fabric.add_host(fmt::format("h{:05}", i)), 1, i / hosts, i % hosts + 1);
  }
  Wiring wiring(fabric, random, switches, degree, hosts);
  wiring.tree();
  wiring.fill();
  return fabric.take();
}

}  // namespace smd::base::spec
