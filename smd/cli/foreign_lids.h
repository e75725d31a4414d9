// SPDX-License-Identifier: Apache-2.0
#pragma once
// LIDs in the tables of `--lfts` that do not fit the topology.

#include <string>

#include "smd/cli/route_input.h"
#include "smd/decide/decided.h"

namespace smd::cli {

/// One line that names the LIDs of the dump (input.lfts, from `file`) that belong to no port of the topology:
/// those whose port, as the dump names it, is not there, and those without a name that have a route and lead
/// to no port. Empty if there are none. What --without takes away is part of the topology.
std::string foreign_lids(const RouteInput& input, const sm::RoutePart& routes, const std::string& file);

}  // namespace smd::cli
