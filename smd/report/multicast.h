// SPDX-License-Identifier: Apache-2.0
#pragma once
// Multicast trees that are not proven, and what brings the proof back.

#include "smd/decide/decided.h"
#include "smd/log/log.h"

namespace smd::sm::inline reports {

/// A warning where trees are not proven; nothing else. `decided` has routes.
void log_multicast(const log::Log& log, const Decided& decided);

}  // namespace smd::sm::inline reports
