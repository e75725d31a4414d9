// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the log says of SL to VL and VL arbitration tables.

#include "smd/decide/decided.h"
#include "smd/log/log.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// `node.vl_tables_restored`: nodes whose tables of another SM are written again by this decision and were
/// not by the one before. A few lines, the rest as a number.
void log_vl_tables(const log::Log& log, const Subnet& subnet, const Decided& before, const Decided& now);

}  // namespace smd::sm::inline reports
