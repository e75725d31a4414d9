// SPDX-License-Identifier: Apache-2.0
#include "smd/schedule/trap_intake.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "mad/wire/trap.h"
#include "smd/schedule/bad_m_key.h"
#include "smd/schedule/violations.h"

namespace smd::sm::inline scheduling {
namespace {

/// Traps about LIDs that no port has make us look at the fabric no sooner again than this, and at last as
/// seldom as that.
constexpr auto kFirstStranger = std::chrono::seconds(10), kLastStranger = std::chrono::seconds(300);

/// An SM on the node has another priority, and nothing else is said to have changed: Mastership asks that SM.
bool is_of_sm_only(const wire::Notice& notice) {
  const auto details = wire::details<wire::LocalChangeDetails>(notice);
  if (!details || !details->other_local_changes || !details->sm_priority_change) return false;
  return !details->capability_mask2_change && !details->hierarchy_info_change &&
         !details->link_speed_enabled_change && !details->link_width_enabled_change &&
         !details->node_description_change;
}

/// Whether the trap says that something of the node is not as we have read it.
bool changes(const wire::Notice& notice) {
  const auto trap = notice.trap;
  if (trap == wire::trap::kLocalChange) return !is_of_sm_only(notice);
  return trap == wire::trap::kLinkStateChange || trap == wire::trap::kSystemImageGuidChange;
}

/// Whether an operator has to hear of it: errors of links, and keys that do not fit.
bool warns(std::uint16_t trap) {
  return (trap >= wire::trap::kLocalLinkIntegrity && trap <= wire::trap::kFlowControlWatchdog) ||
         (trap >= wire::trap::kBadMKey && trap <= wire::trap::kBadPKeyAtSwitch);
}

}  // namespace

TrapIntake::TrapIntake(Parts parts)
    : parts_(std::move(parts)), stranger_pace_(kFirstStranger, kLastStranger) {}

void TrapIntake::heard(const wire::Notice& notice, Lid from) {
  parts_.events.publish(events::TrapReceived{.notice = notice, .from = from});
  if (!notice.is_generic || !parts_.subnet) return;
  auto& lids = parts_.lids;
  if (!lids.is_of(parts_.subnet.get())) lids = LidIndex(parts_.subnet);
  const auto issuer = notice.issuer_lid.unicast() ? notice.issuer_lid : from;
  const Places places{.issuer = issuer, .place = lids.find(issuer), .sender = lids.find(from)};
  ++count_;
  const auto* about = places.place.node != nullptr ? places.place.node : places.sender.node;
  counts_->count(notice.trap, about != nullptr ? about->guid() : Guid{});
  violations_.count(notice.trap);
  if (log_violation(parts_.log, lids, notice, from, parts_.shared_keys)) return;
  tell(notice, from, places);
  const auto* node = places.place.node;
  if (notice.trap == wire::trap::kBadMKey && node != nullptr) bad_m_keys_.insert(node->guid());
  if (changes(notice) && parts_.config->sweep.on_trap) ask(notice, places);
}

void TrapIntake::tell(const wire::Notice& notice, Lid from, const Places& places) const {
  const auto subject = fmt::format("{} {}", notice.trap, from);
  auto&& event = warns(notice.trap) ? parts_.log.warn("trap") : parts_.log.info("trap");
  const auto& named = places.place.node != nullptr ? places.place : places.sender;
  // Traps of a switch are its port 0's, which says nothing about the port that they are about.
  if (named.node != nullptr && named.node->is_switch()) {
    event.node(named.node->guid(), named.node->description);
  } else if (named.node != nullptr) {
    event.port(named.node->guid(), named.node->description, named.port);
  }
  if (places.place.node == nullptr) event.kv("unknown_lid", places.issuer);
  event.kv("trap", notice.trap).kv("trap_name", wire::trap_name(notice.trap)).kv("lid", from);
  if (warns(notice.trap)) event.kv("details", wire::describe(notice));
  const auto bad_key = wire::details<wire::BadMKeyDetails>(notice);
  const auto sender = bad_key && places.place.node != nullptr
                          ? sender_of(*parts_.subnet, parts_.lids, *places.place.node, *bad_key)
                          : std::nullopt;
  if (sender) {
    event.kv("from_guid", sender->node->guid()).kv("from_name", sender->node->description);
    event.kv("from_port", sender->port);
  }
  event.subject(subject);
}

void TrapIntake::ask(const wire::Notice& notice, const Places& places) {
  auto& agenda = parts_.scheduler.agenda();
  const auto* node = places.place.node;
  if (notice.trap == wire::trap::kLinkStateChange && node != nullptr && node->is_switch())
    parts_.scheduler.link_reported(node->guid());
  auto reason = fmt::format("trap {}", notice.trap);
  if (node != nullptr) return agenda.look_at(node->guid(), std::move(reason));
  // What no LID of ours is about may be anywhere. A sender that goes on like that is not followed each time.
  const auto culprit = places.sender.node != nullptr ? places.sender.node->guid() : Guid{};
  const auto now = parts_.scheduler.clock().now();
  if (stranger_pace_.due(culprit) > now) return;
  stranger_pace_.looked(culprit, now);
  agenda.add(Work::heavy, fmt::format("{} about the unknown LID {}", reason, places.issuer));
}

void TrapIntake::forget_gone() {
  std::erase_if(bad_m_keys_, [this](Guid node) { return parts_.subnet->find(node) == nullptr; });
}

}  // namespace smd::sm::inline scheduling
