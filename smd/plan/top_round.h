// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where only multicast groups have changed: up to which entry switches forward by their tables.

#include "smd/plan/plan.h"

namespace smd::sm::inline planning {

/// SwitchInfo of the switches whose MulticastFDBTop is not as decided. Pure.
Round top_round(const PlanInput& in);

}  // namespace smd::sm::inline planning
