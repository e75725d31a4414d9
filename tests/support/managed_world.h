// SPDX-License-Identifier: Apache-2.0
#pragma once
// Managers of a simulated subnet in virtual time.

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "mad/base/fabric_spec.h"
#include "mad/sim/drivers/world.h"
#include "mad/task_group.h"
#include "smd/events/log_sink.h"
#include "smd/events/subscriber.h"
#include "smd/log/log.h"
#include "smd/manager.h"
#include "smd/snapshot/memberships.h"
#include "tests/support/slow_compute.h"

namespace smd::test {

/// Lines that a manager has logged.
struct Lines {
  std::vector<std::string> all;
  std::size_t count(const std::string& what) const {
    std::size_t n = 0;
    for (const auto& line : all) n += line.find(what) != std::string::npos ? 1U : 0U;
    return n;
  }
  /// The first line that has it; empty where there is none.
  std::string first(const std::string& what) const {
    for (const auto& line : all) {
      if (line.find(what) != std::string::npos) return line;
    }
    return {};
  }
};

/// A manager on a port, with what it needs.
class Managed {
 public:
  Managed(sim::World& world, const sim::Place& place, config::SubnetConfig config = {},
          sm::ManagerOptions options = {}, store::Store* store = nullptr)
      : Managed(world, world.transport(place), std::move(config), std::move(options), store) {}
  explicit Managed(sim::World& world, config::SubnetConfig config = {}, sm::ManagerOptions options = {},
                   store::Store* store = nullptr, policy::PoliciesPtr policies = {})
      : Managed(world, world.transport(), std::move(config), std::move(options), store, nullptr,
                std::move(policies)) {}
  /// With another clock than the world's, which may lead it astray.
  Managed(sim::World& world, mad::Clock& clock, config::SubnetConfig config)
      : Managed(world, world.transport(), std::move(config), {}, nullptr, &clock) {}

  sm::SubnetManager& operator*() { return manager_; }
  sm::SubnetManager* operator->() { return &manager_; }
  const Lines& lines() const { return *lines_; }
  /// Where decisions and plans are made; they take no time unless told otherwise.
  SlowCompute& compute() { return compute_; }
  /// What it publishes, and its log's events; the latest 1,000. Its subnet's name is "test".
  events::EventRing& ring() { return *ring_; }
  /// Calls `heard` for each sweep that ends from now on, and where the state is judged anew.
  void on_sweep(std::function<void(const sm::Snapshot&)> heard) {
    hear({.kinds = events::kinds_of<events::SweepEnded, events::SubnetSettled>},
         [this, call = std::move(heard)](const events::Event&) { call(*manager_.published()); });
  }
  /// Calls `heard` for each event from now on.
  void hear(events::Wants wants, std::function<void(const events::Event&)> heard) {
    subscribers_.emplace_back(executor_, *ring_, std::move(wants),
                              events::Subscriber::Calls{.event = std::move(heard)});
  }
  /// The last sweep; fails the test where there was none.
  const sm::Snapshot& last() const {
    last_ = manager_.published();
    if (!last_) throw std::runtime_error("no sweep was published");
    return *last_;
  }

 private:
  Managed(sim::World& world, std::unique_ptr<sim::Transport> transport, config::SubnetConfig config,
          sm::ManagerOptions options, store::Store* store, mad::Clock* clock = nullptr,
          policy::PoliciesPtr policies = {})
      : executor_(world.io().get_executor()),
        times_{.steady = [&world] { return world.now().time_since_epoch(); },
               .wall = [] { return std::chrono::system_clock::time_point{}; }},
        clock_(clock),
        compute_(world.clock()),
        transport_(std::move(transport)),
        manager_(parts(world, store, std::move(policies)), "test", std::move(config), std::move(options)) {}

  sm::ManagerParts parts(sim::World& world, store::Store* store, policy::PoliciesPtr policies) {
    if (!policies) policies = std::make_shared<const policy::Policies>();
    const auto output = [lines = lines_](const log::Record&, std::string_view line) {
      lines->all.emplace_back(line);
    };
    const log::Log log({}, output, times_);
    log.set_sink(events::log_sink(
        ring_, [members = members_](const log::Record& record) { return members->of(record); }));
    members_->watch({}, published_);  // the log has no subnet
    return {.executor = world.io().get_executor(),
            .clock = clock_ != nullptr ? *clock_ : world.clock(),
            .smi = *transport_,
            .compute = compute_,
            .log = log,
            .claim_sm = [this]() -> std::expected<void, std::string> {
              if (transport_->claim_sm()) return {};
              return std::unexpected("taken");
            },
            .seed = 7,
            .store = store,
            .policies = std::move(policies),
            .wall = [&world] { return 1'000'000 + world.now().time_since_epoch() / std::chrono::seconds(1); },
            .events = ring_.get(),
            .published = published_};
  }

  asio::any_io_executor executor_;
  log::Times times_;
  mad::Clock* clock_ = nullptr;  ///< null: the world's
  std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
  std::shared_ptr<events::EventRing> ring_ =
      std::make_shared<events::EventRing>(times_, events::Limits{.events = 1000});
  std::shared_ptr<sm::Memberships> members_ = std::make_shared<sm::Memberships>();
  std::shared_ptr<sm::Published<sm::Snapshot>> published_ = std::make_shared<sm::Published<sm::Snapshot>>();
  SlowCompute compute_;
  std::unique_ptr<sim::Transport> transport_;
  sm::SubnetManager manager_;
  mutable std::shared_ptr<const sm::Snapshot> last_;
  std::list<events::Subscriber> subscribers_;
};

/// One full sweep, then end.
inline sm::ManagerOptions once() {
  sm::ManagerOptions options;
  options.once = true;
  return options;
}

/// Runs managers for some virtual time and ends them.
inline void run_for(sim::World& world, std::vector<sm::SubnetManager*> managers, sim::Duration time) {
  mad::TaskGroup group(world.io().get_executor());
  for (auto* manager : managers) group.spawn(manager->run());
  world.run_for(time);
  world.run(group.stop());
}

inline base::Fabric spec(std::string_view text) { return *base::make_fabric(text); }

}  // namespace smd::test
