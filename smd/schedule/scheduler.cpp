// SPDX-License-Identifier: Apache-2.0
#include "smd/schedule/scheduler.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace smd::sm::inline scheduling {
namespace {

/// A node that reports something all the time is looked at as seldom as this.
constexpr auto kLongestPace = std::chrono::seconds(5);
/// Cables that one pair of hands or one power supply takes down come one after another: so many reports of a
/// switch are followed as soon as the first.
constexpr unsigned kBurst = 6;
/// What does not come right is looked at again as seldom as this.
constexpr auto kLongestRetry = std::chrono::minutes(5);
/// Without light sweeps it is found as seldom as this that repaired tables may converge now.
constexpr auto kConvergeAgain = std::chrono::seconds(10);

std::optional<mad::TimePoint> earlier(std::optional<mad::TimePoint> a, mad::TimePoint b) {
  return std::min(a.value_or(mad::TimePoint::max()), b);
}

}  // namespace

Scheduler::Scheduler(mad::Clock& clock, Agenda& agenda, const config::SubnetConfig& config)
    : clock_(clock),
      agenda_(agenda),
      interval_(config.sweep.interval),
      settle_(config.sweep.settle),
      subnet_timeout_(config.links.subnet_timeout),
      pace_(settle_, kLongestPace, kBurst),
      whole_pace_(settle_, kLongestPace),
      retry_pace_(interval_, kLongestRetry) {}

void Scheduler::configure(const config::SubnetConfig& config) {
  interval_ = config.sweep.interval;
  settle_ = config.sweep.settle;
  subnet_timeout_ = config.links.subnet_timeout;
  pace_ = Damping(settle_, kLongestPace, kBurst);
  whole_pace_ = Damping(settle_, kLongestPace);
  retry_pace_ = Damping(interval_, kLongestRetry);
}

void Scheduler::pause(mad::TimePoint until) {
  paused_until_ = until;
  agenda_.wake();
}

std::optional<mad::TimePoint> Scheduler::sweep_due() const {
  if (paused() && !agenda_.insisted()) return std::nullopt;
  std::optional<mad::TimePoint> due;
  const auto settled = last_sweep_ + settle_;
  if (agenda_.hurried()) due = earlier(due, mad::TimePoint{});
  if (agenda_.asks(Work::heavy)) due = earlier(due, std::max(settled, whole_pace_.due(Guid{})));
  if (agenda_.asks(Work::incremental)) {
    if (agenda_.suspects().empty()) due = earlier(due, settled);
    for (const auto suspect : agenda_.suspects()) due = earlier(due, std::max(settled, pace_.due(suspect)));
  }
  if (repairs_.next()) due = earlier(due, *repairs_.next());
  if (!at_once_.empty()) due = earlier(due, mad::TimePoint{});
  return due;
}

std::optional<mad::TimePoint> Scheduler::due() const {
  if (agenda_.empty() && !repairs_.next()) return std::nullopt;
  const bool vl_tables = agenda_.idle() && !agenda_.empty();
  const bool others = agenda_.asks(Work::light) || !agenda_.parts().empty() ||
                      agenda_.asks(Work::inventory) || agenda_.asks(Work::trap_gap) ||
                      agenda_.asks(Work::retraining) || agenda_.asks(Work::follow) || vl_tables;
  if (others) return mad::TimePoint{};
  return sweep_due();
}

bool Scheduler::newer_waits() const {
  const auto next = sweep_due();
  return next && *next <= clock_.now();
}

bool Scheduler::other_work_waits() const {
  const auto next = due();
  return !agenda_.idle() && next && *next <= clock_.now();
}

/// After a light sweep that did not let tables converge the next one tries again.
std::optional<mad::TimePoint> Scheduler::converge_due(const BackgroundTimes& times) const {
  if (!times.converge || paused()) return std::nullopt;
  if (*times.converge > last_light_) return times.converge;
  return interval_.count() == 0 ? std::optional(last_light_ + kConvergeAgain) : std::nullopt;
}

void Scheduler::ask_for_timed(const BackgroundTimes& times, bool subnet_known) {
  const auto now = clock_.now();
  const auto converge = converge_due(times);
  const bool light = (light_sweeps() && now >= next_light_) || (converge && now >= *converge);
  if (light && subnet_known) {
    last_light_ = now;
    next_light_ = now + interval_;
    agenda_.add(Work::light, "interval");
  }
  if (trap_gap_.next() && *trap_gap_.next() <= now) agenda_.add(Work::trap_gap, "trap gap");
  if (times.retraining && *times.retraining <= now) agenda_.add(Work::retraining, "links train");
}

