// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/layer_room.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "routing/topology/spanning_trees.h"

namespace smd::routing::inline engines {
namespace {

constexpr std::size_t kMostTreeRoots = 8;  ///< multicast tries as many at least, but in very large components

class TreeInLayer {
 public:
  TreeInLayer(const ChannelNet& net, const LayerGraph& layer)
      : net_(net), layer_(layer), in_tree_(net.switches()), out_(net.switches()) {}

  /// Whether it reaches `size` switches.
  bool grow(SwitchIndex root, std::size_t size) {
    std::vector<SwitchIndex> reached{root};
    in_tree_[root] = true;
    // A link that closes a cycle now does so for good: each switch is looked at once.
    for (std::size_t at = 0; at < reached.size(); ++at) {
      const auto s = reached[at];
      for (auto c = net_.first(s); c < net_.first(s + 1); ++c) {
        if (in_tree_[net_.head(c)] || !attach(s, c)) continue;
        in_tree_[net_.head(c)] = true;
        reached.push_back(net_.head(c));
      }
    }
    return reached.size() == size;
  }

  LayerGraph layer() && { return std::move(layer_); }

 private:
  bool attach(SwitchIndex s, NetChannel c) {
    turns_.clear();
    for (const auto other : out_[s]) {
      turns_.push_back(net_.pair(net_.reverse(other), c));
      turns_.push_back(net_.pair(net_.reverse(c), other));
    }
    if (!layer_.add(turns_)) return false;
    out_[s].push_back(c);
    out_[net_.head(c)].push_back(net_.reverse(c));
    return true;
  }

  const ChannelNet& net_;
  LayerGraph layer_;
  std::vector<bool> in_tree_;
  std::vector<std::vector<NetChannel>> out_;  ///< by switch: channels of the tree that leave it
  std::vector<ChannelPair> turns_;            ///< scratch
};

/// The layer with the turns of a tree of these switches, which are a component; nothing: none fits.
std::optional<LayerGraph> with_tree(const Topology& topology, const ChannelNet& net, const LayerGraph& layer,
                                    const std::vector<SwitchIndex>& switches) {
  auto roots = by_eccentricity(topology, switches);
  if (roots.size() > kMostTreeRoots) roots.resize(kMostTreeRoots);
  for (const auto root : roots) {
    TreeInLayer tree(net, layer);
    if (tree.grow(root, switches.size())) return std::move(tree).layer();
  }
  return std::nullopt;
}

}  // namespace

std::vector<ChannelPair> turns_in_trees(const Topology& topology, const ChannelNet& net) {
  const auto trees = middle_trees(topology);
  std::vector<ChannelPair> turns;
  for (SwitchIndex s = 0; s < trees.ports.size(); ++s) {
    std::vector<NetChannel> out;
    for (const auto port : trees.ports[s]) {
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        if (topology.group(s, g).peer == topology.peer(s, port).sw)
          out.push_back(static_cast<NetChannel>(net.first(s) + g));
      }
    }
    for (const auto in : out) {
      for (const auto to : out) {
        if (in != to) turns.push_back(net.pair(net.reverse(in), to));
      }
    }
  }
  return turns;
}

bool trees_can_grow(const Topology& topology, const ChannelNet& net, const LayerGraph& layer) {
  std::optional<LayerGraph> with(layer);
  for (const auto& switches : switches_by_component(topology)) {
    auto found = with_tree(topology, net, *with, switches);
    if (!found) return false;
    with.emplace(*std::move(found));
  }
  return true;
}

}  // namespace smd::routing::inline engines
