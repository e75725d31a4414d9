// SPDX-License-Identifier: Apache-2.0
#pragma once
// The trees that multicast packets are to take.

#include <memory>
#include <unordered_map>
#include <utility>

#include "routing/ranking/switch_ranking.h"
#include "smd/decide/decide.h"

namespace smd::sm::inline decisions {

/// What trees need to know of a topology; groups change far more often than it does.
struct MulticastContext {
  /// Ranks the switches and finds each port's switch. Does not refer to `topology` afterwards.
  explicit MulticastContext(const routing::Topology& topology);
  routing::SwitchRanking ranking;
  /// Where the port with this GUID is; of a switch: itself, port 0.
  std::unordered_map<Guid, std::pair<routing::SwitchIndex, PortNum>> places;
};

/// Tables for the groups of `in.multicast` on the topology of `routes`. A tree that switches hold, or that
/// was decided on before, is kept as far as its cables are there, and grown or pruned. The part of
/// `in.previous` itself where nothing that it rests on has changed; null where no groups are known. Pure.
std::shared_ptr<const McPart> decide_multicast(const DecideInput& in, const RoutePart& routes);

}  // namespace smd::sm::inline decisions
