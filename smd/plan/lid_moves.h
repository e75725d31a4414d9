// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports that get a LID which another port still has.

#include <set>
#include <utility>

#include "smd/plan/plan.h"

namespace smd::sm::inline planning {

/// Ports that must wait until another port has given up the LID that is to be theirs: no two have one LID,
/// even for a moment. Empty where they all wait for each other, because then nothing would ever move.
std::set<std::pair<NodeIndex, PortNum>> waiting_for_lids(const PlanInput& in);

}  // namespace smd::sm::inline planning
