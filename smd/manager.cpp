// SPDX-License-Identifier: Apache-2.0
// The loop: what asks for work, and who we are in it. The work itself: manager_sweep.cpp.
#include "smd/manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/transactions/ask.h"
#include "smd/report/trouble.h"
#include "smd/sweep/paths.h"

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

/// Half of what a standby waits for before it takes the fabric: who stood still for longer may not be master.
mad::Duration longest_standstill(const config::HaConfig& config) {
  return mad::Duration(config.poll) * config.losses / 2;
}

}  // namespace

SubnetManager::SubnetManager(ManagerParts parts, std::string name, config::SubnetConfig config,
                             ManagerOptions options)
    : parts_(std::move(parts)),
      name_(std::move(name)),
      config_(std::make_shared<const config::SubnetConfig>(std::move(config))),
      options_(std::move(options)),
      tx_(parts_.executor, parts_.clock, parts_.smi, policy_of(config_->mad), parts_.seed),
      tasks_(parts_.executor),
      sm_lookup_(tx_, parts_.clock, tasks_),
      agent_(tx_, parts_.log,
             {.trap = [this](const wire::Notice& notice, Lid from) { heard_trap(notice, from); },
              .discover = [this] { agenda_.add(Work::heavy, "SMInfo DISCOVER"); },
              .handover = [this] { agenda_.add(Work::heavy, "handover"); },
              .is_master = [this](Guid port) { return is_master(port); },
              .is_sm = [this](const mad::Received& from, const wire::Smp& request,
                              SmLookup::Answer answer) { is_sm(from, request, std::move(answer)); }}),
      loop_({.tx = tx_,
             .clock = parts_.clock,
             .compute = parts_.compute,
             .agenda = agenda_,
             .log = parts_.log,
             .store = options_.dry_run ? nullptr : parts_.store,
             .newer_waits = [this] { return newer_waits(); },
             .look_again = [this] { return look_once_more(); }},
            config_, parts_.store != nullptr ? parts_.store->loaded() : std::make_shared<const Stored>()),
      standstill_(parts_.clock, longest_standstill(config_->ha),
                  [this](mad::Duration took) { stood_still(took); }),
      pace_(config_->sweep.settle, kLongestPace, kBurst),
      whole_pace_(config_->sweep.settle, kLongestPace),
      retry_pace_(config_->sweep.interval, kLongestRetry),
      stranger_pace_(kFirstStranger, kLongestRetry) {
  tx_.hold_sets([this] {
    standstill_.check();
    return sets_held_;
  });
}

void SubnetManager::reload(config::SubnetConfig config) {
  next_config_ = std::make_shared<const config::SubnetConfig>(std::move(config));
  agenda_.add(Work::heavy, "reload");
}

bool SubnetManager::is_master(Guid port) const {
  if (!loop_.subnet()) return false;
  return std::ranges::any_of(loop_.subnet()->other_sms, [port](const OtherSm& other) {
    return other.info.guid == port && other.info.state == wire::SmState::master;
  });
}

/// Between two sweeps only: what runs refers to the configuration that it began with.
void SubnetManager::take_config() {
  if (!next_config_) return;
  config_ = std::exchange(next_config_, nullptr);
  loop_.configure(config_);
  tx_.set_policy(policy_of(config_->mad));
  agent_.set_identity(agent_.rank().guid, config_->sm.priority, config_->sm.sm_key);
  standstill_.set_limit(longest_standstill(config_->ha));
  pace_ = Pace(config_->sweep.settle, kLongestPace, kBurst);
  whole_pace_ = Pace(config_->sweep.settle, kLongestPace);
  retry_pace_ = Pace(config_->sweep.interval, kLongestRetry);
  retraining_.reset();
}

asio::awaitable<bool> SubnetManager::pause(mad::Duration time) {
  co_return co_await parts_.clock.sleep(time);
}

/// The SM's place on the port. Taken by another SM: said once, and asked for again.
asio::awaitable<bool> SubnetManager::claim() {
  std::string said;
  for (;;) {
    const auto claimed = parts_.claim_sm();
    if (claimed) co_return true;
    if (std::exchange(said, claimed.error()) != claimed.error()) {
      parts_.log.warn("sm.place_taken").kv("reason", claimed.error()).always();
    }
    const bool time = co_await pause(std::chrono::seconds(1));
    if (!time) co_return false;
  }
}

