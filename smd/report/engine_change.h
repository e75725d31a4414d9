// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables of another engine than before.

#include "smd/decide/decided.h"
#include "smd/log/log.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// Nothing where the engine is the same. A warning with the reason where layers in use are given up because
/// the engine cannot route the fabric any more. `asked`: the operator has told smd to compare engines.
void log_engine_change(const log::Log& log, const Subnet& subnet, const RoutePart& before,
                       const RoutePart& now, bool asked);

}  // namespace smd::sm::inline reports
