// SPDX-License-Identifier: Apache-2.0
#pragma once
// Partitions of the fabric as it is: members, P_Key tables of end ports and of the switch ports next to them,
// and what these enforce.

#include <set>

#include "smd/decide/decided.h"
#include "smd/decide/stored.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

struct PartitionInput {
  const Subnet& subnet;
  const config::SubnetConfig& config;
  PolicyPtr policy;  ///< null, or without a partition: only the ports of SMs are decided
  const Stored& stored;
  /// Partitions were managed by the decision before: what is left of them is taken away.
  bool was_managed = false;
  bool adopting = false;  ///< indexes of ports in service count more than stored ones
  /// Port GUIDs whose index 0 is decided as if they were not in service, and without what is stored of it.
  const std::set<Guid>* reindex = nullptr;
};

struct PartitionDecision {
  PartitionPart part;
  PKeyPart tables;  ///< whole tables of all ports that are decided
  /// Null unless partitions are managed.
  std::shared_ptr<const ComparedPKeys> compared = nullptr;
};

/// Pure. A port whose table was never read is not decided; a member of a partition that is not there is
/// pending.
PartitionDecision decide_partitions(const PartitionInput& in);

}  // namespace smd::sm::inline decisions
