// SPDX-License-Identifier: Apache-2.0
#include "smd/api/tenant.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "config/port_set.h"
#include "smd/api/fabric_ports.h"

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

bool sees(OnlyPorts only, const sm::Node& node, PortNum port) {
  return only == nullptr || only->contains({node.guid(), port});
}

NamedPorts lost_ports_seen(const access::Access& access, const SubnetView& view) {
  NamedPorts seen;
  const auto& now = view.snapshot;
  if (!access.only_partitions(view.name) || !now || !now->inventory || !now->decided.partitions) return seen;
  const auto policy = now->decided.partitions->policy;
  std::set<Guid> all_lost;
  for (const auto& [node, when] : now->inventory->lost_nodes()) all_lost.insert(node);
  const auto lost = policy ? absent_ports(*now, all_lost) : NamedPorts{};
  if (lost.ports.empty()) return seen;
  std::set<std::size_t> members;
  const config::PortIndex index(lost.ports);
  const std::map<std::string, PKey, std::less<>> none;  // members are not named by partition here
  for (const auto& partition : policy->partitions) {
    if (!sees_partition(access, view.name, partition.name)) continue;
    for (const auto& rule : partition.members) {
      const auto found = config::resolve(rule.ports, {.groups = policy->groups, .partitions = none}, index);
      for (const auto port : found.ports) members.insert(port);
    }
  }
  seen.names = lost.names;
  for (const auto port : members) seen.ports.push_back(lost.ports[port]);
  return seen;
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
