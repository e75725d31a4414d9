// SPDX-License-Identifier: Apache-2.0
#pragma once
// One subnet's manager: observe, decide, plan, apply, over and over. It is made of modules, and says which of
// them has its turn.

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/config.h"
#include "mad/clock.h"
#include "mad/task_group.h"
#include "mad/transactions/transactions.h"
#include "smd/background/retrainer.h"
#include "smd/background/service_parts.h"
#include "smd/background/vl_table_reader.h"
#include "smd/base/compute.h"
#include "smd/base/guid_block.h"
#include "smd/decide/fabric_requests.h"
#include "smd/events/ring.h"
#include "smd/ha/mastership.h"
#include "smd/log/log.h"
#include "smd/observe/light_sweep.h"
#include "smd/observe/standby.h"
#include "smd/observe/sweeper.h"
#include "smd/observe/switch_poll.h"
#include "smd/policy/policies.h"
#include "smd/reconcile/reconciler.h"
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
class SubnetManager final : public FabricRequests {
 public:
  /// `name`: of the subnet, in events, summaries and the Stored. Begins nothing before run().
  SubnetManager(ManagerParts parts, std::string name, config::SubnetConfig config, ManagerOptions options);

  /// Until cancelled; with `once` or `dry_run` until the sweep has ended. The fabric forwards on.
  asio::awaitable<void> run();
  /// Asks for a sweep of this kind, or for fresh tables; `reason` is shown in its summary.
  void resweep(Resweep kind, std::string reason);
  /// What the next work is done by; a heavy sweep is asked for.
  void reload(config::SubnetConfig config);
  /// Partitions of the API from now on; where nothing else has changed the fabric is not read again.
  void set_policies(policy::PoliciesPtr policies);
  /// Trains the link of this port anew, once; a port that was disabled is enabled.
  void train(const policy::PortAt& port);
  /// Index 0 of the P_Key tables of these ports (port GUIDs) is decided anew. Soon, between two sweeps.
  void reindex(const std::set<Guid>& ports);

  void set_groups(Groups groups) override;
  /// With `once` there is no time for it, and nothing is asked.
  void reregister(const std::vector<Guid>& ports) override;
  void set_guids(const std::vector<GuidBlock>& blocks) override;
  void read_vl_tables_first(Guid node) override { vl_tables_.read_first(node); }
  /// What is lost is missing on purpose from now on: `node` with what was behind it, or the lost links of one
  /// that is there; 0: all. Soon, between two sweeps. On the io_context's thread.
  void accept_lost(Guid node);
  /// Hands the fabric over to `only`, or to the standby that is to get it; the error says why not. On the
  /// io_context's thread.
  std::expected<OtherSm, std::string> hand_over(std::optional<Guid> only) {
    return mastership_.hand_over(only);
  }
  /// Until the next start, or until the configuration has another priority. On the io_context's thread.
  void set_priority(std::uint8_t priority) { mastership_.set_priority(priority); }
  /// The process is about to end: hands the fabric over where a standby can have it, and calls `done` once
  /// when that has taken it, after a second, or when run() ends. On the io_context's thread.
  void leave(std::move_only_function<void()> done);

  /// No sweeps before then, but those that are asked for; a time that has passed: again. On the io_context's
  /// thread.
  void pause_sweeps(mad::TimePoint until) { scheduler_.pause(until); }

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
  void take_disabled_ports();
  PartSet partition_parts() const;
  void take_replica();
  asio::awaitable<void> settle(Guid standby);
  asio::awaitable<void> serve();
  asio::awaitable<Outcome> work(Asked asked);
  asio::awaitable<bool> begin_work(Asked* asked);
  asio::awaitable<bool> may_write();
  asio::awaitable<std::optional<Outcome>> between_sweeps(Asked asked);
  asio::awaitable<std::optional<Outcome>> light_sweep(Asked* asked, SweepKind* kind);
  asio::awaitable<Outcome> sweep(SweepKind kind, Asked asked);
  asio::awaitable<Outcome> reconcile(PartSet parts);
  asio::awaitable<Outcome> give_way(Outcome outcome);
  asio::awaitable<Outcome> follow();
  asio::awaitable<bool> stand_by();
  asio::awaitable<bool> take_copied();
  void publish_standby(std::string reason);
  asio::awaitable<void> leave_then(std::move_only_function<void()> done);

  ManagerParts parts_;
  ManagerOptions options_;
  events::Publisher events_;
  std::shared_ptr<const config::SubnetConfig> given_;  ///< as it was given
  policy::PoliciesPtr policies_;
  std::shared_ptr<const config::SubnetConfig> config_;       ///< with what `policies_` keep of its classes
  std::shared_ptr<const config::SubnetConfig> next_config_;  ///< null: no other one than given_
  policy::PoliciesPtr next_policies_;                        ///< null: no others than policies_
  bool judge_ = false;                                       ///< the state depends on what files say now
  std::uint64_t replaced_ = 0;                               ///< of store::Following, as it was taken
  mad::Transactions tx_;
  Agenda agenda_;
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
};

}  // namespace smd::sm
