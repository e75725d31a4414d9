// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of the subnet, and what is said of it: the summary of the last sweep, log lines, the snapshot
// that clients are answered from, and its event.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "config/config.h"
#include "mad/transactions/transactions.h"
#include "smd/events/ring.h"
#include "smd/ha/mastership.h"
#include "smd/log/log.h"
#include "smd/plan/plan.h"
#include "smd/reconcile/reconciler.h"
#include "smd/report/sweep_summary.h"
#include "smd/schedule/trap_intake.h"
#include "smd/snapshot/activity.h"
#include "smd/snapshot/snapshot.h"
#include "smd/status/inventory_keeper.h"

namespace smd::sm::inline status {

/// One manager's. On the io_context's thread; published() from any.
class SubnetStatus {
 public:
  /// All of it outlives the status.
  struct Parts {
    std::string name;  ///< of the subnet
    log::Log log;
    events::Publisher events;
    std::shared_ptr<Published<Snapshot>> published;  ///< where snapshots go
    std::shared_ptr<PublishedActivity> activity;     ///< where counts go
    const mad::Transactions& tx;
    Reconciler& loop;
    Mastership& mastership;
    TrapIntake& traps;
    const InventoryKeeper& inventory;
    const std::shared_ptr<const config::SubnetConfig>& config;  ///< the one in force
    std::function<UnixTime()> wall;
    bool dry_run = false;
  };
  explicit SubnetStatus(Parts parts) : parts_(std::move(parts)) {}
  SubnetStatus(const SubnetStatus&) = delete;
  SubnetStatus& operator=(const SubnetStatus&) = delete;

  /// A sweep begins: its summary, which the sweep fills in with what it counts.
  void begin_sweep(SweepKind kind, std::string reason);
  SweepSummary& summary() { return summary_; }
  const SweepSummary& summary() const { return summary_; }
  /// Why the sweep was made, as an operator says it.
  std::string cause() const;
  /// Links have changed, and perhaps more than we were told of: the state is degraded until that is over.
  void set_unsettled(bool unsettled) { unsettled_ = unsettled; }
  bool unsettled() const { return unsettled_; }
  /// What a dry run would write.
  void set_plan(std::shared_ptr<const Plan> plan) { plan_ = std::move(plan); }

  /// Logs `routing.adaptive` once in each takeover, and again where more switches than in `before`, which may
  /// be null, route adaptively.
  void tell_adaptive(const Subnet* before);
  /// Fills in the summary at the end of a sweep; `before`: the counters at its beginning.
  void summarise(const mad::Counters& before);
  /// A sweep has ended; publish_activity() tells of it.
  void count_sweep(SweepKind kind, double took_ms);
  /// Logs faults and the summary, and publishes the snapshot with SweepEnded.
  void publish_sweep();
  /// Publishes the snapshot after a change between two sweeps.
  void publish_between_sweeps() { publish(events::SnapshotPublished{}); }
  /// Publishes the counts of traps and SMPs, which go on where nothing else changes.
  void publish_activity();
  /// The counts of traps alone: there may be thousands a second.
  void publish_traps();
  /// Between two sweeps: the state as the current Subnet gives it; published where it is another one.
  void judge_again();
  /// As standby: what it has found since counts, and is published.
  void count_again();
  /// No switch has more to tell: not unsettled any more.
  void settle();
  /// What was lost has been accepted.
  void accepted();
  /// The latest Snapshot, null before the first; any thread.
  std::shared_ptr<const Snapshot> published() const { return parts_.published->get(); }

 private:
  void judge();
  void judge_policy();
  void tell_state();
  void report_faults();
  void publish(events::Payload told);
  std::shared_ptr<const Snapshot> snapshot() const;

  Parts parts_;
  SweepSummary summary_;
  SweepTotals totals_;
  bool unsettled_ = false;
  UnixTime state_since_ = 0;
  std::optional<SweepState> said_state_;
  std::set<Guid> small_tables_;  ///< switches that were named for that
  unsigned same_reason_ = 0;     ///< sweeps in a row that looked at the same fault again
  std::string last_reason_;
  std::shared_ptr<const Plan> plan_;  ///< of a dry run
};

}  // namespace smd::sm::inline status
