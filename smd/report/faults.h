// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is wrong, one log line each: a port is always named by GUID, name and number.

#include <set>

#include "smd/apply/applied.h"
#include "smd/decide/decided.h"
#include "smd/log/log.h"
#include "smd/report/sweep_summary.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// Nodes that do not answer, duplicate GUIDs, ports that are not Active and why, LIDs that ran out, engines
/// that were passed over, routes and multicast trees that are not proven. `decided`: for this Subnet; null:
/// nothing is. `small_tables`: switches that were named for that before, and are now. `known`, which may be
/// null, names the hosts behind nodes that do not answer.
void log_faults(const log::Log& log, const Subnet& subnet, const Decided* decided,
                std::set<Guid>& small_tables, const Inventory* known = nullptr);

/// Sets without a good answer, of one plan.
void log_failed(const log::Log& log, const Subnet& subnet, const Applied& applied);

/// Fields that nodes turned out not to keep: one line for each attribute and field, with how many ports.
void log_not_kept(const log::Log& log, const Subnet& before, const Subnet& after);

/// Logs the summary of a sweep as one line.
void log_summary(const log::Log& log, const SweepSummary& summary, log::Level level = log::Level::info);

}  // namespace smd::sm::inline reports
