// SPDX-License-Identifier: Apache-2.0
#pragma once
// Verification of paths in several layers: every path, and its way back, on the layer of the path.

#include <cstdint>
#include <optional>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/dependencies.h"
#include "routing/verify/report.h"

namespace smd::routing::inline verify {

/// What answers go by: SA answers, other GMPs and the passive side of rdma_cm use the SL that they were asked
/// on.
enum class WayBack : std::uint8_t {
  own_layer,   ///< that of its own path
  same_layer,  ///< that of the path there: both are followed on the layers of both
};

/// Groups of channels of a layer that wait for each other, summed over the layers; where the VL of a hop
/// depends on its ports, groups of VLs of channels.
struct LayerCycles {
  std::uint64_t count = 0;
  std::vector<Hop> example;  ///< of the first
};

/// The cycles that the paths of each layer close: from every switch to every LID, or (`end_to_end`) from
/// switches with end ports to LIDs of end ports. Paths that do not arrive count as far as they get without a
/// loop. More than 64 layers, or products of layers and VLs that depend on ports, count as a cycle without an
/// example.
LayerCycles find_layer_cycles(const RoutingContext& in, const Routes& routes, WayBack way_back,
                              bool end_to_end);

/// The dependencies that the paths of layer 0 add, and the paths back of those of layer 0; where the VL of a
/// hop depends on its ports, those of all layers, between VLs of channels. `end_to_end` as above. Nothing:
/// more layers than find_layer_cycles() takes.
std::optional<Dependencies> first_layer_dependencies(const RoutingContext& in, const Routes& routes,
                                                     bool end_to_end);

/// The result of verify_routes() for layers by pair of switches. Both directions of a pair have one layer, so
/// each path is followed on the layer that the path back has, too.
Verification verify_path_layers(const RoutingContext& in, const Routes& routes);

}  // namespace smd::routing::inline verify
