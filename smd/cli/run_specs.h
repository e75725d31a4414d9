// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which subnets a `smd run` has: those of the command line, else those of the configuration.

#include <expected>
#include <vector>

#include "smd/cli/instance.h"
#include "smd/cli/route_input.h"
#include "smd/cli/run.h"

namespace smd::cli {

/// Names are unique: a second fabric from the same spec is "ft3:8-2"; two subnets with one name in the
/// configuration are an error. Fabric files are read here.
std::expected<std::vector<InstanceSpec>, Failure> instance_specs(const RunOptions& options,
                                                                 const config::Config& config);

/// Those of the configuration alone.
std::vector<InstanceSpec> configured_specs(const config::Config& config);

}  // namespace smd::cli
