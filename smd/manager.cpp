// SPDX-License-Identifier: Apache-2.0
// How a manager is put together, and what is asked of it. Which work is done: manager_work.cpp.
#include "smd/manager.h"

#include <chrono>
#include <utility>

#include "smd/base/unix_time.h"
#include "smd/reconcile/imports.h"
#include "smd/report/shared_keys.h"

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

asio::awaitable<void> settle(store::Store* store, Guid standby) {
  if (store != nullptr) co_await store->settle(standby);
}

asio::awaitable<void> leave_then(Mastership* mastership, std::move_only_function<void()> done) {
  co_await mastership->leave();
  done();
}

}  // namespace

SubnetManager::SubnetManager(ManagerParts parts, std::string name, config::SubnetConfig config,
                             ManagerOptions options)
    : parts_(std::move(parts)),
      options_(options),
      events_(parts_.events, name),
      config_(
          {.agenda = agenda_, .compute = parts_.compute, .store = options_.dry_run ? nullptr : parts_.store},
          std::make_shared<const config::SubnetConfig>(std::move(config)), parts_.policies),
      tx_(parts_.executor, parts_.clock, parts_.smi, policy_of(config_.config()->mad), parts_.seed),
      tasks_(parts_.executor),
      scheduler_(parts_.clock, agenda_, *config_.config()),
      loop_({.tx = tx_,
             .clock = parts_.clock,
             .compute = parts_.compute,
             .agenda = agenda_,
             .log = parts_.log,
             .store = options_.dry_run ? nullptr : parts_.store,
             .newer_waits = [this] { return scheduler_.newer_waits(); },
             .look_again = [this] { return switches_.look_once_more(); },
             .may_write = [this] { return may_write(); }},
            config_.config(),
            parts_.store != nullptr ? parts_.store->loaded() : std::make_shared<const Stored>(),
            config_.partitions()),
      traps_({.scheduler = scheduler_,
              .log = parts_.log,
              .events = events_,
              .subnet = loop_.subnet(),
              .config = config_.config(),
              .lids = lids_,
              .shared_keys =
                  [this](const auto& a, const auto& b) {
                    return shared_keys(loop_.decided(), *a.node, a.port, *b.node, b.port);
                  }}),
      mastership_(
          {.executor = parts_.executor,
           .clock = parts_.clock,
           .tx = tx_,
           .tasks = tasks_,
           .agenda = agenda_,
           .log = parts_.log,
           .events = events_,
           .subnet = loop_.subnet(),
           .config = config_.config(),
           .lids = lids_,
           .wall = parts_.wall ? parts_.wall : unix_now,
           .sms = parts_.sms,
           .settle = [this](Guid standby) { return settle(parts_.store, standby); },
           .lags = [this](Guid standby) { return parts_.store != nullptr && parts_.store->lags(standby); },
           .copies = [this] { return parts_.store != nullptr ? parts_.store->copies() : std::nullopt; }},
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
               .config = config_.config(),
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
              .config = config_.config()}),
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
                .config = config_.config(),
                .once = options_.once,
                .dry_run = options_.dry_run}),
      standby_({.tx = tx_,
                .scheduler = scheduler_,
                .loop = loop_,
                .mastership = mastership_,
                .status = status_,
                .store = options_.dry_run ? nullptr : parts_.store,
                .log = parts_.log,
                .config = config_.config()}),
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
                  .config = config_.config()}),
      services_({.loop = loop_,
                 .mastership = mastership_,
                 .log = parts_.log,
                 .events = events_,
                 .config = config_.config()}),
      giving_way_({.executor = parts_.executor,
                   .tx = tx_,
                   .agenda = agenda_,
                   .scheduler = scheduler_,
                   .loop = loop_,
                   .mastership = mastership_,
                   .status = status_,
                   .standby = standby_,
                   .vl_tables = vl_tables_,
                   .take_config = [this] { return take_config(); }}),
      requests_({.scheduler = scheduler_,
                 .agenda = agenda_,
                 .config = config_,
                 .loop = loop_,
                 .inventory = inventory_,
                 .vl_tables = vl_tables_,
                 .once = options_.once}) {
  // Known before run(): the replica greets its peers by this port.
  if (const auto local = parts_.smi.local(); local) mastership_.set_port(local->guid);
  config_.order_disabled(&loop_);
}

/// Between two sweeps only; as a standby also between two looks at the fabric. False when cancelled.
asio::awaitable<bool> SubnetManager::take_config() {
  const auto taken = co_await config_.take(&loop_);
  if (taken == ConfigInForce::Taken::replaced) {
    const auto& config = *config_.config();
    tx_.set_policy(policy_of(config.mad));
    mastership_.configure();
    scheduler_.configure(config);
    retrainer_.reset();
  }
  co_return taken != ConfigInForce::Taken::cancelled;
}

void SubnetManager::leave(std::move_only_function<void()> done) {
  tasks_.spawn(leave_then(&mastership_, std::move(done)));
}

asio::awaitable<void> SubnetManager::run() {
  if (!options_.dry_run) {
    const bool claimed = co_await mastership_.start(&parts_.claim_sm, !options_.once);
    if (!claimed) co_return;
  }
  const auto& lids = config_.config()->lids.import_guid2lid;
  if (loop_.stored()->lids.empty() && !lids.empty()) import_lids(loop_, lids, parts_.log);
  const auto& m_keys = config_.config()->keys.import_guid2mkey;
  if (loop_.stored()->m_keys.empty() && !m_keys.empty()) import_m_keys(loop_, m_keys, parts_.log);
  co_await serve();
  co_await tasks_.stop();
}

}  // namespace smd::sm
