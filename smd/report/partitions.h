// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the log says of partitions.

#include "smd/decide/decided.h"
#include "smd/log/log.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// What a decision changes: `partition.managed`, `partition.no_room`, `partition.not_enforced`,
/// `partition.index0`; where partitions are not smd's `partition.sm_port`. `subnet` is what was decided on. A
/// few lines of each kind, the rest as a number.
void log_partitions(const log::Log& log, const Subnet& subnet, const Decided& before, const Decided& now);

}  // namespace smd::sm::inline reports
