// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layers of paths from one decision to the next: an SL lives as long as the connection that uses it.

#include <memory>
#include <string>

#include "mad/base/id.h"
#include "routing/topology/context.h"
#include "smd/decide/decided.h"
#include "smd/decide/stored.h"

namespace smd::sm::inline decisions {

/// By how many data VLs all links between switches can keep layers apart.
struct LayerLimit {
  unsigned vls = 15;    ///< 1 to 15
  std::string by = {};  ///< the port that has no more, and of what; empty where there is none with fewer
};

/// By OperationalVLs as decided (or as they are), entries of the low arbitration table (`both_lists`: and of
/// the high one, which some class has its turns in), and SL to VL tables at both ends. Pure; O(ports).
LayerLimit layer_limit(const Subnet& subnet, const LinkPart& links, bool both_lists);

/// The layer of the path from a switch (node GUID) to a LID; 0 where one of them is not routed.
unsigned layer_of(const RoutePart& part, Guid from, Lid to);

/// The same from an end port, by the switch before it (from port 0 by its own).
unsigned layer_of(const RoutePart& part, const Node& node, PortNum port, Lid to);

/// The SL on the wire of that path, for a class of traffic.
Sl path_sl(const Decided& decided, Sl of_class, const Node& node, PortNum port, Lid to);

/// Layers of pairs as they are in force: of the tables before (null: there are none of ours), else as stored.
routing::GuidLayers layers_in_force(const RoutePart* before, const Stored& stored);

/// The layers in force as they are stored, of the switches that there are; one layer where none are stored or
/// a pair has none.
routing::Layers stored_layers(const Stored& stored, const routing::Topology& topology);

/// The number of a layer is bits, one for each dimension of a lattice; VLs follow from it and from the ports.
bool layers_are_bits(const routing::Layers& layers);

/// Tables of an engine of one layer in which pairs have the layers of another one, for their SLs: whatever
/// VLs these are on, the tables are proven.
bool stands_in(const RoutePart& part);

/// `vls`, of another topology, for this one; ports of switches that `of` does not have lead to no switch of
/// the lattice.
routing::VlMap vls_for(const routing::Topology& topology, const routing::VlMap& vls,
                       const routing::Topology& of);

struct StandIn {
  const Stored& stored;
  const RoutePart* before;  ///< the tables in force; null: not known
  unsigned most_layers;     ///< for which each class can have an SL
};
/// Tables of one layer carry every SL: while they stand in for those of the configured engine, pairs of
/// switches keep the layers that they had at first. These are on the VLs by ports that they have; else on one
/// each where there are as many, else on one together. Nothing changes where SLs are too few.
void keep_sls_of_clients(const StandIn& in, const routing::RoutingContext& context, RoutePart& part);

/// Fresh tables with the layers that pairs of switches had at first (`home`), if that is proven; else with
/// their own, numbered so that most pairs have their first one.
void keep_first_layers(const routing::GuidLayers& home, const routing::RoutingContext& in, RoutePart& part);

/// The part with what it says of the layers of the tables before (null: there were none, or they are not
/// ours) and of those that pairs had first. `in_use`: clients may have SLs of the tables before.
std::shared_ptr<const RoutePart> with_layer_history(const std::shared_ptr<const RoutePart>& part,
                                                    const RoutePart* before, const Stored& stored,
                                                    bool in_use);

/// The part with the numbers of pairs that have another layer now than at first, where they are others since
/// layers were released (released_layers.h); else the part itself.
std::shared_ptr<const RoutePart> with_released_layers(const std::shared_ptr<const RoutePart>& part,
                                                      const Stored& stored);

/// What is stored of layers after this decision.
struct RememberedLayers {
  std::shared_ptr<const routing::GuidLayers> home, now;
};
/// Pointers of equal values are those of `stored`.
RememberedLayers remembered_layers(const Stored& stored, const RoutePart& part);

}  // namespace smd::sm::inline decisions
