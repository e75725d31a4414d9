// SPDX-License-Identifier: Apache-2.0
#pragma once
// SMs with subnet administration and replicated stores on one simulated fabric, in virtual time.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mad/gsi/dispatcher.h"
#include "smd/replica/replicator.h"
#include "smd/sa/server.h"
#include "smd/sa/settings.h"
#include "tests/support/managed_world.h"
#include "tests/support/memory_network.h"
#include "tests/support/slow_compute.h"

namespace smd::test {

/// The world's clock of a machine that may have been suspended: no timer knows of it.
class SuspendedClock final : public mad::Clock {
 public:
  explicit SuspendedClock(mad::Clock& clock) : clock_(clock) {}
  mad::TimePoint now() const override { return clock_.now(); }
  mad::TimePoint uptime() const override { return clock_.now() + suspended; }
  TimerId call_at(mad::TimePoint at, std::move_only_function<void()> fire) override {
    return clock_.call_at(at, std::move(fire));
  }
  void cancel(TimerId id) override { clock_.cancel(id); }

  mad::Duration suspended{};  ///< so far

 private:
  mad::Clock& clock_;
};

/// One SM of a pair, as the daemon joins its parts.
class ReplicaSm {
 public:
  /// `sm_then`: the SM that its port had before the start; LID 0: none.
  ReplicaSm(sim::World& world, std::unique_ptr<replica::Network> network, const std::string& host,
            config::SubnetConfig config, store::Store& disk, replica::ReplicatorOptions options,
            const mad::LidRoute& sm_then = {})
      : world_(world),
        network_(std::move(network)),
        store_(parts(disk), std::move(options)),
        manager_(world, sim::Place{host, PortNum{1}}, config, {}, &store_),
        gsi_(world.transport(sim::Place{host, PortNum{1}}, sim::Interface::gsi)),
        classes_(*gsi_),
        server_(sa_parts(), sa::settings_of(config)),
        group_(world.io().get_executor()) {
    manager_.hear({.kinds = events::kinds_of<events::ClientsReregistered>},
                  [this](const events::Event& event) {
                    asked += std::get<events::ClientsReregistered>(event.payload).ports.size();
                  });
    store_.start();
    group_.spawn(look());
    if (sm_then.lid != Lid{}) world_.run(server_.read_groups(sm_then));
    group_.spawn(manager_->run());
  }
  ~ReplicaSm() {
    world_.run(store_.stop());
    world_.run(server_.stop());
    world_.run(group_.stop());
  }
  ReplicaSm(const ReplicaSm&) = delete;
  ReplicaSm& operator=(const ReplicaSm&) = delete;

  Managed& managed() { return manager_; }
  sm::SubnetManager& manager() { return *manager_; }
  const sm::Snapshot& last() { return manager_.last(); }
  replica::Replicator& store() { return store_; }
  SlowCompute& compute() { return replica_compute_; }  ///< of store()
  const sa::Registry& registry() { return *registry_.get(); }
  mad::Dispatcher& classes() { return classes_; }
  SuspendedClock& store_clock() { return store_clock_; }
  bool is_master() { return manager_->sms() && manager_->sms()->state.sm == wire::SmState::master; }
  mad::LidRoute address() { return {.lid = last().decided.lids->sm_lid, .qp = 1, .qkey = 0x80010000}; }
  /// Puts something into the registry as a client does that the SA has answered.
  void register_now(std::function<void(sa::Registry&)> change) {
    auto next = std::make_shared<sa::Registry>(*registry_.get());
    change(*next);
    registry_.set(next);
    world_.run(commit(next));
  }
  /// The same within a call: it is committed after it.
  void register_later(std::function<void(sa::Registry&)> change) {
    auto next = std::make_shared<sa::Registry>(*registry_.get());
    change(*next);
    registry_.set(next);
  }
  asio::awaitable<void> commit(sa::RegistryPtr next) { co_await store_.commit_registry(std::move(next)); }

  std::size_t asked = 0;  ///< ports that were asked to register again
  /// What this SM does, as master, of what a standby is asked.
  std::function<replica::CallAnswer(const replica::Call&)> does;
  mad::Duration takes{};  ///< how long that takes

