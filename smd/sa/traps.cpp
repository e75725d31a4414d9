// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/traps.h"

#include "mad/wire/trap.h"

namespace smd::sa {
namespace {

wire::Notice without_keys(wire::Notice notice) {
  auto details = wire::details<wire::BadMKeyDetails>(notice);
  if (!details) return notice;
  details->m_key = 0;
  wire::encode_over(*details, notice.details);
  return notice;
}

}  // namespace

bool is_for_the_sm_to_say(const wire::Notice& notice) {
  return notice.is_generic && notice.trap >= kPortIn && notice.trap <= kGroupDeleted;
}

std::optional<Event> event_from(const Directory& directory, const wire::Notice& notice, Lid from) {
  const auto* sender = directory.by_lid(from);
  if (sender == nullptr) return std::nullopt;
  auto told = without_keys(notice);
  if (directory.by_lid(told.issuer_lid) != sender) told.issuer_lid = from;
  return Event{told, directory.gid_of(*sender)};
}

}  // namespace smd::sa
