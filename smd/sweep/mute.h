// SPDX-License-Identifier: Apache-2.0
#pragma once
// Switches that cannot be asked any more and that forward on.

#include <vector>

#include "smd/sweep/subnet.h"

namespace smd::sm {

/// Switches of `before` that do not say in `now` what they are, while a neighbour says that the link to them
/// is up: with what was known of them. One that lost its links or was restarted is none.
std::vector<NodePtr> mute_switches(const Subnet& before, const Subnet& now);

}  // namespace smd::sm
