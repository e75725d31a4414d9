// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the log says of SL to VL and VL arbitration tables.

#include <vector>

#include "smd/decide/decided.h"
#include "smd/log/log.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// `node.vl_tables_restored`: nodes whose tables of another SM are written again by this decision and were
/// not by the one before. A few lines, the rest as a number.
void log_vl_tables(const log::Log& log, const Subnet& subnet, const Decided& before, const Decided& now);

/// Linked ports whose table, as far as it is known, maps this SL to VL 15 for packets that come in by a
/// linked port or are the node's own.
std::vector<PeerPort> ports_that_drop(const Subnet& subnet, Sl sl);
/// `node.drops_sl`, without QoS: ports of `now` that drop packets of SL 0, where they are not those of
/// `before`. A few lines, the rest as a number.
void log_dropped_sl(const log::Log& log, const Subnet& subnet, const std::vector<PeerPort>& before,
                    const std::vector<PeerPort>& now);

}  // namespace smd::sm::inline reports
