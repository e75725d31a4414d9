// SPDX-License-Identifier: Apache-2.0
#pragma once
// Partitions of OpenSM's file that have neither a name nor a P_Key. They are known by their members: a line
// that comes or goes above them is no reason for another number.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/partition_definition.h"

namespace smd::policy {

struct AcceptedPKeys;

/// One of them, and the number that it has got.
struct NamelessPartition {
  std::vector<std::string> ports{};  ///< of its rules, as text; ascending, each once
  std::uint16_t pkey = 0;
  friend bool operator==(const NamelessPartition&, const NamelessPartition&) = default;
};

/// Those in `definitions`, of one file and in its order, whose numbers are in `accepted.chosen`.
std::vector<NamelessPartition> nameless_partitions(std::span<const config::PartitionDefinition> definitions,
                                                   const AcceptedPKeys& accepted);

/// Lets those in `definitions`, of the file as it is now, keep the numbers of `accepted.nameless` that have
/// their members. The other numbers are `given`.
void keep_by_members(std::span<const config::PartitionDefinition> definitions, AcceptedPKeys& accepted);

}  // namespace smd::policy
