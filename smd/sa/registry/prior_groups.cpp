// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/prior_groups.h"

#include <algorithm>
#include <vector>

#include "mad/base/rate.h"
#include "mad/wire/sa/member_record.h"
#include "smd/sa/registry/membership.h"

namespace smd::sa {
namespace {

/// A group that an SM can have. Bytes behind the last record, where there are any, are zeros.
bool is_sane(const wire::McMemberRecord& record) {
  const bool rate = std::ranges::find(kStaticRates, record.rate, &StaticRate::code) != kStaticRates.end();
  return record.mgid.bytes[0] == 0xff && record.mlid.multicast() && rate && record.mtu >= Mtu::m256 &&
         record.mtu <= Mtu::m4096 && record.pkey.partition() != 0;
}

GroupParameters terms_of_record(const wire::McMemberRecord& record) {
  return {.qkey = record.qkey,
          .pkey = record.pkey.full(),
          .mtu = record.mtu,
          .rate = record.rate,
          .life = record.life,
          .sl = record.sl,
          .traffic_class = record.traffic_class,
          .hop_limit = record.hop_limit,
          .flow_label = record.flow_label};
}

/// Groups that the master did not have, and its own members of those that it had.
void drop_what_it_had_not(Writing& writing, const PriorGroups& prior) {
  auto& registry = writing.registry;
  std::vector<std::pair<Mgid, Group>> groups;
  std::vector<MemberKey> members;
  for (const auto& [mgid, group] : registry.groups()) {
    if (!prior.groups.contains(mgid)) groups.emplace_back(mgid, group);
  }
  for (const auto& [key, member] : registry.members()) {
    const auto found = prior.groups.find(key.group);
    if (found != prior.groups.end() && !found->second.members.empty() &&
        !found->second.members.contains(key.port))
      members.push_back(key);
  }
  for (const auto& [mgid, group] : groups) {
    writing.effects.groups.push_back({.mgid = mgid,
                                      .mlid = group.mlid,
                                      .created = false,
                                      .why = "the master before did not have it",
                                      .pkey = group.terms.pkey});
    registry.drop_group(mgid);
  }
  for (const auto& key : members) registry.drop_member(key);
}

}  // namespace

PriorGroups prior_groups(const mad::SaRecords& records, Lid from) {
  PriorGroups prior{.from = from};
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto record = records.get<wire::McMemberRecord>(i);
    if (!is_sane(record)) {
      ++prior.ignored;
      continue;
    }
    const auto [at, is_new] = prior.groups.try_emplace(
        record.mgid, PriorGroup{.mlid = record.mlid, .terms = terms_of_record(record)});
    if (!is_new && at->second.mlid != record.mlid) {
      ++prior.ignored;
      continue;
    }
    const auto port = record.port_gid.guid();
    if (port == Guid{} || record.join_state == 0) continue;  // members are not shown
    const Member member{.join_state = record.join_state};
    if (at->second.members.try_emplace(port, member).second) ++prior.members;
  }
  return prior;
}

Inherited inherit(Writing& writing, const PriorGroups& prior) {
  auto& registry = writing.registry;
  drop_what_it_had_not(writing, prior);
  Inherited inherited;
  for (const auto& [mgid, group] : prior.groups) {
    const auto* here = registry.groups().find(mgid);
    if (unsigned{group.mlid.value()} - kFirstMulticastLid.value() >= writing.directory.multicast_lids())
      continue;
    const bool well_known = here != nullptr && here->well_known;
    if (here == nullptr || here->mlid != group.mlid) {
      writing.effects.groups.push_back({.mgid = mgid,
                                        .mlid = group.mlid,
                                        .created = true,
                                        .why = "the master before had it",
                                        .pkey = group.terms.pkey});
    }
    registry.put_group(mgid, group.mlid, group.terms, well_known);
    inherited.groups.insert(mgid);
    // Until the port joins for itself any other may join for it: who has joined with the master before is not
    // known.
    for (const auto& [port, member] : group.members)
      registry.put_member({mgid, port}, {.join_state = member.join_state, .proxy = true});
  }
  for (const auto& [key, member] : registry.members()) {
    if (inherited.groups.contains(key.group)) inherited.members.insert(key);
  }
  return inherited;
}

void confirm(Inherited& inherited, const MemberKey& key) {
  inherited.members.erase(key);
  inherited.groups.erase(key.group);
}

void end_inherited(Writing& writing, const Inherited& inherited) {
  std::set<Mgid> touched = inherited.groups;
  for (const auto& key : inherited.members) {
    writing.registry.drop_member(key);
    touched.insert(key.group);
  }
  for (const auto& mgid : touched) end_if_empty(writing, mgid, "no member has joined it again");
}

}  // namespace smd::sa
