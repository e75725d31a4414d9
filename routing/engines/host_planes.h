// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several paths between two switches, for different hosts, where one carries too much.

#include "routing/engines/channel_net.h"
#include "routing/engines/pair_layering.h"
#include "routing/routes.h"
#include "routing/topology/context.h"

namespace smd::routing::inline engines {

/// The routes along these trees. Where each port has one LID and that lowers the load of the most loaded
/// cable, the hosts of a switch are dealt out over up to four copies of the trees, in which paths over loaded
/// links take others that are no longer. All paths of a pair of switches keep its layer, which stays free of
/// cycles, and multicast keeps its room in layer 0. Large fabrics, and trees whose graphs are not known, keep
/// one tree towards a switch.
Routes routes_along(const RoutingContext& in, const ChannelNet& net, LayeredTrees found);

}  // namespace smd::routing::inline engines
