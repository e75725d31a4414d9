// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/group_members.h"

#include <map>

namespace smd::sa {

std::shared_ptr<const sm::GroupList> group_members(const Registry& registry) {
  std::map<Lid, std::map<Guid, bool>> by_lid;
  const Mgid* name = nullptr;
  std::map<Guid, bool>* members = nullptr;
  for (const auto& [key, member] : registry.members()) {
    if (name == nullptr || *name != key.group) {
      name = &key.group;
      members = &by_lid[registry.groups().find(key.group)->mlid];
    }
    auto& receives = (*members)[registry.port_of(key.port)];
    receives = receives || member.receives();
  }
  auto groups = std::make_shared<sm::GroupList>();
  for (const auto& [mlid, ports] : by_lid) {
    sm::GroupMembers group{.mlid = mlid, .members = {}};
    for (const auto& [port, receives] : ports) group.members.push_back({.port = port, .receives = receives});
    groups->push_back(std::move(group));
  }
  return groups;
}

}  // namespace smd::sa
