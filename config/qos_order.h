// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rules of a QoS policy that never count: the first one that matches does, and an earlier one has all that
// they match.

#include <string>
#include <vector>

#include "config/qos_policy.h"

namespace smd::config {

/// Whether one of `ranges` has the whole of `range`.
bool covers(const QosRanges& ranges, const QosRange& range);

/// The ports at one end of the paths of a rule, as they are written. The rule outlives it.
struct QosRuleEnd {
  const std::vector<std::string>& groups;
  const PortSet& ports;
  /// The rule names no group and no port at this end: it has all ports.
  bool any() const { return groups.empty() && ports.terms.empty(); }
  /// Both are written alike, in the same order.
  bool same(const QosRuleEnd& other) const { return groups == other.groups && ports == other.ports; }
  /// It has all ports that `other` has, as far as the words alone show it.
  bool covers(const QosRuleEnd& other) const { return any() || same(other); }
};
inline QosRuleEnd source_of(const QosRule& rule) { return {rule.source_groups, rule.source_ports}; }
inline QosRuleEnd destination_of(const QosRule& rule) {
  return {rule.destination_groups, rule.destination_ports};
}

/// Whether P_Keys and partitions and nothing else are criteria of the rule, or it has none at all.
bool has_only_pkeys(const QosRule& rule);

/// A warning for each rule and each ULP that never counts, as far as their criteria alone show it: which
/// ports a group has depends on the fabric. In the order of the policy; ten at most, then how many more there
/// are.
std::vector<ConfigError> unreachable_rules(const QosPolicy& policy);

}  // namespace smd::config
