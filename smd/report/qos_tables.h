// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the log says of SL to VL and VL arbitration tables that are decided here.

#include <cstddef>
#include <string>
#include <string_view>

#include "config/partitions.h"
#include "smd/decide/decided.h"
#include "smd/log/log.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// Some ports of a fabric: how many, and the first one.
struct PortsWithTables {
  std::size_t count = 0;
  std::string first{};
};
/// Ports that keep their tables, as by those that are asked for no VL would have a turn. O(ports).
PortsWithTables ports_that_keep_tables(const Subnet& subnet, const QosPart& part);

/// What a decision changes: `qos.tables`. Warns, once for each change, of SLs in use (by the policy,
/// partitions and the SM) that ports put on one VL although they were given several (`qos.sls_share_vl`), of
/// SLs in use whose VL never has a turn (`qos.vl_without_weight`) or that are dropped (`qos.sl_dropped`).
/// `qos.tables_without_weight`: ports that keep their tables. `partitions` may be null.
void log_qos_tables(const log::Log& log, const Subnet& subnet, const Decided& before, const Decided& now,
                    const config::PartitionPolicy* partitions);

/// The reason that `qos.vls_unproven` gives, and a dry run in advance. Static storage.
inline constexpr std::string_view kVlsUnproven =
    "SLs of layered routes get other VLs, and in no order are links free of credit loops meanwhile";
/// `qos.vls_unproven`, a warning: a plan moves SLs of layered routes to other VLs in one step, because no
/// order of steps has been found that keeps links free of credit loops. To be called once for each such plan.
void log_unproven_vls(const log::Log& log);

}  // namespace smd::sm::inline reports
