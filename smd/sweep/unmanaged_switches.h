// SPDX-License-Identifier: Apache-2.0
#pragma once
// Unmanaged switches: they do not answer any more and still forward.

#include <vector>

#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// Switches of `before` that do not answer in `now` while a neighbour's port to them is up, as they were in
/// `before`. Without switches that lost their links or were restarted.
std::vector<NodePtr> unmanaged_switches(const Subnet& before, const Subnet& now);

}  // namespace smd::sm::inline sweeping
