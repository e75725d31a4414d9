// SPDX-License-Identifier: Apache-2.0
#pragma once
// One subnet of the daemon: a manager with its thread, its clock and its end of the fabric.

#include <chrono>
#include <expected>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "config/config.h"
#include "mad/asio.h"
#include "mad/backoff.h"
#include "mad/gsi/dispatcher.h"
#include "mad/real_clock.h"
#include "mad/task_group.h"
#include "smd/access/told_uses.h"
#include "smd/api/backend.h"
#include "smd/base/compute.h"
#include "smd/daemon/sm_port.h"
#include "smd/events/subscriber.h"
#include "smd/log/log.h"
#include "smd/manager.h"
#include "smd/policy/accepted.h"
#include "smd/replica/replicator.h"
#include "smd/sa/server.h"
#include "smd/snapshot/memberships.h"
#include "smd/store/store_thread.h"
#include "smd/tls/date_warnings.h"

namespace smd::daemon {

/// Which fabric, and how.
struct InstanceSpec {
  std::string name;   ///< empty: the port GUID, once it is known
  std::string where;  ///< as the operator named it: "mlx5_0:1", "ft3:8", "any port"
  bool is_simulated = false;
  std::unique_ptr<SmPortSource> ends;
  config::SubnetConfig config;
  sm::ManagerOptions options;
};

/// Both outlive the instance.
struct InstanceEvents {
  events::EventRing& ring;
  sm::Memberships& members;  ///< gets what the instance publishes
};

/// Made and ended on one thread, works on one of its own. Opens its end of the fabric, and opens it again
/// when it is lost, for as long as it lives. Requests may come from any thread, and are done on its own
/// later.
class Instance {
 public:
  /// What a standby hands on to us, on the instance's loop.
  using Answerer = std::function<asio::awaitable<api::Answer>(api::Request request)>;
  /// `stores` may be null: nothing is kept. What happens is published in `told.ring`. `ended` is called once,
  /// from the instance's thread, when there is nothing more to do.
  Instance(InstanceSpec spec, sm::Compute& compute, store::StoreThread* stores, log::Log log,
           InstanceEvents told, std::function<void()> ended, Answerer answer = {});
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  /// Ends the manager within its current step; the fabric forwards on. From any thread, at once.
  void stop();
  /// Asks for a sweep of this kind, or for fresh tables; `reason` is shown in its summary. Ignored while
  /// there is no manager.
  void resweep(sm::Resweep kind, std::string reason);
  /// What is lost is missing on purpose: of `node`, or (0) all of it.
  void accept_lost(Guid node);
  /// See api::Backend.
  std::future<api::PolicyVerdict> change_policies(api::PolicyChange change);
  /// See replica::Replicator::call(). `done` is called on the instance's thread, at once with an error where
  /// the state is not copied.
  void hand_on(replica::Call call, replica::CallDone done);
  /// That is kept, if what is kept is not newer, or the master is told, as soon as it can be; `now` are
  /// seconds since 1970.
  void token_used(const std::string& name, std::int64_t now);
  /// See api::Backend.
  void sweeps_off(std::chrono::system_clock::time_point until);
  /// Trains the link of this port anew, and logs `event`.
  void train(api::PolicyChange::PortChange port, std::string event);
  /// Index 0 of the P_Key tables of these ports (port GUIDs) is decided anew.
  void reindex(std::set<Guid> ports);
  /// Hands the fabric over to this SM, where we are master. What comes of it is in the log.
  void hand_over(Guid to);
  /// Sets the SM priority, 0 to 15, until the next start, or until the configuration has another priority.
  void set_priority(std::uint8_t priority);
  /// As stop(), after the fabric was handed over to a standby, where there is one: a second at most.
  void leave();
  /// For the next sweep, which is asked for. What the end of the fabric is stays.
  void reload(config::SubnetConfig config);
  /// Why what the files say of partitions and groups, or of QoS alone, is not taken; empty: it is. What is in
  /// force stays, and the state says so.
  void show_refused(std::string partitions, std::string qos);

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
  /// See SmPortSource. After the first sweep.
  std::string attach_hint() const { return spec_.ends->attach_hint(); }
  /// Processor time of the simulated nodes; zero of a real fabric. After the first sweep.
  mad::Duration nodes_cpu() const { return spec_.ends->nodes_cpu(); }

