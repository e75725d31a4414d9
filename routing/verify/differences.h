// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares two states of a fabric and its tables.

#include <cstdint>
#include <optional>
#include <vector>

#include "routing/verify/changes.h"

namespace smd::routing::inline verify {

struct Differences {
  std::vector<SwitchIndex> was;   ///< by switch: its index before
  std::vector<SwitchIndex> gone;  ///< switches that no longer exist, by their index before
  std::vector<Lid> gone_lids;     ///< LIDs that lead nowhere now
  /// By switch: LIDs in use whose entry differs, or whose port leads elsewhere.
  std::vector<std::vector<Lid>> entries;
  std::size_t count = 0;  ///< number of all of these
};

/// Where fabric and tables differ from the proven ones. Nothing if there is a new switch, LID or leaf, if the
/// components differ, or if more than `most` entries differ.
std::optional<Differences> find_differences(const Proven& before, const RoutingContext& now,
                                            const Routes& routes, std::size_t most);

}  // namespace smd::routing::inline verify
