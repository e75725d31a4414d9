// SPDX-License-Identifier: Apache-2.0
#pragma once
// What lists of ports in smd.toml refer to: groups and partitions that have to be there.

#include <string>
#include <vector>

#include "config/config.h"
#include "config/partitions.h"

namespace smd::config {

/// A list of ports of smd.toml.
struct PortList {
  std::string key{};  ///< "partition[0].full"
  unsigned line = 0;  ///< of its block
  const std::vector<PortTerm>* terms = nullptr;
};

/// Those of [[group]], of [[partition]] and of [qos]; valid while `subnet` is.
std::vector<PortList> port_lists_of_groups(const SubnetConfig& subnet);
std::vector<PortList> port_lists_of_partitions(const SubnetConfig& subnet);
std::vector<PortList> port_lists_of_qos(const SubnetConfig& subnet);

/// An error for each member that is a group which is not there, at "partition[0].full[1]". `toml_file` is its
/// name in errors.
std::vector<ConfigError> missing_groups(const std::vector<PortList>& lists, const SubnetConfig& subnet,
                                        const std::string& toml_file);
/// An error for each member that is a partition: one of partitions cannot be.
std::vector<ConfigError> nested_partitions(const std::vector<PortList>& lists, const std::string& toml_file);
/// The same as `missing_groups` for partitions that no file defines: the API may make them, so that these are
/// warnings.
std::vector<ConfigError> missing_partitions(const std::vector<PortList>& lists, const PartitionPolicy& policy,
                                            const std::string& toml_file);

}  // namespace smd::config
