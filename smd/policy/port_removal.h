// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports that leave a partition, by whatever rule they are members.

#include <expected>
#include <set>
#include <string_view>
#include <vector>

#include "config/port_set.h"
#include "smd/policy/edits.h"

namespace smd::policy {

struct Removal {
  std::set<Guid> ports;                 ///< port GUIDs, also of ports that are not in the fabric
  std::vector<config::PortTerm> terms;  ///< rules that go as a whole
};

/// Whether only the ports of the fabric tell what the removal leaves of these members.
bool needs_fabric(const config::MemberRules& members, const Removal& removal);

/// The members of `partition` without those of the removal. The name of one node becomes the port GUIDs of
/// its other ports. A conflict where another rule stands for one of the ports: a pattern, a group, a range or
/// the name of several nodes. `self`: the port GUID of the master SM. Pure.
std::expected<config::MemberRules, EditError> members_without(const ApiPartition& partition,
                                                              const Removal& removal,
                                                              const config::PortGroups& groups,
                                                              const config::PortIndex& fabric, Guid self);

}  // namespace smd::policy
