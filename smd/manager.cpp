// SPDX-License-Identifier: Apache-2.0
// The loop: what asks for work. The work itself: manager_sweep.cpp; whether it is ours: ha/mastership.h.
#include "smd/manager.h"

#include <utility>

#include "smd/report/trouble.h"

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

}  // namespace

SubnetManager::SubnetManager(ManagerParts parts, std::string name, config::SubnetConfig config,
                             ManagerOptions options)
    : parts_(std::move(parts)),
      name_(std::move(name)),
      events_(parts_.events, name_),
      config_(std::make_shared<const config::SubnetConfig>(std::move(config))),
      options_(std::move(options)),
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
             .look_again = [this] { return look_once_more(); }},
            config_, parts_.store != nullptr ? parts_.store->loaded() : std::make_shared<const Stored>()),
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
                   .lids = lids_},
                  [this](const wire::Notice& notice, Lid from) { traps_.heard(notice, from); }),
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
                  .config = config_}) {}

void SubnetManager::resweep(Resweep kind, std::string reason) {
  if (kind == Resweep::converge) loop_.converge();
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
  next_config_ = std::make_shared<const config::SubnetConfig>(std::move(config));
  agenda_.add(Work::heavy, "reload");
}

/// Between two sweeps only: what runs refers to the configuration that it began with.
void SubnetManager::take_config() {
  if (!next_config_) return;
  config_ = std::exchange(next_config_, nullptr);
  loop_.configure(config_);
  tx_.set_policy(policy_of(config_->mad));
  mastership_.configure();
  scheduler_.configure(*config_);
  retrainer_.reset();
}

asio::awaitable<void> SubnetManager::run() {
  if (const auto local = parts_.smi.local(); local) mastership_.set_port(local->guid);
  if (!options_.dry_run) {
    const bool claimed = co_await mastership_.start(&parts_.claim_sm, !options_.once);
    if (!claimed) co_return;
  }
  co_await serve();
  co_await tasks_.stop();
}

/// All work, until cancelled; with `dry_run` until the first is done, with `once` until links that must come
/// up anew have done so.
asio::awaitable<void> SubnetManager::serve() {
  if (loop_.stored()->lids.empty() && !config_->lids.import_guid2lid.empty()) import_lids();
  agenda_.add(Work::heavy, "start");
  for (;;) {
    const bool asked = co_await scheduler_.wait(
        {.retraining = retrainer_.next_look(), .vl_tables = vl_tables_.next()}, loop_.subnet() != nullptr);
    if (!asked) co_return;
    const auto outcome = co_await work(scheduler_.take_due(loop_.subnet() != nullptr));
    if (outcome == Outcome::cancelled) co_return;
    const bool lasts = outcome == Outcome::done && retrainer_.pending();
    if ((options_.once && !lasts) || options_.dry_run) co_return;
    if (outcome == Outcome::own_port_silent) {
      const bool time = co_await parts_.clock.sleep(std::chrono::seconds(1));
      if (!time) co_return;
      agenda_.add(Work::heavy, "own port");
    }
  }
}

/// What another manager left in a file. Ports that are in service elsewhere keep what they have.
void SubnetManager::import_lids() {
  const auto& file = config_->lids.import_guid2lid;
  const auto lids = base::load_lids(file);
  if (!lids) {
    parts_.log.warn("lid.import_failed")
        .kv("reason", base::to_string(lids.error().front()))
        .kv("errors", lids.error().size())
        .kv("action", "no LID is taken from it")
        .always();
    return;
  }
  loop_.set_stored(std::make_shared<const Stored>(with_lids(*loop_.stored(), *lids)));
  parts_.log.info("lid.imported").kv("file", file).kv("ports", loop_.stored()->lids.size()).always();
}

/// While Sets are held: `asked` becomes a heavy sweep where another SM may be master. False when cancelled.
asio::awaitable<bool> SubnetManager::read_sms_after_standstill(Asked* asked) {
  if (!mastership_.sets_held() || !loop_.subnet()) co_return true;
  const auto found = co_await mastership_.read_known_sms();
  if (!found) co_return false;
  learn_of_sms(*found);
  mastership_.known_sms_read(*found);
  if (mastership_.sets_held())
    *asked = {.work = {Work::heavy}, .parts = {}, .reason = "another SM may be master", .suspects = {}};
  co_return true;
}

