// SPDX-License-Identifier: Apache-2.0
#pragma once
// When the work on the agenda is due, and in which order it is done.

#include <optional>
#include <set>

#include "config/config.h"
#include "mad/clock.h"
#include "smd/base/damping.h"
#include "smd/schedule/agenda.h"
#include "smd/schedule/repair_wait.h"
#include "smd/schedule/silent_search.h"
#include "smd/schedule/trap_gap.h"

namespace smd::sm::inline scheduling {

/// When work is due that no event asks for; nothing: there is none.
struct BackgroundTimes {
  std::optional<mad::TimePoint> retraining, vl_tables;
  std::optional<mad::TimePoint> converge = std::nullopt;  ///< a light sweep, which finds whether it may
};

/// One manager's. On the io_context's thread.
class Scheduler {
 public:
  /// Both outlive the scheduler. Nothing is due yet.
  Scheduler(mad::Clock& clock, Agenda& agenda, const config::SubnetConfig& config);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Another configuration, in force from now on: nodes may make us look at them at once again.
  void configure(const config::SubnetConfig& config);

  /// Waits until something is due; adds light sweeps and what `times` and the trap gap say to the agenda when
  /// their time comes. Without a Subnet all is due at once. False when cancelled.
  asio::awaitable<bool> wait(BackgroundTimes times, bool subnet_known);
  /// What is due now, taken from the agenda: events first, but after each sweep a light sweep that waits, so
  /// that neither keeps the other from being done. Without a Subnet a heavy sweep.
  Asked take_due(bool subnet_known);
  /// The sweep that is due now. Suspects whose time has not come stay on the agenda.
  Asked take_sweep();

  /// When a sweep that is asked for may be done: the first event after quiet at once; those that follow
  /// within the settle window make one sweep together, and a node that goes on reporting waits longer each
  /// time.
  std::optional<mad::TimePoint> sweep_due() const;
  /// When the next of all that is asked may be done, where a Subnet is known.
  std::optional<mad::TimePoint> due() const;
  /// While a sweep goes on: something has happened that asks for another one, at once.
  bool newer_waits() const;
  /// While VL tables are read: something else is due.
  bool other_work_waits() const;

  /// Nodes that go on changing are left to their pace: a light sweep must not find them anew each time. False
  /// where nothing of `asked` is left to be looked at now.
  bool put_off(Asked& asked);
  /// An incremental sweep of these nodes is due without waiting for anything, but for those put off.
  void look_at_once(std::set<Guid> suspects, std::string reason);
  /// Whether it is time to look once more at what did not come right; Guid{}: the whole fabric. True counts
  /// as a look, and the next one comes later.
  bool try_again(Guid node);
  /// The next light sweep comes at `at`, or before, and follows lost links.
  void look_soon(mad::TimePoint at);
  /// Whether look_soon() was called since the last call.
  bool take_look_soon() { return std::exchange(look_soon_, false); }
  /// Links have changed, and switches are to be asked again or looked at.
  bool looks_again() const { return look_soon_ || !at_once_.empty(); }

  /// Neither light sweeps nor those that events ask for before then; what is asked for meanwhile waits. Those
  /// that an operator asks for are done.
  void pause(mad::TimePoint until);
  /// The pause is over.
  void resume() { pause({}); }
  bool paused() const { return clock_.now() < paused_until_; }

  /// A sweep has ended.
  void swept() { last_sweep_ = clock_.now(); }
  /// A sweep has ended in which these nodes did not answer: the next light sweep may come sooner.
  void silent_after_sweep(std::set<Guid> silent);
  /// A light sweep has looked for nodes that do not answer: the next one may come sooner.
  void looked_for_silent();
  /// A switch has reported a change of one of its links, or shows one.
  void link_reported(Guid node) { trap_gap_.reported(node, clock_.now(), subnet_timeout_); }
  TrapGap& trap_gap() { return trap_gap_; }
  RepairWait& repairs() { return repairs_; }
  const RepairWait& repairs() const { return repairs_; }

  mad::Clock& clock() const { return clock_; }
  Agenda& agenda() const { return agenda_; }

 private:
  /// One that follows a sweep that was asked for is part of it.
  bool light_sweeps() const { return look_soon_ || (interval_.count() != 0 && !paused()); }
  std::optional<mad::TimePoint> converge_due(const BackgroundTimes& times) const;
  void ask_for_timed(const BackgroundTimes& times, bool subnet_known);
  mad::TimePoint wake_at(const BackgroundTimes& times, std::optional<mad::TimePoint> due, bool idle) const;
  Asked take_heavy();

  mad::Clock& clock_;
  Agenda& agenda_;
  mad::Duration interval_, settle_;
  unsigned subnet_timeout_;
  Damping pace_;        ///< of events, by node
  Damping whole_pace_;  ///< of sweeps of the whole fabric that events ask for
  Damping retry_pace_;  ///< of looking again at what is not as it should be
  TrapGap trap_gap_;
  RepairWait repairs_;
  SilentSearch silent_;
  mad::TimePoint last_sweep_{}, next_light_{}, last_light_{}, paused_until_{};
  bool look_soon_ = false;      ///< the next light sweep follows lost links
  bool light_is_next_ = false;  ///< the last work was a sweep
  std::set<Guid> at_once_;      ///< to be looked at without waiting for anything
};

}  // namespace smd::sm::inline scheduling
