// SPDX-License-Identifier: Apache-2.0
// Domke, Hoefler and Matsuoka, "Routing on the Dependency Graph: A New Approach to Deadlock-Free
// High-Performance Routing", 2016, with one VL: each tree is searched among the turns that close no cycle
// with those of the others.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "routing/engines/engine.h"
#include "routing/engines/host_planes.h"
#include "routing/engines/layer_graph.h"
#include "routing/engines/layer_room.h"
#include "routing/engines/pair_layering.h"
#include "routing/engines/path_planes.h"
#include "routing/engines/path_trees.h"
#include "routing/engines/tree_balance.h"

namespace smd::routing::inline engines {
namespace {

/// Where the search for paths begins. Which is better depends on the fabric: both are tried.
enum class Start : std::uint8_t {
  escape_trees,    ///< all paths along one tree of cables: loads decide which turns are used first
  shortest_paths,  ///< tree by tree the shortest paths that the turns of those before allow
};

struct Found {
  PathTrees trees;
  LayerGraph turns;  ///< that they take
  double highest_load = 0;
};

class Nue {
 public:
  /// `root`: of the escape trees the switch so many places behind the nearest to all hosts.
  Nue(const RoutingContext& in, const ChannelNet& net, std::size_t root)
      : in_(in),
        net_(net),
        root_(root),
        graph_(net),
        trees_(net.switches()),
        escape_(net.switches(), kNoChannel),
        load_(net.size()) {}

  Found run(Start start) {
    plant_escape_trees();
    std::vector<SwitchIndex> order(net_.switches());
    std::iota(order.begin(), order.end(), SwitchIndex{0});
    std::ranges::sort(order, {}, [&](SwitchIndex s) { return std::tuple(!in_.topology.leaf(s), s); });
    for (const auto to : order) {
      if (in_.stop.stop_requested()) break;
      // Paths to a switch without hosts are not balanced: they are as short as the others leave them then.
      if (start == Start::escape_trees ? in_.topology.leaf(to) : !search(to)) escape(to);
      carry(to);
    }
    const auto highest = balance_trees(in_, net_, trees_, &graph_);
    if (start == Start::escape_trees) {
      for (const auto to : order) {
        if (!in_.topology.leaf(to) && !in_.stop.stop_requested() && !search(to)) escape(to);
      }
    }
    return {std::move(trees_), std::move(graph_), highest};
  }

 private:
  static constexpr NetChannel kNoChannel = ~NetChannel{0};

  /// A tree of cables that joins each component, from a switch that is near to all hosts of it. Its
  /// turns close no cycle; every destination can be reached by them alone, so that no search fails for good.
  void plant_escape_trees() {
    using FarFromHosts = std::pair<std::uint64_t, SwitchIndex>;
    BreadthFirst search(net_);
    std::vector<std::vector<FarFromHosts>> roots(in_.topology.components());
    for (SwitchIndex s = 0; s < net_.switches(); ++s) {
      search.search(s);
      std::uint64_t sum = 0;
      for (const auto other : search.order())
        sum += std::uint64_t{search.hops(other)} * (1 + in_.topology.hosts(other));
      roots[in_.topology.component(s)].emplace_back(sum, s);
    }
    for (auto& of_component : roots) {
      std::ranges::sort(of_component);
      const auto root = of_component[std::min(root_, of_component.size() - 1)].second;
      search.search(root);
      for (const auto s : search.order()) {
        for (const auto c : net_.by_port(s)) {
          const auto peer = net_.head(c);
          if (search.hops(peer) == search.hops(s) + 1 && escape_[peer] == kNoChannel)
            escape_[peer] = net_.reverse(c);
        }
      }
    }
    for (SwitchIndex s = 0; s < net_.switches(); ++s) {
      const auto own = tree_channels(s);
      for (const auto in : own) {
        for (const auto out : own) {
          if (in != out) graph_.add(std::array{net_.pair(net_.reverse(in), out)});
        }
      }
    }
  }

  /// The channels that leave `s` along the escape tree.
  std::vector<NetChannel> tree_channels(SwitchIndex s) const {
    std::vector<NetChannel> own;
    for (const auto c : net_.by_port(s)) {
      if (escape_[s] == c || escape_[net_.head(c)] == net_.reverse(c)) own.push_back(c);
    }
    return own;
  }

