// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which blocks of which forwarding tables are written, in which order.

#include <stop_token>
#include <vector>

#include "smd/plan/plan.h"

namespace smd::sm::inline planning {

/// Rounds of phase lft: whatever part of a round has been written, there is no forwarding loop that was not
/// there before. Fills in the fields of `plan` about them.
std::vector<Round> lft_rounds(const PlanInput& in, const routing::Parallel& parallel, Plan& plan,
                              const std::stop_token& stop);

/// Whether there is no order of these writes in which all that arrives goes on arriving.
bool would_interrupt(const PlanInput& in, const routing::Parallel& parallel, const std::stop_token& stop);

/// The block to write: `decided`, and by `block` entries as in `held` (may be null) or without a route.
wire::LinearForwardingTable block_content(const routing::LftRow& decided, const routing::LftRow* held,
                                          const PartialBlock& block);

}  // namespace smd::sm::inline planning
