// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ranking by GUIDs, which outlives the topology that it was made for.

#include <cstdint>
#include <vector>

#include "mad/base/id.h"
#include "routing/ranking/switch_ranking.h"

namespace smd::routing::inline ranking {

struct GuidRanking {
  struct Place {
    Guid guid;
    std::int32_t rank = 0;       ///< as in SwitchRanking
    std::uint32_t position = 0;  ///< as in SwitchRanking
    friend bool operator==(const Place&, const Place&) = default;
  };
  std::vector<Place> places;  ///< ascending by GUID
  bool tree = false;
  friend bool operator==(const GuidRanking&, const GuidRanking&) = default;
};

/// The ranking of the switches of `topology`; switches of `others` that are not there come below them, in the
/// order that they have there.
GuidRanking by_guid(const Topology& topology, const SwitchRanking& ranking,
                    const GuidRanking* others = nullptr);

/// The part of a ranking that `topology` has. Switches that the ranking does not know come below all others,
/// by GUID.
SwitchRanking by_index(const GuidRanking& ranking, const Topology& topology);

}  // namespace smd::routing::inline ranking
