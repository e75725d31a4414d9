// SPDX-License-Identifier: Apache-2.0
#pragma once
// The process of `smd run`: its subnets, its signals, its API, and what it tells systemd and the terminal.

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "mad/asio.h"
#include "mad/real_clock.h"
#include "mad/task_group.h"
#include "smd/api/service.h"
#include "smd/base/compute.h"
#include "smd/daemon/instance.h"
#include "smd/daemon/run_options.h"
#include "smd/dump/dumps.h"
#include "smd/events/subscriber.h"
#include "smd/log/log.h"
#include "smd/snapshot/memberships.h"

namespace smd::daemon {

/// What the process is made with.
struct DaemonParts {
  const RunOptions& options;
  config::Config config;
  std::string config_file;  ///< empty: none
  sm::DumpList dumps;       ///< empty: those that the routes ask for
  log::Log log;
  std::ostream& out;
  std::ostream& err;
};

/// On the main thread. Long work (dumps, answers of the API) is on threads of its own, so that signals and
/// the watchdog are always heard; each subnet has its thread.
class Daemon final : private api::Backend {
 public:
  /// `threads` of the pool for decisions; 0: one for each processor. What `parts` refers to outlives it.
  explicit Daemon(DaemonParts parts, unsigned threads);
  ~Daemon() override;

  /// Until a signal ends it, or (--once, --dry-run) each subnet is done. The exit status.
  int run(std::vector<InstanceSpec> specs);

 private:
  struct Subnet {
    std::string fabric;  ///< of a simulated one
    std::string where;   ///< as the operator named its port
    config::SubnetConfig config;
    std::unique_ptr<Instance> instance;
    std::optional<sm::SweepState> state;         ///< of the last sweep
    std::string why;                             ///< it was not 'up'
    std::shared_ptr<const sm::Snapshot> latest;  ///< not reported yet
    std::string summary;                         ///< of the last sweep, as JSON; printed in the end
    bool reporting = false, shown = false;
    bool alive = false;                   ///< its loop has answered since the last look
    bool ended = false, leaving = false;  ///< nothing more to do; taken out of the configuration
    bool gave_up = false;                 ///< no usable port in time
  };
  using SubnetPtr = std::shared_ptr<Subnet>;  ///< held on the main thread only

  // daemon.cpp: the life of the process
  bool listen(int* status);
  void start(InstanceSpec spec);
  void ended(const SubnetPtr& subnet);
  bool keeps(const InstanceSpec& spec) const;
  std::filesystem::path state_folder() const;
  store::StoreThread* stores(const InstanceSpec& spec);
  asio::awaitable<void> live();
  asio::awaitable<void> watch();
  void stuck();
  void ping(const SubnetPtr& subnet);
  bool all_alive() const;
  std::string status_text() const;
  bool is_good(const Subnet& subnet) const;
  void say_why();
  asio::awaitable<void> give_up_in_time();
  void hear_signals();
  void reopen_log();
  void interrupt();
  int status() const;

  // reload.cpp
  void take_files();
  void note_reload(std::vector<std::string> errors);
  void show_refused_policy();
  void log_warnings(const config::Config& config);
  std::vector<std::string> take(const config::Config& next, std::vector<std::string>& restart);
  std::vector<std::string> take_subnets(const config::Config& next, std::vector<std::string>& restart);
  bool named_on_command_line() const;
  void take_out(const SubnetPtr& subnet);
  std::vector<std::string> start_missing();

  // report.cpp: dumps and what is printed
  void subscribe();
  void swept(const SubnetPtr& subnet, std::shared_ptr<const sm::Snapshot> snapshot);
  void show_plan(const sm::Snapshot& snapshot);
  asio::awaitable<void> report(SubnetPtr subnet);
  std::filesystem::path folder_of(const sm::Snapshot& snapshot) const;
  std::string screen(const Subnet& subnet, const sm::Snapshot& snapshot) const;

  // backend.cpp: from any thread
  api::DaemonInfo info() const override;
  std::vector<std::shared_ptr<const api::SubnetView>> subnets() const override;
  std::expected<api::NextConfigs, std::vector<std::string>> next_configuration() const override;
  void reload() override;
  void resweep(std::size_t subnet, sm::Resweep kind) override;
  void accept_lost(std::size_t subnet, Guid node) override;
  std::future<api::PolicyVerdict> change_policies(std::size_t subnet, api::PolicyChange change) override;
  void hand_on(std::size_t subnet, replica::Call call, replica::CallDone done) override;
  asio::awaitable<api::Answer> answer_handed_on(api::Request request);
  void sweeps_off(std::size_t subnet, std::chrono::system_clock::time_point until) override;
  void train(std::size_t subnet, const api::PolicyChange::PortChange& port, std::string_view event) override;
  void reindex(std::size_t subnet, const std::set<Guid>& ports) override;
  void hand_over(std::size_t subnet, Guid to) override;
  void set_priority(std::size_t subnet, std::uint8_t priority) override;
  events::EventRing& events() override { return *events_; }
  store::EventLog& event_log() override { return event_log_; }
  access::Guard& guard() override { return guard_; }
  api::Answered& answered() override { return answered_; }
  void audit(const api::Audit& call) override;
  void unknown_ufm(const std::string& call) override;
  void not_on_network(std::string reason) override;
  void login_failed(const std::string& address, bool first) override;
  void token_used(const access::Use& use, std::int64_t now) override;
  log::Filter log_filter() const override { return parts_.log.filter(); }
  void set_log_filter(const log::Filter& filter) override;
  log::Filter configured_log_filter() const override;
  const routing::Parallel& parallel() const override { return compute_.parallel(); }
  std::shared_ptr<void> scrape_lock() override { return scraping_.try_lock(); }
  std::unique_lock<std::mutex> dump_turn() override { return std::unique_lock(dumping_, std::try_to_lock); }

  DaemonParts parts_;
  mutable std::mutex lock_;  ///< of info_, log_config_, stores_ and subnets_, which the API's threads read
  api::DaemonInfo info_;
  config::LogConfig log_config_;
  sm::PoolCompute compute_;
  sm::PoolCompute writing_{1};    ///< dumps and the screen
  sm::PoolCompute answering_{2};  ///< the API: one may make a dump, which takes its time
  std::mutex dumping_;
  api::TryLock scraping_;
  asio::io_context io_{1};
  mad::RealClock clock_{io_};
  asio::signal_set signals_{io_};
  std::unique_ptr<store::StoreThread> stores_;  ///< null as long as no subnet keeps anything
  access::Guard guard_;
  api::Answered answered_;
  std::shared_ptr<sm::Memberships> members_ = std::make_shared<sm::Memberships>();
  /// What has happened in all subnets, and the log's events; also the log's sink.
  std::shared_ptr<events::EventRing> events_ = std::make_shared<events::EventRing>(log::real_times());
  store::EventLog event_log_{*events_};
  api::Service service_{*this, answering_, parts_.log};
  std::optional<events::Subscriber> subscriber_;
  std::vector<SubnetPtr> subnets_;
  std::size_t running_ = 0;  ///< that have not ended
  std::string said_;         ///< to systemd
  bool ready_ = false, interrupted_ = false, failed_ = false;
  int failed_status_ = 1;
  bool disrupts_ = false;  ///< a dry run found LIDs, routes in use or links that would change
  std::string gave_up_;    ///< why a run that was to end has not begun
  mad::WaitList all_ended_;
  mad::TaskGroup reports_{io_.get_executor()};
  mad::TaskGroup tasks_{io_.get_executor()};
};

}  // namespace smd::daemon
