// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/policy_ports.h"

#include "smd/decide/decided.h"
#include "smd/sweep/end_ports.h"

namespace smd::sm::inline decisions {

PolicyPorts::PolicyPorts(const Subnet& subnet, const Stored* stored, const config::PortGroups& groups,
                         const PartitionPart* partitions, ViewedPorts which)
    : ports_(port_views(subnet, stored, which)), groups_(groups), self_(own_port_guid(subnet)) {
  if (partitions != nullptr && partitions->policy) {
    for (const auto& one : partitions->policy->partitions) names_.emplace(one.name, one.pkey);
  }
  add_members(partitions);
  for (std::size_t i = 0; i < keys_.size(); ++i) ports_.views[i].partitions = keys_[i];
  index_.emplace(ports_.views);
}

/// Without partitions of ours all ports are full members of the default one.
void PolicyPorts::add_members(const PartitionPart* partitions) {
  keys_.resize(ports_.views.size());
  if (partitions == nullptr || !partitions->managed) {
    auto& full = full_members_[kDefaultPKey.partition()];
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (!ports_.views[i].is_end_port()) continue;
      keys_[i].push_back(kDefaultPKey);
      ++full;
    }
    names_.emplace(config::kNameOfDefault, kDefaultPKey);
    return;
  }
  std::map<Guid, std::size_t> by_guid;
  for (std::size_t i = 0; i < ports_.views.size(); ++i) {
    if (ports_.views[i].is_end_port()) by_guid.emplace(ports_.views[i].port_guid, i);
  }
  for (const auto& partition : partitions->partitions) {
    auto& full = full_members_[partition.pkey.partition()];
    for (const auto& member : partition.members) {
      if (member.membership != config::Membership::limited) ++full;
      const auto at = by_guid.find(member.port);
      if (at != by_guid.end()) keys_[at->second].push_back(partition.pkey);
    }
  }
}

std::optional<PKey> PolicyPorts::partition_named(const std::string& name) const {
  const auto found = names_.find(name);
  return found != names_.end() ? std::optional(found->second) : std::nullopt;
}

bool PolicyPorts::has_partition(std::uint16_t first, std::uint16_t last) const {
  const auto found = full_members_.lower_bound(first);
  return found != full_members_.end() && found->first <= last;
}

std::size_t PolicyPorts::full_members(PKey pkey) const {
  const auto found = full_members_.find(pkey.partition());
  return found != full_members_.end() ? found->second : 0;
}

config::ResolvedPorts PolicyPorts::resolve(const config::PortSet& set) const {
  return config::resolve(set, {.groups = groups_, .partitions = names_, .self = self_}, *index_);
}

}  // namespace smd::sm::inline decisions
