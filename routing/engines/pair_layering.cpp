// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/pair_layering.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <iterator>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "routing/engines/layer_room.h"
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

  /// After run(): pairs that no layer has taken.
  std::size_t left() const { return left_; }
  /// After run(): by layer the dependencies of its paths.
  std::vector<LayerGraph> graphs() && {
    return {std::make_move_iterator(graphs_.begin()), std::make_move_iterator(graphs_.end())};
  }

  /// After run(): a layer that these dependencies fit into becomes layer 0. False if there is none.
  bool put_first(std::span<const ChannelPair> dependencies, Layers& layers) {
    // Those that were opened last have the fewest pairs.
    for (auto layer = static_cast<unsigned>(graphs_.size()); layer-- > 0;) {
      if (!graphs_[layer].add(dependencies)) continue;
      if (layer != 0) exchange_first(layer, layers.by_pair);
      return true;
    }
    return false;
  }

  /// The same for a layer in which trees_can_grow().
  bool put_first_with_room(Layers& layers) {
    for (auto layer = static_cast<unsigned>(graphs_.size()); layer-- > 0;) {
      if (!trees_can_grow(in_.topology, net_, graphs_[layer])) continue;
      if (layer != 0) exchange_first(layer, layers.by_pair);
      return true;
    }
    return false;
  }

  /// These dependencies are in layer 0 before all others; they close no cycle.
  void begin_with(std::span<const ChannelPair> dependencies) { graphs_.emplace_back(net_).add(dependencies); }

  std::expected<Layers, RouteError> run() {
    std::vector<Pair> left;
    for (const auto& pair : pairs()) {
      if (in_.stop.stop_requested()) return std::unexpected(RouteError{});
      if (place(pair, pair.kind == kInnerSwitches ? std::max<std::size_t>(1, graphs_.size()) : most_))
        continue;
      if (pair.kind == 0) return std::unexpected(too_few());
      left.push_back(pair);
    }
    left_ = left.size();
    if (!left.empty() && !withdraw(left)) return std::unexpected(too_few());
    const auto count = std::max<std::size_t>(1, graphs_.size());
    if (count == 1) return Layers{};
    return Layers{.count = static_cast<unsigned>(count), .by_lid = {}, .by_pair = std::move(layers_)};
  }

 private:
  /// Of pairs of two switches.
  void exchange_first(unsigned layer, PairLayers& layers) {
    std::swap(graphs_.front(), graphs_[layer]);
    for (SwitchIndex a = 0; a < net_.switches(); ++a) {
      for (SwitchIndex b = 0; b < a; ++b) {
        const auto was = layers.at(a, b);
        if (was == 0 || was == layer) layers.set(a, b, layer - was);
      }
    }
  }

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

  /// By switch the layers (a bit each) of the pairs whose path to `to` in these trees crosses it, of those
  /// not in `without`.
  std::vector<std::uint64_t> crossing(const PathTrees& trees, SwitchIndex to,
                                      const std::vector<bool>& without) const {
    std::vector<std::uint64_t> layers(net_.switches());
    for (SwitchIndex from = 0; from < layers.size(); ++from) {
      if (from == to || without[from]) continue;
      const auto bit = std::uint64_t{1} << layers_.at(from, to);
      for_each_channel(net_, trees, from, to, [&](NetChannel c) { layers[net_.head(c)] |= bit; });
    }
    return layers;
  }

  /// What others need of the paths of pairs that no layer has taken: by (to, from) and plane the layers (a
  /// bit each) of the paths that cross it; 0: none does.
  struct Crossed {
    std::vector<std::pair<SwitchIndex, SwitchIndex>> paths;  ///< (to, from), ascending
    std::vector<std::uint64_t> layers;
    std::size_t planes = 0;

    std::span<const std::uint64_t> of(SwitchIndex to, SwitchIndex from) const {
      const auto at = std::ranges::lower_bound(paths, std::pair(to, from)) - paths.begin();
      return std::span(layers).subspan(static_cast<std::size_t>(at) * planes, planes);
    }
    /// Layers in which both paths may stay; all bits: no path is needed.
    std::uint64_t common(const Pair& pair) const {
      auto common = ~std::uint64_t{0};
      for (const auto way : {of(pair.b, pair.a), of(pair.a, pair.b)}) {
        for (const auto of_plane : way) common &= of_plane != 0 ? of_plane : ~std::uint64_t{0};
      }
      return common;
    }
  };

  Crossed crossed(const std::vector<Pair>& left) const {
    Crossed found{.paths = {}, .layers = {}, .planes = planes_.size()};
    for (const auto& pair : left) {
      found.paths.emplace_back(pair.a, pair.b);
      found.paths.emplace_back(pair.b, pair.a);
    }
    std::ranges::sort(found.paths);
    found.layers.resize(found.paths.size() * found.planes);
    for (std::size_t begin = 0, end = 0; begin < found.paths.size(); begin = end) {
      const auto to = found.paths[begin].first;
      while (end < found.paths.size() && found.paths[end].first == to) ++end;
      std::vector<bool> without(net_.switches());
      for (auto i = begin; i < end; ++i) without[found.paths[i].second] = true;
      for (std::size_t p = 0; p < found.planes; ++p) {
        const auto layers = crossing(planes_[p], to, without);
        for (auto i = begin; i < end; ++i) found.layers[i * found.planes + p] = layers[found.paths[i].second];
      }
    }
    return found;
  }

  /// Takes away the paths of these pairs. One that others of its plane cross stays, in a layer of theirs;
  /// where they have none in common in one of its own. False where all are in use.
  bool withdraw(std::vector<Pair> left) {
    for (;;) {
      const auto needed = crossed(left);
      std::vector<Pair> go;
      for (const auto& pair : left) {
        if (needed.common(pair) != 0) {
          go.push_back(pair);
        } else if (!place(pair, most_)) {
          return false;
        }
      }
      if (go.size() == left.size()) {
        for (const auto& pair : left) settle(pair, needed);
        return true;
      }
      left = std::move(go);
    }
  }

  void settle(const Pair& pair, const Crossed& needed) {
    const auto common = needed.common(pair);
    const bool stays = common != ~std::uint64_t{0};
    if (stays) layers_.set(pair.a, pair.b, static_cast<unsigned>(std::countr_zero(common)));
    const auto there = needed.of(pair.b, pair.a), back = needed.of(pair.a, pair.b);
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      if (there[p] == 0) planes_[p].next(pair.b, pair.a) = PathTrees::kNone;
      if (back[p] == 0) planes_[p].next(pair.a, pair.b) = PathTrees::kNone;
    }
  }

  const RoutingContext& in_;
  const ChannelNet& net_;
  std::span<PathTrees> planes_;
  unsigned most_;
  PairLayers layers_;
  std::deque<LayerGraph> graphs_;
  std::vector<ChannelPair> found_;  ///< scratch
  std::size_t left_ = 0;
};

