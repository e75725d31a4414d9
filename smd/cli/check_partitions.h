// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `smd check` says of partitions.

#include <iosfwd>

#include "config/config.h"

namespace smd::cli {

/// A line for each partition of each subnet, with P_Key, sources, members and groups as they are configured;
/// nothing where no partition is.
void print_configured_partitions(std::ostream& out, const config::Config& config);

}  // namespace smd::cli
