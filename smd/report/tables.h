// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the log says of tables that smd does not decide.

#include "smd/apply/applied.h"
#include "smd/log/log.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// `partition.keys_lost`, `node.changed`, `node.restored`: tables that are altered now and were not, or the
/// other way round. A few lines of each kind, the rest as a number. `before` may be null.
void log_altered(const log::Log& log, const Subnet* before, const Subnet& now);

/// `partition.foreign_keys`: ports that have P_Keys of another SM, where there are any.
/// `policy` may be null.
void log_foreign_keys(const log::Log& log, const Subnet& subnet, const config::PartitionPolicy* policy,
                      const Stored& stored);

/// `partition.enforcement_cleared`: ports of switches that were answered to enforce P_Keys no longer. A few
/// lines, the rest as a number.
void log_enforcement(const log::Log& log, const Subnet& before, const Subnet& after, const Applied& applied);

}  // namespace smd::sm::inline reports