asio::awaitable<void> SubnetManager::run() {
  if (const auto local = parts_.smi.local(); local) {
    agent_.set_identity(local->guid, config_->sm.priority, config_->sm.sm_key);
  }
  if (!options_.dry_run) {
    agent_.listen();
    const bool claimed = co_await claim();
    if (!claimed) co_return;
    standstill_.start();
  }
  if (!options_.dry_run && !options_.once) tasks_.spawn(watch_silent_sms());
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

asio::awaitable<SubnetManager::Outcome> SubnetManager::work(Asked asked) {
  parts_.log.tick();
  tell_quiet();
  take_config();
  tx_.begin_round();
  co_await accept_what_is_asked();
  standstills_seen_ = standstill_.count();
  if (sets_held_ && loop_.subnet()) {
    const bool looked = co_await look_at_sms();
    if (!looked) co_return Outcome::cancelled;
    if (sets_held_)
      asked = {.work = {Work::heavy}, .parts = {}, .reason = "another SM may be master", .suspects = {}};
  }
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
  if (!loop_.subnet() || agent_.state() != wire::SmState::master) kind = SweepKind::heavy;
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

/// Where another SM is or may be master: waits until that is settled, and while it is master.
asio::awaitable<SubnetManager::Outcome> SubnetManager::give_way(Outcome outcome) {
  if (outcome == Outcome::contested) {
    const bool settled = co_await await_handover();
    if (!settled) co_return Outcome::cancelled;
    if (agent_.state() == wire::SmState::master) agenda_.add(Work::heavy, "the other master is gone");
  }
  const bool conceded = outcome == Outcome::contested && agent_.state() == wire::SmState::standby;
  if (outcome == Outcome::not_ours || conceded) {
    const bool gone = co_await stand_by();
    if (!gone) co_return Outcome::cancelled;
    agenda_.add(Work::heavy, "master gone");  // unless there is another reason
  }
  co_return outcome;
}

/// Asks the master whether it is still there, until it is not, or gives the fabric to us. Each question is
/// one try and waited for until the next, so that a dead master costs as many periods, whatever [mad] says.
/// Where the fabric was not up yet it is looked at again: `status` of a standby shows how it is.
asio::awaitable<bool> SubnetManager::stand_by() {
  agent_.set_state(wire::SmState::standby);
  const bool was_down = summary_.sm_lid == Lid{} || summary_.ports_active < summary_.ports_not_active;
  const auto master = *other_master();
  const auto node = loop_.subnet()->index_of(master.at.node);
  const Paths paths(*loop_.subnet());
  const auto path = node ? paths.to_port(*loop_.subnet(), *node, master.at.port) : std::nullopt;
  unsigned unanswered = 0;
  auto next = parts_.clock.now();
  for (;;) {
    next = std::max(next + config_->ha.poll, parts_.clock.now());
    const bool time = co_await parts_.clock.until(next);
    if (!time) co_return false;
    if (agenda_.asks(Work::heavy)) co_return true;
    if (agent_.state() == wire::SmState::not_active) continue;
    if (!path && ++unanswered < config_->ha.losses) continue;
    if (!path) co_return true;
    const mad::Target target{.route = *path, .node = master.at.node};
    const auto info = co_await mad::get_once<wire::SmInfo>(tx_, target, config_->ha.poll);
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) co_return false;
    const bool there = info && info->guid == master.info.guid &&
                       (info->state == wire::SmState::master || master.info.state != wire::SmState::master);
    if (there && info->state != master.info.state) {  // one that outranks us has become master, or goes there
      agenda_.add(Work::heavy, fmt::format("another SM is {} now", to_string(info->state)));
      co_return true;
    }
    if (there && was_down && try_again(Guid{})) {
      agenda_.add(Work::heavy, "the fabric was not up yet");
      co_return true;
    }
    unanswered = there ? 0 : unanswered + 1;
    const bool answered_otherwise = info && !there;
    if (!answered_otherwise && unanswered < config_->ha.losses) continue;
    if (!answered_otherwise) silent_sms_.insert(master.info.guid);
    parts_.log.warn("sm.master_gone")
        .port(master.at.node, master.node_description, master.at.port)
        .kv("reason", info ? std::string(to_string(info->state)) : to_string(info.error()))
        .always();
    co_return true;
  }
}

}  // namespace smd::sm
