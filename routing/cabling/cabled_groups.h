// SPDX-License-Identifier: Apache-2.0
#pragma once
// The groups of a dragonfly or dragonfly+, found where some cables are misplaced, too.

#include <cstdint>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline cabling {

struct CabledGroups {
  std::vector<std::uint32_t> of;                  ///< by switch: its group
  std::vector<std::vector<SwitchIndex>> members;  ///< by group, ascending
};

/// Where all switches have hosts, switches that have most neighbours in common; else leaves that have most
/// spines in common, and each spine with most of its leaves. Nothing if there are fewer than three groups, or
/// most are small; more than one answer where two leaves may each belong to either of two groups. Other
/// fabrics may seem to have groups, too.
std::vector<CabledGroups> find_cabled_groups(const Topology& topology);

}  // namespace smd::routing::inline cabling
