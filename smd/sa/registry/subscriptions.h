// SPDX-License-Identifier: Apache-2.0
#pragma once
// Subscriptions (InformInfo), and the subscribers that get a Report of an event.

#include <expected>
#include <optional>
#include <vector>

#include "mad/wire/notice.h"
#include "smd/sa/registry/write.h"

namespace smd::sa {

using InformAnswer = std::expected<wire::InformInfo, Refusal>;

/// Set(InformInfo): begins or ends the subscription of a queue pair.
InformAnswer inform(Writing& writing, const Requester& requester, const Request& request);

/// Something that happened, and whose word it is.
struct Event {
  wire::Notice notice;
  Gid issuer;
  std::optional<PKey> pkey{};               ///< of the group that it is about
  std::shared_ptr<const HeldPKeys> keys{};  ///< that the port had which is gone; null: not known
};

/// One report: to which port, and to which QP there.
struct Addressee {
  Guid port;
  std::uint32_t qp = 1;
  friend auto operator<=>(const Addressee&, const Addressee&) = default;
};

/// All that a queue pair has subscribed to ends.
void drop_subscriptions(Registry& registry, const Addressee& subscriber);

struct Told {
  Addressee who;
  std::uint8_t response_time = 0;  ///< RespTimeValue, the longest of its subscriptions to this
  friend auto operator<=>(const Told&, const Told&) = default;
};

/// Subscribers of the event that share a partition with its subject; each once.
std::vector<Told> addressees(const Directory& directory, const Registry& registry, const Event& event);

/// Traps 64 to 67: a port or a group came or went. `sm`: our own port, whose word it is.
inline constexpr std::uint16_t kPortIn = 64, kPortOut = 65, kGroupCreated = 66, kGroupDeleted = 67;
/// The generic notice of one of these traps; `subject`: the port's or the group's GID.
Event event_of(const EndPort& sm, const Gid& sm_gid, std::uint16_t trap, const Gid& subject);

/// The bytes of a report; its transaction is the sender's.
std::vector<std::uint8_t> report_of(const Event& event);

/// The GID that traps 64 to 67 are about.
Gid subject_of(const wire::Notice& notice);

}  // namespace smd::sa
