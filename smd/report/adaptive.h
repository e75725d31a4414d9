// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the log says of switches that route adaptively, past the forwarding tables.

#include <vector>

#include "config/config.h"
#include "smd/apply/applied.h"
#include "smd/log/log.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// `routing.adaptive`: one line for all of them, the first ones with GUID and name.
void log_adaptive(const log::Log& log, const Subnet& subnet, config::AdoptAdaptive does, bool dry_run);

/// `routing.adaptive_disabled`: switches that routed adaptively in `before` and do not in `after`. Both have
/// the same nodes.
void log_adaptive_ended(const log::Log& log, const Subnet& before, const Subnet& after);

/// Switches that route adaptively and were sent forwarding tables, which may have ended it: indexes.
std::vector<std::size_t> perhaps_ended(const Subnet& subnet, const Applied& applied);

}  // namespace smd::sm::inline reports
