// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/subscriptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "mad/wire/trap.h"
#include "smd/sa/policy.h"
#include "smd/sa/registry/group_parameters.h"

namespace smd::sa {
namespace {

constexpr std::uint16_t kAny = 0xFFFF;
constexpr std::uint32_t kAnyProducer = 0xFFFFFF;
/// Of a notice's details: where traps 64 to 67 have their GID (libopensm's ntc_64_67).
constexpr std::size_t kGidAt = 6;

/// Reports go to the queue pair that asked for them, as with OpenSM; who ends a subscription may name it.
/// Fields that mean nothing beside others are 0, whatever the client has left in them: the LIDs where a GID
/// is named, the last LID where the first one means all. A last LID of 0 is the first one, as with OpenSM.
SubscriptionKey key_of(const Directory& directory, Guid port, std::uint32_t qp,
                       const wire::InformInfo& info) {
  const bool by_gid = info.gid != Gid{}, any_lid = info.lid_begin.value() == kAny;
  const auto lid_end = info.lid_end == Lid{} ? info.lid_begin : info.lid_end;
  return {.port = port,
          .gid = directory.here(info.gid),
          .lid_begin = by_gid ? Lid{} : info.lid_begin,
          .lid_end = by_gid || any_lid ? Lid{} : lid_end,
          .is_generic = info.is_generic,
          .type = info.type,
          .trap = info.trap,
          .producer = info.producer,
          .qp = info.subscribe == 0 && info.qp != 0 ? info.qp : qp};
}

std::uint16_t free_number(const Registry& registry, Guid port) {
  std::vector<std::uint16_t> taken;
  for (auto row = registry.subscriptions().lower_bound({.port = port});
       row != registry.subscriptions().end() && row->first.port == port; ++row) {
    taken.push_back(row->second.number);
  }
  std::ranges::sort(taken);
  std::uint16_t number = 0;
  for (const auto one : taken) {
    if (one != number) break;
    ++number;
  }
  return number;
}

std::optional<Refusal> wrong_range(const wire::InformInfo& info) {
  if (info.gid != Gid{} || info.lid_begin.value() == kAny) return std::nullopt;
  if (info.lid_end == Lid{} || info.lid_begin <= info.lid_end) return std::nullopt;
  return make_refusal("LIDRangeBegin", fmt::format("{} to {}", info.lid_begin, info.lid_end), {},
                      "this is no range of LIDs, and no GID is named");
}

/// C15-0.2-1.16 of IBA, as OpenSM cites it: those who are trusted learn of wrong M_Keys, P_Keys and Q_Keys.
bool is_of_security(const wire::InformInfo& info) {
  return info.is_generic != 0 && info.trap >= wire::trap::kBadMKey &&
         info.trap <= wire::trap::kBadPKeyAtSwitch;
}

bool wants(const SubscriptionKey& key, const Event& event) {
  const auto& notice = event.notice;
  const bool about = key.gid != Gid{}
                         ? key.gid == event.issuer
                         : key.lid_begin.value() == kAny ||
                               (key.lid_begin <= notice.issuer_lid && notice.issuer_lid <= key.lid_end);
  return about && (key.is_generic != 0) == notice.is_generic &&
         (key.type == kAny || key.type == static_cast<std::uint16_t>(notice.type)) &&
         (key.trap == kAny || key.trap == notice.trap) &&
         (key.producer == kAnyProducer || key.producer == notice.producer);
}

bool share_partition(const EndPort& a, const EndPort& b) {
  return &a == &b || Policy{}.pkey(a, b, PathConstraints{}).has_value();
}

/// No port learns of what is in partitions that are not its own.
bool may_know(const Directory& directory, const Registry& registry, const EndPort& subscriber,
              const Event& event) {
  const auto trap = event.notice.trap;
  if (event.notice.is_generic && (trap == kGroupCreated || trap == kGroupDeleted)) {
    if (event.pkey) return has_pkey(subscriber, *event.pkey);  // it may be gone
    const auto* group = registry.groups().find(Mgid{subject_of(event.notice).bytes});
    return group == nullptr || has_pkey(subscriber, group->terms.pkey);
  }
  const bool of_port = event.notice.is_generic && (trap == kPortIn || trap == kPortOut);
  const auto* about =
      of_port ? directory.by_gid(subject_of(event.notice)) : directory.by_lid(event.notice.issuer_lid);
  if (about == nullptr) return event.keys == nullptr || share_pkey(subscriber.pkeys, event.keys.get());
  return share_partition(subscriber, *about);
}

}  // namespace

InformAnswer inform(Writing& writing, const Requester& requester, const Request& request) {
  auto info = wire::decode<wire::InformInfo>(request.data);
  if (!info) return std::unexpected(make_refusal({}, {}, {}, "the attribute is too short"));
  if (requester.port == nullptr) {
    return std::unexpected(make_refusal({}, {}, {}, "the request comes from a LID that no port has"));
  }
  if (info->subscribe > 1) {
    return std::unexpected(make_refusal("Subscribe", fmt::format("{}", info->subscribe), {}, "it is 0 or 1"));
  }
  if (auto wrong = wrong_range(*info)) return std::unexpected(*std::move(wrong));
  if (is_of_security(*info) && !requester.trusted) {
    return std::unexpected(make_refusal("TrapNumber", fmt::format("{}", info->trap), {},
                                        "reports of it go to who shows the SM_Key"));
  }
  const auto key = key_of(writing.directory, requester.port->guid, requester.qp, *info);
  auto& registry = writing.registry;
  const auto* there = registry.subscriptions().find(key);
  if (info->subscribe == 0) {
    if (there == nullptr)
      return std::unexpected(make_refusal("Subscribe", "0", {}, "there is no such subscription"));
    registry.drop_subscription(key);
    return *info;
  }
  const auto used = registry.uses(key.port).subscriptions;
  if (there == nullptr && used >= writing.settings.subscriptions_per_port) {
    return std::unexpected(make_refusal("Subscribe", {}, fmt::format("{} subscriptions", used),
                                        "the port has as many as one may have", wire::kSaNoResources));
  }
  if (there == nullptr) {
    registry.put_subscription(
        key, {.number = free_number(registry, key.port), .response_time = info->response_time});
  }
  return *info;
}

void drop_subscriptions(Registry& registry, const Addressee& subscriber) {
  std::vector<SubscriptionKey> keys;
  for (auto row = registry.subscriptions().lower_bound({.port = subscriber.port});
       row != registry.subscriptions().end() && row->first.port == subscriber.port; ++row) {
    if (row->first.qp == subscriber.qp) keys.push_back(row->first);
  }
  for (const auto& key : keys) registry.drop_subscription(key);
}

std::vector<Told> addressees(const Directory& directory, const Registry& registry, const Event& event) {
  std::vector<Told> found;
  for (const auto& [key, subscription] : registry.subscriptions()) {
    if (!wants(key, event)) continue;
    const auto* subscriber = directory.by_guid(key.port);
    if (subscriber == nullptr || !may_know(directory, registry, *subscriber, event)) continue;
    found.push_back({{key.port, key.qp}, subscription.response_time});
  }
  std::ranges::sort(found, std::greater{});
  found.erase(std::ranges::unique(found, {}, &Told::who).begin(), found.end());
  return found;
}

Event event_of(const EndPort& sm, const Gid& sm_gid, std::uint16_t trap, const Gid& subject) {
  wire::Notice notice{.is_generic = true,
                      .type = wire::NoticeType::subnet_management,
                      .producer = wire::kProducerClassManager,
                      .trap = trap,
                      .issuer_lid = sm.lid};
  std::ranges::copy(subject.bytes, notice.details.begin() + kGidAt);
  return {notice, sm_gid};
}

std::vector<std::uint8_t> report_of(const Event& event) {
  std::vector<std::uint8_t> bytes(wire::kMadBytes);
  wire::encode(wire::MadHeader{.mgmt_class = wire::MgmtClass::sa,
                               .class_version = wire::kSaClassVersion,
                               .method = wire::Method::report,
                               .attribute = wire::Notice::kAttribute},
               bytes);
  const auto data = std::span(bytes).subspan(wire::kSaDataOffset);
  wire::encode(event.notice, data);
  // What a class manager forwards says behind the notice whose word it is (libopensm's issuer_gid).
  std::ranges::copy(event.issuer.bytes, data.begin() + wire::Notice::kBytes);
  return bytes;
}

Gid subject_of(const wire::Notice& notice) {
  Gid gid;
  std::copy_n(notice.details.begin() + kGidAt, gid.bytes.size(), gid.bytes.begin());
  return gid;
}

}  // namespace smd::sa
