// SPDX-License-Identifier: Apache-2.0
#pragma once
// The trees that multicast packets are to take.

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "routing/multicast/turns.h"
#include "routing/ranking/switch_ranking.h"
#include "smd/decide/decide.h"

namespace smd::sm::inline decisions {

/// Where ports are, and the ranking by which trees grow; groups change far more often than a topology does.
struct MulticastPlaces {
  /// Ranks the switches and finds each port's switch. Does not refer to `topology` afterwards.
  explicit MulticastPlaces(const routing::Topology& topology);
  routing::SwitchRanking ranking;
  /// Where the port with this GUID is; of a switch: itself, port 0.
  std::unordered_map<Guid, std::pair<routing::SwitchIndex, PortNum>> ports;
};

/// What trees of a topology need to know, and by what they are proven.
struct MulticastContext {
  std::shared_ptr<const MulticastPlaces> places;
  std::shared_ptr<const routing::McProof> proof;
  /// The ranking of the proof has failed a tree, and there are no spanning trees in its place.
  bool no_spanning = false;
  std::size_t trees = 0;       ///< those that cross cables between switches
  std::size_t not_proven = 0;  ///< of them those that may close a credit loop with unicast paths or others
  // What the proof rests on.
  std::vector<std::shared_ptr<const routing::LftRow>> rows;
  routing::Layers layers;
};

/// Tables for the groups of `in.multicast` on the topology of `routes`. A tree that switches hold, or that
/// was decided on before, is kept as far as its cables are there and it is proven, and grown or pruned. While
/// tables are adopted it is kept, proven or not. The part of
/// `in.previous` itself where nothing that it rests on has changed; null where no groups are known. Pure.
std::shared_ptr<const McPart> decide_multicast(const DecideInput& in, const RoutePart& routes);

/// Trees that may close a credit loop. `part` may be null.
std::size_t trees_not_proven(const McPart* part);

}  // namespace smd::sm::inline decisions
