// SPDX-License-Identifier: Apache-2.0
#pragma once
// In which steps links are retrained.

#include <set>
#include <vector>

#include "smd/plan/plan.h"

namespace smd::sm::inline planning {

/// An end of each link that came up outside its limits, or that needs other OperationalVLs than it has.
std::vector<PortItem> links_to_retrain(const PlanInput& in);

/// The ports of `all` that go down in the next step: the nearer end of each link, farthest links first, our
/// own link last and alone. Of each switch at most one link to another switch, and a quarter of its links to
/// adapters and routers. `down`: switches of which a link to another switch is down; they lose no other one
/// unless nothing else is left and both ends keep a link. Empty: no link can be taken down safely.
std::vector<PortItem> next_to_retrain(const Subnet& subnet, const std::vector<PortItem>& all,
                                      const std::set<Guid>& down);

/// One Set for each port: Down, with the physical state Polling. Their Enabled fields are set before.
Round retrain_round(std::vector<PortItem> ports);

}  // namespace smd::sm::inline planning
