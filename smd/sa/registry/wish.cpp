// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/wish.h"

#include <map>

namespace smd::sa {

std::shared_ptr<const sm::McWish> wish_of(const Registry& registry) {
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
  auto wish = std::make_shared<sm::McWish>();
  for (const auto& [mlid, ports] : by_lid) {
    sm::McGroupWish group{.mlid = mlid, .members = {}};
    for (const auto& [port, receives] : ports) group.members.push_back({.port = port, .receives = receives});
    wish->push_back(std::move(group));
  }
  return wish;
}

}  // namespace smd::sa
