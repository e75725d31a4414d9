// SPDX-License-Identifier: Apache-2.0
// What a sweep means for the registry.
#include <algorithm>
#include <set>
#include <vector>

#include "mad/wire/capability.h"
#include "smd/sa/registry/group_terms.h"
#include "smd/sa/registry/membership.h"
#include "smd/sa/registry/mlids.h"
#include "smd/sa/registry/services.h"
#include "smd/sa/registry/write.h"

namespace smd::sa {
namespace {

/// Of the default partition, ff12:401b:ffff::ffff:ffff (RFC 4391), with the Q_Key that OpenSM gives it.
constexpr Mgid kBroadcast{{0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}};
constexpr std::uint32_t kIpoibQKey = 0x0b1b;

/// Ports that have something and are not there, and not merely silent either.
std::set<Guid> left(Writing& writing) {
  std::set<Guid> absent;
  const auto add = [&](Guid port) {
    if (writing.directory.by_guid(port) == nullptr) absent.insert(port);
  };
  for (const auto& [port, uses] : writing.registry.users()) add(port);
  for (const auto& [port, client] : writing.registry.clients()) add(port);
  for (const auto& [key, alias] : writing.registry.aliases()) add(key.port);
  if (writing.presence == nullptr) return absent;
  writing.presence->look(writing.directory);
  std::erase_if(absent, [&](Guid port) {
    return !writing.presence->has_left(writing.directory, port, writing.now, writing.settings.keep_silent);
  });
  return absent;
}

void drop_absent(Writing& writing) {
  const auto ports = left(writing);
  for (const auto port : ports) writing.registry.drop_client(port);
  std::vector<MemberKey> gone;
  std::vector<std::pair<MemberKey, Member>> orphans;  // members that a port has joined which has left
  for (const auto& [key, member] : writing.registry.members()) {
    if (ports.contains(writing.registry.port_of(key.port))) {
      gone.push_back(key);
    } else if (ports.contains(member.joined_by)) {
      orphans.emplace_back(key, member);
    }
  }
  for (auto& [key, member] : orphans) {
    member.joined_by = {};
    writing.registry.put_member(key, member);
  }
  std::set<Mgid> touched;
  for (const auto& key : gone) {
    writing.registry.drop_member(key);
    touched.insert(key.group);
  }
  for (const auto& mgid : touched) end_if_empty(writing, mgid, "its last full member is gone");

  std::vector<SubscriptionKey> unheard;
  for (const auto& [key, subscription] : writing.registry.subscriptions()) {
    if (ports.contains(key.port)) unheard.push_back(key);
  }
  for (const auto& key : unheard) writing.registry.drop_subscription(key);

  // A service has its lease; one without ends with the port that offers it.
  std::vector<ServiceKey> without;
  for (const auto& [key, service] : writing.registry.services()) {
    if (service.ends == 0 && ports.contains(service.owner)) without.push_back(key);
  }
  for (const auto& key : without) writing.registry.drop_service(key);
}

/// What every adapter and router that is there can carry.
GroupTerms broadcast_terms(const Directory& directory, const Settings& settings) {
  GroupTerms terms{.qkey = kIpoibQKey, .pkey = kDefaultPKey, .life = settings.packet_life};
  terms.mtu = settings.broadcast_mtu;
  terms.rate = settings.broadcast_rate;
  StaticRate slowest;
  for (const auto& port : directory.end_ports()) {
    if (port.node->is_switch() || !has_pkey(port, kDefaultPKey)) continue;
    const auto limits = limits_of(port);
    if (settings.broadcast_mtu == Mtu::none && limits.mtu != Mtu::none &&
        (terms.mtu == Mtu::none || limits.mtu < terms.mtu)) {
      terms.mtu = limits.mtu;
    }
    if (limits.rate.code != 0 && (slowest.code == 0 || limits.rate.mbps < slowest.mbps))
      slowest = limits.rate;
  }
  if (terms.mtu == Mtu::none) terms.mtu = Mtu::m2048;
  slowest = capped(slowest, settings);
  if (terms.rate == 0) terms.rate = slowest.code != 0 ? slowest.code : std::uint8_t{3};
  return terms;
}

/// Its terms follow the ports as long as it has no members: members have taken them over.
void keep_broadcast(Writing& writing) {
  auto& registry = writing.registry;
  const auto* group = registry.groups().find(kBroadcast);
  if (group != nullptr && group->members != 0) {
    if (!group->well_known) registry.put_group(kBroadcast, group->mlid, group->terms, true);
    return;
  }
  const auto terms = broadcast_terms(writing.directory, writing.settings);
  if (group != nullptr) {
    if (group->terms == terms && group->well_known) return;
    registry.put_group(kBroadcast, group->mlid, terms, true);
    return;
  }
  const auto mlid = choose_mlid(registry, writing.settings, writing.directory.multicast_lids(),
                                writing.directory.forwarded(), kBroadcast, terms);
  if (!mlid) return;  // switches without multicast
  registry.put_group(kBroadcast, *mlid, terms, true);
  writing.happened.groups.push_back({.mgid = kBroadcast,
                                     .mlid = *mlid,
                                     .created = true,
                                     .why = "IPoIB of the default partition",
                                     .pkey = kDefaultPKey});
}

/// Groups in the switches that the registry does not know: another SM was master, or it was lost.
bool knows_too_little(const Writing& writing) {
  return std::ranges::any_of(writing.directory.forwarded(),
                             [&](Lid mlid) { return !writing.registry.mlids().contains(mlid); });
}

}  // namespace

void take_over(Writing& writing) {
  if (knows_too_little(writing)) writing.registry.forget_clients();
}

std::vector<Guid> to_ask(const Writing& writing) {
  std::vector<Guid> ports;
  for (const auto& port : writing.directory.end_ports()) {
    const auto& info = port.info().info;
    const bool can = wire::has(info, wire::kCapClientReregistration) && info.port_state == PortState::active;
    if (can && !writing.registry.clients().contains(port.guid)) ports.push_back(port.guid);
  }
  return ports;
}

void refresh(Writing& writing) {
  drop_absent(writing);
  expire(writing);
  keep_broadcast(writing);
}

}  // namespace smd::sa
