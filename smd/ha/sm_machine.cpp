// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/sm_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/wire/mad.h"
#include "smd/ha/sm_rank.h"

namespace smd::sm::inline availability::machine {
namespace {

using wire::SmControl;
using wire::SmState;

void become(Step& step, SmState to) {
  if (step.next.sm == to) return;
  step.actions.push_back(Became{step.next.sm, to});
  step.next.sm = to;
  auto& now = step.next;
  if (to != SmState::master) {
    now.unread = now.alone = false;
    now.replaced.reset();
    now.lagging.clear();
    now.copies.clear();
    return now.handed_over_by.reset();
  }
  now.followed_in_sweep.reset();
  now.deferral = Deferral::none;
  now.followed.reset();
  now.yielded.reset();
  now.idle.clear();
}

void request_heavy(Step& step, std::string reason, bool at_once = false) {
  step.actions.push_back(RequestSweep{true, std::move(reason), at_once});
}

/// The masters of the fabric have been read. Sets stay held where a further standstill came meanwhile.
void allow_sets(State& now) {
  if (now.standstills == now.accounted) now.sets_held = false;
}

/// The polled SM is not waited for any more: a heavy sweep finds out to whom the fabric belongs.
void end_polling(Step& step) {
  step.next.polled.reset();
  request_heavy(step, step.next.contested ? "the other master is gone" : "master gone", true);
}

/// The sender of a control shows the SM_Key, belongs to the subnet, and says that it is master. OpenSM's
/// master shows 0 to an SM that it takes for a standby: that counts from the port where the last sweep has
/// seen the master. ACKNOWLEDGE comes of a standby; without the key it could end our wait for one that has
/// not taken the fabric.
std::optional<Refusal> refusal(const State& now, const ControlReceived& event) {
  const auto& from = event.from;
  const bool acknowledges = event.control == SmControl::acknowledge;
  const bool known = from.sm_key == 0 && event.from_known_master && !acknowledges;
  if (from.sm_key != now.sm_key && !known) return from.sm_key == 0 ? Refusal::no_key : Refusal::other_key;
  if (event.from_stranger || !now.policy.allows(from.guid)) return Refusal::not_allowed;
  if (from.state != SmState::master && !acknowledges) return Refusal::not_master;
  return std::nullopt;
}

/// Returns the status of the answer.
std::uint16_t obey(Step& step, const ControlReceived& event) {
  auto& now = step.next;
  switch (event.control) {
    case SmControl::handover:
      if (now.sm != SmState::standby && now.sm != SmState::master) return wire::kStatusBadField;
      now.handed_over_by = event.from.guid;
      now.yielded.reset();
      step.actions.push_back(SendAcknowledge{event.from.guid});
      request_heavy(step, "handover", true);
      if (now.contested && now.polled && now.polled->sm.info.guid == event.from.guid) end_polling(step);
      return wire::kStatusOk;
    case SmControl::acknowledge:
      if (now.yielded && now.yielded->to == event.from.guid) now.yielded->acknowledged = true;
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
  if (const auto why = refusal(step.next, event)) {
    step.actions.push_back(LogControlRefused{event.control, from.guid, *why});
    step.actions.push_back(Answer{wire::kStatusBadField});
    return;
  }
  step.actions.push_back(LogControl{event.control, {from.priority, from.guid}});
  const auto status = obey(step, event);
  step.actions.push_back(Answer{status});
}

void on(Step& step, const IdentityKnown& event) {
  step.next.self = event.self;
  step.next.master_priority = event.master_priority;
  step.next.sm_key = event.sm_key;
}

void on(Step& step, const PolicyChanged& event) { step.next.policy = event.policy; }

void on(Step& step, const WorkBegins&) { step.next.accounted = step.next.standstills; }

void on(Step& step, const SweepBegins&) {
  step.next.merging = step.next.sm == SmState::master && step.next.contested;
  step.next.adopting =
      step.next.sm != SmState::master || step.next.contested || step.next.unread || step.next.alone;
  step.next.contested = false;
  const auto polled = std::exchange(step.next.polled, std::nullopt);
  const bool follows = polled && step.next.sm != SmState::master && !step.next.handed_over_by;
  if (follows) step.next.followed_in_sweep = polled->sm.info.guid;
}

void on(Step& step, const SweepFailed&) { step.next.followed_in_sweep.reset(); }

/// SMs that are never obeyed are named once, as long as they are there.
void name_strangers(Step& step, const std::vector<OtherSm>& others) {
  auto& now = step.next;
  std::set<Guid> there;
  for (const auto& other : others) {
    const auto guid = other.info.guid;
    if (!other.answered || is_obeyed(now, other.info)) continue;
    there.insert(guid);
    if (!now.strangers.contains(guid))
      step.actions.push_back(LogStranger{other, has_other_key(now, other.info)});
  }
  now.strangers = std::move(there);
}

/// What was known of SMs that have changed since.
void forget_changed(State& now, const std::vector<OtherSm>& others) {
  for (const auto& other : others) {
    const auto guid = other.info.guid;
    if (!other.answered) continue;
    now.hung.erase(guid);
    if (now.replaced == guid && other.info.state != SmState::master) now.replaced.reset();
    if (other.info.state != SmState::standby) now.declined.erase(guid);
    if (other.info.state != SmState::standby) now.idle.erase(guid);
    if (now.yielded && now.yielded->to == guid && other.info.state != SmState::standby) now.yielded.reset();
    const auto stuck = now.stuck.find(guid);
    if (stuck != now.stuck.end() && stuck->second != other.info.act_count) now.stuck.erase(stuck);
  }
}

/// The fabric goes to a standby, which is polled until it is master.
void yield_to(Step& step, const OtherSm& to) {
  auto& now = step.next;
  now.contested = false;
  now.polled = Polled{to};
  now.followed = rank_of(to.info);
  now.yielded = Yielded{to.info.guid};
  become(step, SmState::standby);
  step.actions.push_back(SendHandover{to});
  step.actions.push_back(Follow{});
}

/// We are the only master, and may hand over.
bool has_fabric(const State& now) { return now.sm == SmState::master && !now.contested && !now.sets_held; }

/// It was handed the fabric and does not take it: it is ours again, unless a sweep finds another master.
void take_back(Step& step, Guid from, std::string reason) {
  auto& now = step.next;
  if (!now.yielded || now.yielded->to != from) return;
  step.actions.push_back(LogDeclined{from, std::move(reason)});
  now.declined.insert(from);
  now.yielded.reset();
  now.polled.reset();
  now.deferral = Deferral::none;
  request_heavy(step, "HANDOVER was not taken", true);
}

/// This master has stood still, and another one is there now: what that has committed since would be lost if
/// it had to hand over at once. Without `quiet` nothing is copied between the two.
bool was_replaced(const State& now) { return now.sm == SmState::master && now.sets_held && now.policy.quiet; }

/// Of two masters the lower-ranked one sends HANDOVER (IBA 14.4), or the one that has stood still. One that
/// does not answer, or is never obeyed, is sent none: it would learn our SM_Key.
/// `follow`: the SM that is polled; another one than `other` where a master has handed over to us, and
/// `other` outranks us: then the master is polled.
void give_way(Step& step, const OtherSm& other, const OtherSm& follow) {
  auto& now = step.next;
  const bool two_masters = now.sm == SmState::master && !now.alone && other.info.state == SmState::master;
  const bool outranks_us = competing_rank(now) < rank_of(other.info);
  const bool gives_way = outranked_by_replaced(now, other.info);
  const bool stood_still = two_masters && (was_replaced(now) || gives_way);
  now.contested = two_masters && other.answered && (!outranks_us || gives_way) && !was_replaced(now);
  now.polled = Polled{follow};
  now.followed = rank_of(follow.info);
  if (other.info.state == SmState::master) now.idle.clear();
  step.actions.push_back(
      LogOtherSm{other, two_masters, now.contested, stood_still, is_obeyed(now, other.info)});
  if (now.contested) return;
  const bool hand_over = two_masters && other.answered && is_obeyed(now, follow.info);
  if (hand_over) allow_sets(now);  // HANDOVER is a Set
  become(step, SmState::standby);
  if (hand_over) step.actions.push_back(SendHandover{follow});
}

/// It was handed the fabric, and has not answered this sweep, which may have asked before it took it: polls
/// decide.
const OtherSm* silent_heir(const State& now, const std::vector<OtherSm>& others) {
  if (!now.yielded || now.sm != SmState::standby) return nullptr;
  const auto at = std::ranges::find(others, now.yielded->to, [](const auto& sm) { return sm.info.guid; });
  return at == others.end() || at->answered ? nullptr : &*at;
}

/// The standby that we have to hand over to, where it has what we have committed.
std::optional<OtherSm> ready_heir(Step& step, const std::vector<OtherSm>& others) {
  auto to = heir(step.next, others);
  if (!to || !step.next.lagging.contains(to->info.guid)) return to;
  step.actions.push_back(AwaitCopy{*to});
  return std::nullopt;
}

void on(Step& step, const CopiesKnown& event) {
  step.next.lagging = event.lagging;
  step.next.copies = event.copies;
}

void on(Step& step, const SweepRead& event) {
  auto& now = step.next;
  now.contested = false;
  now.followed_in_sweep.reset();
  const auto polled = std::exchange(now.polled, std::nullopt);
  forget_changed(now, event.others);
  name_strangers(step, event.others);
  const auto other = rival(now, event.others);
  if (const auto* silent = other ? nullptr : silent_heir(now, event.others); silent != nullptr) {
    now.polled = polled ? polled : Polled{*silent};
    return;
  }
  now.handed_over_by.reset();
  if (now.replaced &&
      std::ranges::none_of(event.others, [&](const auto& sm) { return sm.info.guid == *now.replaced; }))
    now.replaced.reset();
  if (event.whole) now.unread = false;
  const bool fresh = std::exchange(now.fresh, false);
  if (other && !event.dry_run) {
    const auto follow = *rival(now, event.others);
    const bool returns = fresh || now.alone || was_replaced(now);
    give_way(step, *other, follow);
    if (returns && now.policy.quiet && follow.info.state == SmState::master) {
      now.deferral = Deferral::quiet;
      step.actions.push_back(BeginQuiet{});
    }
  }
  if (other || event.dry_run) return event.whole && !other ? allow_sets(now) : void();
  const bool was_master = now.sm == SmState::master;
  become(step, SmState::master);
  now.alone = event.cut_off;
  if (event.whole) allow_sets(now);
  const auto to = was_master && !now.sets_held ? ready_heir(step, event.others) : std::nullopt;
  if (to) yield_to(step, *to);
}

/// What a standby knows of the fabric is enough to be its master, where no other SM is or will be.
void on(Step& step, const OthersAsked& event) {
  auto& now = step.next;
  if (!fabric_is_free(now)) return;
  forget_changed(now, event.others);
  // An idle one may follow a master that is not known here: a sweep finds it.
  const bool is_unsure = !now.idle.empty() && !now.handed_over_by;
  if (is_unsure || rival(now, event.others)) return;
  now.polled.reset();
  now.unread = true;
  become(step, SmState::master);
  allow_sets(now);
}

void on(Step& step, const SmsRead& event) {
  forget_changed(step.next, event.others);
  name_strangers(step, event.others);
  const auto to = has_fabric(step.next) ? ready_heir(step, event.others) : std::nullopt;
  if (to) yield_to(step, *to);
}

void on(Step& step, const RankTold& event) {
  step.next.declined.erase(event.sm.info.guid);  // it asks for the fabric
  const auto to = has_fabric(step.next) ? ready_heir(step, {event.sm}) : std::nullopt;
  if (to) yield_to(step, *to);
}

void on(Step& step, const HandOver& event) {
  if (!has_fabric(step.next)) return;
  step.next.declined.erase(event.to.info.guid);
  yield_to(step, event.to);
  step.next.deferral = Deferral::handed_over;
}

void on(Step& step, const HandoverAnswered& event) {
  if (!event.taken) take_back(step, event.to, event.reason);
}

void on(Step& step, const DeferralOver&) { step.next.deferral = Deferral::none; }

void on(Step& step, const PollingBegins&) {
  become(step, SmState::standby);
  if (step.next.polled) step.next.polled->unanswered = 0;
}

/// Whether an SM whose ActCount has grown with each answer for long shows the same again: it answers, and
/// does nothing else. OpenSM and smd count their answers.
bool stands_still(State& now, const wire::SmInfo& info) {
  auto& acts = now.acts;
  if (acts.of != info.guid) {
    acts = {.of = info.guid, .last = info.act_count};
    return false;
  }
  const bool same = std::exchange(acts.last, info.act_count) == info.act_count;
  const bool enough = acts.grown >= now.policy.steady && !acts.irregular;
  if (same && !enough) acts.irregular = true;
  if (!same && !enough) ++acts.grown;
  return same && enough;
}

void poll_lost(Step& step, const std::string& reason, std::optional<std::uint32_t> stuck_at) {
  auto& now = step.next;
  if (!now.polled || ++now.polled->unanswered < now.policy.losses) return;
  const auto& sm = now.polled->sm;
  if (now.sm == SmState::standby && sm.info.state == SmState::master) now.replaced = sm.info.guid;
  if (stuck_at) {
    now.stuck[sm.info.guid] = *stuck_at;
    step.actions.push_back(LogStuck{sm});
  } else {
    now.hung.insert(sm.info.guid);
  }
  if (now.yielded && now.yielded->to == sm.info.guid) now.yielded.reset();
  if (!now.contested) step.actions.push_back(LogMasterGone{sm, reason});
  end_polling(step);
}

/// A standby that outranks us is polled until it is master, which it need not become: another SM may be
/// master, or none for long: OpenSM's standby takes a minute to see that the master is gone. One that
/// outranks us only as long as we defer, and waits as we do, keeps waiting.
void wait_for_standby(Step& step) {
  auto& now = step.next;
  const auto& info = now.polled->sm.info;
  if (now.yielded || info.state != SmState::standby) return;
  if (++now.polled->standby < now.policy.losses) return;
  if (now.deferral != Deferral::none && rank_of(info) < now.self) {
    now.declined.insert(info.guid);
  } else {
    ++now.idle[info.guid];
  }
  now.polled.reset();
  request_heavy(step, "the SM that was to be master is standby", true);
}

void on(Step& step, const PollAnswered& event) {
  auto& polled = step.next.polled;
  if (!polled) return;
  const auto was = polled->sm.info;
  const auto& info = event.info;
  const bool master = was.state == SmState::master && info.state == SmState::master;
  if (master && was.guid == info.guid && stands_still(step.next, info))
    return poll_lost(step, "its ActCount does not grow", info.act_count);
  if (step.next.contested) {
    polled->unanswered = 0;
    if (info.state != SmState::master) end_polling(step);
    return;
  }
  const bool same = info.guid == was.guid && (info.state == SmState::master || was.state != SmState::master);
  if (same && info.state == was.state) {
    polled->unanswered = 0;
    polled->sm.info = info;
    polled->sm.answered = true;
    // After a standstill. A standby writes nothing, and looks for masters again before it takes the fabric.
    if (info.state == SmState::master && step.next.sm == SmState::standby) step.next.sets_held = false;
    step.next.followed = rank_of(info);
    wait_for_standby(step);
    return;
  }
  step.next.yielded.reset();
  if (same) {  // an SM that outranks us has become master, or is about to
    request_heavy(step, fmt::format("another SM is {} now", to_string(info.state)));
  } else {
    step.actions.push_back(LogMasterGone{polled->sm, std::string(to_string(info.state))});
  }
  end_polling(step);
}

void on(Step& step, const PollUnanswered& event) { poll_lost(step, event.reason, std::nullopt); }

void on(Step& step, const PollUnroutable&) {
  auto& now = step.next;
  if (!now.polled || ++now.polled->unanswered < now.policy.losses) return;
  if (now.contested) now.hung.insert(now.polled->sm.info.guid);
  end_polling(step);
}

void on(Step& step, const PatienceOver&) {
  if (const auto yielded = step.next.yielded; yielded && !step.next.contested)
    return take_back(step, yielded->to, "it has not become master");
  if (!step.next.polled || !step.next.contested) return;
  step.actions.push_back(LogNoHandover{step.next.polled->sm});
  if (outranked_by_replaced(step.next, step.next.polled->sm.info)) {  // it keeps to its rank
    step.next.replaced.reset();
    return request_heavy(step, "the other master stays", true);
  }
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
void on(Step& step, const SilentMasterAnswered&) { request_heavy(step, "a silent SM answers as master"); }

/// Our port was out of the fabric for a moment, and it has become master: as where the cable was out for
/// long. By our rank it would hand over what it has committed to a master that does not have it.
void on(Step& step, const UnheardSmAnswered& event) {
  auto& now = step.next;
  const bool took_over = event.info.state == SmState::master && now.replaced != event.info.guid;
  if (!took_over || !has_fabric(now) || now.alone || !is_obeyed(now, event.info)) return;
  now.alone = now.sets_held = true;
  request_heavy(step, "a standby has become master", true);
}

/// When our rank has become higher than that of the master: once for each master, as long as it is so.
void tell_rank(Step& step) {
  auto& now = step.next;
  if (now.sm != SmState::standby) return now.told.reset();
  if (!now.polled) return;  // a sweep finds out
  if (!outranks_master(now)) return now.told.reset();
  const auto master = now.polled->sm.info.guid;
  if (std::exchange(now.told, master) != master) step.actions.push_back(TellRank{now.polled->sm});
}

}  // namespace

bool Policy::lists(Guid port) const { return std::ranges::find(allowed, port) != allowed.end(); }

Step step(State now, const Event& event) {
  Step step{std::move(now), {}};
  std::visit([&](const auto& alternative) { on(step, alternative); }, event);
  tell_rank(step);
  return step;
}

Verdict verdict(const State& state) {
  if (state.contested) return Verdict::contested;
  return state.polled ? Verdict::not_ours : Verdict::ours;
}

bool outranked_by_replaced(const State& state, const wire::SmInfo& other) {
  return state.policy.quiet && state.replaced == other.guid && competing_rank(state) < rank_of(other);
}

bool fabric_is_free(const State& state) {
  return state.sm == SmState::standby && (!state.polled || state.handed_over_by);
}

bool may_be_master(const std::optional<wire::SmInfo>& read) {
  return !read || read->state == wire::SmState::master;
}

}  // namespace smd::sm::inline availability::machine
