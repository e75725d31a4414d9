// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one loop that makes the fabric as it should be: decide -> plan -> apply -> advance -> remember ->
// commit.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "config/config.h"
#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/transactions/transactions.h"
#include "smd/apply/table_baseline.h"
#include "smd/base/compute.h"
#include "smd/base/guid_block.h"
#include "smd/decide/fabric_requests.h"
#include "smd/log/log.h"
#include "smd/reconcile/bookkeeping.h"
#include "smd/reconcile/part_kind.h"
#include "smd/schedule/agenda.h"
#include "smd/store/store.h"

namespace smd::sm::inline reconciling {

/// What a reconciler stands on; all of it outlives the reconciler.
struct ReconcilerParts {
  mad::Transactions& tx;
  mad::Clock& clock;
  Compute& compute;
  Agenda& agenda;  ///< asked for the next step where tables converge
  log::Log log;
  store::Store* store = nullptr;  ///< what binds later decisions is committed to it; null: nowhere
  /// An event waits that asks for a sweep at once.
  std::function<bool()> newer_waits;
  /// Nodes have not answered: switches are asked whether more has changed.
  std::function<asio::awaitable<void>()> look_again;
  /// Before a plan is written: after a standstill the other SMs are asked who is master. False: no Set may
  /// leave. Empty: Sets are never held.
  std::function<asio::awaitable<bool>()> may_write;
};

/// One run of the loop.
struct Run {
  PartSet parts;
  bool adopting = false;  ///< we have just become master
  bool merging = false;   ///< another SM was master beside us
  /// Multicast LIDs without members stay until then as switches have them.
  mad::TimePoint keep_unknown_groups_until{};
  bool hurry = false;    ///< a switch that does not answer as soon as it should is left out
  bool dry_run = false;  ///< nothing is written: Ran::plan is what would be
};

/// What came of it.
struct Ran {
  bool cancelled = false;
  bool changed = false;  ///< parts other than `fabric`: a decision changed, or something was written
  Plan plan;             ///< of a dry run
  std::vector<ClearedChange> cleared;
  std::vector<Guid> reregistered;  ///< port GUIDs whose clients were asked to register again
  std::size_t not_reregistered = 0;
  double decide_ms = 0, apply_ms = 0;  ///< by the manager's clock
  std::uint64_t lids_changed = 0, lft_entries_changed = 0, lft_blocks = 0, mft_blocks = 0;
};

/// Owns what is known of the fabric, what is decided, and what outlives a sweep. On the io_context's thread;
/// one run at a time.
class Reconciler {
 public:
  /// `stored` is what a process before has left. Nothing is decided yet.
  Reconciler(ReconcilerParts parts, std::shared_ptr<const config::SubnetConfig> config, StoredPtr stored,
             PolicyPtr policy);
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;

  /// Null before the first sweep.
  const std::shared_ptr<const Subnet>& subnet() const { return subnet_; }
  /// No part is there before the first decision.
  const Decided& decided() const { return decided_; }
  const StoredPtr& stored() const { return stored_; }
  /// The partitions of the configuration and the API; may be null.
  const PolicyPtr& partitions() const { return partitions_; }
  const DecideTimes& times() const { return times_; }
  const Failures& failures() const { return failures_; }
  /// Ports of adapters and routers that were brought up since begin_sweep(), and ports that were another SM's
  /// while we were master.
  const std::vector<Guid>& came_up() const { return came_up_; }
  /// Never null; lives as long as this.
  TableBaseline* baseline() { return &baseline_; }

  /// The configuration of all runs from the next one on, and its partitions with those of the API.
  void configure(std::shared_ptr<const config::SubnetConfig> config, PolicyPtr policy);
  /// The only place where the Subnet changes.
  void take(Subnet now) { subnet_ = std::make_shared<const Subnet>(std::move(now)); }
  /// The same where tables of ports were read: those that smd does not decide are compared with the baseline.
  void take_tables(Subnet now);
  /// A sweep begins: failures, times and ports that came up are counted from 0.
  void begin_sweep();
  /// Empties came_up().
  void forget_came_up() { came_up_.clear(); }

  /// From now on it binds later decisions; committed with the next commit().
  void set_stored(StoredPtr now) { stored_ = std::move(now); }
  /// What an operator has accepted as lost is not in the inventory of `now` any more: routing misses it no
  /// more, either. Returns what is to be stored.
  StoredPtr take_accepted(StoredPtr now);
  /// The same as set_stored(), and returns when it is committed. Before anything that rests on it is written
  /// to the fabric.
  asio::awaitable<bool> keep(StoredPtr now);
  /// Returns when what is stored is committed; at once without a store. False: the disk has not taken it.
  asio::awaitable<bool> commit();

