// SPDX-License-Identifier: Apache-2.0
#pragma once
// The only code that writes to the fabric.

#include <functional>
#include <memory>

#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/transactions/transactions.h"
#include "smd/apply/applied.h"
#include "smd/plan/plan.h"

namespace smd::sm {

struct ApplyInput {
  std::shared_ptr<const Subnet> subnet;
  Decided decided;
  std::shared_ptr<const config::SubnetConfig> config;
  Plan plan;
  /// Asked while nothing is answered: has something newer to be looked at? Then what is open is given up.
  std::function<bool()> urgent = {};
};

/// Writes the plan round by round: a round begins when all Sets of the one before have ended. After a failed
/// Set the later ones of that node, or port, are skipped: they would come out of order. A refused or
/// unanswered Set of PortInfo or SwitchInfo is followed by a Get, since the node may have done it all the
/// same. `tx` and `clock` outlive the coroutine.
asio::awaitable<Applied> apply(mad::Transactions* tx, mad::Clock* clock, ApplyInput in);

}  // namespace smd::sm
