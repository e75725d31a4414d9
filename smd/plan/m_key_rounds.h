// SPDX-License-Identifier: Apache-2.0
#pragma once
// M_Keys of end ports, and how far they protect.

#include <optional>
#include <vector>

#include "smd/plan/desired.h"
#include "smd/plan/plan.h"

namespace smd::sm::inline planning {

/// PortInfo of an end port after its next step: first the M_Key with level 0, under which every Get is
/// answered and shows it, then the level and the lease. Nothing where the port has them, where M_Keys are not
/// ours, or where the port has one that we do not know. Pure.
std::optional<wire::PortInfo> next_m_key_step(const PlanInput& in, const Node& node, PortNum port);

/// A step of every port that has one to make: those of CAs and routers, then those of switches, our own last.
/// None is sent to a port after this but by its new key. Pure.
std::vector<Round> m_key_rounds(const PlanInput& in);

}  // namespace smd::sm::inline planning
