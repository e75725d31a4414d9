// SPDX-License-Identifier: Apache-2.0
// How a manager is put together, and what is asked of it. Which work is done: manager_work.cpp.
#include "smd/manager.h"

#include <chrono>
#include <utility>

#include "smd/base/unix_time.h"
#include "smd/reconcile/imports.h"

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

/// Tables of ports follow from classes, and classes from partitions.
bool has_classes(const config::QosConfig& qos) {
  return !qos.traffic_classes.empty() || qos.preset != config::QosPreset::none ||
         (qos.accepted && !qos.accepted->classes.empty());
}

/// What is said of files that are wrong.
void take_refusals(config::SubnetConfig& before, const config::SubnetConfig& after) {
  before.partitions.refused = after.partitions.refused;
  before.qos.refused = after.qos.refused;
}

bool refusals_differ(const config::SubnetConfig& before, const config::SubnetConfig& after) {
  return before.partitions.refused != after.partitions.refused || before.qos.refused != after.qos.refused;
}

/// Or the QoS policy. Then the fabric need not be read again.
bool partitions_alone_differ(config::SubnetConfig before, const config::SubnetConfig& after) {
  if (before == after || has_classes(before.qos) || has_classes(after.qos)) return false;
  before.partitions = after.partitions;
  before.partition = after.partition;
  before.groups = after.groups;
  before.qos.policy_file = after.qos.policy_file;
  before.qos.conf = after.qos.conf;
  before.qos.level = after.qos.level;
  before.qos.rule = after.qos.rule;
  before.qos.ulp = after.qos.ulp;
  before.qos.accepted = after.qos.accepted;
  take_refusals(before, after);
  return before == after;
}

/// Files that are wrong change nothing but what is said of them.
bool refusals_alone_differ(config::SubnetConfig before, const config::SubnetConfig& after) {
  take_refusals(before, after);
  return before == after;
}

}  // namespace

SubnetManager::SubnetManager(ManagerParts parts, std::string name, config::SubnetConfig config,
                             ManagerOptions options)
    : parts_(std::move(parts)),
      options_(options),
      events_(parts_.events, name),
      given_(std::make_shared<const config::SubnetConfig>(std::move(config))),
      policies_(parts_.policies),
      config_(policy::with_kept(given_, *policies_)),
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
             .look_again = [this] { return switches_.look_once_more(); },
             .may_write = [this] { return may_write(); }},
            config_, parts_.store != nullptr ? parts_.store->loaded() : std::make_shared<const Stored>(),
            policy::merged_policy(*given_, *policies_)),
      traps_({.scheduler = scheduler_,
              .log = parts_.log,
              .events = events_,
              .subnet = loop_.subnet(),
              .config = config_,
              .lids = lids_}),
      mastership_(
          {.executor = parts_.executor,
           .clock = parts_.clock,
           .tx = tx_,
           .tasks = tasks_,
           .agenda = agenda_,
           .log = parts_.log,
           .events = events_,
           .subnet = loop_.subnet(),
           .config = config_,
           .lids = lids_,
           .wall = parts_.wall ? parts_.wall : unix_now,
           .sms = parts_.sms,
           .settle = [this](Guid standby) { return settle(standby); },
           .lags = [this](Guid standby) { return parts_.store != nullptr && parts_.store->lags(standby); }},
          [this](const wire::Notice& notice, Lid from) {
            traps_.heard(notice, from);
            status_.publish_traps();
            mastership_.heard(notice, from);
          }),
      inventory_({.clock = parts_.clock,
                  .compute = parts_.compute,
                  .tasks = tasks_,
                  .loop = loop_,
                  .mastership = mastership_,
                  .log = parts_.log,
                  .wall = parts_.wall ? parts_.wall : unix_now,
                  .once = options_.once,
                  .dry_run = options_.dry_run}),
      status_({.name = std::move(name),
               .log = parts_.log,
               .events = events_,
               .published = parts_.published,
               .activity = parts_.activity,
               .tx = tx_,
               .loop = loop_,
               .mastership = mastership_,
               .traps = traps_,
               .inventory = inventory_,
               .config = config_,
               .wall = parts_.wall ? parts_.wall : unix_now,
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
      standby_({.tx = tx_,
                .scheduler = scheduler_,
                .loop = loop_,
                .mastership = mastership_,
                .status = status_,
                .store = options_.dry_run ? nullptr : parts_.store,
                .log = parts_.log,
                .config = config_}),
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
                 .config = config_}) {
  // Known before run(): the replica greets its peers by this port.
  if (const auto local = parts_.smi.local(); local) mastership_.set_port(local->guid);
  take_disabled_ports();
}

