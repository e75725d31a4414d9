// SPDX-License-Identifier: Apache-2.0
#pragma once
// One subnet's manager: observe, decide, plan, apply, over and over.

#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "config/config.h"
#include "mad/clock.h"
#include "mad/task_group.h"
#include "mad/transactions/ask.h"
#include "mad/transactions/transactions.h"
#include "smd/apply/applied.h"
#include "smd/apply/table_baseline.h"
#include "smd/background/retrainer.h"
#include "smd/background/vl_table_reader.h"
#include "smd/base/compute.h"
#include "smd/base/guid_block.h"
#include "smd/decide/fabric_requests.h"
#include "smd/events/ring.h"
#include "smd/ha/mastership.h"
#include "smd/inventory/flaps.h"
#include "smd/inventory/stock.h"
#include "smd/log/log.h"
#include "smd/plan/plan.h"
#include "smd/reconcile/reconciler.h"
#include "smd/schedule/agenda.h"
#include "smd/schedule/scheduler.h"
#include "smd/schedule/trap_intake.h"
#include "smd/snapshot/snapshot.h"
#include "smd/store/store.h"
#include "smd/sweep/audit.h"
#include "smd/sweep/lid_index.h"

namespace smd::sm {

/// What a manager stands on; all of it outlives the manager.
struct ManagerParts {
  asio::any_io_executor executor;
  mad::Clock& clock;
  mad::Transport& smi;
  Compute& compute;
  log::Log log;  ///< with the subnet's name
  /// Takes the port's SM place (the issm device); says why not. It is asked again until it succeeds.
  std::move_only_function<std::expected<void, std::string>()> claim_sm;
  std::uint64_t seed = 1;         ///< of transaction numbers
  store::Store* store = nullptr;  ///< none: what is learnt ends with the manager
  /// Seconds since 1970 for what is told of times; null: the system's clock.
  std::function<std::int64_t()> wall = {};
  events::EventRing* events = nullptr;  ///< null: events are dropped
  /// Where snapshots go; a place of the caller's outlives the manager.
  std::shared_ptr<Published<Snapshot>> published = std::make_shared<Published<Snapshot>>();
};

struct ManagerOptions {
  bool once = false;     ///< one full sweep as master, then end
  bool dry_run = false;  ///< Gets only: no Set, no TrapRepress, no answers, no SM place
};

/// All on one io_context thread; published() from any. run() is called once. What is, is published as the
/// latest Snapshot; what has happened, as events of the subnet's name.
class SubnetManager final : public FabricRequests {
 public:
  /// `name`: of the subnet, in events, summaries and the Stored. Begins nothing before run().
  SubnetManager(ManagerParts parts, std::string name, config::SubnetConfig config, ManagerOptions options);

  /// Until cancelled; with `once` or `dry_run` until the sweep has ended. The fabric forwards on.
  asio::awaitable<void> run();
  /// Asks for a sweep of this kind, or for fresh tables; `reason` is shown in its summary.
  void resweep(Resweep kind, std::string reason);
  /// Asks for a sweep.
  void resweep(Work work, std::string reason) { agenda_.add(work, std::move(reason)); }

  /// What the next work is done by; a heavy sweep is asked for.
  void reload(config::SubnetConfig config);

  void set_groups(Groups groups) override;
  /// With `once` there is no time for it, and nothing is asked.
  void reregister(const std::vector<Guid>& ports) override;
  void set_guids(const std::vector<GuidBlock>& blocks) override;
  void read_vl_tables_first(Guid node) override;
  /// What is lost is missing on purpose from now on: `node` with what was behind it, or the lost links of one
  /// that is there; 0: all. Soon, between two sweeps. On the io_context's thread.
  void accept_lost(Guid node);

  /// The latest Snapshot, null before the first; any thread.
  std::shared_ptr<const Snapshot> published() const { return parts_.published->get(); }
  /// What SMInfo says of us now; from any thread.
  std::uint32_t act_count() const { return mastership_.act_count(); }
  /// Counters of everything sent and received since the start.
  mad::Counters counters() const { return tx_.counters(); }

 private:
  enum class Outcome : std::uint8_t {
    done,
    not_ours,   ///< another SM is master, or will be
    contested,  ///< another SM is master too and ranks below us: it has to hand over
    own_port_silent,
    cancelled
  };

  // manager.cpp: the loop
  asio::awaitable<void> serve();
  asio::awaitable<bool> read_sms_after_standstill(Asked* asked);
  asio::awaitable<Outcome> work(Asked asked);
  asio::awaitable<Outcome> give_way(Outcome outcome);
  void publish_concession();
  void take_config();

