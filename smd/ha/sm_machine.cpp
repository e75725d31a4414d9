// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/sm_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/wire/mad.h"

namespace smd::sm::inline availability::machine {
namespace {

using wire::SmControl;
using wire::SmState;

void become(Step& step, SmState to) {
  if (step.next.sm == to) return;
  step.actions.push_back(Became{step.next.sm, to});
  step.next.sm = to;
  if (to != SmState::master) step.next.handed_over_by.reset();
}

void request_heavy(Step& step, std::string reason) {
  step.actions.push_back(RequestSweep{true, std::move(reason)});
}

/// The masters of the fabric have been read. Sets stay held where a further standstill came meanwhile.
void allow_sets(State& now) {
  if (now.standstills == now.accounted) now.sets_held = false;
}

/// The polled SM is not waited for any more: a heavy sweep finds out to whom the fabric belongs.
void end_polling(Step& step) {
  step.next.polled.reset();
  request_heavy(step, step.next.contested ? "the other master is gone" : "master gone");
}

/// The sender of a control shows the SM_Key. OpenSM's master shows 0 to an SM that it takes for a standby:
/// that counts from the port where the last sweep has seen the master.
bool trusted(const State& now, const ControlReceived& event) {
  if (event.from.sm_key == now.sm_key || event.control == SmControl::acknowledge) return true;
  return event.from.sm_key == 0 && event.from_known_master;
}

/// Returns the status of the answer.
std::uint16_t obey(Step& step, const ControlReceived& event) {
  auto& now = step.next;
  switch (event.control) {
    case SmControl::handover:
      if (now.sm != SmState::standby && now.sm != SmState::master) return wire::kStatusBadField;
      now.handed_over_by = event.from.guid;
      request_heavy(step, "handover");
      if (now.contested && now.polled && now.polled->sm.info.guid == event.from.guid) end_polling(step);
      return wire::kStatusOk;
    case SmControl::acknowledge:
      return wire::kStatusOk;
    case SmControl::disable:
      if (now.sm == SmState::master) return wire::kStatusBadField;
      become(step, SmState::not_active);
      return wire::kStatusOk;
    case SmControl::standby:
      if (now.sm == SmState::not_active) become(step, SmState::standby);
      return wire::kStatusOk;
    case SmControl::discover:
      if (now.sm == SmState::standby) request_heavy(step, "SMInfo DISCOVER");
      return wire::kStatusOk;
  }
  return wire::kStatusBadField;
}

void on(Step& step, const ControlReceived& event) {
  const auto& from = event.from;
  if (!trusted(step.next, event)) {
    step.actions.push_back(LogControlRefused{event.control, from.guid, from.sm_key == 0});
    step.actions.push_back(Answer{wire::kStatusBadField});
    return;
  }
  step.actions.push_back(LogControl{event.control, {from.priority, from.guid}});
  const auto status = obey(step, event);
  step.actions.push_back(Answer{status});
}

void on(Step& step, const IdentityKnown& event) {
  step.next.self = event.self;
  step.next.sm_key = event.sm_key;
}

void on(Step& step, const PolicyChanged& event) { step.next.policy = event.policy; }

void on(Step& step, const WorkBegins&) { step.next.accounted = step.next.standstills; }

void on(Step& step, const SweepBegins&) {
  step.next.adopting = step.next.sm != SmState::master || step.next.contested;
  step.next.contested = false;
  step.next.polled.reset();
}

/// The SM that we give way to. One that handed the fabric over to us, is ignored by configuration, or is hung
/// is none.
std::optional<OtherSm> rival(const State& now, std::vector<OtherSm> others) {
  std::erase_if(others, [&](const OtherSm& other) {
    const auto guid = other.info.guid;
    return now.handed_over_by == guid || (now.policy.force && !now.policy.lists(guid)) ||
           (!other.answered && now.hung.contains(guid));
  });
  return gives_way_to(now.self, now.sm == SmState::master, others);
}

/// Of two masters the lower-ranked one sends HANDOVER (IBA 14.4). One that does not answer is sent none.
/// `follow`: the SM that is polled; another one than `other` where a master has handed over to us, and
/// `other` outranks us: then the master is polled.
void give_way(Step& step, const OtherSm& other, const OtherSm& follow) {
  auto& now = step.next;
  const bool two_masters = now.sm == SmState::master && other.info.state == SmState::master;
  const bool outranks_us = now.self < SmRank{other.info.priority, other.info.guid};
  now.contested = two_masters && other.answered && !outranks_us;
  now.polled = Polled{follow};
  step.actions.push_back(LogOtherSm{other, two_masters, now.contested, now.policy.allows(other.info.guid)});
  if (now.contested) return;
  const bool hand_over = two_masters && other.answered;
  if (hand_over) allow_sets(now);  // HANDOVER is a Set
  become(step, SmState::standby);
  if (hand_over) step.actions.push_back(SendHandover{follow, now.policy.allows(follow.info.guid)});
}

void on(Step& step, const SweepRead& event) {
  auto& now = step.next;
  now.contested = false;
  now.polled.reset();
  for (const auto& other : event.others) {
    if (other.answered) now.hung.erase(other.info.guid);
  }
  const auto other = rival(now, event.others);
  now.handed_over_by.reset();
  if (other && !event.dry_run) give_way(step, *other, *rival(now, event.others));
  if (other) return;
  if (!event.dry_run) become(step, SmState::master);
  if (event.whole) allow_sets(now);
}

void on(Step& step, const PollingBegins&) {
  become(step, SmState::standby);
  if (step.next.polled) step.next.polled->unanswered = 0;
}

void on(Step& step, const PollAnswered& event) {
  auto& polled = step.next.polled;
  if (!polled) return;
  const auto& was = polled->sm.info;
  const auto& info = event.info;
  if (step.next.contested) {
    polled->unanswered = 0;
    if (info.state != SmState::master) end_polling(step);
    return;
  }
  const bool same = info.guid == was.guid && (info.state == SmState::master || was.state != SmState::master);
  if (same && info.state == was.state) {
    polled->unanswered = 0;
    return;
  }
  if (same) {  // an SM that outranks us has become master, or is about to
    request_heavy(step, fmt::format("another SM is {} now", to_string(info.state)));
  } else {
    step.actions.push_back(LogMasterGone{polled->sm, std::string(to_string(info.state))});
  }
  end_polling(step);
}

void on(Step& step, const PollUnanswered& event) {
  auto& now = step.next;
  if (!now.polled || ++now.polled->unanswered < now.policy.losses) return;
  now.hung.insert(now.polled->sm.info.guid);
  if (!now.contested) step.actions.push_back(LogMasterGone{now.polled->sm, event.reason});
  end_polling(step);
}

void on(Step& step, const PollUnroutable&) {
  auto& now = step.next;
  if (!now.polled || ++now.polled->unanswered < now.policy.losses) return;
  if (now.contested) now.hung.insert(now.polled->sm.info.guid);
  end_polling(step);
}

void on(Step& step, const PatienceOver&) {
  if (!step.next.polled || !step.next.contested) return;
  step.actions.push_back(LogNoHandover{step.next.polled->sm});
  become(step, SmState::standby);
  step.next.contested = false;
}

void on(Step& step, const StoodStill& event) {
  ++step.next.standstills;
  step.next.sets_held = true;
  step.actions.push_back(LogStoodStill{event.took});
  step.actions.push_back(RequestSweep{false, "stood still"});
}

void on(Step& step, const KnownSmsRead& event) {
  if (!event.another_may_be_master) allow_sets(step.next);
}

/// It may believe that it is still master.
void on(Step& step, const SilentSmAnswered& event) {
  const bool master = event.info.state == SmState::master;
  request_heavy(step, master ? "a silent SM answers as master" : "a silent SM answers");
}

}  // namespace

bool Policy::lists(Guid port) const { return std::ranges::find(allowed, port) != allowed.end(); }

Step step(State now, const Event& event) {
  Step step{std::move(now), {}};
  std::visit([&](const auto& alternative) { on(step, alternative); }, event);
  return step;
}

Verdict verdict(const State& state) {
  if (state.contested) return Verdict::contested;
  return state.polled ? Verdict::not_ours : Verdict::ours;
}

bool may_be_master(const std::optional<wire::SmInfo>& read) {
  return !read || read->state == wire::SmState::master;
}

}  // namespace smd::sm::inline availability::machine
