// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the log says of partitions.

#include <string>
#include <vector>

#include "smd/decide/decided.h"
#include "smd/decide/stored.h"
#include "smd/log/log.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline reports {

/// Ports that have the P_Key of a partition from another SM, and lose it because they are no members.
struct LostForeignKey {
  PKey pkey{};  ///< without the bit of full members
  std::string partition{}, source{};
  bool automatic = false;  ///< smd chose the number
  std::vector<PeerPort> ports{};
  std::vector<Guid> off{};  ///< port GUIDs of hosts that are off: they would get it back from the store
  friend bool operator==(const LostForeignKey&, const LostForeignKey&) = default;
};
/// Of partitions that `now` has in addition to `before` (null: nothing was decided), while all other foreign
/// keys stay. Pure.
std::vector<LostForeignKey> lost_foreign_keys(const Subnet& subnet, const Stored& stored,
                                              const PartitionPart* before, const PartitionPart& now);
/// One sentence about it, with the names of a few ports.
std::string to_string(const LostForeignKey& lost, const Subnet& subnet);

/// One name for a partition of the API and another one of a file.
struct SharedName {
  std::string name{};
  PKey of_api{}, of_file{};  ///< without the bit of full members
  std::string source{};      ///< where the file defines its own
  friend bool operator==(const SharedName&, const SharedName&) = default;
};
/// Of a policy, ascending by the P_Key of the API. Pure.
std::vector<SharedName> shared_names(const config::PartitionPolicy& policy);
/// One sentence about it.
std::string to_string(const SharedName& shared);

/// One sentence about a partition of the API that has not the SL it asks for.
std::string to_string(const config::SlOfClass& other);

/// What a decision changes: `partition.managed`, `partition.no_room`, `partition.not_enforced`,
/// `partition.taken_over`, `partition.given_back`, `partition.name_shared`,
/// `partition.sl_of_class`, `partition.index0`, `partition.takes_foreign_key`; where partitions are not smd's
/// `partition.sm_port`. `subnet` and `stored` are what was decided on. A few lines of each kind, the rest as
/// a number.
void log_partitions(const log::Log& log, const Subnet& subnet, const Stored& stored, const Decided& before,
                    const Decided& now);

}  // namespace smd::sm::inline reports
