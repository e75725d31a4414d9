// SPDX-License-Identifier: Apache-2.0
#pragma once
// One subnet's manager: observe, decide, plan, apply, over and over. It is made of modules, and says which of
// them has its turn.

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/config.h"
#include "mad/clock.h"
#include "mad/task_group.h"
#include "mad/transactions/transactions.h"
#include "smd/background/retrainer.h"
#include "smd/background/service_parts.h"
#include "smd/background/vl_table_reader.h"
#include "smd/base/compute.h"
#include "smd/events/ring.h"
#include "smd/giving_way.h"
#include "smd/ha/mastership.h"
#include "smd/log/log.h"
#include "smd/observe/light_sweep.h"
#include "smd/observe/standby.h"
#include "smd/observe/sweeper.h"
#include "smd/observe/switch_poll.h"
#include "smd/policy/policies.h"
#include "smd/reconcile/config_in_force.h"
#include "smd/reconcile/reconciler.h"
#include "smd/requests.h"
#include "smd/schedule/agenda.h"
#include "smd/schedule/scheduler.h"
#include "smd/schedule/trap_intake.h"
#include "smd/snapshot/activity.h"
#include "smd/snapshot/snapshot.h"
#include "smd/status/inventory_keeper.h"
#include "smd/status/subnet_status.h"
#include "smd/store/store.h"
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
  policy::PoliciesPtr policies = std::make_shared<const policy::Policies>();  ///< of the API, when it begins
  /// Seconds since 1970 for what is told of times; null: the system's clock.
  std::function<std::int64_t()> wall = {};
  events::EventRing* events = nullptr;  ///< null: events are dropped
  /// Where snapshots go; a place of the caller's outlives the manager.
  std::shared_ptr<Published<Snapshot>> published = std::make_shared<Published<Snapshot>>();
  /// Where counts that go on between two snapshots go, in the same way.
  std::shared_ptr<PublishedActivity> activity = std::make_shared<PublishedActivity>();
  /// Where views of the SMs of the fabric go, in the same way.
  std::shared_ptr<PublishedSms> sms = std::make_shared<PublishedSms>();
};

struct ManagerOptions {
  bool once = false;     ///< one full sweep as master, then end
  bool dry_run = false;  ///< Gets only: no Set, no TrapRepress, no answers, no SM place
};

/// All on one io_context thread; published() from any. run() is called once. What is, is published as the
/// latest Snapshot; what has happened, as events of the subnet's name.
class SubnetManager {
 public:
  /// `name`: of the subnet, in events, summaries and the Stored. Begins nothing before run().
  SubnetManager(ManagerParts parts, std::string name, config::SubnetConfig config, ManagerOptions options);

  /// Until cancelled; with `once` or `dry_run` until the sweep has ended. The fabric forwards on.
  asio::awaitable<void> run();
  /// Where work is asked for.
  Requests& requests() { return requests_; }

  /// Hands the fabric over to `only`, or to the standby that is to get it; the error says why not. On the
  /// io_context's thread.
  std::expected<OtherSm, std::string> hand_over(std::optional<Guid> only) {
    return mastership_.hand_over(only);
  }
  /// Finds a standstill of this thread at once: SmView says then that Sets are held. On the io_context's
  /// thread.
  void look_for_standstill() { mastership_.look_for_standstill(); }
  /// Until the next start, or until the configuration has another priority. On the io_context's thread.
  void set_priority(std::uint8_t priority) { mastership_.set_priority(priority); }
  /// The process is about to end: hands the fabric over where a standby can have it, and calls `done` once
  /// when that has taken it, after a second, or when run() ends. On the io_context's thread.
  void leave(std::move_only_function<void()> done);

  /// The latest Snapshot, null before the first; any thread.
  std::shared_ptr<const Snapshot> published() const { return parts_.published->get(); }
  /// The latest counts, null before the first sweep; any thread.
  std::shared_ptr<const Activity> activity() const { return parts_.activity->get(); }
  /// The SMs of the fabric as they are now, ours included; any thread.
  std::shared_ptr<const SmView> sms() const { return parts_.sms->get(); }
  /// What SMInfo says of us now; from any thread.
  std::uint32_t act_count() const { return mastership_.act_count(); }
  /// Counters of everything sent and received since the start.
  mad::Counters counters() const { return tx_.counters(); }

 private:
  asio::awaitable<bool> take_config();
  asio::awaitable<void> serve();
  asio::awaitable<void> tell_first_reading();
  asio::awaitable<Outcome> work(Asked asked);
  asio::awaitable<bool> begin_work(Asked* asked);
  asio::awaitable<bool> may_write();
  asio::awaitable<std::optional<Outcome>> between_sweeps(Asked asked);
  asio::awaitable<std::optional<Outcome>> light_sweep(Asked* asked, SweepKind* kind);
  asio::awaitable<Outcome> sweep(SweepKind kind, Asked asked);
  asio::awaitable<Outcome> reconcile(PartSet parts);

  ManagerParts parts_;
  ManagerOptions options_;
  events::Publisher events_;
  Agenda agenda_;
  ConfigInForce config_;
  mad::Transactions tx_;
  mad::TaskGroup tasks_;
  // The modules in the order of dependency.
  Scheduler scheduler_;
  LidIndex lids_;    ///< of the Subnet that traps and SMInfo were looked up in last
  Reconciler loop_;  ///< what is known, decided and stored
  TrapIntake traps_;
  Mastership mastership_;
  InventoryKeeper inventory_;
  SubnetStatus status_;
  SwitchPoll switches_;
  LightSweep light_;
  Sweeper sweeper_;
  Standby standby_;
  VlTableReader vl_tables_;
  Retrainer retrainer_;
  ServiceParts services_;
  GivingWay giving_way_;
  Requests requests_;
};

}  // namespace smd::sm
