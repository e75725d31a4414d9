// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where two states of a fabric and its tables differ.

#include <cstdint>
#include <optional>
#include <vector>

#include "routing/verify/changes.h"

namespace smd::routing::inline verify {

struct Differences {
  std::vector<SwitchIndex> was;   ///< by switch its index before
  std::vector<SwitchIndex> gone;  ///< switches that are not there any more, by their index before
  std::vector<Lid> gone_lids;     ///< that lead nowhere now
  /// By switch: LIDs in use whose entry differs, or whose port leads elsewhere.
  std::vector<std::vector<Lid>> entries;
  std::size_t count = 0;  ///< of all of those
};

/// Nothing where there is a switch, a LID or a leaf that was not, connected parts are others, or more than
/// `most` entries differ.
std::optional<Differences> find_differences(const Proven& before, const RoutingContext& now,
                                            const Routes& routes, std::size_t most);

}  // namespace smd::routing::inline verify
