// SPDX-License-Identifier: Apache-2.0
#pragma once
// All that is kept of a subnet.

#include <tuple>

#include "smd/decide/stored.h"
#include "smd/policy/policies.h"
#include "smd/registry/registry.h"
#include "smd/store/replica_state.h"

namespace smd::store {

/// By kind of state.
using Kept = std::tuple<sm::StoredPtr, sa::RegistryPtr, policy::PoliciesPtr, ReplicaStatePtr>;
/// Empty ones of each kind.
Kept nothing_kept();

}  // namespace smd::store
