// SPDX-License-Identifier: Apache-2.0
#include "smd/schedule/violations.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "mad/wire/trap.h"

namespace smd::sm::inline scheduling {
namespace {

/// What the three traps say.
struct Violation {
  Lid source{}, destination{}, seen_at{};
  PortNum port{};  ///< of seen_at; 0: its own
  std::uint32_t key = 0;
  bool q_key = false;
};

std::optional<Violation> violation_of(const wire::Notice& notice, Lid from) {
  if (!notice.is_generic) return std::nullopt;
  if (notice.trap == wire::trap::kBadPKey || notice.trap == wire::trap::kBadQKey) {
    const auto details = wire::decode<wire::BadKeyDetails>(notice.details);
    if (!details) return std::nullopt;
    return Violation{.source = details->lid1,
                     .destination = details->lid2,
                     .seen_at = from,
                     .key = details->key,
                     .q_key = notice.trap == wire::trap::kBadQKey};
  }
  if (notice.trap != wire::trap::kBadPKeyAtSwitch) return std::nullopt;
  const auto details = wire::decode<wire::BadPKeyAtSwitchDetails>(notice.details);
  if (!details) return std::nullopt;
  return Violation{.source = details->lid1,
                   .destination = details->lid2,
                   .seen_at = details->switch_lid.unicast() ? details->switch_lid : from,
                   .port = details->port,
                   .key = details->pkey.value()};
}

std::string name_of(const LidIndex::Place& place, Lid lid, PortNum port = {}) {
  if (place.node == nullptr) return fmt::format("LID {}", lid);
  return fmt::format("{} port {}", place.node->description, port == PortNum{} ? place.port : port);
}

}  // namespace

void ViolationCounts::count(std::uint16_t trap) {
  if (trap == wire::trap::kBadPKey) ++pkey;
  if (trap == wire::trap::kBadQKey) ++qkey;
  if (trap == wire::trap::kBadPKeyAtSwitch) ++at_switch;
}

bool log_violation(const log::Log& log, const LidIndex& lids, const wire::Notice& notice, Lid from,
                   const SharedKeys& shared) {
  const auto found = violation_of(notice, from);
  if (!found) return false;
  const auto source = lids.find(found->source), destination = lids.find(found->destination);
  const auto key =
      found->q_key ? fmt::format("0x{:08x}", found->key) : fmt::format("0x{:04x}", found->key & 0xffffU);
  const bool known = source.node != nullptr && destination.node != nullptr && shared;
  auto&& line = log.warn("partition.violation");
  if (source.node != nullptr) line.port(source.node->guid(), source.node->description, source.port);
  if (destination.node != nullptr)
    line.kv("peer_guid", destination.node->guid())
        .kv("peer_name", destination.node->description)
        .kv("peer_port", destination.port);
  line.kv("src", name_of(source, found->source))
      .kv("dst", name_of(destination, found->destination))
      .kv(found->q_key ? "qkey" : "pkey", key)
      .kv("seen_at", name_of(lids.find(found->seen_at), found->seen_at, found->port))
      .kv("share", known ? shared(source, destination) : "unknown")
      .kv("trap", notice.trap)
      .subject(fmt::format("{} {} {}", notice.trap == wire::trap::kBadQKey, found->source, key));
  return true;
}

}  // namespace smd::sm::inline scheduling
