// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd route --quality`.

#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "routing/parallel.h"
#include "routing/quality/quality.h"
#include "smd/decide/decided.h"
#include "smd/report/route_report.h"
#include "smd/sweep/subnet.h"

namespace smd::cli {

/// Of all pairs of hosts in the order of the file; shifts also in `rank_order`, as routing::rank_order()
/// gives it.
routing::Quality measure(const sm::RoutePart& part, const routing::Parallel& parallel,
                         std::span<const routing::EndIndex> rank_order);

/// The hosts in the order in which the tree engines count destinations.
std::vector<routing::EndIndex> rank_order(const sm::RoutePart& part, const config::SubnetConfig& config,
                                          const routing::Parallel& parallel);

/// The order as OpenSM's opensm-ftree-ca-order.dump has it: a line a host, LID and name. `padded` (engine
/// ftree): leaves with fewer hosts than the fullest get lines "0xFFFF DUMMY" for the rest.
std::string rank_order_text(const sm::Subnet& subnet, const sm::RoutePart& part,
                            std::span<const routing::EndIndex> order, bool padded);

/// The figures, the most used links by name, and the width of each level.
void add_quality(const sm::Subnet& subnet, const sm::RoutePart& part, routing::Quality quality,
                 sm::RouteReport& report);

}  // namespace smd::cli
