// SPDX-License-Identifier: Apache-2.0
// Which work is done, and what follows it. Whether it is ours to do: ha/mastership.h.
#include <chrono>
#include <utility>

#include "smd/base/stopwatch.h"
#include "smd/manager.h"

namespace smd::sm {
namespace {

/// Parts that the state goes by: what has room, what is enforced, which links are up.
constexpr PartSet kJudgedParts{Part::partitions, Part::qos, Part::ports};

std::set<Guid> silent_nodes_of(const Subnet& subnet) {
  std::set<Guid> silent;
  for (const auto& lost : subnet.unresponsive) {
    if (lost.node != Guid{}) silent.insert(lost.node);
  }
  return silent;
}

}  // namespace

/// All work, until cancelled; with `dry_run` until the first is done, with `once` until links that must come
/// up anew have done so.
asio::awaitable<void> SubnetManager::serve() {
  agenda_.add(Work::heavy, "start");
  tasks_.spawn(tell_first_reading());
  for (;;) {
    const bool known = loop_.subnet() != nullptr;
    const bool asked = co_await scheduler_.wait({.retraining = retrainer_.next_look(),
                                                 .vl_tables = vl_tables_.next(),
                                                 .converge = light_.converge_at()},
                                                known);
    if (!asked) co_return;
    const auto outcome = co_await work(scheduler_.take_due(known));
    status_.publish_activity();
    if (outcome == Outcome::cancelled) co_return;
    const bool lasts = outcome == Outcome::done && retrainer_.pending();
    if ((options_.once && !lasts) || options_.dry_run) co_return;
    if (outcome == Outcome::own_port_silent) {
      const bool time = co_await parts_.clock.sleep(std::chrono::seconds(1));
      if (!time) co_return;
      agenda_.add(Work::heavy, "own port", true);
    }
  }
}

/// A large fabric takes a while: readers see that its first reading goes on.
asio::awaitable<void> SubnetManager::tell_first_reading() {
  while (!loop_.subnet()) {
    const bool time = co_await parts_.clock.sleep(std::chrono::seconds(1));
    if (!time) co_return;
    status_.publish_activity();
  }
}

asio::awaitable<Outcome> SubnetManager::work(Asked asked) {
  const bool begun = co_await begin_work(&asked);
  if (!begun) co_return Outcome::cancelled;
  const auto done = co_await between_sweeps(asked);
  if (done) co_return *done;
  auto kind = asked.work.contains(Work::incremental) ? SweepKind::incremental : SweepKind::heavy;
  if (!loop_.subnet() || mastership_.state() != wire::SmState::master) kind = SweepKind::heavy;
  // A takeover: all end ports are told the new MasterSMLID before anything else.
  const bool taking_over = mastership_.fabric_is_free() && !options_.dry_run;
  if (taking_over) kind = SweepKind::heavy;
  if (asked.work.contains(Work::light) && loop_.subnet() && !taking_over) {
    const auto enough = co_await light_sweep(&asked, &kind);
    if (enough) co_return *enough;
  }
  co_return co_await sweep(kind, std::move(asked));
}

/// While Sets are held since a standstill, `asked` becomes a heavy sweep where another SM may be master; the
/// takeover of a standby asks by itself. False when cancelled.
asio::awaitable<bool> SubnetManager::begin_work(Asked* asked) {
  parts_.log.tick();
  inventory_.tell_quiet();
  if (inventory_.release_layers(config_.config()->routing.sl_keep))
    agenda_.add(Work::incremental, "layers released");
  const bool configured = co_await take_config();
  if (!configured) co_return false;
  const bool judge = config_.take_judgement() && loop_.subnet();
  if (judge && !mastership_.contested() && !status_.unsettled()) status_.judge_again();
  tx_.begin_round();
  const bool accepted = co_await inventory_.accept_asked();
  if (accepted) status_.accepted();
  mastership_.begin_work();
  if (!mastership_.sets_held() || !loop_.subnet() || mastership_.fabric_is_free()) co_return true;
  const bool read = co_await light_.read_known_sms();
  if (!read) co_return false;
  if (mastership_.sets_held())
    *asked = {.work = {Work::heavy}, .parts = {}, .reason = "another SM may be master", .suspects = {}};
  co_return true;
}

/// After a standstill within a sweep the other SMs are asked at once: on a large fabric every sweep may have
/// one, and would lead to another. False: another SM may be master, or cancelled.
asio::awaitable<bool> SubnetManager::may_write() {
  mastership_.look_for_standstill();
  if (!mastership_.sets_held()) co_return true;
  mastership_.begin_work();
  const bool read = co_await light_.read_known_sms();
  co_return read && !mastership_.sets_held();
}

/// What is done without a sweep; nothing where a sweep is asked for.
asio::awaitable<std::optional<Outcome>> SubnetManager::between_sweeps(Asked asked) {
  if (asked.work.contains(Work::follow)) co_return co_await giving_way_.follow();
  if (asked.work.contains(Work::vl_tables)) {
    const auto read = co_await vl_tables_.read_some();
    if (read.cancelled) co_return Outcome::cancelled;
    if (read.to_publish) co_await inventory_.note_vl_tables();
    if (read.to_write) agenda_.add(PartSet{Part::qos});
    if (read.altered && !mastership_.contested() && !status_.unsettled()) status_.judge_again();
    if (read.to_publish && published()->subnet != loop_.subnet()) status_.publish_between_sweeps();
    co_return Outcome::done;
  }
  if (asked.work.contains(Work::trap_gap)) {
    co_await switches_.look_in_trap_gap();
    co_return Outcome::done;
  }
  if (asked.work.contains(Work::retraining)) {
    co_await retrainer_.look();
    co_return Outcome::done;
  }
  const bool parts_alone = !asked.parts.empty() || asked.work.contains(Work::inventory);
  if (parts_alone && loop_.subnet()) co_return co_await reconcile(asked.parts);
  co_return std::nullopt;
}

/// Cancelled or done.
asio::awaitable<Outcome> SubnetManager::reconcile(PartSet parts) {
  const auto reconciled = co_await services_.reconcile(parts);
  if (reconciled.cancelled) co_return Outcome::cancelled;
  if (!reconciled.changed) co_return Outcome::done;
  const auto before = published();
  const bool judge = !(parts & kJudgedParts).empty();
  if (judge && !mastership_.contested() && !status_.unsettled()) status_.judge_again();
  if (published() == before) status_.publish_between_sweeps();
  co_return Outcome::done;
}

/// Nothing where a sweep has to follow: of this kind, with the reason and the suspects of `asked`.
asio::awaitable<std::optional<Outcome>> SubnetManager::light_sweep(Asked* asked, SweepKind* kind) {
  Stopwatch took(parts_.clock);
  auto looked = co_await light_.run(scheduler_.take_look_soon());
  status_.count_sweep(SweepKind::light, took());
  if (looked.vl_tables_lost) vl_tables_.ask();
  if (!loop_.subnet()->unresponsive.empty()) scheduler_.looked_for_silent();
  const bool quiet = !looked.heavy && looked.suspects.empty();
  const bool converges = quiet && light_.may_converge();
  if (quiet && !converges) {
    status_.settle();
    co_return co_await reconcile(kServiceParts);
  }
  if (converges) {
    loop_.converge();
    looked.reason = "converge";
  }
  if (!looked.heavy) *kind = SweepKind::incremental;
  asked->reason = std::move(looked.reason);
  asked->suspects = std::move(looked.suspects);
  if (!looked.heavy && !loop_.converging() && !scheduler_.put_off(*asked)) co_return Outcome::done;
  co_return std::nullopt;
}

asio::awaitable<Outcome> SubnetManager::sweep(SweepKind kind, Asked asked) {
  scheduler_.repairs().begun();
  if (kind == SweepKind::heavy && mastership_.fabric_is_free()) co_await standby_.take_over();
  const auto outcome = co_await sweeper_.sweep(kind, std::move(asked.reason), std::move(asked.suspects));
  const bool told = outcome != Outcome::own_port_silent && outcome != Outcome::cancelled;
  if (told) vl_tables_.ask();
  scheduler_.swept();
  if (outcome == Outcome::done && !options_.dry_run) {
    if (!loop_.disabled()->empty()) agenda_.add(PartSet{Part::ports});
    const bool retrained = co_await retrainer_.begin_step();
    if (!retrained) co_return Outcome::cancelled;
  }
  if (options_.once || options_.dry_run) co_return outcome;
  if (outcome == Outcome::done) {
    const bool failed = mastership_.state() == wire::SmState::master && loop_.failures().left != 0;
    const std::chrono::duration<double, std::milli> took(status_.summary().total_ms);
    if (!failed) scheduler_.repairs().succeeded();
    if (failed)
      scheduler_.repairs().failed(loop_.failures().nodes, parts_.clock.now(),
                                  std::chrono::duration_cast<mad::Duration>(took));
    scheduler_.silent_after_sweep(silent_nodes_of(*loop_.subnet()));
  }
  co_return co_await giving_way_.after(outcome);
}

}  // namespace smd::sm
