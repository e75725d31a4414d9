// SPDX-License-Identifier: Apache-2.0
#pragma once
// The partitions of a configuration as sources for `merge_partitions`; those of the API are for the caller to
// add.

#include <string>

#include "config/config.h"
#include "config/partitions.h"

namespace smd::config {

/// `toml_file` names the configuration in messages.
PartitionSources partition_sources(const SubnetConfig& subnet, std::string toml_file);

}  // namespace smd::config
