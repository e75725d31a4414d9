// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rules of a QoS policy that never count: the first one that matches does, and an earlier one has all that
// they match.

#include <vector>

#include "config/qos_policy.h"

namespace smd::config {

/// Whether one of `ranges` has the whole of `range`.
bool covers(const QosRanges& ranges, const QosRange& range);

/// Whether P_Keys and nothing else are criteria of the rule, or it has none at all.
bool has_only_pkeys(const QosRule& rule);

/// A warning for each rule and each ULP that never counts, as far as their criteria alone show it: which
/// ports a group has depends on the fabric. In the order of the policy; ten at most, then how many more there
/// are.
std::vector<ConfigError> unreachable_rules(const QosPolicy& policy);

}  // namespace smd::config