  // What the parts are asked for; each is done by the next run of its part.
  /// Replaces the source of the groups; called on a thread of `compute` by each later run of `multicast`.
  void set_groups(Groups groups) { groups_ = std::move(groups); }
  /// GUIDInfo blocks to be written; each replaces one of the same port and number that is asked for already.
  void set_guids(const std::vector<GuidBlock>& blocks);
  /// Ports that get ClientReregister set, instead of those asked for before.
  void reregister(std::set<Guid> ports) { requests_.clients = std::move(ports); }
  /// Ports (port GUIDs) whose P_Key at index 0 is decided anew, in addition to those asked for before.
  void reindex(const std::set<Guid>& ports) { requests_.reindex.insert(ports.begin(), ports.end()); }
  /// These stay disabled, instead of those before.
  void disable(std::shared_ptr<const policy::DisabledPorts> ports) {
    requests_.ports.disabled = std::move(ports);
  }
  /// The ports of the last disable(); never null.
  const std::shared_ptr<const policy::DisabledPorts>& disabled() const { return requests_.ports.disabled; }
  /// Trains this port's link anew, and enables it.
  void train(const policy::PortAt& port) { requests_.ports.train.insert(port); }
  /// An end of each link to be taken down, instead of those asked for before.
  void take_down(std::vector<PortItem> links) { requests_.links_down = std::move(links); }

  /// Decides what we would decide if we became master now; nothing is stored, logged or written. False when
  /// cancelled; where nothing can be decided what was decided before stays.
  asio::awaitable<bool> precompute();
  /// Runs the loop for each part of `how.parts` and of unfinished(), in the order of the parts. Before the
  /// first decision `fabric` must be one of them.
  asio::awaitable<Ran> run(Run how);
  /// Service parts of which the last run has left something.
  PartSet unfinished() const { return unfinished_; }

  using Fresh = DecideInput::Fresh;
  /// Tables converge to the engine's own, one step in each run of `fabric`. More than `canonical` is for the
  /// operator to ask for.
  void converge(Fresh to = Fresh::canonical) {
    converging_ = true;
    converge_to_ = std::max(converge_to_, to);
  }
  bool converging() const { return converging_; }
  /// Since when repaired tables have not changed; nothing: they are not repaired, or have no way to the
  /// engine's own as long as nothing changes.
  std::optional<mad::TimePoint> repaired_at() const;

 private:
  struct Progress;
  // reconciler.cpp: the loop
  asio::awaitable<bool> run_part(const PartKind* kind, Progress* run);
  asio::awaitable<bool> make_plan(const PartKind* kind, const Progress* run, Plan* made);
  asio::awaitable<bool> write_until_done(const PartKind* kind, Progress* run);
  asio::awaitable<bool> count_left(const PartKind* kind, Progress* run);
  void end_part(const PartKind* kind, Progress* run);
  void look_at_released(const PartitionPart& before);
  void look_at_ordered(const Applied& applied);
  void look_at_refused(const Applied& applied);
  // write.cpp: one plan
  asio::awaitable<bool> write(const PartKind* kind, Progress* run, Plan next);
  asio::awaitable<void> mark_writing();
  asio::awaitable<void> end_writing();
  void take_written(Subnet after, const Applied& applied);
  // decide.cpp: what a run decides
  DecideInput decide_input(const Run& how) const;
  asio::awaitable<bool> decide(const PartKind* kind, Progress* run);
  void note_own_tables();
  asio::awaitable<bool> take_decision(Decision decision, Progress* run);
  void hold_m_keys();
  asio::awaitable<bool> interrupt_less(bool interrupts);
  asio::awaitable<bool> route_round_kept_entries();
  asio::awaitable<bool> take_step(Run how);
  /// What the way to the engine's own tables follows from.
  struct ConvergesFrom {
    std::shared_ptr<const RoutePart> routes;
    std::shared_ptr<const McPart> trees;  ///< null where all are proven: they do not matter
    std::shared_ptr<const SlPart> sls;
    std::shared_ptr<const routing::GuidLayers> layers_home;
    std::shared_ptr<const config::SubnetConfig> config;
    friend bool operator==(const ConvergesFrom&, const ConvergesFrom&) = default;
  };
  ConvergesFrom converges_from() const;

  ReconcilerParts parts_;
  std::shared_ptr<const config::SubnetConfig> config_;
  PolicyPtr partitions_;  ///< of config_
  std::shared_ptr<const Subnet> subnet_;
  Decided decided_;
  bool precomputed_ = false;  ///< it is of precompute()
  StoredPtr stored_;
  bool m_keys_unsaved_ = false;                     ///< those of stored_ are not on the disk yet
  std::shared_ptr<const RoutePart> routes_before_;  ///< what was decided before that; may be null
  std::shared_ptr<const LidPart> lids_before_;      ///< of routes_before_
  std::shared_ptr<const SlPart> sls_before_;        ///< of the decision before
  Groups groups_;                                   ///< empty: not known yet
  PartRequests requests_;
  PartSet unfinished_;
  DecideTimes times_;
  Failures failures_;
  std::vector<Guid> came_up_;
  Drain drain_;  ///< of the last tables that were written
  TableBaseline baseline_;
  bool converging_ = false;
  Fresh converge_to_ = Fresh::canonical;
  std::optional<ConvergesFrom> not_converged_;  ///< what was found to have no way to fresh tables
  bool may_interrupt_ = false;     ///< what was decided is written, though it takes routes out of service
  mad::TimePoint routes_since_{};  ///< when the tables last changed
  std::shared_ptr<const RoutePart> digested_;  ///< whose tables stored_ knows
};

}  // namespace smd::sm::inline reconciling
