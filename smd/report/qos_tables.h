// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the log says of SL to VL and VL arbitration tables that are decided here.

#include "config/partitions.h"
#include "smd/decide/decided.h"
#include "smd/log/log.h"

namespace smd::sm::inline reports {

/// What a decision changes: `qos.tables`. Warns, once for each change, of SLs in use (by the policy,
/// partitions and the SM) that ports put on one VL although they were given several (`qos.sls_share_vl`), and
/// of SLs in use whose VL never has a turn (`qos.vl_without_weight`). `partitions` may be null.
void log_qos_tables(const log::Log& log, const Subnet& subnet, const Decided& before, const Decided& now,
                    const config::PartitionPolicy* partitions);

/// SLs get other VLs in one step, as in no order links are free of credit loops meanwhile.
void log_unproven_vls(const log::Log& log);

}  // namespace smd::sm::inline reports
