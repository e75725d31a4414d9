// SPDX-License-Identifier: Apache-2.0
#pragma once
// How repaired tables go back to freshly made ones.

#include <expected>
#include <string>

#include "routing/quality/load.h"
#include "smd/decide/decide.h"

namespace smd::sm::inline reconciling {

/// Where the tables are to converge to, and the next step on the way.
struct ConvergeGoal {
  Decided next;  ///< after the step
  DecideTimes times;
  routing::RouteLoad load;    ///< of the tables in the end
  bool proves_trees = false;  ///< with them fewer multicast trees are without a proof
  bool whole = false;         ///< the step is the last
  bool interrupts = false;    ///< there is no order of its writes in which all that arrives goes on arriving
  bool accepted = false;      ///< and they are written all the same
};

/// Why the tables stay as they are; `reason` is empty where the computation was stopped.
struct TablesStay {
  std::string reason;
  bool until_read = false;  ///< only until SL to VL tables are read, and not until something changes
};

/// Freshly made tables; where the way to them would interrupt what works, those in the order of the switches
/// that the present ones have. For a load that is much less, and for multicast trees that are not proven with
/// the present ones, also tables whose way interrupts; instead of another SM's only where the operator has
/// asked. `to`: `canonical` by itself, more where the operator has asked. `in.previous` has routes. Pure.
std::expected<ConvergeGoal, TablesStay> converge_goal(DecideInput in, DecideInput::Fresh to);

}  // namespace smd::sm::inline reconciling
