// SPDX-License-Identifier: Apache-2.0
// The tables of what clients have registered.
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smd/store/kinds.h"
#include "smd/store/sql_values.h"

namespace smd::store {
namespace {

using sa::Registry;

Cell mgid_cell(const Mgid& mgid) { return to_string(mgid); }

bool read_mgid(const Cell& cell, Mgid& into) {
  Gid gid;
  if (!read_gid(cell, gid)) return false;
  into.bytes = gid.bytes;
  return true;
}

// mcast_groups: mgid -> mlid, qkey, pkey, mtu, rate, life, sl, tclass, hop_limit, flow_label, well_known

void groups_difference(const Registry& before, const Registry& now, const ChangeSink& sink) {
  Registry::Groups::difference(before.groups(), now.groups(), [&](const Mgid& mgid, const sa::Group* group) {
    if (group == nullptr) return sink(Change{.key = {mgid_cell(mgid)}, .value = std::nullopt});
    const auto* was = before.groups().find(mgid);
    const bool same = was != nullptr && was->mlid == group->mlid && was->terms == group->terms &&
                      was->well_known == group->well_known;
    if (same) return;  // only its members differ
    const auto& terms = group->terms;
    sink(Change{
        .key = {mgid_cell(mgid)},
        .value = Cells{number(group->mlid.value()), number(terms.qkey), number(terms.pkey.value()),
                       number(static_cast<std::uint8_t>(terms.mtu)), number(terms.rate), number(terms.life),
                       number(terms.sl.value()), number(terms.traffic_class), number(terms.hop_limit),
                       number(terms.flow_label), number(group->well_known ? 1 : 0)}});
  });
}

bool erase_group(const Cells& key, Registry& into) {
  Mgid mgid;
  if (!read_mgid(key[0], mgid)) return false;
  into.drop_group(mgid);
  return true;
}

bool decode_group(const Cells& row, Registry& into) {
  Mgid mgid;
  sa::GroupParameters terms;
  std::uint16_t mlid = 0, pkey = 0;
  std::uint8_t mtu = 0, sl = 0, well_known = 0;
  const bool good = read_mgid(row[0], mgid) && read_number(row[1], kLastMulticastLid.value(), mlid) &&
                    Lid{mlid}.multicast() && read_number(row[2], 0xFFFFFFFF, terms.qkey) &&
                    read_number(row[3], 0xFFFF, pkey) && read_number(row[4], 5, mtu) &&
                    read_number(row[5], 63, terms.rate) && read_number(row[6], 63, terms.life) &&
                    read_number(row[7], 15, sl) && read_number(row[8], 255, terms.traffic_class) &&
                    read_number(row[9], 255, terms.hop_limit) &&
                    read_number(row[10], 0xFFFFF, terms.flow_label) && read_number(row[11], 1, well_known);
  if (!good || into.groups().contains(mgid)) return false;
  terms.pkey = PKey{pkey};
  terms.mtu = static_cast<Mtu>(mtu);
  terms.sl = Sl{sl};
  into.put_group(mgid, Lid{mlid}, terms, well_known != 0);
  return true;
}

// mcast_members: mgid, port_guid -> join_state, proxy, joined_by

void members_difference(const Registry& before, const Registry& now, const ChangeSink& sink) {
  Registry::Members::difference(
      before.members(), now.members(), [&](const sa::MemberKey& key, const sa::Member* member) {
        Change change{.key = {mgid_cell(key.group), guid(key.port)}, .value = std::nullopt};
        if (member != nullptr) {
          change.value =
              Cells{number(member->join_state), number(member->proxy ? 1 : 0), guid(member->joined_by)};
        }
        sink(std::move(change));
      });
}

/// 0 is a GUID here: the port has joined itself.
bool read_joiner(const Cell& cell, Guid& into) { return cell == guid(Guid{}) || read_guid(cell, into); }

bool read_key(const Cells& row, sa::MemberKey& key) {
  return read_mgid(row[0], key.group) && read_guid(row[1], key.port);
}

bool decode_member(const Cells& row, Registry& into) {
  sa::MemberKey key;
  sa::Member member;
  std::uint8_t proxy = 0;
  const bool good = read_key(row, key) && read_number(row[2], 15, member.join_state) &&
                    member.join_state != 0 && read_number(row[3], 1, proxy) &&
                    read_joiner(row[4], member.joined_by);
  if (!good || !into.groups().contains(key.group) || into.members().contains(key)) return false;
  member.proxy = proxy != 0;
  into.put_member(key, member);
  return true;
}

// services: service_id (hexadecimal), gid, pkey -> owner, ends, record (its bytes in hexadecimal)

std::string hex_of(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const auto byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

std::optional<wire::ServiceRecord> service_of(const Cell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr || text->size() != 2 * wire::ServiceRecord::kBytes) return std::nullopt;
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < text->size(); i += 2) {
    const auto byte = base::parse_number("0x" + text->substr(i, 2), 0xff);
    if (!byte) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(*byte));
  }
  return wire::decode<wire::ServiceRecord>(bytes);
}

