// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which subnets a `smd run` has: those of the command line, else those of the configuration.

#include <expected>
#include <vector>

#include "smd/daemon/failure.h"
#include "smd/daemon/instance.h"
#include "smd/daemon/run_options.h"

namespace smd::daemon {

/// Names are unique: a second fabric from the same spec is "ft3:8-2"; two subnets with one name in the
/// configuration are an error. Fabric files are read here.
std::expected<std::vector<InstanceSpec>, Failure> instance_specs(const RunOptions& options,
                                                                 const config::Config& config);

/// Those of the configuration alone.
std::vector<InstanceSpec> configured_specs(const config::Config& config);

}  // namespace smd::daemon
