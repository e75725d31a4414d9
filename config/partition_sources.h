// SPDX-License-Identifier: Apache-2.0
#pragma once
// The partitions of a configuration as sources for `merge_partitions`; those of the API are for the caller to
// add.

#include "config/config.h"
#include "config/partitions.h"

namespace smd::config {

/// Messages name the file that `subnet` was read from.
PartitionSources partition_sources(const SubnetConfig& subnet);

}  // namespace smd::config
