// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layers of pairs of switches by GUID, which outlive a topology.

#include <cstddef>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline repair {

/// A plain value, to be stored and replicated.
struct GuidLayers {
  std::vector<Guid> switches;  ///< ascending
  PairLayers layers;           ///< by index into `switches`; kNoLayer: none yet
  friend bool operator==(const GuidLayers&, const GuidLayers&) = default;
};

/// The layers of the switches of `topology`; kNoLayer of pairs that have none.
PairLayers layers_for(const Topology& topology, const GuidLayers& known);
/// Pairs that have none get that of `otherwise`, of the same topology.
PairLayers layers_for(const Topology& topology, const GuidLayers& known, const PairLayers& otherwise);

/// With which of two layers of a pair merge() goes on.
enum class KeptLayer : std::uint8_t { before, now };

/// `before` with the pairs of `topology`, whose layers are `now`. O(switches squared).
GuidLayers merge(const GuidLayers& before, const Topology& topology, const PairLayers& now, KeptLayer kept);

/// The layers of all pairs but those of these switches.
GuidLayers without(const GuidLayers& known, const std::vector<Guid>& switches);

/// Pairs of the same two switches with different layers, both known. Both are of one topology.
std::size_t pairs_differing(std::size_t switches, const PairLayers& a, const PairLayers& b);

}  // namespace smd::routing::inline repair
