// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an incremental sweep has read, put in the place of what was known.

#include <vector>

#include "smd/sweep/discovery_state.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// `before` with the nodes of `findings` in place of their earlier versions, and without those that no link
/// leads to any more. Reports about places that were looked at again are those given; the others stay. Pure.
Subnet merge(const Subnet& before, DiscoveryState&& findings, std::vector<Unresponsive> unresponsive,
             std::vector<OtherSm> other_sms);

/// Removes the nodes that no link leads to, from our own on. A link that only one end knows of counts as
/// none, and is removed too.
void drop_unreached(Subnet& subnet);

}  // namespace smd::sm::inline sweeping
