// SPDX-License-Identifier: Apache-2.0
#pragma once
// A backend whose subnets a test gives it.

#include <memory>
#include <utility>
#include <vector>

#include "smd/api/backend.h"

namespace smd::test {

class FakeBackend final : public api::Backend {
 public:
  std::vector<std::shared_ptr<const api::SubnetView>> views;
  std::vector<std::pair<std::size_t, sm::Resweep>> asked;
  std::vector<std::pair<std::size_t, Guid>> accepted;
  std::vector<std::pair<std::size_t, Guid>> handed_over;
  std::vector<std::pair<std::size_t, std::uint8_t>> priorities;
  log::Filter filter, configured;

  void add(api::SubnetView view) { views.push_back(std::make_shared<api::SubnetView>(std::move(view))); }

  api::DaemonInfo info() const override {
    return {.version = "1.2.3", .configuration = "/etc/smd/smd.toml", .started = {}, .loaded = {}};
  }
  std::vector<std::shared_ptr<const api::SubnetView>> subnets() const override { return views; }
  void resweep(std::size_t subnet, sm::Resweep work) override { asked.emplace_back(subnet, work); }
  void accept_lost(std::size_t subnet, Guid node) override { accepted.emplace_back(subnet, node); }
  /// Takes the change at once, as a daemon without a store does.
  std::future<api::PolicyVerdict> change_policies(std::size_t subnet, api::PolicyChange change) override {
    std::promise<api::PolicyVerdict> verdict;
    const bool good = views[subnet]->ground == change.before && keeps;
    if (good) {
      auto view = *views[subnet];
      view.ground = std::make_shared<const api::PolicyGround>(
          api::PolicyGround{change.before->config, std::move(change.after), std::move(change.merged)});
      views[subnet] = std::make_shared<api::SubnetView>(std::move(view));
    }
    verdict.set_value(good    ? api::PolicyVerdict::done
                      : keeps ? api::PolicyVerdict::stale
                              : api::PolicyVerdict::not_kept);
    return verdict.get_future();
  }
  void reindex(std::size_t, const std::set<Guid>& ports) override { reindexed = ports; }
  bool keeps = true;
  std::set<Guid> reindexed;
  void hand_over(std::size_t subnet, Guid to) override { handed_over.emplace_back(subnet, to); }
  void set_priority(std::size_t subnet, std::uint8_t priority) override {
    priorities.emplace_back(subnet, priority);
  }
  log::Filter log_filter() const override { return filter; }
  void set_log_filter(const log::Filter& next) override { filter = next; }
  log::Filter configured_log_filter() const override { return configured; }
  const routing::Parallel& parallel() const override { return serial_; }
  std::unique_lock<std::mutex> dump_turn() override { return std::unique_lock(dumping, std::try_to_lock); }
  std::mutex dumping;

 private:
  routing::Serial serial_;
};

}  // namespace smd::test
