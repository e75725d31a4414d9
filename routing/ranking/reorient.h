// SPDX-License-Identifier: Apache-2.0
#pragma once
// Turns few links round so that all switches with hosts have a legal path again.

#include <optional>
#include <stop_token>

#include "routing/ranking/switch_ranking.h"

namespace smd::routing::inline ranking {

/// A ranking in which all connected pairs of switches with hosts have an up/down path, and in which few links
/// point elsewhere than in `ranking`: tables that follow that ranking stay legal for the most part. `rank` is
/// unchanged. Nothing if links turned one by one do not lead there (a new ranking is needed then), or when
/// stopped. Takes O(switches with hosts * links) for each link that is turned.
std::optional<SwitchRanking> reorient(const Topology& topology, const SwitchRanking& ranking,
                                      const std::stop_token& stop = {});

}  // namespace smd::routing::inline ranking