mad::TimePoint Scheduler::wake_at(const BackgroundTimes& times, std::optional<mad::TimePoint> due,
                                  bool idle) const {
  auto wake = due.value_or(mad::TimePoint::max());
  if (light_sweeps()) wake = std::min(wake, next_light_);
  if (const auto converge = converge_due(times)) wake = std::min(wake, *converge);
  if (paused()) wake = std::min(wake, paused_until_);
  if (idle && times.vl_tables) wake = std::min(wake, *times.vl_tables);
  if (trap_gap_.next()) wake = std::min(wake, *trap_gap_.next());
  if (times.retraining) wake = std::min(wake, *times.retraining);
  return wake;
}

asio::awaitable<bool> Scheduler::wait(BackgroundTimes times, bool subnet_known) {
  next_light_ = std::max(next_light_, clock_.now());
  for (;;) {
    const auto now = clock_.now();
    ask_for_timed(times, subnet_known);
    const bool idle = agenda_.empty();  // else VL tables wait until that is done
    if (idle && times.vl_tables && *times.vl_tables <= now) agenda_.add(Work::vl_tables, "VL tables");
    auto next = due();
    if (next && !subnet_known) next = mad::TimePoint{};
    if (next && *next <= now) co_return true;
    const auto wake = wake_at(times, next, idle);
    mad::Clock::TimerId timer = 0;
    if (wake != mad::TimePoint::max()) timer = clock_.call_at(wake, [this] { agenda_.wake(); });
    const bool woken = co_await agenda_.changed();
    clock_.cancel(timer);
    if (!woken) co_return false;
  }
}

Asked Scheduler::take_heavy() {
  whole_pace_.looked(Guid{}, clock_.now());
  auto asked = agenda_.take({Work::heavy});
  asked.suspects.clear();
  at_once_.clear();
  return asked;
}

Asked Scheduler::take_sweep() {
  const auto now = clock_.now();
  const bool heavy_due = agenda_.hurried() || whole_pace_.due(Guid{}) <= now;
  if (agenda_.asks(Work::heavy) && heavy_due) return take_heavy();
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
  if (repairs_.next() && *repairs_.next() <= now) {
    asked.suspects.insert(repairs_.nodes().begin(), repairs_.nodes().end());
    if (asked.reason.empty()) asked.reason = "failed Sets";
    repairs_.begun();
  }
  return asked;
}

Asked Scheduler::take_due(bool subnet_known) {
  if (!subnet_known) return agenda_.take({Work::heavy});
  if (agenda_.asks(Work::follow)) return agenda_.take({Work::follow});
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

bool Scheduler::put_off(Asked& asked) {
  constexpr auto kSoonEnough = std::chrono::milliseconds(500);
  const auto now = clock_.now();
  for (const auto suspect : std::set<Guid>(asked.suspects)) {
    if (pace_.due(suspect) <= now + kSoonEnough) {
      pace_.looked(suspect, now);
      continue;
    }
    agenda_.look_at(suspect, asked.reason);
    asked.suspects.erase(suspect);
  }
  return !asked.suspects.empty();
}

void Scheduler::look_at_once(std::set<Guid> suspects, std::string reason) {
  Asked asked{
      .work = {Work::incremental}, .parts = {}, .reason = std::move(reason), .suspects = std::move(suspects)};
  if (!put_off(asked)) return;
  at_once_ = std::move(asked.suspects);
  agenda_.add(Work::incremental, std::move(asked.reason));
}

bool Scheduler::try_again(Guid node) {
  const auto now = clock_.now();
  if (retry_pace_.due(node) > now) return false;
  retry_pace_.looked(node, now);
  return true;
}

void Scheduler::look_soon(mad::TimePoint at) {
  next_light_ = interval_.count() != 0 ? std::min(next_light_, at) : at;
  look_soon_ = true;
}

void Scheduler::silent_after_sweep(std::set<Guid> silent) {
  if (interval_.count() == 0) return;
  const auto wait = silent_.swept(std::move(silent));
  if (wait) next_light_ = std::min(next_light_, clock_.now() + *wait);
}

void Scheduler::looked_for_silent() {
  if (interval_.count() == 0) return;
  const auto wait = silent_.looked(interval_);
  if (wait) next_light_ = std::min(next_light_, clock_.now() + *wait);
}

}  // namespace smd::sm::inline scheduling
