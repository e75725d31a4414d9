// SPDX-License-Identifier: Apache-2.0
#pragma once
// A manager of a simulated subnet in virtual time, over restarts.

#include <chrono>
#include <optional>

#include "tests/support/managed_world.h"
#include "tests/support/store_lab.h"

namespace smd::test {

/// The base of fixtures: world, configuration and store outlive the managers.
class KeptManager {
 protected:
  explicit KeptManager(const base::Fabric& fabric) : world_(fabric) {}
  KeptManager(const KeptManager&) = delete;
  KeptManager& operator=(const KeptManager&) = delete;
  ~KeptManager() {
    if (group_) world_.run(group_->stop());
  }

  /// Starts a manager and gives it ten seconds.
  void begin() {
    manager_.emplace(world_, config_, sm::ManagerOptions{}, &store_);
    group_.emplace(world_.io().get_executor());
    group_->spawn((*manager_)->run());
    world_.run_for(std::chrono::seconds(10));
  }
  void stop() {
    world_.run(group_->stop());
    group_.reset();
    manager_.reset();
  }
  void restart() {
    stop();
    begin();
  }
  const sm::RoutePart& routes() { return *manager_->last().decided.routes; }

  config::SubnetConfig config_;
  store::MemoryStore store_;
  sim::World world_;
  std::optional<Managed> manager_;
  std::optional<mad::TaskGroup> group_;
};

}  // namespace smd::test