class FewestLayers {
 public:
  FewestLayers(const RoutingContext& in, const ChannelNet& net) : in_(in), net_(net) {}

  using Result = std::expected<LayeredTrees, RouteError>;

  /// With room for multicast in layer 0: layers of few pairs have it, else it is kept free from the first,
  /// for which one layer more is opened where no other tree fits into a layer.
  Result of(const std::vector<PathTrees>& planes, unsigned most) const {
    auto found = planes;
    Layering layering(in_, net_, found, most);
    auto layers = layering.run();
    if (!layers) return std::unexpected(layers.error());
    if (layers->count > 1) {
      const auto turns = turns_in_trees(in_.topology, net_);
      if (!layering.put_first(turns, *layers)) {
        if (auto other = round(turns, planes, layers->count, layering.left())) return *std::move(other);
        if (!layering.put_first_with_room(*layers) && layers->count < most) {
          if (auto other = round(turns, planes, layers->count + 1, layering.left())) return *std::move(other);
        }
      }
    }
    return LayeredTrees{std::move(found), *std::move(layers), std::move(layering).graphs()};
  }

 private:
  /// Nothing where more than `left` pairs would be left out.
  std::optional<LayeredTrees> round(std::span<const ChannelPair> turns, std::vector<PathTrees> planes,
                                    unsigned most, std::size_t left) const {
    Layering layering(in_, net_, planes, most);
    layering.begin_with(turns);
    auto layers = layering.run();
    if (!layers || layering.left() > left) return std::nullopt;
    return LayeredTrees{std::move(planes), *std::move(layers), std::move(layering).graphs()};
  }

  const RoutingContext& in_;
  const ChannelNet& net_;
};

}  // namespace

std::expected<LayeredTrees, RouteError> in_layers(const RoutingContext& in, const ChannelNet& net,
                                                  PathTrees trees, unsigned most_layers) {
  const FewestLayers layered(in, net);
  if (const auto lids = most_lids(in); lids > 1) {
    auto found = layered.of(path_planes(in, net, trees, lids, nullptr), most_layers);
    if (found) return found;
  }
  std::vector<PathTrees> alone;
  alone.push_back(std::move(trees));
  return layered.of(alone, most_layers);
}

std::optional<LayeredTrees> in_one_layer_by_ports(const RoutingContext& in, const ChannelNet& net) {
  for (const auto trees : {lowest_port_trees, breadth_first_trees}) {
    if (auto found = in_layers(in, net, trees(in, net), 1)) return *std::move(found);
  }
  return std::nullopt;
}

}  // namespace smd::routing::inline engines
