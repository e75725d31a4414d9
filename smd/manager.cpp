// SPDX-License-Identifier: Apache-2.0
// How a manager is put together, and what is asked of it. Which work is done: manager_work.cpp.
#include "smd/manager.h"

#include <chrono>
#include <utility>

#include "smd/reconcile/import_lids.h"

namespace smd::sm {
namespace {

mad::Policy policy_of(const config::MadConfig& config) {
  mad::Policy policy;
  policy.max_outstanding = config.max_outstanding;
  policy.per_node = config.per_node;
  policy.timeout = config.timeout;
  policy.retries = config.retries;
  policy.slow_timeout = config.slow_timeout;
  policy.lossy_timeout = std::chrono::milliseconds(4);
  return policy;
}

UnixTime system_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

/// Then the fabric need not be read again.
bool partitions_alone_differ(config::SubnetConfig before, const config::SubnetConfig& after) {
  if (before == after) return false;
  if (before.partitions.refused != after.partitions.refused) return false;  // which is in the state
  before.partitions = after.partitions;
  before.partition = after.partition;
  before.groups = after.groups;
  return before == after;
}

}  // namespace

SubnetManager::SubnetManager(ManagerParts parts, std::string name, config::SubnetConfig config,
                             ManagerOptions options)
    : parts_(std::move(parts)),
      options_(options),
      events_(parts_.events, name),
      config_(std::make_shared<const config::SubnetConfig>(std::move(config))),
      policies_(parts_.policies),
      tx_(parts_.executor, parts_.clock, parts_.smi, policy_of(config_->mad), parts_.seed),
      tasks_(parts_.executor),
      scheduler_(parts_.clock, agenda_, *config_),
      loop_({.tx = tx_,
             .clock = parts_.clock,
             .compute = parts_.compute,
             .agenda = agenda_,
             .log = parts_.log,
             .store = options_.dry_run ? nullptr : parts_.store,
             .newer_waits = [this] { return scheduler_.newer_waits(); },
             .look_again = [this] { return switches_.look_once_more(); }},
            config_, parts_.store != nullptr ? parts_.store->loaded() : std::make_shared<const Stored>(),
            policy::merged_policy(*config_, *policies_)),
      traps_({.scheduler = scheduler_,
              .log = parts_.log,
              .events = events_,
              .subnet = loop_.subnet(),
              .config = config_,
              .lids = lids_}),
      mastership_({.executor = parts_.executor,
                   .clock = parts_.clock,
                   .tx = tx_,
                   .tasks = tasks_,
                   .agenda = agenda_,
                   .log = parts_.log,
                   .events = events_,
                   .subnet = loop_.subnet(),
                   .config = config_,
                   .lids = lids_,
                   .wall = parts_.wall ? parts_.wall : system_time,
                   .sms = parts_.sms},
                  [this](const wire::Notice& notice, Lid from) {
                    traps_.heard(notice, from);
                    mastership_.heard(notice, from);
                  }),
      inventory_({.clock = parts_.clock,
                  .compute = parts_.compute,
                  .tasks = tasks_,
                  .loop = loop_,
                  .mastership = mastership_,
                  .log = parts_.log,
                  .wall = parts_.wall ? parts_.wall : system_time,
                  .once = options_.once,
                  .dry_run = options_.dry_run}),
      status_({.name = std::move(name),
               .log = parts_.log,
               .events = events_,
               .published = parts_.published,
               .tx = tx_,
               .loop = loop_,
               .mastership = mastership_,
               .traps = traps_,
               .inventory = inventory_,
               .config = config_,
               .wall = parts_.wall ? parts_.wall : system_time,
               .dry_run = options_.dry_run}),
      switches_({.executor = parts_.executor,
                 .tx = tx_,
                 .scheduler = scheduler_,
                 .loop = loop_,
                 .status = status_}),
      light_({.executor = parts_.executor,
              .tx = tx_,
              .scheduler = scheduler_,
              .loop = loop_,
              .mastership = mastership_,
              .switches = switches_,
              .status = status_,
              .log = parts_.log,
              .config = config_}),
      sweeper_({.tx = tx_,
                .scheduler = scheduler_,
                .loop = loop_,
                .mastership = mastership_,
                .switches = switches_,
                .light = light_,
                .inventory = inventory_,
                .status = status_,
                .store = parts_.store,
                .log = parts_.log,
                .events = events_,
                .config = config_,
                .once = options_.once,
                .dry_run = options_.dry_run}),
      vl_tables_({.executor = parts_.executor,
                  .tx = tx_,
                  .scheduler = scheduler_,
                  .loop = loop_,
                  .mastership = mastership_}),
      retrainer_({.executor = parts_.executor,
                  .tx = tx_,
                  .scheduler = scheduler_,
                  .loop = loop_,
                  .mastership = mastership_,
                  .log = parts_.log,
                  .config = config_}),
      services_({.loop = loop_,
                 .mastership = mastership_,
                 .log = parts_.log,
                 .events = events_,
                 .config = config_}) {}

void SubnetManager::resweep(Resweep kind, std::string reason) {
  if (kind == Resweep::converge) loop_.converge(true);
  switch (kind) {
    case Resweep::light:
      return agenda_.add(Work::light, std::move(reason));
    case Resweep::heavy:
      return agenda_.add(Work::heavy, std::move(reason));
    case Resweep::converge:
      return agenda_.add(Work::incremental, std::move(reason));
  }
}

void SubnetManager::reload(config::SubnetConfig config) {
  const auto& latest = next_config_ ? *next_config_ : *config_;
  const bool parts_alone = partitions_alone_differ(latest, config) && loop_.decided().routes;
  next_config_ = std::make_shared<const config::SubnetConfig>(std::move(config));
  if (parts_alone) return agenda_.add(PartSet{Part::partitions});
  agenda_.add(Work::heavy, "reload");
}

void SubnetManager::set_policies(policy::PoliciesPtr policies) {
  next_policies_ = std::move(policies);
  if (loop_.decided().routes) agenda_.add(PartSet{Part::partitions});
}

void SubnetManager::reindex(const std::set<Guid>& ports) {
  loop_.reindex(ports);
  agenda_.add(PartSet{Part::partitions});
}

/// Between two sweeps only: what runs refers to the configuration that it began with. Thousands of partitions
/// are merged elsewhere. False when cancelled.
asio::awaitable<bool> SubnetManager::take_config() {
  if (!next_config_ && !next_policies_) co_return true;
  const auto config = next_config_ ? next_config_ : config_;
  const auto policies = next_policies_ ? next_policies_ : policies_;
  PolicyPtr policy;
  const bool merged =
      co_await parts_.compute.execute([&] { policy = policy::merged_policy(*config, *policies); });
  if (!merged) co_return false;
  const bool configured = config != config_;
  config_ = config;
  policies_ = policies;
  if (next_config_ == config) next_config_ = nullptr;  // else there is a later one already
  if (next_policies_ == policies) next_policies_ = nullptr;
  loop_.configure(config_, std::move(policy));
  if (!configured) co_return true;
  tx_.set_policy(policy_of(config_->mad));
  mastership_.configure();
  scheduler_.configure(*config_);
  retrainer_.reset();
  co_return true;
}

void SubnetManager::set_groups(Groups groups) {
  loop_.set_groups(std::move(groups));
  agenda_.add(PartSet{Part::multicast});
}

void SubnetManager::reregister(const std::vector<Guid>& ports) {
  if (options_.once) return;  // it ends before it could answer what clients then ask
  loop_.reregister({ports.begin(), ports.end()});
  agenda_.add(PartSet{Part::clients});
}

void SubnetManager::set_guids(const std::vector<GuidBlock>& blocks) {
  loop_.set_guids(blocks);
  agenda_.add(PartSet{Part::guids});
}

void SubnetManager::accept_lost(Guid node) {
  inventory_.accept(node);
  agenda_.add(Work::inventory, "accept");
}

void SubnetManager::leave(std::move_only_function<void()> done) { tasks_.spawn(leave_then(std::move(done))); }

asio::awaitable<void> SubnetManager::leave_then(std::move_only_function<void()> done) {
  co_await mastership_.leave();
  done();
}

asio::awaitable<void> SubnetManager::run() {
  if (const auto local = parts_.smi.local(); local) mastership_.set_port(local->guid);
  if (!options_.dry_run) {
    const bool claimed = co_await mastership_.start(&parts_.claim_sm, !options_.once);
    if (!claimed) co_return;
  }
  const auto& lids = config_->lids.import_guid2lid;
  if (loop_.stored()->lids.empty() && !lids.empty()) import_lids(loop_, lids, parts_.log);
  co_await serve();
  co_await tasks_.stop();
}

}  // namespace smd::sm
