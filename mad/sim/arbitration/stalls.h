// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packets that cannot move, and why: a receiver that takes nothing, a VL that is never served, or buffers
// that wait for each other.

#include <vector>

#include "mad/sim/arbitration/queues.h"
#include "mad/sim/arbitration/simulation.h"

namespace smd::sim {

struct Stalls {
  /// Because of a blocked receiver, or of a VL that no arbitration table serves.
  std::vector<LaneIndex> held;
  std::vector<CreditLoop> loops;
  std::vector<LaneIndex> behind;  ///< leads into a loop
};

/// A lane stalls where the packets of its buffer that can never move leave too few credits for the packet
/// whose turn it is. A buffer's packets that leave by different lanes do not wait for each other.
Stalls find_stalls(const Queues& queues);

}  // namespace smd::sim
