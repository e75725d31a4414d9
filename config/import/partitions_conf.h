// SPDX-License-Identifier: Apache-2.0
#pragma once
// OpenSM's partitions.conf, as opensm 3.3.24 reads it (opensm(8), doc/partition-config.txt; what these leave
// open was read in osm_prtn_config.c). docs/partitions.md lists where smd differs.

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.h"
#include "config/partition_definition.h"

namespace smd::config {

struct PartitionsConf {
  std::vector<PartitionDefinition> definitions{};  ///< in the order of the file, never empty
  /// What opensm ignores or changes without a word. Each names file and line.
  std::vector<ConfigError> warnings{};
  friend bool operator==(const PartitionsConf&, const PartitionsConf&) = default;
};

struct PartitionsConfOptions {
  bool qos = false;  ///< without QoS the SL of a definition is 0, as opensm has it
};

/// Reads the whole file or refuses it: one error for each wrong line, 50 at most. `file` is its name in
/// errors.
std::expected<PartitionsConf, std::vector<ConfigError>> read_partitions_conf(
    std::string_view text, const std::string& file, const PartitionsConfOptions& options = {});

}  // namespace smd::config
