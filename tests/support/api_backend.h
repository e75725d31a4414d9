// SPDX-License-Identifier: Apache-2.0
#pragma once
// A backend whose subnets a test gives it.

#include <functional>
#include <memory>
#include <mutex>
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
    return {.version = "1.2.3",
            .configuration = "/etc/smd/smd.toml",
            .started = {},
            .loaded = {},
            .reloads = reloaded,
            .reloads_failed = reloads_refused};
  }
  std::uint64_t reloaded = 0, reloads_refused = 0;  ///< as info() tells of them
  std::vector<std::shared_ptr<const api::SubnetView>> subnets() const override { return views; }
  std::expected<api::NextConfigs, std::vector<std::string>> next_configuration() const override {
    return next;
  }
  std::expected<api::NextConfigs, std::vector<std::string>> next;
  void reload() override { ++reloads; }
  unsigned reloads = 0;
  void resweep(std::size_t subnet, sm::Resweep work) override { asked.emplace_back(subnet, work); }
  void accept_lost(std::size_t subnet, Guid node) override { accepted.emplace_back(subnet, node); }
  /// Takes the change at once, as a daemon without a store does.
  std::future<api::PolicyVerdict> change_policies(std::size_t subnet, api::PolicyChange change) override {
    if (const auto other = std::exchange(meanwhile, nullptr)) other();
    std::promise<api::PolicyVerdict> verdict;
    if (replaced) {
      verdict.set_value(api::PolicyVerdict::maybe_lost);
      return verdict.get_future();
    }
    const bool good = views[subnet]->policy_state == change.before && keeps;
    if (good) partitions_changed.push_back(change.partition);
    if (good) {
      auto view = *views[subnet];
      view.policy_state = std::make_shared<const api::PolicyState>(
          api::PolicyState{change.before->config, std::move(change.after), std::move(change.merged)});
      ++view.epoch;
      views[subnet] = std::make_shared<api::SubnetView>(std::move(view));
    }
    verdict.set_value(good    ? copies ? api::PolicyVerdict::done : api::PolicyVerdict::not_copied
                      : keeps ? api::PolicyVerdict::stale
                              : api::PolicyVerdict::not_kept);
    return verdict.get_future();
  }
  void sweeps_off(std::size_t subnet, std::chrono::system_clock::time_point until) override {
    auto view = *views[subnet];
    view.sweeps_off_until = until;
    views[subnet] = std::make_shared<api::SubnetView>(std::move(view));
  }
  std::shared_ptr<void> scrape_lock() override { return scraping.try_lock(); }
  api::TryLock scraping;
  void reindex(std::size_t, const std::set<Guid>& ports) override { reindexed = ports; }
  void train(std::size_t, const api::PolicyChange::PortChange& port, std::string_view event) override {
    trained.emplace_back(port.at, event);
  }
  std::vector<std::pair<policy::PortAt, std::string>> trained;
  std::vector<std::string> partitions_changed;  ///< as the event names them
  std::function<void()> meanwhile;              ///< what comes before the next change is taken; once
  bool keeps = true;
  bool replaced = false;  ///< the mastership has ended with the request under way
  bool copies = true;     ///< false: no standby has what is changed, in mode sync-strict
  std::set<Guid> reindexed;
  void hand_over(std::size_t subnet, Guid to) override { handed_over.emplace_back(subnet, to); }
  void hand_on(std::size_t, replica::Call call, replica::CallDone done) override {
    handed_on.push_back(call);
    done(master ? master(call) : std::unexpected("no SM of the fabric is master at present"));
  }
  std::vector<replica::Call> handed_on;
  std::function<std::expected<replica::CallAnswer, std::string>(const replica::Call&)> master;
  void set_priority(std::size_t subnet, std::uint8_t priority) override {
    priorities.emplace_back(subnet, priority);
  }
  events::EventRing& events() override { return ring; }
  events::EventRing ring{log::real_times()};
  store::EventLog& event_log() override {
    if (at_search) at_search();
    return kept_events;
  }
  std::function<void()> at_search;  ///< what comes before each search for events
  store::EventLog kept_events{ring};
  access::Guard& guard() override { return guard_; }
  api::Answered& answered() override { return answered_; }
  void audit(const api::Audit& call) override { calls.push_back(call); }
  void unknown_ufm(const std::string& call) override { unknown.push_back(call); }
  std::vector<std::string> unknown;
  /// Called on the API's thread.
  void not_on_network(std::string reason) override {
    const std::scoped_lock lock(network_lock);
    network_trouble = std::move(reason);
  }
  std::mutex network_lock;
  std::string network_trouble;
  void login_failed(const std::string&, bool) override { ++wrong_tokens; }
  void token_used(const access::Use& use, std::int64_t) override { used.push_back(use.name); }
  std::vector<api::Audit> calls;
  std::vector<std::string> used;
  unsigned wrong_tokens = 0;
  log::Filter log_filter() const override { return filter; }
  void set_log_filter(const log::Filter& set) override { filter = set; }
  log::Filter configured_log_filter() const override { return configured; }
  const routing::Parallel& parallel() const override { return serial_; }
  std::unique_lock<std::mutex> dump_turn() override { return std::unique_lock(dumping, std::try_to_lock); }
  std::mutex dumping;

 private:
  access::Guard guard_;
  api::Answered answered_;
  routing::Serial serial_;
};

}  // namespace smd::test
