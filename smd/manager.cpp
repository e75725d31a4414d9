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

/// A node that reports something all the time is looked at as seldom as this.
constexpr auto kLongestPace = std::chrono::seconds(5);
/// Cables that one pair of hands or one power supply takes down come one after another: so many reports of a
/// switch are followed as soon as the first.
constexpr unsigned kBurst = 6;
/// What does not come right is looked at again as seldom as this.
constexpr auto kLongestRetry = std::chrono::minutes(5);
/// Traps about LIDs that no port has make us look at the fabric no sooner again than this.
constexpr auto kFirstStranger = std::chrono::seconds(10);

/// Then the fabric need not be read again.
bool partitions_alone_differ(config::SubnetConfig before, const config::SubnetConfig& after) {
  if (before == after) return false;
  before.partitions = after.partitions;
  before.partition = after.partition;
  before.groups = after.groups;
  return before == after;
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
      loop_({.tx = tx_,
             .clock = parts_.clock,
             .compute = parts_.compute,
             .agenda = agenda_,
             .log = parts_.log,
             .store = options_.dry_run ? nullptr : parts_.store,
             .newer_waits = [this] { return newer_waits(); },
             .look_again = [this] { return look_once_more(); }},
            config_, parts_.store != nullptr ? parts_.store->loaded() : std::make_shared<const Stored>()),
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
                  [this](const wire::Notice& notice, Lid from) { heard_trap(notice, from); }),
      pace_(config_->sweep.settle, kLongestPace, kBurst),
      whole_pace_(config_->sweep.settle, kLongestPace),
      retry_pace_(config_->sweep.interval, kLongestRetry),
      stranger_pace_(kFirstStranger, kLongestRetry) {}

void SubnetManager::reload(config::SubnetConfig config) {
  const auto& latest = next_config_ ? *next_config_ : *config_;
  const bool parts_alone = partitions_alone_differ(latest, config) && loop_.decided().routes;
  next_config_ = std::make_shared<const config::SubnetConfig>(std::move(config));
  if (parts_alone) return agenda_.add(PartSet{Part::partitions});
  agenda_.add(Work::heavy, "reload");
}

/// Between two sweeps only: what runs refers to the configuration that it began with.
void SubnetManager::take_config() {
  if (!next_config_) return;
  config_ = std::exchange(next_config_, nullptr);
  loop_.configure(config_);
  tx_.set_policy(policy_of(config_->mad));
  mastership_.configure();
  pace_ = Pace(config_->sweep.settle, kLongestPace, kBurst);
  whole_pace_ = Pace(config_->sweep.settle, kLongestPace);
  retry_pace_ = Pace(config_->sweep.interval, kLongestRetry);
  retraining_.reset();
}

asio::awaitable<bool> SubnetManager::pause(mad::Duration time) {
  co_return co_await parts_.clock.sleep(time);
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
    const bool asked = co_await wait_for_work();
    if (!asked) co_return;
    const auto outcome = co_await work(take_due());
    if (outcome == Outcome::cancelled) co_return;
    const bool lasts = outcome == Outcome::done && retraining_.pending();
    if ((options_.once && !lasts) || options_.dry_run) co_return;
    if (outcome == Outcome::own_port_silent) {
      const bool time = co_await pause(std::chrono::seconds(1));
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
    co_await look_at_retraining();
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
    auto looked = co_await light_sweep(std::exchange(look_soon_, false));
    light_took_ = parts_.clock.now() - last_light_;
    look_for_silent(false);
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
    if (!looked.heavy && !loop_.converging() && !put_off(asked)) co_return Outcome::done;
  }
  next_repair_.reset();
  const auto outcome = co_await sweep(kind, std::move(asked.reason), std::move(asked.suspects));
  last_sweep_ = parts_.clock.now();
  const bool retrained = outcome != Outcome::done || co_await retrain_some();
  if (!retrained) co_return Outcome::cancelled;
  if (options_.once || options_.dry_run) co_return outcome;
  if (outcome == Outcome::done) schedule_repair();
  if (outcome == Outcome::done) look_for_silent(true);
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
    const bool again = was_down && try_again(Guid{});
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
