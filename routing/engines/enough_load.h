// SPDX-License-Identifier: Apache-2.0
#pragma once
// The load of the most loaded cable at which rebalancing tables of a tree ends.

#include <cstddef>
#include <cstdint>
#include <span>

#include "routing/engines/loads.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

/// Load relative to the capacity of the cable: routes times route_weights().
using Weight = std::uint64_t;

/// The load of a channel with so many routes. `weights` is route_weights(): by channel, or empty where each
/// route counts 1.
inline Weight weighed(Weight routes, std::span<const std::uint32_t> weights, std::size_t channel) {
  return weights.empty() ? routes : routes * weights[channel];
}

/// How much is moved.
enum class Rebalance : std::uint8_t {
  damaged,      ///< until no cable carries more than 125 % of the mean
  together,     ///< the same, or more than the routes to one host: they stay on one cable
  round_robin,  ///< a third more than the leaves' cables must carry is left: round robin has few collisions
  counted,      ///< a tenth more
  chained       ///< as counted, and where no move helps by chains of moves
};

struct LoadedTree {
  const Topology& topology;
  const SwitchRanking& ranking;
  std::span<const Load> loads;             ///< by channel
  std::span<const std::uint32_t> weights;  ///< route_weights()
};

/// Of the routes to one host over one cable: who sends to the same host waits for it, whatever the paths.
Weight routes_to_one_host(const LoadedTree& tree);

/// Below the highest load that these tables cannot avoid (the mean of a level, what a leaf sends and gets),
/// and below that of the routes to one host, nothing is gained.
Weight enough_load(const LoadedTree& tree, Rebalance until);

}  // namespace smd::routing::inline engines
