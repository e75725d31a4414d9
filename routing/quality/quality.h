// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measures the balance of routes: the load of the most loaded link for patterns of traffic.

#include <cstdint>
#include <span>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/context.h"

namespace smd::routing::inline quality {

/// One direction of a cable, and the routes that cross it.
struct HotLink {
  SwitchIndex from = 0, to = 0;
  PortNum out, in;
  std::uint64_t paths = 0;
  friend bool operator==(const HotLink&, const HotLink&) = default;
};

/// A link is one direction of a cable between two switches. Pairs whose packets do not arrive load no link.
struct Quality {
  std::uint64_t max_link_paths = 0;  ///< (source host, destination host) over the most loaded link
  double mean_link_paths = 0;        ///< over all links
  std::uint32_t shift_max = 0;       ///< host i sends to host i + k: the most loaded link, worst k
  double shift_mean = 0;             ///< mean over k: all, or 1,024 evenly spaced
  std::uint32_t shift_rank_max = 0;  ///< the same with the hosts in `rank_order`
  double shift_rank_mean = 0;
  double random_permutation_mean = 0;  ///< mean over 100 permutations of the most loaded link
  /// Effective bisection bandwidth (Hoefler, Schneider, Lumsdaine, 2009): one half of the hosts sends to the
  /// other, each flow gets 1 / (flows on its most loaded link). The mean over flows and 100 random halves.
  double ebb = 0;
  /// The largest load of a link by time: its paths, times the rate of the fastest cable by its own.
  double max_link_time = 0;
  double leaf_bound = 0;  ///< see leaf_bound(); max_link_time cannot be less
  /// The ten links with the most paths, in descending order; ties by GUID and port.
  std::vector<HotLink> hottest;
  friend bool operator==(const Quality&, const Quality&) = default;
};

/// Measures the routes between `hosts`, numbered as hosts_in_file_order() does. Skips hosts without a switch
/// or a LID; of several LIDs of a host the first counts. The same seed gives the same figures. `rank_order`
/// are the same hosts in the order of the engine (rank_order()), for shift_rank_*; empty: as `hosts`.
Quality measure(const RoutingContext& in, const Routes& routes, std::span<const EndIndex> hosts,
                std::uint64_t seed = 1, std::span<const EndIndex> rank_order = {});

/// A lower bound of max_link_time for any tables that serve all pairs: the routes between a leaf's hosts and
/// all other hosts of its component share the leaf's cables, each in proportion to its rate. The largest over
/// all leaves; 0 if no leaf has a cable.
double leaf_bound(const Topology& topology, std::span<const EndIndex> hosts);

/// By channel of the topology the number of (source host, destination host) routes that cross it.
std::vector<std::uint64_t> link_paths(const RoutingContext& in, const Routes& routes,
                                      std::span<const EndIndex> hosts);

}  // namespace smd::routing::inline quality
