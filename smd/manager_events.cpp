// SPDX-License-Identifier: Apache-2.0
// What asks for work, and when it is done.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/wire/trap.h"
#include "smd/manager.h"
#include "smd/report/violations.h"

namespace smd::sm {
namespace {

/// Whether the trap says that something of the node is not as we have read it.
bool changes(std::uint16_t trap) {
  return trap == wire::trap::kLinkStateChange || trap == wire::trap::kLocalChange ||
         trap == wire::trap::kSystemImageGuidChange;
}

/// Whether an operator has to hear of it: errors of links, and keys that do not fit.
bool warns(std::uint16_t trap) {
  return (trap >= wire::trap::kLocalLinkIntegrity && trap <= wire::trap::kFlowControlWatchdog) ||
         (trap >= wire::trap::kBadMKey && trap <= wire::trap::kBadPKeyAtSwitch);
}

}  // namespace

void SubnetManager::resweep(Resweep kind, std::string reason) {
  if (kind == Resweep::converge) loop_.converge();
  switch (kind) {
    case Resweep::light:
      return agenda_.add(Work::light, std::move(reason));
    case Resweep::heavy:
      return agenda_.add(Work::heavy, std::move(reason));
    case Resweep::converge:
      return agenda_.add(Work::incremental, std::move(reason));
  }
}

void SubnetManager::heard_trap(const wire::Notice& notice, Lid from) {
  events_.publish(events::TrapReceived{.notice = notice, .from = from});
  if (!notice.is_generic || !loop_.subnet()) return;
  if (!lids_.is_of(loop_.subnet().get())) lids_ = LidIndex(loop_.subnet());
  const auto issuer = notice.issuer_lid.unicast() ? notice.issuer_lid : from;
  const auto place = lids_.find(issuer), sender = lids_.find(from);
  const auto subject = fmt::format("{} {}", notice.trap, from);
  ++traps_;
  if (log_violation(parts_.log, lids_, notice, from)) return;
  auto&& event = warns(notice.trap) ? parts_.log.warn("trap") : parts_.log.info("trap");
  const auto& named = place.node != nullptr ? place : sender;
  // Traps of a switch are its port 0's, which says nothing about the port that they are about.
  if (named.node != nullptr && named.node->is_switch()) {
    event.node(named.node->guid(), named.node->description);
  } else if (named.node != nullptr) {
    event.port(named.node->guid(), named.node->description, named.port);
  }
  if (place.node == nullptr) event.kv("unknown_lid", issuer);
  event.kv("trap", notice.trap).kv("trap_name", wire::trap_name(notice.trap)).kv("lid", from);
  if (warns(notice.trap)) event.kv("details", wire::describe(notice));
  event.subject(subject);
  if (notice.trap == wire::trap::kBadMKey && place.node != nullptr) m_key_traps_.insert(place.node->guid());
  if (!changes(notice.trap) || !config_->sweep.on_trap) return;
  if (notice.trap == wire::trap::kLinkStateChange && place.node != nullptr && place.node->is_switch())
    trap_gap_.reported(place.node->guid(), parts_.clock.now(), config_->links.subnet_timeout);
  auto reason = fmt::format("trap {}", notice.trap);
  if (place.node != nullptr) return agenda_.look_at(place.node->guid(), std::move(reason));
  // What no LID of ours is about may be anywhere. A sender that goes on like that is not followed each time.
  const auto culprit = sender.node != nullptr ? sender.node->guid() : Guid{};
  const auto now = parts_.clock.now();
  if (stranger_pace_.due(culprit) > now) return;
  stranger_pace_.looked(culprit, now);
  agenda_.add(Work::heavy, fmt::format("{} about the unknown LID {}", reason, issuer));
}

/// When a sweep that is asked for may be done: the first event after quiet at once; those that follow within
/// the settle window make one sweep together, and a node that goes on reporting waits longer each time.
std::optional<mad::TimePoint> SubnetManager::sweep_due() const {
  std::optional<mad::TimePoint> due;
  const auto not_before = [&](mad::TimePoint time) {
    due = std::min(due.value_or(mad::TimePoint::max()), time);
  };
  const auto settled = last_sweep_ + config_->sweep.settle;
  if (agenda_.asks(Work::heavy)) not_before(std::max(settled, whole_pace_.due(Guid{})));
  if (agenda_.asks(Work::incremental)) {
    if (agenda_.suspects().empty()) not_before(settled);
    for (const auto suspect : agenda_.suspects()) not_before(std::max(settled, pace_.due(suspect)));
  }
  if (next_repair_) not_before(*next_repair_);
  if (!at_once_.empty()) not_before(mad::TimePoint{});
  return due;
}

/// When the next of all that is asked may be done.
std::optional<mad::TimePoint> SubnetManager::due() const {
  if (agenda_.empty() && !next_repair_) return std::nullopt;
  const bool vl_tables = agenda_.idle() && !agenda_.empty();
  const bool others = agenda_.asks(Work::light) || !agenda_.parts().empty() ||
                      agenda_.asks(Work::inventory) || agenda_.asks(Work::trap_gap) ||
                      agenda_.asks(Work::retraining) || vl_tables;
  if (!loop_.subnet() || others) return mad::TimePoint{};
  return sweep_due();
}

/// While a sweep goes on: something has happened that asks for another one, at once.
bool SubnetManager::newer_waits() const {
  const auto next = sweep_due();
  return next && *next <= parts_.clock.now();
}

/// Links have gone or tables have changed: switches whose way to us was among them have sent their traps in
/// vain, and repeat them after a second or never. They are asked as soon as tables are repaired, before we
/// say that all is well; where that goes on, not more often than every 100 ms, or a quarter of the time.
asio::awaitable<void> SubnetManager::look_once_more() {
  constexpr mad::Duration kGap = std::chrono::milliseconds(100);
  const auto earliest = last_light_ + std::max(kGap, light_took_ * 3);
  unsettled_ = true;
  if (parts_.clock.now() < earliest) {
    look_soon(earliest);
    co_return;
  }
  last_light_ = parts_.clock.now();
  auto found = co_await look_at_switches(loop_.subnet(), true);
  light_took_ = parts_.clock.now() - last_light_;
  unsettled_ = found.heavy || !found.suspects.empty();
  sweep_at_once(std::move(found));
}

/// A heavy sweep takes long. No trap tells of a link that changed before PortStateChange of its switch was
/// cleared, nor of one whose way to us was being written: switches that have just answered all else are asked
/// once more. Where much is lost on the way that would take as long as the sweep, and is left to the next
/// light one.
asio::awaitable<void> SubnetManager::look_after_heavy() {
  auto late = std::exchange(cleared_late_, {});
  Looked found;
  if (!tx_.lossy()) {
    std::set<Guid> asked;
    for (const auto& node : loop_.subnet()->nodes) {
      if (node->is_switch() && !loop_.failures().nodes.contains(node->guid())) asked.insert(node->guid());
    }
    for (const auto& lost : loop_.subnet()->unresponsive) asked.erase(lost.node);
    found = co_await look_at_switches(loop_.subnet(), true, &asked);
    for (const auto silent : found.silent) found.suspects.erase(silent);
  }
  if (found.suspects.empty()) found.reason = "ports may have changed before we took over";
  found.suspects.merge(late);
  unsettled_ = !found.suspects.empty();
  sweep_at_once(std::move(found));
}

void SubnetManager::sweep_at_once(Looked found) {
  Asked asked{.work = {Work::incremental},
              .parts = {},
              .reason = found.reason,
              .suspects = std::move(found.suspects)};
  if (!put_off(asked)) return;
  at_once_ = std::move(asked.suspects);
  agenda_.add(Work::incremental, std::move(asked.reason));
}

asio::awaitable<void> SubnetManager::look_in_trap_gap() {
  const auto began = parts_.clock.now();
  const auto nodes = trap_gap_.take(began);
  auto found = co_await look_at_switches(loop_.subnet(), true, &nodes);
  trap_gap_.asked(parts_.clock.now(), parts_.clock.now() - began);
  sweep_at_once(std::move(found));
}

/// Who fell silent in a sweep may only have been behind a link that went down meanwhile: looked for soon, and
/// more and more seldom.
void SubnetManager::look_for_silent(bool after_sweep) {
  constexpr mad::Duration kFirst = std::chrono::milliseconds(100);
  const mad::Duration interval = config_->sweep.interval;
  if (interval.count() == 0) return;
  if (after_sweep) {
    std::set<Guid> silent;
    for (const auto& lost : loop_.subnet()->unresponsive) {
      if (lost.node != Guid{}) silent.insert(lost.node);
    }
    const bool news = !std::ranges::includes(silent_nodes_, silent);
    silent_nodes_ = std::move(silent);
    if (!news) return;
    silent_wait_ = kFirst;
  } else {
    if (loop_.subnet()->unresponsive.empty() || silent_wait_ >= interval) return;
    silent_wait_ *= 2;
  }
  next_light_ = std::min(next_light_, parts_.clock.now() + silent_wait_);
}

void SubnetManager::look_soon(mad::TimePoint at) {
  next_light_ = config_->sweep.interval.count() != 0 ? std::min(next_light_, at) : at;
  look_soon_ = true;
}

/// Sets that failed, and those skipped after them or held since a standstill, are planned again soon. For the
/// same nodes each time later, and not sooner than the sweep took: nodes that refuse or stay silent must not
/// keep the manager busy.
void SubnetManager::schedule_repair() {
  constexpr mad::Duration kFirst = std::chrono::milliseconds(50), kLongest = std::chrono::minutes(5);
  if (mastership_.state() != wire::SmState::master || loop_.failures().left == 0) {
    in_repair_.clear();
    repair_wait_ = {};
    return;
  }
  const bool same =
      repair_wait_ != mad::Duration{} && std::ranges::includes(in_repair_, loop_.failures().nodes);
  const auto took =
      std::chrono::duration_cast<mad::Duration>(std::chrono::duration<double, std::milli>(summary_.total_ms));
  repair_wait_ = same ? std::min(std::max(2 * repair_wait_, took), kLongest) : kFirst;
  in_repair_ = loop_.failures().nodes;
  next_repair_ = parts_.clock.now() + repair_wait_;
}

/// Something is due on the agenda, or the interval is over. False when cancelled.
asio::awaitable<bool> SubnetManager::wait_for_work() {
  const auto interval = config_->sweep.interval;
  next_light_ = std::max(next_light_, parts_.clock.now());
  for (;;) {
    const auto now = parts_.clock.now();
    if ((interval.count() != 0 || look_soon_) && loop_.subnet() && now >= next_light_) {
      next_light_ = now + interval;
      agenda_.add(Work::light, "interval");
    }
    if (trap_gap_.next() && *trap_gap_.next() <= now) agenda_.add(Work::trap_gap, "trap gap");
    const auto retraining = retraining_.next_look();
    if (retraining && *retraining <= now) agenda_.add(Work::retraining, "links train");
    const bool idle = agenda_.empty();  // else VL tables wait until that is done
    if (idle && next_vl_tables_ && *next_vl_tables_ <= now) agenda_.add(Work::vl_tables, "VL tables");
    const auto next = due();
    if (next && *next <= now) co_return true;
    auto wake = next.value_or(mad::TimePoint::max());
    if (interval.count() != 0 || look_soon_) wake = std::min(wake, next_light_);
    if (idle && next_vl_tables_) wake = std::min(wake, *next_vl_tables_);
    if (trap_gap_.next()) wake = std::min(wake, *trap_gap_.next());
    if (retraining) wake = std::min(wake, *retraining);
    mad::Clock::TimerId timer = 0;
    if (wake != mad::TimePoint::max()) timer = parts_.clock.call_at(wake, [this] { agenda_.wake(); });
    const bool woken = co_await agenda_.changed();
    parts_.clock.cancel(timer);
    if (!woken) co_return false;
  }
}

/// The sweep that is due now; suspects whose time has not come stay on the agenda.
Asked SubnetManager::take_sweep() {
  const auto now = parts_.clock.now();
  if (agenda_.asks(Work::heavy) && whole_pace_.due(Guid{}) <= now) {
    whole_pace_.looked(Guid{}, now);
    auto asked = agenda_.take({Work::heavy});
    asked.suspects.clear();
    at_once_.clear();
    return asked;
  }
  auto asked = agenda_.take({Work::incremental});
  asked.work.insert(Work::incremental);  // failed Sets ask for it as well
  for (const auto suspect : std::set<Guid>(asked.suspects)) {
    if (pace_.due(suspect) > now) {
      agenda_.look_at(suspect, asked.reason);
      asked.suspects.erase(suspect);
    } else {
      pace_.looked(suspect, now);
    }
  }
  asked.suspects.merge(std::exchange(at_once_, {}));
  if (next_repair_ && *next_repair_ <= now) {
    asked.suspects.insert(in_repair_.begin(), in_repair_.end());
    if (asked.reason.empty()) asked.reason = "failed Sets";
    next_repair_.reset();
  }
  return asked;
}

/// What is due now: events first, but after each sweep a light sweep that waits, so that neither keeps the
/// other from being done.
Asked SubnetManager::take_due() {
  if (!loop_.subnet()) return agenda_.take({Work::heavy});
  const bool sweep = newer_waits();
  if (sweep && !(agenda_.asks(Work::light) && light_is_next_)) {
    light_is_next_ = true;
    return take_sweep();
  }
  light_is_next_ = false;
  for (const auto work : {Work::light, Work::trap_gap, Work::retraining}) {
    if (agenda_.asks(work)) return agenda_.take({work});
  }
  if (agenda_.idle()) return agenda_.take({Work::vl_tables});
  auto asked = agenda_.take({Work::inventory});
  asked.parts = agenda_.take_parts();
  return asked;
}

}  // namespace smd::sm