 private:
  asio::awaitable<replica::CallAnswer> answer(replica::Call call) {
    co_await world_.clock().sleep(takes);
    replica::CallAnswer made{.status = 204};
    if (does) made = does(call);
    co_await store_.commit_registry(registry_.get());
    co_return made;
  }
  /// The manager's views, which the store reads.
  asio::awaitable<void> look() {
    for (;;) {
      sms_->set(manager_->sms());
      const bool time = co_await world_.clock().sleep(std::chrono::milliseconds(1));
      if (!time) co_return;
    }
  }
  log::Log log_to(Lines& to) {
    return {{},
            [&to](const log::Record&, std::string_view line) { to.all.emplace_back(line); },
            {.steady = [this] { return world_.now().time_since_epoch(); },
             .wall = [] { return std::chrono::system_clock::time_point{}; }}};
  }
  replica::ReplicatorParts parts(store::Store& disk) {
    return {
        .executor = world_.io().get_executor(),
        .clock = store_clock_,
        .compute = replica_compute_,
        .log = log_to(lines),
        .disk = disk,
        .network = *network_,
        .sms = sms_,
        .replaced = [this] { registry_.set(store_.registry()); },
        .inherited = [this](sa::RegistryPtr other,
                            sa::RegistryPtr common) { server_.unite(std::move(other), std::move(common)); },
        .inherited_policies =
            [this](policy::PoliciesPtr other, policy::PoliciesPtr common) {
              inherited_policies.emplace_back(std::move(other), std::move(common));
            },
        .refused = [this](Guid port) { refused.push_back(port); },
        .wall = [this] { return 1'000'000 + world_.now().time_since_epoch() / std::chrono::seconds(1); },
        .answer = [this](replica::Call call, Guid) { return answer(std::move(call)); }};
  }
  sa::ServerParts sa_parts() {
    return {.executor = world_.io().get_executor(),
            .gsi = classes_.of(wire::MgmtClass::sa),
            .asking = &classes_.asking(wire::MgmtClass::sa),
            .compute = compute_,
            .indexing = compute_,
            .source = [this] { return manager_->published(); },
            .act_count = [this] { return manager_->act_count(); },
            .registry = registry_,
            .store = &store_,
            .log = log_to(sa_lines),
            .clock = world_.clock(),
            .wall = [this] { return 1'000'000 + world_.now().time_since_epoch() / std::chrono::seconds(1); },
            .fabric = &manager_->requests(),
            .events = &manager_.ring(),
            .subnet = "test"};
  }

 public:
  Lines lines;                ///< that the store has logged
  Lines sa_lines;             ///< that the SA has
  std::vector<Guid> refused;  ///< SMs that have refused what it commits
  /// Of masters of other parts, each with what both had.
  std::vector<std::pair<policy::PoliciesPtr, policy::PoliciesPtr>> inherited_policies;

 private:
  sim::World& world_;
  sm::InlineCompute compute_;
  SlowCompute replica_compute_{world_.clock()};
  SuspendedClock store_clock_{world_.clock()};
  std::unique_ptr<replica::Network> network_;
  std::shared_ptr<sm::PublishedSms> sms_ = std::make_shared<sm::PublishedSms>();
  sm::Published<sa::Registry> registry_;
  replica::Replicator store_;
  Managed manager_;
  std::unique_ptr<sim::Transport> gsi_;
  mad::Dispatcher classes_;
  sa::Server server_;
  mad::TaskGroup group_;
};

inline config::SubnetConfig with_priority(std::uint8_t priority) {
  config::SubnetConfig config;
  config.sm.priority = priority;
  return config;
}

class ReplicaSite {
 public:
  explicit ReplicaSite(std::string_view fabric) : world(spec(fabric)), network(world.clock()) {}
  ~ReplicaSite() {
    while (!sms_.empty()) kill(sms_.begin()->first);
  }
  ReplicaSite(const ReplicaSite&) = delete;
  ReplicaSite& operator=(const ReplicaSite&) = delete;

  /// On port 1 of the host, with the disk that it had before, for two seconds at least.
  ReplicaSm& start(const std::string& host, config::SubnetConfig config, std::vector<std::string> peers,
                   replica::Mode mode = replica::Mode::async) {
    auto& sm = begin(host, std::move(config), std::move(peers), {}, mode);
    world.run_for(std::chrono::seconds(2));
    return sm;
  }
  /// The same, without these two seconds.
  ReplicaSm& begin(const std::string& host, config::SubnetConfig config, std::vector<std::string> peers,
                   const mad::LidRoute& sm_then = {}, replica::Mode mode = replica::Mode::async) {
    auto& sm = sms_[host];
    sm = std::make_unique<ReplicaSm>(
        world, network_of ? network_of(host) : network.at(host), host, std::move(config), disks[host],
        replica::ReplicatorOptions{.subnet = "test", .mode = mode, .peers = std::move(peers)}, sm_then);
    return *sm;
  }
  void kill(const std::string& host) { sms_.erase(host); }
  bool runs(const std::string& host) const { return sms_.contains(host); }
  ReplicaSm& operator[](const std::string& host) { return *sms_.at(host); }

  sim::World world;
  MemoryNetwork network;
  std::map<std::string, store::MemoryStore> disks;
  /// Instead of `network`, of SMs that are started from now on.
  std::function<std::unique_ptr<replica::Network>(const std::string& host)> network_of;
  /// 0: it does not run, or does not know it yet.
  Guid port_of(const std::string& host) const {
    const auto at = sms_.find(host);
    const auto view = at != sms_.end() && at->second ? at->second->manager().sms() : nullptr;
    return view ? view->state.self.guid : Guid{};
  }

 private:
  std::map<std::string, std::unique_ptr<ReplicaSm>> sms_;
};

}  // namespace smd::test
