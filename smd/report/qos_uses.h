// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which SLs are in use, by what, and what programs have to set.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "config/partitions.h"
#include "config/qos_policy.h"
#include "smd/decide/decided.h"

namespace smd::sm::inline reports {

struct QosUse {
  std::string name{};                   ///< of the class; empty: it has none
  Sl of_class{};                        ///< its number
  std::vector<std::string> by{};        ///< "the SM", "partition blue", "level storage", "nvmeof"
  std::vector<std::string> pkeys{};     ///< whose IPoIB has the SL
  std::vector<std::string> services{};  ///< "nvmeof 0x1061144": by PathRecord
  std::uint64_t groups = 0;             ///< multicast groups of add_groups()
  /// Nothing but those groups has the SL: no program is told to use it.
  bool of_groups_only() const { return groups != 0 && by.size() == 1; }
  friend bool operator==(const QosUse&, const QosUse&) = default;
};
using QosUses = std::map<Sl, QosUse>;

/// Multicast groups with members on an SL that is not the one which their partition has now: clients have
/// made them so, or joined before it changed.
struct GroupsOnSl {
  std::uint64_t count = 0;
  std::string first{};  ///< MGID of one
  friend bool operator==(const GroupsOnSl&, const GroupsOnSl&) = default;
};
/// By SL on the wire.
using GroupSls = std::map<Sl, GroupsOnSl>;

/// Those of the SM, the policy and the partitions; the latter two may be null.
QosUses qos_uses(Sl sm_sl, const config::QosPolicy* policy, const config::PartitionPolicy* partitions);

/// Those of a fabric, by SLs on the wire: one for each class and layer that routes have. `partitions` may be
/// null.
QosUses qos_uses(const Decided& decided, const config::PartitionPolicy* partitions);

/// The SLs of these groups are in use too. `sls` may be null.
void add_groups(QosUses& uses, const GroupSls& groups, const SlPart* sls);

}  // namespace smd::sm::inline reports
