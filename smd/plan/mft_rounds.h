// SPDX-License-Identifier: Apache-2.0
#pragma once
// In which order multicast forwarding tables are written.

#include <vector>

#include "smd/plan/plan.h"

namespace smd::sm::inline planning {

/// Parts that differ from what was decided or are unknown. Two rounds where the old and the new tree of a
/// multicast LID together would form a loop: first what the new one does not have is removed everywhere. No
/// packet comes to a member twice at any instant between. Pure.
std::vector<Round> mft_rounds(const PlanInput& in);

}  // namespace smd::sm::inline planning
