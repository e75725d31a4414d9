// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/membership.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "smd/sa/policy.h"
#include "smd/sa/registry/aliases.h"
#include "smd/sa/registry/group_parameters.h"
#include "smd/sa/registry/mlids.h"

namespace smd::sa {
namespace {

using MemberFields = wire::McMemberRecord;

struct Needed {
  MemberFields::Component component;
  std::string_view name;
};
constexpr std::array kToJoin{Needed{MemberFields::kMgid, "MGID"}, Needed{MemberFields::kPortGid, "PortGID"},
                             Needed{MemberFields::kJoinState, "JoinState"}};
constexpr std::array kToCreate{
    Needed{MemberFields::kQKey, "Q_Key"}, Needed{MemberFields::kTrafficClass, "TClass"},
    Needed{MemberFields::kPKey, "P_Key"}, Needed{MemberFields::kFlowLabel, "FlowLabel"},
    Needed{MemberFields::kSl, "SL"}};

std::optional<Refusal> lacks(const Request& request, std::span<const Needed> needed, std::string_view why) {
  for (const auto& one : needed) {
    if (!request.has(one.component)) {
      return make_refusal(one.name, {}, {}, why, wire::kSaInsufficientComponents);
    }
  }
  return std::nullopt;
}

std::string bits(std::uint8_t state) { return fmt::format("0x{:x}", state); }

/// What joining and leaving have in common.
struct MemberRequest {
  MemberFields asked;
  const EndPort* port = nullptr;  ///< whose membership it is about
  bool proxy = false;             ///< the requester is another port
};

std::expected<MemberRequest, Refusal> member_request(const Writing& writing, const Requester& requester,
                                                     const Request& request) {
  const auto asked = wire::decode<MemberFields>(request.data);
  if (!asked) return std::unexpected(make_refusal({}, {}, {}, "the record is too short"));
  if (auto missing = lacks(request, kToJoin, "a membership is named by it")) {
    return std::unexpected(*std::move(missing));
  }
  const auto* port = find_port(writing.directory, writing.registry, asked->port_gid);
  if (port == nullptr) {
    auto refusal = make_refusal("PortGID", to_string(asked->port_gid), {}, "no port here has this GID");
    if (asked->port_gid.prefix() != writing.directory.prefix()) refusal.status = wire::kSaInvalidGid;
    return std::unexpected(std::move(refusal));
  }
  if (asked->join_state == 0) {
    return std::unexpected(make_refusal("JoinState", bits(0), {}, "at least one bit is to be set"));
  }
  const bool proxy = requester.port == nullptr || requester.port->guid != port->guid;
  return MemberRequest{*asked, port, proxy};
}

/// A requester acts for another port only with the SM_Key, or if both share a partition.
std::optional<Refusal> proxy_refusal(const Requester& requester, const MemberRequest& part) {
  if (!part.proxy || requester.trusted) return std::nullopt;
  if (requester.port != nullptr && Policy{}.pkey(*requester.port, *part.port, PathConstraints{})) {
    return std::nullopt;
  }
  return make_refusal("PortGID", to_string(part.asked.port_gid), fmt::format("LID {}", requester.lid),
                      "the request comes from another port, without the SM_Key or a common partition");
}

/// The group is in the registry afterwards.
std::expected<Mgid, Refusal> create(Writing& writing, const Request& request, const MemberRequest& part) {
  const auto& asked = part.asked;
  const bool keeps = (asked.join_state & (wire::kFullMember | wire::kSendOnlyFullMember)) != 0;
  if (auto missing = lacks(request, kToCreate, "there is no such group, and to make one it is needed")) {
    return std::unexpected(*std::move(missing));
  }
  if (!keeps) {
    return std::unexpected(make_refusal("JoinState", bits(asked.join_state), {},
                                        "there is no such group, and full members make one"));
  }
  if (auto bad = bad_group_sl(writing.directory, asked.sl)) return std::unexpected(*std::move(bad));
  const auto terms = new_parameters(*part.port, writing.settings, request, asked);
  if (!terms) return std::unexpected(terms.error());
  auto mgid = asked.mgid;
  if (mgid == Mgid{}) {
    const auto scope = request.has(MemberFields::kScope) ? asked.scope : kLinkLocal;
    if (scope == 0) {
      return std::unexpected(
          make_refusal("Scope", "0", {}, "it is reserved, and a name with it would not be taken either"));
    }
    mgid = choose_mgid(writing.registry, writing.directory.prefix(), scope);
  } else if (auto bad = bad_mgid(mgid, asked.pkey)) {
    return std::unexpected(*std::move(bad));
  } else if (auto other = ipoib_mismatch(writing.registry, request, asked)) {
    return std::unexpected(*std::move(other));
  }
  const auto mlid = choose_mlid(writing.registry, writing.settings, writing.directory.multicast_lids(),
                                writing.directory.forwarded(), mgid, *terms);
  if (!mlid) {
    return std::unexpected(make_refusal(
        "MLID", {}, fmt::format("{} groups", writing.registry.groups().size()),
        "the switches' multicast tables are full, and no group is like it", wire::kSaNoResources));
  }
  writing.registry.put_group(mgid, *mlid, *terms, false);
  writing.effects.groups.push_back(
      {.mgid = mgid, .mlid = *mlid, .created = true, .why = "joined", .pkey = terms->pkey});
  return mgid;
}

}  // namespace

std::uint8_t scope_of(const Mgid& mgid) { return mgid.bytes[1] & 0xfU; }

MemberFields record_of(const Mgid& mgid, const Group& group) {
  const auto& terms = group.terms;
  MemberFields record;
  record.mgid = mgid;
  record.qkey = terms.qkey;
  record.mlid = group.mlid;
  record.mtu_selector = record.rate_selector = record.life_selector = wire::Selector::exactly;
  record.mtu = terms.mtu;
  record.traffic_class = terms.traffic_class;
  record.pkey = terms.pkey;
  record.rate = terms.rate;
  record.life = terms.life;
  record.sl = terms.sl;
  record.flow_label = terms.flow_label;
  record.hop_limit = terms.hop_limit;
  record.scope = scope_of(mgid);
  return record;
}

Membership join(Writing& writing, const Requester& requester, const Request& request) {
  auto part = member_request(writing, requester, request);
  if (!part) return std::unexpected(std::move(part.error()));
  if (auto refused = proxy_refusal(requester, *part)) return std::unexpected(*std::move(refused));
  auto& registry = writing.registry;
  const auto port = part->asked.port_gid.guid();
  auto mgid = part->asked.mgid;
  const auto* member = registry.members().find({mgid, port});
  // What a port has joined for itself only it changes, or a requester with the SM_Key.
  if (member != nullptr && !member->proxy && part->proxy && !requester.trusted) {
    return std::unexpected(make_refusal("PortGID", to_string(part->asked.port_gid),
                                        fmt::format("LID {}", requester.lid),
                                        "another port has joined for itself"));
  }
  const auto joined_by = part->proxy && requester.port != nullptr ? requester.port->guid : Guid{};
  const auto used = registry.uses(joined_by != Guid{} ? joined_by : port).groups;
  if (member == nullptr && used >= writing.settings.groups_per_port) {
    return std::unexpected(make_refusal(
        "MGID", {}, fmt::format("{} groups", used),
        "the asking port has joined as many groups as [sa] groups_per_port allows", wire::kSaNoResources));
  }
  Member now{.join_state = part->asked.join_state, .proxy = part->proxy, .joined_by = joined_by};
  if (const auto* group = registry.groups().find(mgid)) {
    if (auto bad = mismatch(*part->port, *group, request, part->asked)) {
      return std::unexpected(*std::move(bad));
    }
    if (member != nullptr) {
      now.join_state |= member->join_state;
      now.proxy = member->proxy && part->proxy;
      now.joined_by = now.proxy ? member->joined_by : Guid{};
    }
  } else {
    const auto made = create(writing, request, *part);
    if (!made) return std::unexpected(made.error());
    mgid = *made;
  }
  if (member == nullptr || !(*member == now)) registry.put_member({mgid, port}, now);
  auto record = record_of(mgid, *registry.groups().find(mgid));
  record.port_gid = part->asked.port_gid;
  record.join_state = now.join_state;
  record.proxy_join = now.proxy;
  return record;
}

Membership leave(Writing& writing, const Requester& requester, const Request& request) {
  auto part = member_request(writing, requester, request);
  if (!part) return std::unexpected(std::move(part.error()));
  auto& registry = writing.registry;
  const auto mgid = part->asked.mgid;
  const MemberKey key{mgid, part->asked.port_gid.guid()};
  const auto* group = registry.groups().find(mgid);
  if (group == nullptr) {
    return std::unexpected(make_refusal("MGID", to_string(mgid), {}, "there is no such group"));
  }
  const auto* member = registry.members().find(key);
  if (member == nullptr) {
    return std::unexpected(
        make_refusal("PortGID", to_string(part->asked.port_gid), {}, "the port is not in the group"));
  }
  // What a port has joined for itself only it ends, or a requester with the SM_Key.
  const bool own = !part->proxy || requester.trusted;
  if (!own && !member->proxy) {
    return std::unexpected(make_refusal("PortGID", to_string(part->asked.port_gid),
                                        fmt::format("LID {}", requester.lid),
                                        "another port has joined for itself"));
  }
  if (auto refused = proxy_refusal(requester, *part)) return std::unexpected(*std::move(refused));
  const auto taken = part->asked.join_state;
  if ((member->join_state & taken) != taken) {
    return std::unexpected(make_refusal("JoinState", bits(taken), bits(member->join_state),
                                        "the port is not in the group in all these ways"));
  }
  auto record = record_of(mgid, *group);
  record.port_gid = part->asked.port_gid;
  record.proxy_join = member->proxy;
  const auto left = static_cast<std::uint8_t>(member->join_state & ~taken);
  record.join_state = left;
  if (left != 0) {
    auto now = *member;
    now.join_state = left;
    registry.put_member(key, now);
  } else {
    registry.drop_member(key);
  }
  end_if_empty(writing, mgid, "its last full member has left");
  return record;
}

void end_if_empty(Writing& writing, const Mgid& mgid, std::string_view why) {
  const auto* group = writing.registry.groups().find(mgid);
  if (group == nullptr || group->well_known || group->keepers != 0) return;
  writing.effects.groups.push_back(
      {.mgid = mgid, .mlid = group->mlid, .created = false, .why = why, .pkey = group->terms.pkey});
  writing.registry.drop_group(mgid);
}

}  // namespace smd::sa
