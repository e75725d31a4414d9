// SPDX-License-Identifier: Apache-2.0
#pragma once
// Silent hosts: they do not answer any more, and their links are up.

#include <vector>

#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// CAs and routers of `before` with a port that `now` has as unresponsive, or that was silent in `before`:
/// the port at the other end of the link is up and leads to no other node. As they were in `before`, with
/// these ports alone. Ascending GUID, each once. Pure; O(unresponsive nodes and silent hosts).
std::vector<NodePtr> silent_hosts(const Subnet& before, const Subnet& now);

}  // namespace smd::sm::inline sweeping
