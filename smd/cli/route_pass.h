// SPDX-License-Identifier: Apache-2.0
#pragma once
// One pass of `smd route`: from the files to proven tables, with the times of its phases.

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "routing/parallel.h"
#include "smd/cli/route_input.h"
#include "smd/decide/decided.h"
#include "smd/dump/view.h"
#include "smd/report/route_report.h"
#include "smd/sweep/subnet.h"

namespace smd::cli {

/// A fabric with its tables.
struct RoutePass {
  sm::Subnet subnet;
  sm::Decided decided;
  config::SubnetConfig config;  ///< what it was decided by
  sm::RouteTimes ms;
  std::optional<sm::ChangedEntries> changed;
  std::vector<std::string> notes;
  std::vector<Accepted> accepted;
  sm::ForeignRates rates;  ///< for topology.net
  bool left_out = false;   ///< nodes or ports are not in service; the notes say which
};

/// Loads, decides or reads the tables, verifies. The same decide() as the daemon's.
std::expected<RoutePass, Failure> run_pass(const RouteOptions& options, const config::SubnetConfig& config,
                                           const routing::Parallel& parallel);

/// Entries that differ from those in `before`, at the switches that both have.
sm::ChangedEntries changed_entries(const sm::RoutePart& before, const sm::RoutePart& now);

}  // namespace smd::cli
