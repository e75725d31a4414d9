// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd route --quality`.

#include "routing/parallel.h"
#include "routing/quality/quality.h"
#include "smd/decide/decided.h"
#include "smd/report/route_report.h"
#include "smd/sweep/subnet.h"

namespace smd::cli {

/// Of all pairs of hosts in the order of the file (routing::measure).
routing::Quality measure(const sm::RoutePart& part, const routing::Parallel& parallel);

/// The figures, the most used links by name, and the width of each level.
void add_quality(const sm::Subnet& subnet, const sm::RoutePart& part, routing::Quality quality,
                 sm::RouteReport& report);

}  // namespace smd::cli
