// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which P_Key tables change, so that no port is without a key that it keeps, and no packet of a
// port with a key is refused by the switch before it.

#include <vector>

#include "smd/plan/plan.h"

namespace smd::sm::inline planning {

struct PKeyRounds {
  /// Phase pkeys: tables get their new keys and keep the old ones, those of switches before those of end
  /// ports. Ports that are not in service become what they should be.
  std::vector<Round> widen;
  /// Phase pkeys_removed: old keys go, those of end ports before those of switches.
  std::vector<Round> narrow;
};

/// Blocks that differ from what was decided, or are not known. A table whose blocks must follow one another
/// takes a round for each. Pure.
PKeyRounds pkey_rounds(const PlanInput& in);

/// Phase host_links: switch ports in service that enforce other than was decided. Pure.
Round enforcement_round(const PlanInput& in);

}  // namespace smd::sm::inline planning
