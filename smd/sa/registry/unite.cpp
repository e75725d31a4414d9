// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/unite.h"

#include <map>
#include <set>
#include <vector>

#include "smd/sa/registry/membership.h"
#include "smd/sa/registry/mlids.h"

namespace smd::sa {
namespace {

/// A row of the three registries; null: it has none.
template <class Row>
struct Versions {
  const Row *ours = nullptr, *theirs = nullptr, *common = nullptr;
};

/// Whether their row counts. `known`: the port is one of our clients, so that a row that we lack was ended by
/// it; a row of a port that we lost was ended by us.
template <class Row>
bool takes(const Versions<Row>& row, bool known) {
  if (row.ours != nullptr)
    return row.common != nullptr && *row.ours == *row.common && *row.theirs != *row.common;
  return row.common == nullptr || *row.theirs != *row.common || !known;
}

/// Whether the port has ended it in the other part. `known` there: what that SM ended itself, because the
/// port was not in its part, is not meant.
template <class Row>
bool has_ended(const Versions<Row>& row, bool known) {
  return known && row.theirs == nullptr && row.ours != nullptr && *row.ours == *row.common;
}

using Wanted = std::vector<std::pair<MemberKey, Member>>;

Wanted wanted_members(const Registry& ours, const Registry& other, const Registry& common) {
  Wanted members;
  for (const auto& [key, member] : other.members()) {
    const bool known = ours.clients().contains(other.port_of(key.port));
    if (takes<Member>({ours.members().find(key), &member, common.members().find(key)}, known))
      members.emplace_back(key, member);
  }
  return members;
}

/// Groups that shared a multicast LID there share one here. A group that has ended here stays so where it
/// gets no member.
void unite_groups(Writing& writing, const Registry& other, const Registry& common, const Wanted& members) {
  auto& registry = writing.registry;
  std::set<Mgid> joined;
  for (const auto& [key, member] : members) joined.insert(key.group);
  std::map<Lid, Lid> given;
  for (const auto& [mgid, group] : other.groups()) {
    const bool ended = common.groups().contains(mgid) && !joined.contains(mgid);
    if (registry.groups().contains(mgid) || ended) continue;
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

void end_members(Writing& writing, const Registry& other, const Registry& common) {
  auto& registry = writing.registry;
  std::set<Mgid> touched;
  for (const auto& [key, member] : common.members()) {
    const Versions<Member> row{registry.members().find(key), other.members().find(key), &member};
    if (!has_ended(row, other.clients().contains(other.port_of(key.port)))) continue;
    registry.drop_member(key);
    touched.insert(key.group);
  }
  for (const auto& mgid : touched)
    end_if_empty(writing, mgid, "its last full member has left in the other part of the fabric");
}

void unite_services(Registry& registry, const Registry& other, const Registry& common) {
  for (const auto& [key, service] : other.services()) {
    const bool known = registry.clients().contains(service.owner);
    if (takes<Service>({registry.services().find(key), &service, common.services().find(key)}, known))
      registry.put_service(key, service);
  }
  for (const auto& [key, service] : common.services()) {
    const Versions<Service> row{registry.services().find(key), other.services().find(key), &service};
    if (has_ended(row, other.clients().contains(service.owner))) registry.drop_service(key);
  }
}

/// None ends: the other master may have ended it itself, where reports were not answered.
void unite_subscriptions(Registry& registry, const Registry& other, const Registry& common) {
  for (const auto& [key, subscription] : other.subscriptions()) {
    const bool known = registry.clients().contains(key.port);
    const Versions<Subscription> row{registry.subscriptions().find(key), &subscription,
                                     common.subscriptions().find(key)};
    if (takes(row, known)) registry.put_subscription(key, subscription);
  }
}

}  // namespace

void unite(Writing& writing, const Registry& other, const Registry& common) {
  auto& registry = writing.registry;
  const auto members = wanted_members(registry, other, common);
  unite_groups(writing, other, common, members);
  for (const auto& [key, member] : members) {
    if (registry.groups().contains(key.group)) registry.put_member(key, member);
  }
  end_members(writing, other, common);
  unite_services(registry, other, common);
  unite_subscriptions(registry, other, common);
  for (const auto& [key, alias] : other.aliases()) {
    if (!registry.aliases().contains(key) && registry.by_alias(alias) == nullptr)
      registry.put_alias(key, alias);
  }
}

}  // namespace smd::sa
