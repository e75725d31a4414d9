// SPDX-License-Identifier: Apache-2.0
#pragma once
// Have switches seen port changes? What traps may have lost shows in SwitchInfo.PortStateChange.

#include <memory>
#include <set>

#include "mad/asio.h"
#include "mad/transactions/ask.h"
#include "mad/transactions/transactions.h"
#include "smd/ha/mastership.h"
#include "smd/reconcile/reconciler.h"
#include "smd/schedule/scheduler.h"
#include "smd/status/subnet_status.h"

namespace smd::sm::inline observing {

/// What a look between two sweeps has found.
struct PollResult : SmReads {
  std::set<Guid> suspects;      ///< these nodes are to be looked at
  std::set<Guid> silent;        ///< suspects only because they do not answer
  bool vl_tables_lost = false;  ///< VL tables were changed externally, and are to be read again
};

/// Gets of SwitchInfo. On the io_context's thread.
class SwitchPoll {
 public:
  /// All of it outlives the poll.
  struct Parts {
    asio::any_io_executor executor;
    mad::Transactions& tx;
    Scheduler& scheduler;
    Reconciler& loop;
    SubnetStatus& status;
  };
  explicit SwitchPoll(Parts parts) : parts_(std::move(parts)) {}
  SwitchPoll(const SwitchPoll&) = delete;
  SwitchPoll& operator=(const SwitchPoll&) = delete;

  /// Asks all switches of `subnet`, or `only` these (null: all). `soon`: links have just gone; a switch that
  /// does not answer one try may be behind one of them and is a suspect. Questions that are left without an
  /// answer are given up while a sweep is due.
  asio::awaitable<PollResult> ask(std::shared_ptr<const Subnet> subnet, bool soon,
                                  const std::set<Guid>* only = nullptr);
  /// All switches are being asked, from begin_round() to end_round(): the next round is not made sooner than
  /// 100 ms after its beginning, or three times as long as it took.
  void begin_round() { round_ = parts_.scheduler.clock().now(); }
  void end_round() { took_ = parts_.scheduler.clock().now() - round_; }

  /// A sweep begins.
  void begin_sweep() { cleared_late_.clear(); }
  /// PortStateChange of this switch was set when a heavy sweep had read its ports: it is looked at again.
  void cleared_late(Guid node) { cleared_late_.insert(node); }
  /// After a sweep, or when nodes have not answered Sets: asks all switches, now or soon. What they tell is
  /// due at once.
  asio::awaitable<void> look_once_more();
  /// After a heavy sweep: asks the switches that have answered it.
  asio::awaitable<void> look_after_heavy();
  /// Asks the switches that may not send a trap yet.
  asio::awaitable<void> look_in_trap_gap();

 private:
  asio::awaitable<void> ask_switch(mad::Target target, bool soon, PollResult* found);
  std::set<Guid> switches_that_answer() const;
  void sweep_at_once(PollResult found);

  Parts parts_;
  mad::TimePoint round_{};  ///< when all switches were asked last
  mad::Duration took_{};    ///< how long that took
  std::set<Guid> cleared_late_;
};

}  // namespace smd::sm::inline observing
