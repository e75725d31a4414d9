// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/pair_layering.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "routing/engines/layer_graph.h"
#include "routing/engines/path_planes.h"

namespace smd::routing::inline engines {
namespace {

struct Pair {
  SwitchIndex a = 0, b = 0;
  std::uint8_t kind = 0;  ///< see kind_of_pair()
  int hops = 0;           ///< of both paths together
};

constexpr std::uint8_t kInnerSwitches =
    3;  ///< they need no routes to each other: no layer is opened for them

/// Pairs of hosts, of other end ports, of an end port and a switch, of two switches.
std::uint8_t kind_of_pair(const Topology& topology, SwitchIndex a, SwitchIndex b) {
  if (topology.leaf(a) && topology.leaf(b)) return 0;
  const bool from = !topology.end_ports_of(a).empty(), to = !topology.end_ports_of(b).empty();
  return from && to ? 1 : from || to ? 2 : kInnerSwitches;
}

class Layering {
 public:
  Layering(const RoutingContext& in, const ChannelNet& net, std::span<PathTrees> planes, unsigned most_layers)
      : in_(in), net_(net), planes_(planes), most_(most_layers), layers_(net.switches()) {}

  std::expected<Layers, RouteError> run() {
    std::vector<Pair> left;
    for (const auto& pair : pairs()) {
      if (in_.stop.stop_requested()) return std::unexpected(RouteError{});
      if (place(pair, pair.kind == kInnerSwitches ? std::max<std::size_t>(1, graphs_.size()) : most_))
        continue;
      if (pair.kind == 0) return std::unexpected(too_few());
      left.push_back(pair);
    }
    if (!left.empty() && !withdraw(left)) return std::unexpected(too_few());
    const auto count = std::max<std::size_t>(1, graphs_.size());
    if (count == 1) return Layers{};
    return Layers{.count = static_cast<unsigned>(count), .by_lid = {}, .by_pair = std::move(layers_)};
  }

 private:
  RouteError too_few() const { return {.cause = RouteError::Cause::too_few_vls, .guids = {}, .vls = most_}; }

  /// Adds the dependencies of the paths to found_; returns their hops.
  int follow(SwitchIndex from, SwitchIndex to) {
    int hops = 0;
    for (const auto& trees : planes_) hops += follow(trees, from, to);
    return hops;
  }

  int follow(const PathTrees& trees, SwitchIndex from, SwitchIndex to) {
    auto next = trees.next(to, from);
    if (next == PathTrees::kNone) return 0;
    auto channel = static_cast<NetChannel>(net_.first(from) + next);
    int hops = 1;
    for (auto s = net_.head(channel); s != to; s = net_.head(channel), ++hops) {
      const auto onward = static_cast<NetChannel>(net_.first(s) + trees.next(to, s));
      found_.push_back(net_.pair(channel, onward));
      channel = onward;
    }
    return hops;
  }

  std::vector<Pair> pairs() {
    std::vector<Pair> all;
    const auto n = static_cast<SwitchIndex>(net_.switches());
    for (SwitchIndex a = 0; a < n; ++a) {
      for (SwitchIndex b = a + 1; b < n; ++b) {
        found_.clear();
        const auto hops = follow(a, b) + follow(b, a);
        if (!found_.empty()) all.push_back({a, b, kind_of_pair(in_.topology, a, b), hops});
      }
    }
    std::ranges::sort(all, {}, [](const Pair& p) { return std::tuple(p.kind, -p.hops, p.a, p.b); });
    return all;
  }

  bool place(const Pair& pair, std::size_t most) {
    found_.clear();
    follow(pair.a, pair.b);
    follow(pair.b, pair.a);
    for (unsigned layer = 0; layer < most; ++layer) {
      if (layer == graphs_.size()) graphs_.emplace_back(net_);
      if (!graphs_[layer].add(found_)) continue;
      layers_.set(pair.a, pair.b, layer);
      return true;
    }
    return false;
  }

  /// By switch the layers (a bit each) of the pairs whose path to `to` crosses it, of those not in `without`.
  std::vector<std::uint64_t> crossing(SwitchIndex to, const std::vector<bool>& without) const {
    std::vector<std::uint64_t> layers(net_.switches());
    for (SwitchIndex from = 0; from < layers.size(); ++from) {
      if (from == to || without[from]) continue;
      const auto bit = std::uint64_t{1} << layers_.at(from, to);
      for (const auto& trees : planes_) {
        for_each_channel(net_, trees, from, to, [&](NetChannel c) { layers[net_.head(c)] |= bit; });
      }
    }
    return layers;
  }

  /// Takes away the paths of these pairs. One that others cross stays, in a layer of theirs.
  bool withdraw(const std::vector<Pair>& left) {
    std::vector<std::pair<SwitchIndex, SwitchIndex>> paths;  // (to, from)
    for (const auto& pair : left) {
      paths.emplace_back(pair.a, pair.b);
      paths.emplace_back(pair.b, pair.a);
    }
    std::ranges::sort(paths);
    std::vector<std::uint64_t> kept(paths.size());
    for (std::size_t begin = 0, end = 0; begin < paths.size(); begin = end) {
      const auto to = paths[begin].first;
      while (end < paths.size() && paths[end].first == to) ++end;
      std::vector<bool> without(net_.switches());
      for (auto i = begin; i < end; ++i) without[paths[i].second] = true;
      const auto layers = crossing(to, without);
      for (auto i = begin; i < end; ++i) kept[i] = layers[paths[i].second];
    }
    const auto layers_of = [&](SwitchIndex to, SwitchIndex from) {
      return kept[static_cast<std::size_t>(std::ranges::lower_bound(paths, std::pair(to, from)) -
                                           paths.begin())];
    };
    for (const auto& [a, b, kind, hops] : left) {
      const auto there = layers_of(b, a), back = layers_of(a, b);
      const auto both = there != 0 && back != 0 ? there & back : there | back;
      if (both == 0 && there != 0) return false;
      if (both != 0) layers_.set(a, b, static_cast<unsigned>(std::countr_zero(both)));
      for (auto& trees : planes_) {
        if (there == 0) trees.next(b, a) = PathTrees::kNone;
        if (back == 0) trees.next(a, b) = PathTrees::kNone;
      }
    }
    return true;
  }

  const RoutingContext& in_;
  const ChannelNet& net_;
  std::span<PathTrees> planes_;
  unsigned most_;
  PairLayers layers_;
  std::deque<LayerGraph> graphs_;
  std::vector<ChannelPair> found_;  ///< scratch
};

}  // namespace

std::expected<Layers, RouteError> layer_pairs(const RoutingContext& in, const ChannelNet& net,
                                              std::span<PathTrees> planes, unsigned most_layers) {
  return Layering(in, net, planes, most_layers).run();
}

std::expected<LayeredTrees, RouteError> in_layers(const RoutingContext& in, const ChannelNet& net,
                                                  PathTrees trees, unsigned most_layers) {
  if (const auto lids = most_lids(in); lids > 1) {
    auto planes = path_planes(in, net, trees, lids, nullptr);
    if (auto layers = layer_pairs(in, net, planes, most_layers))
      return LayeredTrees{std::move(planes), *std::move(layers)};
  }
  std::vector<PathTrees> alone{std::move(trees)};
  auto layers = layer_pairs(in, net, alone, most_layers);
  if (!layers) return std::unexpected(layers.error());
  return LayeredTrees{std::move(alone), *std::move(layers)};
}

}  // namespace smd::routing::inline engines