asio::awaitable<SubnetManager::Outcome> SubnetManager::work(Asked asked) {
  parts_.log.tick();
  tell_quiet();
  take_config();
  tx_.begin_round();
  co_await accept_what_is_asked();
  mastership_.begin_work();
  const bool read = co_await read_sms_after_standstill(&asked);
  if (!read) co_return Outcome::cancelled;
  if (asked.work.contains(Work::vl_tables)) {
    const bool done = co_await read_some_vl_tables();
    co_return done ? Outcome::done : Outcome::cancelled;
  }
  if (asked.work.contains(Work::trap_gap)) {
    co_await look_in_trap_gap();
    co_return Outcome::done;
  }
  if (asked.work.contains(Work::retraining)) {
    co_await retrainer_.look();
    co_return Outcome::done;
  }
  const bool parts_alone = !asked.parts.empty() || asked.work.contains(Work::inventory);
  if (parts_alone && loop_.subnet()) {
    const bool done = co_await reconcile(asked.parts);
    co_return done ? Outcome::done : Outcome::cancelled;
  }
  auto kind = asked.work.contains(Work::incremental) ? SweepKind::incremental : SweepKind::heavy;
  if (!loop_.subnet() || mastership_.state() != wire::SmState::master) kind = SweepKind::heavy;
  if (asked.work.contains(Work::light) && loop_.subnet()) {
    last_light_ = parts_.clock.now();
    auto looked = co_await light_sweep(scheduler_.take_look_soon());
    light_took_ = parts_.clock.now() - last_light_;
    if (!loop_.subnet()->unresponsive.empty()) scheduler_.looked_for_silent();
    if (!looked.heavy && looked.suspects.empty() && may_converge()) {
      loop_.converge();
      looked.reason = "converge";
    } else if (!looked.heavy && looked.suspects.empty()) {
      settle_state();
      const bool done = co_await reconcile(kServiceParts);
      co_return done ? Outcome::done : Outcome::cancelled;
    }
    if (!looked.heavy) kind = SweepKind::incremental;
    asked.reason = std::move(looked.reason);
    asked.suspects = std::move(looked.suspects);
    if (!looked.heavy && !loop_.converging() && !scheduler_.put_off(asked)) co_return Outcome::done;
  }
  scheduler_.repairs().begun();
  const auto outcome = co_await sweep(kind, std::move(asked.reason), std::move(asked.suspects));
  scheduler_.swept();
  const bool retrained = outcome != Outcome::done || options_.dry_run || co_await retrainer_.begin_step();
  if (!retrained) co_return Outcome::cancelled;
  if (options_.once || options_.dry_run) co_return outcome;
  if (outcome == Outcome::done) schedule_repair();
  if (outcome == Outcome::done) look_for_silent();
  co_return co_await give_way(outcome);
}

/// Where another SM is master, or may be: waits until it is not.
asio::awaitable<SubnetManager::Outcome> SubnetManager::give_way(Outcome outcome) {
  bool follows = outcome == Outcome::not_ours;
  if (outcome == Outcome::contested) {
    const auto end = co_await mastership_.await_handover();
    if (end == Mastership::Wait::cancelled) co_return Outcome::cancelled;
    follows = end == Mastership::Wait::conceded;
    if (follows) publish_concession();
  }
  if (!follows) co_return outcome;
  // `status` of a standby shows whether the fabric is up: where it was not, it is read again.
  const bool was_down = summary_.sm_lid == Lid{} || summary_.ports_active < summary_.ports_not_active;
  const bool ended = co_await mastership_.stand_by([this, was_down] {
    const bool again = was_down && scheduler_.try_again(Guid{});
    if (again) agenda_.add(Work::heavy, "the fabric was not up yet");
    return again;
  });
  co_return ended ? outcome : Outcome::cancelled;
}

/// A lower-ranked master has not handed over: we are its standby.
void SubnetManager::publish_concession() {
  summary_ = {};
  summary_.subnet = name_;
  summary_.reason = "no HANDOVER";
  summarise(tx_.counters());
  publish();
}

}  // namespace smd::sm
