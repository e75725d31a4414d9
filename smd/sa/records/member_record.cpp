// SPDX-License-Identifier: Apache-2.0
// MCMemberRecord: the groups, and to those who know the SM_Key who is in them.
#include "mad/wire/sa/member_record.h"

#include "mad/base/rate.h"
#include "smd/sa/records/kinds.h"
#include "smd/sa/registry/group_parameters.h"
#include "smd/sa/registry/membership.h"

namespace smd::sa {
namespace {

using MemberFields = wire::McMemberRecord;
using wire::Selector;

/// A P_Key means a partition, whichever membership; PortGID, JoinState and ProxyJoin are of a member, MTU,
/// rate and lifetime go by their selectors: visit() looks at them itself.
constexpr auto kMemberComponents =
    consecutive<128, -128, 32, 16, -2, -6, 8, -16, -2, -6, -2, -6, 4, 20, 8, 4, -4, -1>();

template <class T>
bool meets_limit(const Request& request, unsigned selector, unsigned component, Selector how, T asked,
                 T has) {
  if (!request.has(component)) return true;
  switch (request.has(selector) ? how : Selector::exactly) {
    case Selector::greater:
      return has > asked;
    case Selector::less:
      return has < asked;
    case Selector::exactly:
      return has == asked;
    case Selector::largest:
      return true;
  }
  return false;
}

bool meets_limits(const Request& request, const MemberFields& asked, const GroupParameters& terms) {
  const bool keyed = !request.has(MemberFields::kPKey) || asked.pkey.partition() == terms.pkey.partition();
  return keyed &&
         meets_limit(request, MemberFields::kMtuSelector, MemberFields::kMtu, asked.mtu_selector, asked.mtu,
                     terms.mtu) &&
         meets_limit(request, MemberFields::kRateSelector, MemberFields::kRate, asked.rate_selector,
                     rate_mbps(asked.rate), rate_mbps(terms.rate)) &&
         meets_limit(request, MemberFields::kLifeSelector, MemberFields::kLife, asked.life_selector,
                     asked.life, terms.life);
}

void emit_record(RecordSink& sink, const MemberFields& record) {
  sink([&](std::span<std::uint8_t> bytes) { wire::encode_over(record, bytes); });
}

bool wanted(const Directory& directory, const Request& request, const MemberFields& asked, Guid port,
            const Member& member) {
  const bool named = directory.here(asked.port_gid) == Gid::of(directory.prefix(), port);
  const bool joined = asked.join_state != 0 && (asked.join_state & member.join_state) == asked.join_state;
  return (!request.has(MemberFields::kPortGid) || named) &&
         (!request.has(MemberFields::kJoinState) || joined) &&
         (!request.has(MemberFields::kProxyJoin) || asked.proxy_join == member.proxy);
}

void show_member(const Directory& directory, const RecordFilter& only, const MemberFields& asked,
                 const MemberKey& key, const Group& group, const Member& member, RecordSink& sink) {
  if (!wanted(directory, *only.request, asked, key.port, member)) return;
  auto record = record_of(key.group, group);
  record.port_gid = Gid::of(directory.prefix(), key.port);
  record.join_state = member.join_state;
  record.proxy_join = member.proxy;
  emit_record(sink, record);
}

/// A group without members, as who knows the SM_Key sees it.
void show_empty(const RecordFilter& only, const Mgid& mgid, const Group& group, RecordSink& sink) {
  const auto& request = *only.request;
  const bool of_members = request.has(MemberFields::kPortGid) || request.has(MemberFields::kJoinState) ||
                          request.has(MemberFields::kProxyJoin);
  if (group.members == 0 && !of_members) emit_record(sink, record_of(mgid, group));
}

/// Once the group: who does not know the SM_Key sees no members, but may ask whether a port is one.
void show_group(const Directory& directory, const RecordFilter& only, const MemberFields& asked,
                const Mgid& mgid, const Group& group, RecordSink& sink) {
  if (only.request->has(MemberFields::kPortGid)) {
    const auto port = asked.port_gid.guid();
    const auto* member = only.registry->members().find({mgid, port});
    if (member == nullptr || !wanted(directory, *only.request, asked, port, *member)) return;
  }
  emit_record(sink, record_of(mgid, group));
}

/// Each member, then the groups without any.
void visit_trusted(const Directory& directory, const RecordFilter& only, const MemberFields& asked,
                   RecordSink& sink) {
  const auto& registry = *only.registry;
  const auto& request = *only.request;
  if (request.has(MemberFields::kMgid)) {
    const auto* group = only.part.has(0) ? registry.groups().find(asked.mgid) : nullptr;
    if (group == nullptr || !meets_limits(request, asked, group->terms)) return;
    registry.for_each_member(asked.mgid, [&](Guid port, const Member& member) {
      show_member(directory, only, asked, {asked.mgid, port}, *group, member, sink);
    });
    show_empty(only, asked.mgid, *group, sink);
    return;
  }
  for_each_row(registry.members(), only.part, [&](const MemberKey& key, const Member& member) {
    const auto* group = registry.groups().find(key.group);
    if (group == nullptr || !meets_limits(request, asked, group->terms)) return;
    show_member(directory, only, asked, key, *group, member, sink);
  });
  const auto before = registry.members().places();
  const Part rest{.from = std::max(only.part.from, before) - before,
                  .to = std::max(only.part.to, before) - before};
  for_each_row(registry.groups(), rest, [&](const Mgid& mgid, const Group& group) {
    if (meets_limits(request, asked, group.terms)) show_empty(only, mgid, group, sink);
  });
}

void member_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  const auto asked = wire::decode<MemberFields>(only.request->data);
  if (!asked || only.registry == nullptr) return;
  if (only.trusted) return visit_trusted(directory, only, *asked, sink);
  const auto show = [&](const Mgid& mgid, const Group& group) {
    // Groups of other partitions are not there for a port.
    const bool visible = only.requester == nullptr || has_pkey(*only.requester, group.terms.pkey);
    if (!visible || !meets_limits(*only.request, *asked, group.terms)) return;
    show_group(directory, only, *asked, mgid, group, sink);
  };
  if (!only.request->has(MemberFields::kMgid)) return for_each_row(only.registry->groups(), only.part, show);
  const auto* group = only.part.has(0) ? only.registry->groups().find(asked->mgid) : nullptr;
  if (group != nullptr) show(asked->mgid, *group);
}

std::size_t member_places(const Directory& /*directory*/, const Registry& registry) {
  return std::max<std::size_t>(registry.members().places() + registry.groups().places(), 1);
}

}  // namespace

RecordKind member_records() {
  return {.attribute = MemberFields::kRecord,
          .name = "MCMemberRecord",
          .bytes = kMemberRecordBytes,
          .components = kMemberComponents,
          .begins_with_lid = false,
          .visit = member_visit,
          .places = member_places};
}

}  // namespace smd::sa
