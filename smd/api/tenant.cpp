// SPDX-License-Identifier: Apache-2.0
#include "smd/api/tenant.h"

#include <algorithm>

namespace smd::api {

bool sees_partition(const access::Access& access, std::string_view subnet, std::string_view partition) {
  const auto only = access.only_partitions(subnet);
  return !only || std::ranges::find(*only, partition) != only->end();
}

std::optional<std::set<sm::LinkEnd>> ports_seen(const access::Access& access, const SubnetView& view) {
  if (!access.only_partitions(view.name)) return std::nullopt;
  std::set<sm::LinkEnd> ports;
  const auto decided = view.snapshot ? view.snapshot->decided.partitions : nullptr;
  if (!decided || !decided->policy) return ports;
  for (const auto& partition : decided->policy->partitions) {
    if (!sees_partition(access, view.name, partition.name)) continue;
    const auto at =
        std::ranges::find(decided->partitions, partition.pkey, &sm::PartitionPart::Partition::pkey);
    if (at == decided->partitions.end()) continue;
    for (const auto& member : at->members) ports.insert({member.at.node, member.at.port});
  }
  return ports;
}

std::optional<std::vector<PKey>> pkeys_seen(const access::Access& access, const SubnetView& view) {
  if (!access.only_partitions(view.name)) return std::nullopt;
  std::vector<PKey> pkeys;
  const auto decided = view.snapshot ? view.snapshot->decided.partitions : nullptr;
  if (!decided || !decided->policy) return pkeys;
  for (const auto& partition : decided->policy->partitions) {
    if (sees_partition(access, view.name, partition.name)) pkeys.push_back(partition.pkey);
  }
  return pkeys;
}

}  // namespace smd::api
