// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the log says of links that are taken down so that they come up within their limits. The first links by
// name, the rest as a number.

#include <vector>

#include "smd/log/log.h"
#include "smd/plan/plan.h"
#include "smd/plan/retraining.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// `links.retrain`: a step begins. `wanted`: links that need it, those of the step included.
void log_retraining(const log::Log& log, const Subnet& subnet, const std::vector<Retraining::Link>& step,
                    std::size_t wanted);
/// `links.outside_limits`: links that came up as before. `again`: these are tried once more.
void log_outside_limits(const log::Log& log, const Subnet& subnet, const std::vector<Retraining::Link>& again,
                        const std::vector<Retraining::Link>& left);
/// `links.retrain_stopped`: links that did not come up within the time limit of a step.
void log_still_down(const log::Log& log, const Subnet& subnet, const std::vector<Retraining::Link>& links);
/// `links.retrain_stopped`: none of `links` can be taken down safely.
void log_not_retrained(const log::Log& log, const Subnet& subnet, const std::vector<PortItem>& links);

}  // namespace smd::sm::inline reports
