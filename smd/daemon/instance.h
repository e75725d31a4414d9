// SPDX-License-Identifier: Apache-2.0
#pragma once
// One subnet of the daemon: a manager with its thread, its clock and its end of the fabric.

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "config/config.h"
#include "mad/asio.h"
#include "mad/gsi/dispatcher.h"
#include "mad/real_clock.h"
#include "mad/task_group.h"
#include "smd/api/backend.h"
#include "smd/base/compute.h"
#include "smd/daemon/end.h"
#include "smd/events/subscriber.h"
#include "smd/log/log.h"
#include "smd/manager.h"
#include "smd/sa/server.h"
#include "smd/store/store_thread.h"

namespace smd::daemon {

/// Which fabric, and how.
struct InstanceSpec {
  std::string name;   ///< empty: the port GUID, once it is known
  std::string where;  ///< as the operator named it: "mlx5_0:1", "ft3:8", "any port"
  bool is_simulated = false;
  std::unique_ptr<EndSource> ends;
  config::SubnetConfig config;
  sm::ManagerOptions options;
};

/// Made and ended on one thread, works on one of its own. Opens its end of the fabric, and opens it again
/// when it is lost, for as long as it lives.
class Instance {
 public:
  /// `stores` may be null: nothing is kept. What happens is published in `ring`. `ended` is called once, from
  /// the instance's thread, when there is nothing more to do.
  Instance(InstanceSpec spec, sm::Compute& compute, store::StoreThread* stores, log::Log log,
           events::EventRing& ring, std::function<void()> ended);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  /// Ends the manager within its current step; the fabric forwards on. From any thread, at once.
  void stop();
  void resweep(sm::Resweep kind, std::string reason);
  /// What is lost is missing on purpose: of `node`, or (0) all of it.
  void accept_lost(Guid node);
  /// See api::Backend.
  std::future<api::PolicyVerdict> change_policies(api::PolicyChange change);
  /// Index 0 of the P_Key tables of these ports (port GUIDs) is decided anew.
  void reindex(std::set<Guid> ports);
  /// Hands the fabric over to this SM, where we are master. What comes of it is in the log.
  void hand_over(Guid to);
  /// Until the next start, or until the configuration has another priority.
  void set_priority(std::uint8_t priority);
  /// As stop(), after the fabric was handed over to a standby, where there is one: a second at most.
  void leave();
  /// For the next sweep, which is asked for. What the end of the fabric is stays.
  void reload(config::SubnetConfig config);

  /// From any thread.
  std::shared_ptr<const api::SubnetView> view() const;
  /// The latest one, as an event of the subnet finds it; view() may follow a moment later. From any thread.
  std::shared_ptr<const sm::Snapshot> snapshot() const { return snapshot_->get(); }
  /// Calls `pong` from the instance's loop, as soon as that is free.
  void ping(std::move_only_function<void()> pong);
  /// Why it could not begin; empty where it could. After `ended` only.
  const std::string& refused() const { return refused_; }
  /// The exit status of a process that ends for it.
  int refused_status() const { return refused_status_; }
  /// Processor time of the simulated nodes; zero of a real fabric. After the first sweep.
  std::string attach_hint() const { return spec_.ends->attach_hint(); }
  mad::Duration nodes_cpu() const { return spec_.ends->nodes_cpu(); }

 private:
  class Verdict;
  void stop_here();
  asio::awaitable<void> work();
  asio::awaitable<bool> open();
  asio::awaitable<bool> open_store();
  // policy_changes.cpp
  asio::awaitable<void> take(api::PolicyChange change, std::shared_ptr<Verdict> verdict);
  /// `merged` null: they are merged here.
  void set_ground(policy::PoliciesPtr policies, policy::MergedPtr merged = nullptr);
  bool adopt_policy();
  asio::awaitable<bool> policy_turn();
  asio::awaitable<void> remember_accepted();
  asio::awaitable<void> tell_refused_policy();
  void open_sa();
  void say_passed_over();
  bool is_of_no_use();
  asio::awaitable<bool> manage();
  asio::awaitable<void> run_manager();
  asio::awaitable<bool> back_off();
  sm::ManagerParts parts();
  bool look();
  void subscribe();
  void hear(const events::Event& event);
  void heard_snapshot();
  void heard_own_port(const std::string& reason);
  void wait_for(std::string_view what, std::string_view reason);
  void waited_for(std::string_view what);

  InstanceSpec spec_;
  sm::Compute& compute_;
  store::StoreThread* stores_;
  log::Log log_;
  events::EventRing& ring_;
  std::function<void()> ended_;
  asio::io_context io_{1};
  mad::RealClock clock_;
  std::unique_ptr<End> end_;
  std::string refused_;
  int refused_status_ = 1;
  std::unique_ptr<store::Store> store_;
  std::shared_ptr<sm::Published<sm::Snapshot>> snapshot_ = std::make_shared<sm::Published<sm::Snapshot>>();
  std::shared_ptr<sm::PublishedSms> sms_ = std::make_shared<sm::PublishedSms>();
  std::unique_ptr<sm::SubnetManager> manager_;
  /// Questions to subnet administration: clients wait for them, as nodes wait for the manager.
  sm::PoolCompute answering_{1, sm::PoolCompute::Priority::same};
  sm::Published<sa::Registry> registry_;
  std::unique_ptr<mad::Dispatcher> gsi_;  ///< the classes of the GSI of end_
  std::unique_ptr<sa::Server> sa_;        ///< after end_ and manager_, which it reads
  std::string no_sa_;                     ///< why subnet administration cannot be opened, as it was said
  std::string passed_over_;               ///< ports without an SMI, as it was said
  std::string own_port_silent_;
  mad::TimePoint silent_since_{};
  bool manager_ended_ = false;
  mad::Duration pause_{};  ///< before the last try to open an end
  mad::WaitList wake_;
  bool changing_policies_ = false;  ///< one is on its way to the disk
  mad::WaitList policy_waiting_;
  api::SubnetView now_;  ///< what view_ is made of
  sm::Published<api::SubnetView> view_;
  std::optional<events::Subscriber> subscriber_;  ///< while there is a manager
  mad::Clock::TimerId leaving_ = 0;               ///< stop() when it takes too long; 0: not leaving
  mad::TaskGroup group_;
  std::jthread thread_;
};

}  // namespace smd::daemon
