// SPDX-License-Identifier: Apache-2.0
#include "smd/registry/registry.h"

#include <utility>
#include <vector>

namespace smd::sa {

void Registry::put_group(const Mgid& mgid, Lid mlid, const GroupParameters& terms, bool well_known) {
  Group group{.mlid = mlid, .terms = terms, .well_known = well_known};
  if (const auto* before = groups_.find(mgid)) {
    group.members = before->members;
    group.keepers = before->keepers;
    const auto others = *mlids_.find(before->mlid) - 1;
    if (others == 0) {
      mlids_.erase(before->mlid);
    } else {
      mlids_.put(before->mlid, others);
    }
  }
  const auto* sharing = mlids_.find(mlid);
  mlids_.put(mlid, (sharing != nullptr ? *sharing : 0) + 1);
  groups_.put(mgid, group);
  changed_multicast();
}

void Registry::drop_group(const Mgid& mgid) {
  const auto* found = groups_.find(mgid);
  if (found == nullptr) return;
  const auto mlid = found->mlid;
  std::vector<MemberKey> gone;
  for_each_member(mgid, [&](Guid port, const Member&) { gone.push_back({mgid, port}); });
  for (const auto& key : gone) drop_member(key);
  const auto others = *mlids_.find(mlid) - 1;
  if (others == 0) {
    mlids_.erase(mlid);
  } else {
    mlids_.put(mlid, others);
  }
  groups_.erase(mgid);
  changed_multicast();
}

void Registry::put_member(const MemberKey& key, const Member& member) {
  if (const auto* before = members_.find(key)) count(key, *before, -1);
  count(key, member, 1);
  members_.put(key, member);
  changed_multicast();
}

void Registry::drop_member(const MemberKey& key) {
  const auto* before = members_.find(key);
  if (before == nullptr) return;
  count(key, *before, -1);
  members_.erase(key);
  changed_multicast();
}

/// `by` is 1 or -1.
void Registry::count(const MemberKey& key, const Member& member, int by) {
  const auto add = static_cast<std::uint32_t>(by);
  auto group = *groups_.find(key.group);
  group.members += add;
  if (member.keeps()) group.keepers += add;
  groups_.put(key.group, group);
  use(member.joined_by != Guid{} ? member.joined_by : port_of(key.port), &Uses::groups, by);
}

void Registry::use(Guid port, std::uint32_t Uses::* what, int by) {
  auto now = uses(port);
  now.*what += static_cast<std::uint32_t>(by);
  if (now == Uses{}) {
    uses_.erase(port);
  } else {
    uses_.put(port, now);
  }
}

void Registry::changed_multicast() {
  ++multicast_version_;
  ++version_;
}

void Registry::put_service(const ServiceKey& key, Service service) {
  if (const auto* before = services_.find(key)) use(before->owner, &Uses::services, -1);
  use(service.owner, &Uses::services, 1);
  services_.put(key, std::move(service));
  ++version_;
}

void Registry::drop_service(const ServiceKey& key) {
  const auto* before = services_.find(key);
  if (before == nullptr) return;
  use(before->owner, &Uses::services, -1);
  services_.erase(key);
  ++version_;
}

void Registry::put_subscription(const SubscriptionKey& key, const Subscription& subscription) {
  if (!subscriptions_.contains(key)) use(key.port, &Uses::subscriptions, 1);
  subscriptions_.put(key, subscription);
  ++version_;
}

void Registry::drop_subscription(const SubscriptionKey& key) {
  if (!subscriptions_.erase(key)) return;
  use(key.port, &Uses::subscriptions, -1);
  ++version_;
}

void Registry::put_client(Guid port) {
  if (clients_.contains(port)) return;
  clients_.put(port, {});
  ++version_;
}

void Registry::drop_client(Guid port) {
  if (clients_.erase(port)) ++version_;
}

void Registry::forget_clients() {
  if (clients_.empty()) return;
  clients_ = {};
  ++version_;
}

void Registry::put_alias(const AliasKey& key, Guid alias) {
  if (const auto* before = aliases_.find(key)) by_alias_.erase(*before);
  aliases_.put(key, alias);
  by_alias_.put(alias, key);
  ++alias_version_;
  ++version_;
}

void Registry::drop_alias(const AliasKey& key) {
  const auto* before = aliases_.find(key);
  if (before == nullptr) return;
  by_alias_.erase(*before);
  aliases_.erase(key);
  ++alias_version_;
  ++version_;
}

}  // namespace smd::sa
