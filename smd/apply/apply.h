// SPDX-License-Identifier: Apache-2.0
#pragma once
// The only code that writes to the fabric.

#include <functional>
#include <memory>
#include <set>

#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/transactions/transactions.h"
#include "smd/apply/applied.h"
#include "smd/plan/plan.h"

namespace smd::sm::inline applying {

struct ApplyInput {
  std::shared_ptr<const Subnet> subnet;
  Decided decided;
  Plan plan;
  /// Asked while nothing is answered: has something newer to be looked at? Then what is open is given up.
  std::function<bool()> urgent = {};
  /// Nodes to which the plan writes nothing, because they did not answer: no way leads through them where
  /// there is another one.
  std::set<Guid> left_out = {};
  /// Tables wait for each other: a switch that does not answer one as soon as it should is given up, unless
  /// it is one of `patient`.
  bool hurry = false;
  std::set<Guid> patient = {};
  /// Of plans before; no table is written before it is over.
  Drain drain = {};
};

/// Writes the plan round by round: a round begins when all Sets of the one before have ended. After a failed
/// Set the later ones of that node, or port, are skipped; after a round of tables that failed in part nothing
/// more is written. A refused or unanswered Set of PortInfo or SwitchInfo is followed by a Get. `tx` and
/// `clock` outlive the coroutine.
asio::awaitable<Applied> apply(mad::Transactions* tx, mad::Clock* clock, ApplyInput in);

}  // namespace smd::sm::inline applying
