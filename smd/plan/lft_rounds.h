// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which blocks of which forwarding tables are written, in which order.

#include <vector>

#include "smd/plan/plan.h"

namespace smd::sm {

/// Rounds of phase lft. `entries_changed` counts known entries that get another port.
std::vector<Round> lft_rounds(const PlanInput& in, std::size_t& entries_changed);

}  // namespace smd::sm
