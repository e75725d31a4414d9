// SPDX-License-Identifier: Apache-2.0
#pragma once
// What readers on other threads see: the state after the last sweep, immutable.

#include <memory>
#include <string>
#include <vector>

#include "mad/base/published.h"
#include "mad/wire/sm_info.h"
#include "smd/decide/decided.h"
#include "smd/decide/stored.h"
#include "smd/ha/election.h"
#include "smd/inventory/inventory.h"
#include "smd/plan/plan.h"
#include "smd/policy/disabled_ports.h"
#include "smd/report/m_keys.h"
#include "smd/report/sweep_summary.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline snapshots {

struct Snapshot {
  std::shared_ptr<const Subnet> subnet;
  Decided decided;
  std::shared_ptr<const Plan> plan;  ///< of a dry run: what would be written; else null
  DecideTimes times;
  SweepSummary summary;
  wire::SmState state = wire::SmState::discovering;
  SmRank rank;  ///< ours
  /// Ports of adapters and routers that this sweep has found in Init, and brought up, and ports that were
  /// another SM's while we were master.
  std::vector<Guid> came_up;
  std::vector<UnknownMKey> unknown_m_keys;
  std::shared_ptr<const policy::DisabledPorts> disabled;  ///< ports, by an operator; null: not known
  InventoryPtr inventory;                                 ///< null before the first sweep as master
  StoredPtr stored;                                       ///< what binds later decisions
  /// The latest event of links and nodes, in words, and when that was; empty: none since the start.
  std::string last_change;
  UnixTime last_change_at = 0;
  UnixTime state_since = 0;  ///< when the state became what it is
};

using base::Published;

}  // namespace smd::sm::inline snapshots
