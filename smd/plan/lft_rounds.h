// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which blocks of which forwarding tables are written, in which order.

#include <stop_token>
#include <vector>

#include "smd/plan/plan.h"

namespace smd::sm {

/// Rounds of phase lft: whatever has been written of one when it is interrupted, nothing goes round in a
/// circle that did not before. What the plan says of them is filled in.
std::vector<Round> lft_rounds(const PlanInput& in, const routing::Parallel& parallel, Plan& plan,
                              const std::stop_token& stop);

/// Whether there is no order of these writes in which all that arrives goes on arriving.
bool would_interrupt(const PlanInput& in, const routing::Parallel& parallel, const std::stop_token& stop);

/// What a block is written as.
wire::LinearForwardingTable block_content(const routing::LftRow& decided, const routing::LftRow* held,
                                          const PartialBlock& block);

}  // namespace smd::sm
