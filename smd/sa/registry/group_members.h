// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the registry means for the switches.

#include <memory>

#include "smd/decide/decided.h"
#include "smd/registry/registry.h"

namespace smd::sa {

/// Members of each multicast LID: a port in several groups of one LID is there once, and receives where one
/// of its memberships does. Multicast LIDs without members are left out.
std::shared_ptr<const sm::GroupList> group_members(const Registry& registry);

}  // namespace smd::sa