 private:
  class Verdict;
  void stop_here();
  asio::awaitable<void> work();
  asio::awaitable<bool> open();
  asio::awaitable<bool> open_store();
  bool adopt_store();
  store::Store* kept() const { return replicator_ ? replicator_.get() : store_.get(); }
  // replication.cpp
  bool is_replicated() const;
  /// Before the first word of the replicator: readers see that the state is copied.
  void show_replica();
  void open_replica();
  /// Warns of a certificate or a list of revoked ones that ends soon, or has; see tls::DateWarnings::look().
  void say_expiry(bool again);
  asio::awaitable<void> look_at_dates();
  std::expected<std::unique_ptr<replica::Network>, std::string> open_network();
  void replaced();
  void refused(Guid port);
  bool adopt_replica_policy();
  bool adopt_accepted(const policy::Policies& policies);
  asio::awaitable<void> say_left_changes();
  void say_policy_differs(const std::string& action);
  asio::awaitable<replica::CallAnswer> answer_call(replica::Call call, Guid standby);
  asio::awaitable<void> end_all();
  // token_uses.cpp
  void note_use(const std::string& token, std::int64_t used);
  void tell_use(const std::string& token, std::int64_t used);
  void keep_use(const std::string& token, std::int64_t used);
  std::optional<std::int64_t> kept_use(const std::string& token) const;
  asio::awaitable<void> settle_uses();
  policy::PoliciesPtr with_unkept_uses(policy::PoliciesPtr policies) const;
  // policy_changes.cpp
  asio::awaitable<void> inherit(policy::PoliciesPtr other, policy::PoliciesPtr common);
  void say_inherited(const std::vector<std::string>& taken, const std::vector<std::string>& refused);
  asio::awaitable<void> take(api::PolicyChange change, std::shared_ptr<Verdict> verdict);
  bool may_be_lost(const api::PolicyChange& change);
  void say(const api::PolicyChange& change);
  void say_port(const api::PolicyChange::PortChange& port, const std::string& event);
  /// `merged` null: they are merged here.
  void set_policy_state(policy::PoliciesPtr policies, policy::MergedPtr merged = nullptr);
  bool adopt_policy();
  asio::awaitable<bool> policy_turn();
  asio::awaitable<void> keep_uses();
  const std::string& refused_policy() const;
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
  void heard_own_port(const std::string& reason, bool neighbour);
  void sweeps_on(std::string_view reason);
  void wait_for(std::string_view what, std::string_view reason);
  void waited_for(std::string_view what);

  InstanceSpec spec_;           ///< its `config` is what is in force
  config::SubnetConfig files_;  ///< what our files say
  sm::Compute& compute_;
  store::StoreThread* stores_;
  log::Log log_;
  events::EventRing& ring_;
  sm::Memberships& members_;
  std::function<void()> ended_;
  Answerer answer_;
  asio::io_context io_{1};
  mad::RealClock clock_;
  std::unique_ptr<SmPort> end_;
  std::string refused_;
  int refused_status_ = 1;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<replica::Network> network_;
  std::unique_ptr<replica::Replicator> replicator_;  ///< null: the state is not copied
  std::shared_ptr<replica::PublishedReplica> replica_ = std::make_shared<replica::PublishedReplica>();
  std::shared_ptr<sm::Published<sm::Snapshot>> snapshot_ = std::make_shared<sm::Published<sm::Snapshot>>();
  std::shared_ptr<sm::PublishedActivity> activity_ = std::make_shared<sm::PublishedActivity>();
  std::shared_ptr<sm::PublishedSms> sms_ = std::make_shared<sm::PublishedSms>();
  std::unique_ptr<sm::SubnetManager> manager_;
  /// Questions to subnet administration: clients wait for them, as nodes wait for the manager.
  sm::PoolCompute answering_{1, sm::PoolCompute::Priority::same};
  sm::Published<sa::Registry> registry_;
  std::shared_ptr<sa::PublishedGroupsRead> groups_read_ = std::make_shared<sa::PublishedGroupsRead>();
  std::shared_ptr<sa::SaCounts> sa_counts_ = std::make_shared<sa::SaCounts>();
  std::unique_ptr<mad::Dispatcher> gsi_;  ///< the classes of the GSI of end_
  std::unique_ptr<sa::Server> sa_;        ///< after end_ and manager_, which it reads
  std::string no_sa_;                     ///< why subnet administration cannot be opened, as it was said
  std::string passed_over_;               ///< ports without an SMI, as it was said
  std::string own_port_silent_;
  mad::TimePoint silent_since_{};
  bool manager_ended_ = false;
  /// Between two tries to open an end.
  mad::Backoff pause_{std::chrono::milliseconds(250), std::chrono::seconds(5)};
  mad::WaitList wake_;
  bool changing_policies_ = false;  ///< one is on its way to the disk
  mad::WaitList policy_waiting_;
  tls::DateWarnings dates_;
  std::map<std::string, std::int64_t> uses_;  ///< of tokens, which wait for their turn
  access::ToldUses told_uses_;
  access::UnkeptUses unkept_uses_;  ///< those at this SM while it follows a master
  bool settling_uses_ = false;
  std::pair<std::string, config::ClassSls> compared_{};  ///< what the master has accepted, as it was compared
  policy::AcceptedDifferences differs_;                  ///< from it to files_
  policy::PoliciesPtr left_policies_;  ///< when we were master last, in this process or before; null: said
  mad::Duration left_wait_{};          ///< so long the master may take to make them, too
  api::SubnetView now_;                ///< what view_ is made of
  sm::Published<api::SubnetView> view_;
  std::optional<events::Subscriber> subscriber_;  ///< while there is a manager
  mad::Clock::TimerId sweeps_timer_ = 0;          ///< puts sweeps on again; 0: they are on
  mad::Clock::TimerId leaving_ = 0;               ///< stop() when it takes too long; 0: not leaving
  mad::TaskGroup group_;
  std::jthread thread_;
};

}  // namespace smd::daemon