void SubnetManager::take_disabled_ports() {
  if (policies_->disabled_ports != *loop_.disabled())
    loop_.disable(std::make_shared<const policy::DisabledPorts>(policies_->disabled_ports));
}

void SubnetManager::resweep(Resweep kind, std::string reason) {
  using Fresh = DecideInput::Fresh;
  switch (kind) {
    case Resweep::light:
      return agenda_.add(Work::light, std::move(reason));
    case Resweep::heavy:
      return agenda_.add(Work::heavy, std::move(reason), true);
    case Resweep::converge:
    case Resweep::converge_engine:
      loop_.converge(kind == Resweep::converge ? Fresh::new_layers : Fresh::any_engine);
      return agenda_.add(Work::incremental, std::move(reason), true);
  }
}

void SubnetManager::reload(config::SubnetConfig config) {
  const auto& latest = next_config_ ? *next_config_ : *given_;
  const bool routed = loop_.decided().routes != nullptr;
  const bool judged = routed && refusals_differ(latest, config);
  const bool refusals_alone = judged && refusals_alone_differ(latest, config);
  const bool parts_alone = routed && !refusals_alone && partitions_alone_differ(latest, config);
  next_config_ = std::make_shared<const config::SubnetConfig>(std::move(config));
  judge_ = judge_ || judged;
  if (!refusals_alone && !parts_alone) return agenda_.add(Work::heavy, "reload", true);
  if (judged) agenda_.add(Work::inventory, "reload");
  if (parts_alone) agenda_.add(partition_parts());
}

void SubnetManager::set_policies(policy::PoliciesPtr policies) {
  next_policies_ = std::move(policies);
  if (!loop_.decided().routes) return;
  auto parts = partition_parts();
  parts.insert(Part::ports);
  agenda_.add(parts);
}

/// Where clients ask for SLs, that of a partition is a class, which needs VLs; so does a class for each
/// tenant. Tables may be those of a partition's members.
PartSet SubnetManager::partition_parts() const {
  PartSet parts{Part::partitions};
  const auto& qos = loop_.decided().qos_policy;
  const auto& config = next_config_ ? *next_config_ : *given_;
  if (loop_.decided().service_levels || (qos && qos->policy->tenants_equal) || !config.qos.ports.empty())
    parts.insert(Part::qos);
  return parts;
}

asio::awaitable<void> SubnetManager::settle(Guid standby) {
  if (parts_.store != nullptr) co_await parts_.store->settle(standby);
}

/// What another SM has committed as master is what we go on from, its policy included.
void SubnetManager::take_replica() {
  if (parts_.store == nullptr || options_.dry_run) return;
  const auto replaced = parts_.store->following().replaced;
  if (std::exchange(replaced_, replaced) == replaced) return;
  loop_.set_stored(parts_.store->loaded());
  next_policies_ = parts_.store->policies();
}

void SubnetManager::reindex(const std::set<Guid>& ports) {
  loop_.reindex(ports);
  agenda_.add(PartSet{Part::partitions});
}

void SubnetManager::train(const policy::PortAt& port) {
  loop_.train(port);
  agenda_.add(PartSet{Part::ports});
}

/// Between two sweeps only: what runs refers to the configuration that it began with. Thousands of partitions
/// are merged elsewhere. False when cancelled.
asio::awaitable<bool> SubnetManager::take_config() {
  if (!next_config_ && !next_policies_) co_return true;
  const auto given = next_config_ ? next_config_ : given_;
  const auto policies = next_policies_ ? next_policies_ : policies_;
  PolicyPtr policy;
  std::shared_ptr<const config::SubnetConfig> in_force;
  const bool merged = co_await parts_.compute.execute([&] {
    in_force = policy::with_kept(given, *policies);
    policy = policy::merged_policy(*given, *policies);
  });
  if (!merged) co_return false;
  const bool configured = given != given_;
  given_ = given;
  config_ = in_force;
  policies_ = policies;
  if (next_config_ == given) next_config_ = nullptr;  // else there is a later one already
  if (next_policies_ == policies) next_policies_ = nullptr;
  loop_.configure(config_, std::move(policy));
  take_disabled_ports();
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
  if (!options_.dry_run) {
    const bool claimed = co_await mastership_.start(&parts_.claim_sm, !options_.once);
    if (!claimed) co_return;
  }
  const auto& lids = config_->lids.import_guid2lid;
  if (loop_.stored()->lids.empty() && !lids.empty()) import_lids(loop_, lids, parts_.log);
  const auto& m_keys = config_->keys.import_guid2mkey;
  if (loop_.stored()->m_keys.empty() && !m_keys.empty()) import_m_keys(loop_, m_keys, parts_.log);
  co_await serve();
  co_await tasks_.stop();
}

}  // namespace smd::sm