Cells service_key(const sa::ServiceKey& key) {
  return {fmt::format("0x{:016x}", key.id), to_string(key.gid), number(key.pkey.value())};
}

void services_difference(const Registry& before, const Registry& now, const ChangeSink& sink) {
  Registry::Services::difference(
      before.services(), now.services(), [&](const sa::ServiceKey& key, const sa::Service* service) {
        Change change{.key = service_key(key), .value = std::nullopt};
        if (service != nullptr) {
          change.value = Cells{guid(service->owner), service->ends, hex_of(wire::encoded(service->record))};
        }
        sink(std::move(change));
      });
}

bool read_key(const Cells& row, sa::ServiceKey& key) {
  const auto* text = std::get_if<std::string>(&row[0]);
  const auto id = text != nullptr ? base::parse_number(*text) : std::nullopt;
  std::uint16_t pkey = 0;
  if (!id || !read_gid(row[1], key.gid) || !read_number(row[2], 0xFFFF, pkey)) return false;
  key.id = *id;
  key.pkey = PKey{pkey};
  return true;
}

bool decode_service(const Cells& row, Registry& into) {
  sa::ServiceKey key;
  sa::Service service;
  const auto* ends = std::get_if<std::int64_t>(&row[4]);
  const auto record = service_of(row[5]);
  const bool good =
      read_key(row, key) && ends != nullptr && *ends >= 0 && record && read_guid(row[3], service.owner);
  if (!good) return false;
  service.ends = *ends;
  service.record = *record;
  if (into.services().contains(key)) return false;
  into.put_service(key, std::move(service));
  return true;
}

// subscriptions: port_guid, gid, lid_begin, lid_end, is_generic, type, trap, producer, qp -> number,
// response_time

Cells subscription_key(const sa::SubscriptionKey& key) {
  return {guid(key.port),
          to_string(key.gid),
          number(key.lid_begin.value()),
          number(key.lid_end.value()),
          number(key.is_generic),
          number(key.type),
          number(key.trap),
          number(key.producer),
          number(key.qp)};
}

void subscriptions_difference(const Registry& before, const Registry& now, const ChangeSink& sink) {
  Registry::Subscriptions::difference(
      before.subscriptions(), now.subscriptions(),
      [&](const sa::SubscriptionKey& key, const sa::Subscription* subscription) {
        Change change{.key = subscription_key(key), .value = std::nullopt};
        if (subscription != nullptr) {
          change.value = Cells{number(subscription->number), number(subscription->response_time)};
        }
        sink(std::move(change));
      });
}

bool read_key(const Cells& row, sa::SubscriptionKey& key) {
  std::uint16_t begin = 0, end = 0;
  const bool good = read_guid(row[0], key.port) && read_gid(row[1], key.gid) &&
                    read_number(row[2], 0xFFFF, begin) && read_number(row[3], 0xFFFF, end) &&
                    read_number(row[4], 255, key.is_generic) && read_number(row[5], 0xFFFF, key.type) &&
                    read_number(row[6], 0xFFFF, key.trap) && read_number(row[7], 0xFFFFFF, key.producer) &&
                    read_number(row[8], 0xFFFFFF, key.qp);
  key.lid_begin = Lid{begin};
  key.lid_end = Lid{end};
  return good;
}

bool decode_subscription(const Cells& row, Registry& into) {
  sa::SubscriptionKey key;
  sa::Subscription subscription;
  const bool good = read_key(row, key) && read_number(row[9], 0xFFFF, subscription.number) &&
                    read_number(row[10], 31, subscription.response_time);
  if (!good) return false;
  if (into.subscriptions().contains(key)) return false;
  into.put_subscription(key, subscription);
  return true;
}

// clients: port_guid

