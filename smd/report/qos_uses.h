// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which SLs are in use, by what, and what programs have to set.

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
  friend bool operator==(const QosUse&, const QosUse&) = default;
};
using QosUses = std::map<Sl, QosUse>;

/// Those of the SM, the policy and the partitions; the latter two may be null.
QosUses qos_uses(Sl sm_sl, const config::QosPolicy* policy, const config::PartitionPolicy* partitions);

/// Those of a fabric, by SLs on the wire: one for each class and layer that routes have. `partitions` may be
/// null.
QosUses qos_uses(const Decided& decided, const config::PartitionPolicy* partitions);

}  // namespace smd::sm::inline reports
