// SPDX-License-Identifier: Apache-2.0
#pragma once
// What became of the forwarding tables of the SM before us, and of the SLs that its clients use.

#include "smd/decide/decided.h"
#include "smd/log/log.h"

namespace smd::sm::inline reports {

/// `routes`: decided where there were none of ours before.
void log_adoption(const log::Log& log, const RoutePart& routes);

/// Where tables of ours need SLs that are not known, and the ones before took any.
void log_unknown_sls(const log::Log& log, const RoutePart& before, const RoutePart& now);

}  // namespace smd::sm::inline reports
