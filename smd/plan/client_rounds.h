// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is written for clients of subnet administration, between two sweeps.

#include <set>

#include "smd/plan/plan.h"

namespace smd::sm::inline planning {

/// PortInfo.ClientReregister of the end ports with these port GUIDs. Ports that are not in the Subnet, or
/// whose PortInfo smd does not Set, are left out. Pure.
Round reregister_round(const PlanInput& in, const std::set<Guid>& ports);

}  // namespace smd::sm::inline planning