  /// Shortest paths first, among them those with the least loads. False if some switch finds none.
  bool search(SwitchIndex to) {
    using Offer = std::tuple<std::uint32_t, std::uint64_t, NetChannel>;  // hops, load, channel to the tree
    std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers;
    std::vector<bool> reached(net_.switches());
    std::size_t left = 0;
    for (SwitchIndex s = 0; s < net_.switches(); ++s) {
      left += in_.topology.component(s) == in_.topology.component(to) ? 1U : 0U;
      trees_.next(to, s) = PathTrees::kNone;
    }
    const auto offer = [&](SwitchIndex s, std::uint32_t hops, std::uint64_t load) {
      for (const auto out : net_.by_port(s)) {
        const auto c = net_.reverse(out);
        if (!reached[net_.head(out)]) offers.emplace(hops + 1, load + load_[c] + 1, c);
      }
    };
    reached[to] = true;
    --left;
    offer(to, 0, 0);
    while (!offers.empty() && left != 0) {
      const auto [hops, load, c] = offers.top();
      offers.pop();
      const auto s = net_.head(net_.reverse(c)), peer = net_.head(c);
      if (reached[s]) continue;
      if (peer != to) {
        const auto onward = static_cast<NetChannel>(net_.first(peer) + trees_.next(to, peer));
        if (!graph_.add(std::array{net_.pair(c, onward)})) continue;
      }
      trees_.next(to, s) = static_cast<std::uint8_t>(c - net_.first(s));
      reached[s] = true;
      --left;
      offer(s, hops, load);
    }
    return left == 0;
  }

  /// All paths to the switch along the escape tree.
  void escape(SwitchIndex to) {
    std::vector<SwitchIndex> open{to};
    std::vector<bool> reached(net_.switches());
    reached[to] = true;
    for (std::size_t at = 0; at < open.size(); ++at) {
      for (const auto out : tree_channels(open[at])) {
        const auto peer = net_.head(out);
        if (reached[peer]) continue;
        reached[peer] = true;
        trees_.next(to, peer) = static_cast<std::uint8_t>(net_.reverse(out) - net_.first(peer));
        open.push_back(peer);
      }
    }
  }

  void carry(SwitchIndex to) {
    const std::uint64_t hosts = in_.topology.hosts(to);
    for (const auto from : in_.topology.leaves()) {
      for (auto s = from; s != to && trees_.next(to, s) != PathTrees::kNone;) {
        const auto c = static_cast<NetChannel>(net_.first(s) + trees_.next(to, s));
        load_[c] += hosts * in_.topology.hosts(from);
        s = net_.head(c);
      }
    }
  }

  const RoutingContext& in_;
  const ChannelNet& net_;
  std::size_t root_;
  LayerGraph graph_;
  PathTrees trees_;
  std::vector<NetChannel> escape_;   ///< by switch: towards the root of its escape tree
  std::vector<std::uint64_t> load_;  ///< by channel: routes of hosts
};

/// Which root is best depends on chance: small fabrics try several.
constexpr std::size_t kRoots = 4;

/// Switches times channels: those of a torus of 25 switches, a dragonfly of 36.
constexpr std::size_t kMostRootWork = std::size_t{1} << 13;

/// Multicast finds a spanning tree among these turns.
bool leave_room(const RoutingContext& in, const ChannelNet& net, LayerGraph turns) {
  return turns.add(turns_in_trees(in.topology, net)) || trees_can_grow(in.topology, net, turns);
}

/// By pairs of both starts for each root.
std::size_t best_of(const RoutingContext& in, const ChannelNet& net, const std::vector<Found>& found) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < found.size(); ++i) {
    const bool less = found[i].highest_load < found[best].highest_load;
    if (less && (i == 1 || leave_room(in, net, found[i].turns))) best = i;
  }
  return best;
}

std::expected<Routes, RouteError> run_nue(const EngineInput& in) {
  const ChannelNet net(in.context.topology);
  const bool small = net.switches() * net.size() <= kMostRootWork && most_lids(in.context) == 1;
  std::vector<std::optional<Found>> runs(small ? 2 * kRoots : 2);
  in.context.parallel.for_each(runs.size(), [&](std::size_t i) {
    runs[i].emplace(
        Nue(in.context, net, i / 2).run(i % 2 == 0 ? Start::escape_trees : Start::shortest_paths));
  });
  std::vector<Found> all;
  for (auto& run : runs) {
    if (run) all.push_back(*std::move(run));
  }
  if (all.size() != runs.size() || in.context.stop.stop_requested()) return std::unexpected(RouteError{});
  auto& best = all[best_of(in.context, net, all)];
  auto planes = path_planes(in.context, net, std::move(best.trees), most_lids(in.context), &best.turns);
  if (in.context.stop.stop_requested()) return std::unexpected(RouteError{});
  LayeredTrees found{.planes = std::move(planes), .layers = {}};
  found.graphs.push_back(std::move(best.turns));
  return routes_along(in.context, net, std::move(found));
}

}  // namespace

extern const EngineInfo kNue{
    .name = "nue", .summary = "least loaded paths that close no cycle, with one VL", .run = run_nue};

}  // namespace smd::routing::inline engines
