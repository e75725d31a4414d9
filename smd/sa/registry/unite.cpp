// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/unite.h"

#include <map>

#include "smd/sa/registry/mlids.h"

namespace smd::sa {
namespace {

/// Groups that shared a multicast LID there share one here.
void unite_groups(Writing& writing, const Registry& other) {
  auto& registry = writing.registry;
  std::map<Lid, Lid> given;
  for (const auto& [mgid, group] : other.groups()) {
    if (registry.groups().contains(mgid)) continue;
    auto mlid = given.find(group.mlid);
    if (mlid == given.end()) {
      const bool taken = registry.mlids().contains(group.mlid);
      const auto chosen = taken ? choose_mlid(registry, writing.settings, writing.directory.multicast_lids(),
                                              writing.directory.forwarded(), mgid, group.terms)
                                : group.mlid;
      if (!chosen) continue;  // full: its members join again, and are told so
      mlid = given.emplace(group.mlid, *chosen).first;
    }
    registry.put_group(mgid, mlid->second, group.terms, group.well_known);
    writing.effects.groups.push_back({.mgid = mgid,
                                      .mlid = mlid->second,
                                      .created = true,
                                      .why = "of the other part of the fabric",
                                      .pkey = group.terms.pkey});
  }
}

}  // namespace

void unite(Writing& writing, const Registry& other) {
  auto& registry = writing.registry;
  unite_groups(writing, other);
  for (const auto& [key, member] : other.members()) {
    if (registry.groups().contains(key.group) && !registry.members().contains(key))
      registry.put_member(key, member);
  }
  for (const auto& [key, service] : other.services()) {
    if (!registry.services().contains(key)) registry.put_service(key, service);
  }
  for (const auto& [key, subscription] : other.subscriptions()) {
    if (!registry.subscriptions().contains(key)) registry.put_subscription(key, subscription);
  }
  for (const auto& [key, alias] : other.aliases()) {
    if (!registry.aliases().contains(key) && registry.by_alias(alias) == nullptr)
      registry.put_alias(key, alias);
  }
}

}  // namespace smd::sa
