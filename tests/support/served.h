// SPDX-License-Identifier: Apache-2.0
#pragma once
// A manager and its subnet administration on one port of a simulated fabric, joined as the daemon joins them.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mad/gsi/dispatcher.h"
#include "smd/sa/server.h"
#include "tests/support/managed_world.h"

namespace smd::test {

class Served {
 public:
  /// Runs until it is up; `store` may be null. Without a place: on the first adapter. `sm_then`: the SM that
  /// its port had before the start; LID 0: none.
  Served(sim::World& world, store::Store* store, const sa::Settings& settings,
         config::SubnetConfig config = {}, const std::optional<sim::Place>& place = {},
         const mad::LidRoute& sm_then = {})
      : world_(world),
        manager_(place ? Managed(world, *place, std::move(config), {}, store)
                       : Managed(world, std::move(config), {}, store)),
        gsi_(place ? world.transport(*place, sim::Interface::gsi) : world.transport(sim::Interface::gsi)),
        classes_(*gsi_),
        server_(parts(store), settings),
        group_(world.io().get_executor()) {
    manager_.hear({.kinds = events::kinds_of<events::ClientsReregistered>},
                  [this](const events::Event& event) {
                    const auto& ports = std::get<events::ClientsReregistered>(event.payload).ports;
                    asked_.insert(asked_.end(), ports.begin(), ports.end());
                  });
    if (sm_then.lid != Lid{}) world.run(server_.read_groups(sm_then));
    group_.spawn(manager_->run());
    world.run_for(std::chrono::seconds(2));
  }
  ~Served() {
    world_.run(group_.stop());
    world_.run(server_.stop());
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  sm::SubnetManager& manager() { return *manager_; }
  const Lines& lines() const { return manager_.lines(); }
  const Lines& sa_lines() const { return sa_lines_; }  ///< that the SA has logged
  sa::Server& server() { return server_; }
  mad::Dispatcher& classes() { return classes_; }
  const sm::Snapshot& last() { return manager_.last(); }
  const sa::Registry& registry() { return *registry_.get(); }
  /// What it shows of the groups of a master that is not copied; null: nothing.
  std::shared_ptr<const sa::GroupsRead> groups_read() const { return groups_read_->get(); }
  /// Ports that were asked to register again since the last call.
  std::vector<Guid> asked() { return std::exchange(asked_, {}); }
  /// Where clients send their requests.
  mad::LidRoute address() { return {.lid = last().decided.lids->sm_lid, .qp = 1, .qkey = 0x80010000}; }

 private:
  sa::ServerParts parts(store::Store* store) {
    return {.executor = world_.io().get_executor(),
            .gsi = classes_.of(wire::MgmtClass::sa),
            .asking = &classes_.asking(wire::MgmtClass::sa),
            .compute = compute_,
            .indexing = compute_,
            .source = [this] { return manager_->published(); },
            .act_count = [this] { return manager_->act_count(); },
            .registry = registry_,
            .store = store,
            .log = log::Log(
                {}, [this](const log::Record&, std::string_view line) { sa_lines_.all.emplace_back(line); },
                {.steady = [this] { return world_.now().time_since_epoch(); },
                 .wall = [] { return std::chrono::system_clock::time_point{}; }}),
            .clock = world_.clock(),
            .wall = [this] { return world_.now().time_since_epoch() / std::chrono::seconds(1); },
            .fabric = &manager_->requests(),
            .events = &manager_.ring(),
            .subnet = "test",
            .groups_read = groups_read_};
  }

  sim::World& world_;
  Lines sa_lines_;
  sm::InlineCompute compute_;
  sm::Published<sa::Registry> registry_;
  std::shared_ptr<sa::PublishedGroupsRead> groups_read_ = std::make_shared<sa::PublishedGroupsRead>();
  Managed manager_;
  std::unique_ptr<sim::Transport> gsi_;
  mad::Dispatcher classes_;
  sa::Server server_;
  std::vector<Guid> asked_;
  mad::TaskGroup group_;
};

}  // namespace smd::test
