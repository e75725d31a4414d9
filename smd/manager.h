// SPDX-License-Identifier: Apache-2.0
#pragma once
// One subnet's manager: observe, decide, plan, apply, over and over.

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/config.h"
#include "mad/clock.h"
#include "mad/task_group.h"
#include "mad/transactions/ask.h"
#include "mad/transactions/transactions.h"
#include "smd/agenda.h"
#include "smd/compute.h"
#include "smd/decide/decide.h"
#include "smd/ha/sm_agent.h"
#include "smd/log/log.h"
#include "smd/plan/plan.h"
#include "smd/snapshot.h"

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
  std::uint64_t seed = 1;  ///< of transaction numbers
};

struct ManagerOptions {
  bool once = false;     ///< one full sweep as master, then end
  bool dry_run = false;  ///< Gets only: no Set, no TrapRepress, no answers, no SM place
  /// Called on the io_context's thread after each sweep that was published.
  std::function<void(const Snapshot&)> on_sweep;
  /// Our own port does not answer: why; empty when it answers again. On the io_context's thread.
  std::function<void(const std::string& reason)> on_own_port;
  /// Called with the first plan of a dry run.
  std::function<void(const Subnet&, const Decided&, const Plan&)> on_plan;
};

/// All on one io_context thread; published() from any. run() is called once.
class SubnetManager {
 public:
  SubnetManager(ManagerParts parts, std::string name, config::SubnetConfig config, ManagerOptions options);
  SubnetManager(const SubnetManager&) = delete;
  SubnetManager& operator=(const SubnetManager&) = delete;

  /// Until cancelled; with `once` or `dry_run` until the sweep has ended. The fabric forwards on.
  asio::awaitable<void> run();
  /// Asks for a sweep.
  void resweep(Work work, std::string reason) { agenda_.add(work, std::move(reason)); }

  /// What the next work is done by; a heavy sweep is asked for.
  void reload(config::SubnetConfig config);

  std::shared_ptr<const Snapshot> published() const { return published_.get(); }
  /// Counters of everything sent and received since the start.
  mad::Counters counters() const { return tx_.counters(); }

 private:
  enum class Outcome : std::uint8_t { done, not_ours, own_port_silent, cancelled };

  // manager.cpp: the loop
  asio::awaitable<bool> claim();
  asio::awaitable<bool> wait_for_work();
  asio::awaitable<Outcome> work(Asked asked);
  asio::awaitable<bool> pause(mad::Duration time);
  asio::awaitable<bool> stand_by();
  void take_config();
  void heard_trap(const std::string& reason);

  // manager_sweep.cpp: one sweep
  asio::awaitable<Outcome> heavy_sweep(std::string reason);
  asio::awaitable<bool> light_sweep();
  asio::awaitable<void> look_at_switch(mad::Target target, bool* changed);
  asio::awaitable<void> look_at_sm(mad::Target target, bool* changed);
  asio::awaitable<void> look_at_own_port(std::shared_ptr<const Subnet> subnet, bool* changed);
  void identify();
  asio::awaitable<Outcome> observe();
  asio::awaitable<bool> settle_decision();
  asio::awaitable<bool> retrain_links();
  asio::awaitable<bool> write_difference();
  bool known_sm(Guid sm) const;
  std::optional<OtherSm> other_master() const;
  void name_nodes(Subnet& subnet) const;
  void summarise(const mad::Counters& before);
  void publish();

  ManagerParts parts_;
  std::string name_;
  std::shared_ptr<const config::SubnetConfig> config_;
  std::shared_ptr<const config::SubnetConfig> next_config_;  ///< null: no other one than config_
  ManagerOptions options_;
  mad::Transactions tx_;
  Agenda agenda_;
  SmAgent agent_;
  std::shared_ptr<const Subnet> subnet_;  ///< null before the first sweep
  Decided decided_;                       ///< no part is there before the first decision
  Stored stored_;
  DecideTimes times_;
  SweepSummary summary_;
  std::size_t failed_sets_ = 0;  ///< of the last sweep
  bool said_own_port_ = false;
  bool adopting_ = true;  ///< we are not master yet in this sweep: others may have written
  mad::TimePoint last_event_sweep_{};
  Published<Snapshot> published_;
};

}  // namespace smd::sm