void clients_difference(const Registry& before, const Registry& now, const ChangeSink& sink) {
  Registry::Clients::difference(before.clients(), now.clients(),
                                [&](const Guid& port, const sa::Client* client) {
                                  Change change{.key = {guid(port)}, .value = std::nullopt};
                                  if (client != nullptr) change.value = Cells{};
                                  sink(std::move(change));
                                });
}

bool erase_client(const Cells& row, Registry& into) {
  Guid port;
  if (!read_guid(row[0], port)) return false;
  into.drop_client(port);
  return true;
}

bool decode_client(const Cells& row, Registry& into) {
  Guid port;
  if (!read_guid(row[0], port)) return false;
  into.put_client(port);
  return true;
}

// alias_guids: port_guid, place -> guid

void aliases_difference(const Registry& before, const Registry& now, const ChangeSink& sink) {
  Registry::Aliases::difference(
      before.aliases(), now.aliases(), [&](const sa::AliasKey& key, const Guid* alias) {
        Change change{.key = {guid(key.port), number(key.index)}, .value = std::nullopt};
        if (alias != nullptr) change.value = Cells{guid(*alias)};
        sink(std::move(change));
      });
}

bool decode_alias(const Cells& row, Registry& into) {
  sa::AliasKey key;
  Guid alias;
  const bool good = read_guid(row[0], key.port) && read_number(row[1], 2047, key.index) && key.index != 0 &&
                    read_guid(row[2], alias) && into.by_alias(alias) == nullptr;
  if (good) into.put_alias(key, alias);
  return good;
}

template <class Key, void (Registry::*kDrop)(const Key&)>
bool erase_row(const Cells& row, Registry& into) {
  Key key;
  if (!read_key(row, key)) return false;
  (into.*kDrop)(key);
  return true;
}

constexpr std::array kAliasesKey{Column{"port_guid", true}, Column{"place"}};
constexpr std::array kAliasesValue{Column{"guid", true}};
constexpr std::array kClientsKey{Column{"port_guid", true}};
constexpr std::array kServicesKey{Column{"service_id", true}, Column{"gid", true}, Column{"pkey"}};
constexpr std::array kServicesValue{Column{"owner", true}, Column{"ends"}, Column{"record", true}};
constexpr std::array kSubscriptionsKey{Column{"port_guid", true},
                                       Column{"gid", true},
                                       Column{"lid_begin"},
                                       Column{"lid_end"},
                                       Column{"is_generic"},
                                       Column{"type"},
                                       Column{"trap"},
                                       Column{"producer"},
                                       Column{"qp"}};
constexpr std::array kSubscriptionsValue{Column{"number"}, Column{"response_time"}};
constexpr std::array kGroupsKey{Column{"mgid", true}};
constexpr std::array kGroupsValue{Column{"mlid"},       Column{"qkey"},      Column{"pkey"},
                                  Column{"mtu"},        Column{"rate"},      Column{"life"},
                                  Column{"sl"},         Column{"tclass"},    Column{"hop_limit"},
                                  Column{"flow_label"}, Column{"well_known"}};
constexpr std::array kMembersKey{Column{"mgid", true}, Column{"port_guid", true}};
constexpr std::array kMembersValue{Column{"join_state"}, Column{"proxy"}, Column{"joined_by", true}};

// Aliases first: members are counted for the port that they name; with other aliases all are counted anew.
constexpr std::array kRegistryKinds{
    RegistryKind{{"alias_guids", kAliasesKey, kAliasesValue}, aliases_difference, decode_alias},
    RegistryKind{{"mcast_groups", kGroupsKey, kGroupsValue}, groups_difference, decode_group, erase_group},
    RegistryKind{{"mcast_members", kMembersKey, kMembersValue},
                 members_difference,
                 decode_member,
                 erase_row<sa::MemberKey, &Registry::drop_member>},
    RegistryKind{{"services", kServicesKey, kServicesValue},
                 services_difference,
                 decode_service,
                 erase_row<sa::ServiceKey, &Registry::drop_service>},
    RegistryKind{{"subscriptions", kSubscriptionsKey, kSubscriptionsValue},
                 subscriptions_difference,
                 decode_subscription,
                 erase_row<sa::SubscriptionKey, &Registry::drop_subscription>},
    RegistryKind{{"clients", kClientsKey, {}}, clients_difference, decode_client, erase_client},
};

}  // namespace

std::span<const RegistryKind> registry_kinds() { return kRegistryKinds; }

}  // namespace smd::store
