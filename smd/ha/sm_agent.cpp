// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/sm_agent.h"

#include <utility>

#include "mad/wire/notice.h"

namespace smd::sm {
namespace {

constexpr std::uint64_t kDefaultSmKey = 1;  // OpenSM's too

}  // namespace

SmAgent::SmAgent(mad::Transactions& tx, log::Log log, Events events)
    : tx_(tx), log_(std::move(log)), events_(std::move(events)) {
  info_.state = wire::SmState::discovering;
}

void SmAgent::listen() {
  tx_.on_unsolicited([this](mad::Received&& mad) { received(std::move(mad)); });
}

void SmAgent::set_identity(Guid port, std::uint8_t priority, std::uint64_t sm_key) {
  info_.guid = port;
  info_.priority = priority;
  info_.sm_key = sm_key;
}

void SmAgent::set_state(wire::SmState state) {
  if (info_.state == state) return;
  log_.info("sm.state").kv("from", info_.state).kv("to", state).always();
  info_.state = state;
  if (state != wire::SmState::master) handed_over_by_.reset();
}

void SmAgent::received(mad::Received&& mad) {
  const auto smp = wire::Smp::from_bytes(mad.bytes);
  if (!smp) return;
  const auto smi_class = smp->mgmt_class();
  if (smi_class != wire::MgmtClass::sm_lid && smi_class != wire::MgmtClass::sm_directed) return;
  if (smp->method() == wire::Method::trap) {
    trap(mad, *smp);
    return;
  }
  const bool asked = smp->method() == wire::Method::get || smp->method() == wire::Method::set;
  if (asked && smp->attribute() == wire::SmInfo::kAttribute) sm_info(mad, *smp);
}

/// The SM_Key opens HANDOVER and, where there is no sa_key, the SA's trusted view: ports of SMs are shown it.
/// They need it: OpenSM takes a master without its own key for no master, and becomes a second one. The key
/// that all have by default is no secret.
void SmAgent::sm_info(const mad::Received& mad, const wire::Smp& smp) {
  if (smp.method() == wire::Method::set) {
    const auto status = control(smp);
    answer(mad.from, smp, status, smp.get<wire::SmInfo>().sm_key == info_.sm_key);
    return;
  }
  if (info_.sm_key == kDefaultSmKey) return answer(mad.from, smp, wire::kStatusOk, true);
  if (!events_.is_sm) return answer(mad.from, smp, wire::kStatusOk, false);
  events_.is_sm(mad, smp,
                [this, from = mad.from, smp](bool is_sm) { answer(from, smp, wire::kStatusOk, is_sm); });
}

void SmAgent::answer(const mad::LidRoute& to, const wire::Smp& request, std::uint16_t status, bool with_key) {
  info_.act_count = ++act_count_;
  auto shown = info_;
  if (!with_key) shown.sm_key = 0;
  auto reply = request.response(status);
  reply.put(shown);
  if (const auto sent = tx_.respond(reply, to); !sent) {
    log_.warn("sm_info.not_answered").kv("errno", sent.error().error).kv("reason", sent.error().what);
  }
}

/// Who tells us what to be shows the SM_Key. OpenSM's master shows 0 to whom it takes for a standby: that
/// counts from the port where we have seen the master.
bool SmAgent::trusted(const wire::SmInfo& other, wire::SmControl control) const {
  if (other.sm_key == info_.sm_key || control == wire::SmControl::acknowledge) return true;
  return other.sm_key == 0 && events_.is_master && events_.is_master(other.guid);
}

/// What another SM tells us to be. The state machine of SMInfo Sets, as OpenSM's users know it.
std::uint16_t SmAgent::control(const wire::Smp& smp) {
  const auto other = smp.get<wire::SmInfo>();
  const auto control = static_cast<wire::SmControl>(smp.modifier());
  if (!trusted(other, control)) {
    log_.warn("sm.control_refused")
        .kv("control", control)
        .kv("from_guid", other.guid)
        .kv("reason", other.sm_key == 0 ? "no SM_Key, and not the master that we know" : "another SM_Key")
        .subject("sm.control_refused");
    return wire::kStatusBadField;
  }
  log_.info("sm.control")
      .kv("control", control)
      .kv("from_guid", other.guid)
      .kv("from_priority", other.priority);
  switch (control) {
    case wire::SmControl::handover:
      if (info_.state != wire::SmState::standby && info_.state != wire::SmState::master)
        return wire::kStatusBadField;
      handed_over_by_ = other.guid;
      events_.handover();
      return wire::kStatusOk;
    case wire::SmControl::acknowledge:
      return wire::kStatusOk;
    case wire::SmControl::disable:
      if (info_.state == wire::SmState::master) return wire::kStatusBadField;
      set_state(wire::SmState::not_active);
      return wire::kStatusOk;
    case wire::SmControl::standby:
      if (info_.state == wire::SmState::not_active) set_state(wire::SmState::standby);
      return wire::kStatusOk;
    case wire::SmControl::discover:
      if (info_.state == wire::SmState::standby) events_.discover();
      return wire::kStatusOk;
  }
  return wire::kStatusBadField;
}

void SmAgent::trap(const mad::Received& mad, const wire::Smp& smp) {
  // Only the master answers: a trap without TrapRepress comes again, and then finds who is.
  if (info_.state != wire::SmState::master || smp.attribute() != wire::Notice::kAttribute) return;
  if (const auto sent = tx_.respond(smp.response(), mad.from); !sent) {
    log_.warn("trap.not_repressed").kv("errno", sent.error().error).kv("reason", sent.error().what);
  }
  events_.trap(smp.get<wire::Notice>(), mad.from.lid);
}

}  // namespace smd::sm
