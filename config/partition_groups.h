// SPDX-License-Identifier: Apache-2.0
#pragma once
// The multicast groups of partitions, and the digest of a policy: parts of config/partitions.cpp.

#include <set>
#include <string>
#include <vector>

#include "config/partitions.h"

namespace smd::config {

/// Its signature (bytes 2 and 3) is that of groups which the SA names: OpenSM's SA refuses them, link-local,
/// to all others (its ERR 1B24).
bool is_named_by_sa(const Mgid& mgid);
/// One of the three flags is set that neither IBA nor the SA knows; OpenSM refuses such groups (ERR 1B28).
bool has_reserved_flags(const Mgid& mgid);
/// Of IPv4 or IPv6 over InfiniBand (RFC 4391).
bool is_ip_group(const Mgid& mgid);

/// Something about a definition that is worth a warning.
struct GroupComplaint {
  PolicySource source{};
  std::string text{};
};

/// Makes the groups of one policy; an MGID belongs to the first definition that has it.
class GroupMaker {
 public:
  /// Adds the groups of a definition to its partition, whose P_Key is known. Each one that is left out is
  /// told.
  std::vector<GroupComplaint> add(const PartitionDefinition& definition, PolicyPartition& partition);

 private:
  /// `scopes`: a bit for each.
  void add_scopes(const Mgid& mgid, unsigned scopes, PolicyGroup group, PolicyPartition& partition);

  std::set<Mgid> taken_{};
};

/// Of all that counts, 64 bits.
std::uint64_t digest_of(const PartitionPolicy& policy);

}  // namespace smd::config