  // manager_light.cpp: looks that follow a sweep
  asio::awaitable<void> look_once_more();
  asio::awaitable<void> look_after_heavy();
  asio::awaitable<void> look_in_trap_gap();
  void look_for_silent();
  void schedule_repair();

  // manager_light.cpp: a look at what traps may have lost
  struct Looked : SmReads {
    std::set<Guid> suspects;  ///< these nodes are to be looked at
    std::set<Guid> silent;    ///< suspects only because they do not answer
  };
  asio::awaitable<Looked> light_sweep(bool soon);
  asio::awaitable<Looked> look_at_switches(std::shared_ptr<const Subnet> subnet, bool soon,
                                           const std::set<Guid>* only = nullptr);
  void sweep_at_once(Looked found);
  void learn_of_sms(const SmReads& found);
  asio::awaitable<void> look_at_switch(mad::Target target, bool soon, Looked* found);
  asio::awaitable<void> look_at_silent(mad::DirectedPath path, Guid behind, Looked* found);
  asio::awaitable<void> audit_some(std::shared_ptr<const Subnet> subnet, Looked* found);
  void look_at_trouble(Looked& found);
  bool may_converge() const;
  void settle_state();
  void judge_again();

  // manager_changes.cpp: what came and went, and what is lost
  asio::awaitable<bool> take_stock();
  void tell_changes(Changes changes, const Subnet* before);
  void tell_quiet();
  void ask_both_ends(const Changes& changes);
  void note_restarts(const Subnet& read);
  void tell_state();
  asio::awaitable<void> keep_stock();
  asio::awaitable<void> accept_what_is_asked();
  void judge();
  std::string cause() const;
  UnixTime wall() const;

  // manager_parts.cpp: what is asked for between sweeps
  asio::awaitable<bool> reconcile(PartSet parts);

  // manager_vl_tables.cpp: tables that no sweep waits for
  asio::awaitable<bool> read_some_vl_tables();

  // manager_sweep.cpp: one sweep
  asio::awaitable<Outcome> sweep(SweepKind kind, std::string reason, std::set<Guid> suspects);
  asio::awaitable<Outcome> observe(std::set<Guid> suspects);
  asio::awaitable<std::expected<Subnet, std::string>> look(std::set<Guid> suspects);
  asio::awaitable<void> look_behind(bool changed);
  void give_way(std::set<Guid>& suspects);
  void import_lids();
  std::size_t multicast_entries() const;
  asio::awaitable<bool> reconcile_fabric();
  void note_cleared(const std::vector<ClearedChange>& cleared);
  void summarise(const mad::Counters& before);

  // manager_publish.cpp: what it tells others
  void tell_trouble();
  void tell_adaptive(const Subnet* before);
  void publish();
  void publish_between_sweeps() { publish_snapshot(events::SnapshotPublished{}); }
  void publish_snapshot(events::Payload told);
  std::shared_ptr<const Snapshot> snapshot() const;

  ManagerParts parts_;
  std::string name_;
  events::Publisher events_;
  std::shared_ptr<const config::SubnetConfig> config_;
  std::shared_ptr<const config::SubnetConfig> next_config_;  ///< null: no other one than config_
  ManagerOptions options_;
  mad::Transactions tx_;
  Agenda agenda_;
  mad::TaskGroup tasks_;
  Scheduler scheduler_;
  LidIndex lids_;    ///< who sends traps
  Reconciler loop_;  ///< what is known, decided and stored
  TrapIntake traps_;
  Mastership mastership_;
  VlTableReader vl_tables_;
  Retrainer retrainer_;
  SweepSummary summary_;
  bool said_own_port_ = false;
  std::set<Guid> cleared_late_;  ///< in this heavy sweep: PortStateChange was set when ports were read
  mad::TimePoint last_light_{};
  mad::Duration light_took_{};   ///< the last light sweep
  std::set<Guid> small_tables_;  ///< switches that were named for that
  std::set<Guid> searched_;      ///< suspects only because they did not come right before
  bool unsettled_ = false;       ///< links have changed, and perhaps more than we were told of
  AuditCursor audit_;
  Restarts restarts_;                       ///< that this sweep has read
  std::shared_ptr<const Subnet> stock_of_;  ///< what stock was taken of last; null: none since we are master
  Flaps flaps_;
  bool keeping_stock_ = false;  ///< keep_stock() runs
  std::string last_change_;
  UnixTime last_change_at_ = 0, state_since_ = 0;
  std::optional<SweepState> said_state_;
  std::vector<Guid> to_accept_;  ///< 0: all that is lost
  unsigned same_reason_ = 0;     ///< sweeps in a row that looked at the same trouble again
  std::string last_reason_;
  std::shared_ptr<const Plan> plan_;  ///< of a dry run
};

}  // namespace smd::sm
