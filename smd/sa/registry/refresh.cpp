// SPDX-License-Identifier: Apache-2.0
// What a sweep means for the registry.
#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "mad/wire/capability.h"
#include "smd/sa/registry/group_parameters.h"
#include "smd/sa/registry/membership.h"
#include "smd/sa/registry/mlids.h"
#include "smd/sa/registry/services.h"
#include "smd/sa/registry/write.h"

namespace smd::sa {
namespace {

/// Of the default partition, ff12:401b:ffff::ffff:ffff (RFC 4391), with the Q_Key that OpenSM gives it.
constexpr Mgid kBroadcast{{0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}};
using config::kIpoibQKey;

/// Ports that have something and are not there, and not merely silent either.
std::set<Guid> left(Writing& writing) {
  std::set<Guid> absent;
  const auto add = [&](Guid port) {
    if (writing.directory.by_guid(port) == nullptr) absent.insert(port);
  };
  for (const auto& [port, uses] : writing.registry.users()) add(port);
  for (const auto& [port, client] : writing.registry.clients()) add(port);
  for (const auto& [key, alias] : writing.registry.aliases()) add(key.port);
  if (writing.liveness == nullptr) return absent;
  writing.liveness->look(writing.directory);
  std::erase_if(absent, [&](Guid port) {
    return !writing.liveness->has_left(writing.directory, port, writing.now, writing.settings.keep_silent);
  });
  return absent;
}

/// And groups that have no full member then.
void drop_members(Writing& writing, const std::vector<MemberKey>& members, std::string_view why) {
  std::set<Mgid> touched;
  for (const auto& key : members) {
    writing.registry.drop_member(key);
    touched.insert(key.group);
  }
  for (const auto& mgid : touched) end_if_empty(writing, mgid, why);
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
  drop_members(writing, gone, "its last full member is gone");

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

/// Members of groups, and services, of partitions that their ports are not in any more: where partitions are
/// managed, what a port's table says is meant. The next tenant with this P_Key finds nothing of them.
void drop_outsiders(Writing& writing) {
  const auto& part = writing.directory.snapshot().decided.partitions;
  if (!part || !part->managed) return;
  const auto is_outside = [&](Guid guid, PKey pkey) {
    const auto* port = writing.directory.by_guid(writing.registry.port_of(guid));
    return port != nullptr && port->pkeys != nullptr && !has_pkey(*port, pkey);
  };
  std::vector<MemberKey> members;
  for (const auto& [key, member] : writing.registry.members()) {
    const auto* group = writing.registry.groups().find(key.group);
    if (group != nullptr && is_outside(key.port, group->terms.pkey)) members.push_back(key);
  }
  drop_members(writing, members, "its last full member has left the partition");
  std::vector<ServiceKey> services;
  for (const auto& [key, service] : writing.registry.services()) {
    if (is_outside(service.owner, key.pkey)) services.push_back(key);
  }
  for (const auto& key : services) writing.registry.drop_service(key);
}

/// A group that smd itself makes.
struct OwnGroup {
  Mgid mgid{};
  GroupParameters terms{};
  std::string_view why;
  bool mtu_given = false, rate_given = false;  ///< by the configuration; else they follow the ports
};

/// What every adapter and router of each partition can carry: of all partitions in one pass over the ports,
/// because there may be a thousand of them.
class PartitionLimits {
 public:
  explicit PartitionLimits(const Directory& directory) : of_(kPartitions) {
    for (const auto& port : directory.end_ports()) {
      if (!port.node->is_switch()) add(port);
    }
  }
  const PortLimits& of(PKey pkey) const { return of_[pkey.partition()]; }

 private:
  static constexpr std::size_t kPartitions = 1U << 15U;

  void add(const EndPort& port) {
    const auto limits = limits_of(port);
    // As has_pkey(): who may not join, or is to lose the key and does not give it up, limits no group.
    if (port.pkeys == nullptr) return add(limits, kDefaultPKey);
    for (const auto& block : port.pkeys->row) {
      for (const auto key : block.keys) {
        if (key.partition() != 0) add(limits, key);
      }
    }
  }
  void add(const PortLimits& port, PKey pkey) {
    auto& all = of_[pkey.partition()];
    if (port.mtu != Mtu::none && (all.mtu == Mtu::none || port.mtu < all.mtu)) all.mtu = port.mtu;
    if (port.rate.code != 0 && (all.rate.code == 0 || port.rate.mbps < all.rate.mbps)) all.rate = port.rate;
  }

  std::vector<PortLimits> of_;
};

/// With what the ports can carry, where the terms leave it open.
GroupParameters completed(GroupParameters terms, const PartitionLimits& ports, const Settings& settings) {
  const auto& limits = ports.of(terms.pkey);
  if (terms.mtu == Mtu::none) terms.mtu = limits.mtu != Mtu::none ? limits.mtu : Mtu::m2048;
  const auto slowest = capped(limits.rate, settings);
  if (terms.rate == 0) terms.rate = slowest.code != 0 ? slowest.code : std::uint8_t{3};
  return terms;
}

GroupParameters terms_of(const config::PolicyGroup& group, PKey pkey, const sm::SlPart* sls,
                         const Settings& settings) {
  auto terms = configured_terms({.pkey = pkey.full(), .life = settings.packet_life}, group, sls);
  const bool of_default = pkey == config::kDefaultPartition && group.broadcast;
  if (of_default && terms.mtu == Mtu::none) terms.mtu = settings.broadcast_mtu;
  if (of_default && terms.rate == 0) terms.rate = settings.broadcast_rate;
  return terms;
}

/// Those of the partitions that are configured; where none is, IPoIB's of the default partition.
std::vector<OwnGroup> own_groups(const Directory& directory, const Settings& settings) {
  const auto& part = directory.snapshot().decided.partitions;
  const auto* sls = directory.snapshot().decided.service_levels.get();
  const PartitionLimits limits(directory);
  if (!part || !part->managed) {
    const GroupParameters terms{.qkey = kIpoibQKey,
                                .pkey = kDefaultPKey,
                                .mtu = settings.broadcast_mtu,
                                .rate = settings.broadcast_rate,
                                .life = settings.packet_life,
                                .sl = sm::wire_sl(sls, Sl{0}, 0)};
    return {{kBroadcast, completed(terms, limits, settings), "IPoIB of the default partition",
             terms.mtu != Mtu::none, terms.rate != 0}};
  }
  std::vector<OwnGroup> groups;
  for (const auto& partition : part->policy->partitions) {
    for (const auto& group : partition.groups) {
      const auto terms = terms_of(group, partition.pkey, sls, settings);
      groups.push_back({group.mgid, completed(terms, limits, settings),
                        group.broadcast ? "IPoIB of a partition" : "a group of a partition",
                        terms.mtu != Mtu::none, terms.rate != 0});
    }
  }
  return groups;
}

/// Members have taken the group's terms over: what is configured otherwise now waits for the last of them.
void note_kept_terms(Writing& writing, const OwnGroup& own, const Group& group) {
  auto configured = own.terms;
  if (!own.mtu_given) configured.mtu = group.terms.mtu;
  if (!own.rate_given) configured.rate = group.terms.rate;
  if (configured == group.terms) return;
  writing.effects.terms_kept.push_back({.mgid = own.mgid,
                                        .terms = group.terms,
                                        .configured = configured,
                                        .next = own.terms,
                                        .members = group.members});
}

/// Its terms follow the ports and the configuration as long as it has no members.
void keep_group(Writing& writing, const OwnGroup& own) {
  auto& registry = writing.registry;
  const auto* group = registry.groups().find(own.mgid);
  if (group != nullptr && group->members != 0) {
    note_kept_terms(writing, own, *group);
    if (!group->well_known) registry.put_group(own.mgid, group->mlid, group->terms, true);
    return;
  }
  if (group != nullptr) {
    if (group->terms == own.terms && group->well_known) return;
    registry.put_group(own.mgid, group->mlid, own.terms, true);
    return;
  }
  const auto mlid = choose_mlid(registry, writing.settings, writing.directory.multicast_lids(),
                                writing.directory.forwarded(), own.mgid, own.terms);
  if (!mlid) return;  // switches without multicast
  registry.put_group(own.mgid, *mlid, own.terms, true);
  writing.effects.groups.push_back({.mgid = own.mgid,
                                    .mlid = *mlid,
                                    .created = true,
                                    .why = own.why,
                                    .pkey = own.terms.pkey,
                                    .configured = true});
}

/// Of a partition that is no more, or has this group no more: it ends with its last member.
void release_groups(Writing& writing, const std::vector<OwnGroup>& own) {
  std::vector<std::pair<Mgid, Group>> released;
  for (const auto& [mgid, group] : writing.registry.groups()) {
    if (group.well_known && std::ranges::find(own, mgid, &OwnGroup::mgid) == own.end())
      released.emplace_back(mgid, group);
  }
  for (const auto& [mgid, group] : released) {
    writing.registry.put_group(mgid, group.mlid, group.terms, false);
    const auto before = writing.effects.groups.size();
    end_if_empty(writing, mgid, "no partition has it any more");
    if (writing.effects.groups.size() != before) writing.effects.groups.back().configured = true;
  }
}

void keep_own_groups(Writing& writing) {
  const auto own = own_groups(writing.directory, writing.settings);
  for (const auto& group : own) keep_group(writing, group);
  if (writing.directory.snapshot().decided.partitions) release_groups(writing, own);
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
  drop_outsiders(writing);
  expire(writing);
  keep_own_groups(writing);
  writing.effects.dropped_groups = dropped_groups(writing.registry, writing.directory.snapshot().decided);
}

}  // namespace smd::sa
