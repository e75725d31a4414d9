// SPDX-License-Identifier: Apache-2.0
// One sweep: observe, decide, plan, apply, advance.

#include <algorithm>
#include <utility>

#include "routing/multicast/table.h"
#include "smd/manager.h"
#include "smd/reconcile/finish.h"
#include "smd/report/tables.h"
#include "smd/report/tally.h"
#include "smd/sweep/discover.h"
#include "smd/sweep/refresh.h"

namespace smd::sm {
namespace {

/// A look at a part begins anew where something happens while it waits for an answer; no longer than this,
/// because what is known already must be put right.
constexpr auto kRestarts = std::chrono::milliseconds(500);

/// Milliseconds by the manager's clock since the last call.
class Lap {
 public:
  explicit Lap(mad::Clock& clock) : clock_(clock), last_(clock.now()) {}
  double operator()() {
    const auto now = clock_.now();
    const std::chrono::duration<double, std::milli> lap = now - std::exchange(last_, now);
    return lap.count();
  }

 private:
  mad::Clock& clock_;
  mad::TimePoint last_;
};

}  // namespace

/// `suspects`: of an incremental sweep.
asio::awaitable<SubnetManager::Outcome> SubnetManager::sweep(SweepKind kind, std::string reason,
                                                             std::set<Guid> suspects) {
  tx_.begin_round();  // who was silent for a light sweep may answer by another way
  const auto before = tx_.counters();
  Lap total(parts_.clock), lap(parts_.clock);
  const auto links = summary_.links;
  summary_ = {};
  summary_.subnet = name_;
  summary_.sweep = kind;
  summary_.reason = std::move(reason);
  loop_.begin_sweep();
  cleared_late_.clear();
  restarts_ = {};
  const auto known = loop_.subnet();
  auto observed = co_await observe(std::move(suspects));
  summary_.discover_ms = lap();
  co_await mastership_.send_handover();
  if (observed == Outcome::not_ours || observed == Outcome::contested) {
    summarise(before);
    summary_.total_ms = total();
    publish();
  }
  if (observed != Outcome::done) co_return observed;
  if (mastership_.adopting()) log_foreign_keys(parts_.log, *loop_.subnet(), loop_.partitions().get());
  tell_adaptive(known.get());

  const bool written = co_await reconcile_fabric();
  if (!written) co_return Outcome::cancelled;
  SweepSummary now;
  tally(*loop_.subnet(), nullptr, now);
  const bool fails_anew = !std::ranges::includes(in_repair_, loop_.failures().nodes);
  const bool changed = now.links != links || summary_.lft_blocks != 0 || fails_anew;
  co_await look_behind(changed);
  const bool taken = co_await take_stock();
  if (!taken) co_return Outcome::cancelled;
  summarise(before);
  summary_.total_ms = total();
  publish();
  co_return Outcome::done;
}

/// What has happened while we were at work with other things.
asio::awaitable<void> SubnetManager::look_behind(bool changed) {
  const bool whole = summary_.sweep == SweepKind::heavy;
  if (options_.once || options_.dry_run) co_return;
  if (whole) co_return co_await look_after_heavy();
  if (changed) co_return co_await look_once_more();
  if (!look_soon_ && at_once_.empty()) unsettled_ = false;
}

/// Nodes that may stay silent for as long as before are not searched for while an event waits.
void SubnetManager::give_way(std::set<Guid>& suspects) {
  for (const auto node : std::exchange(searched_, {})) {
    if (suspects.erase(node) != 0) agenda_.look_at(node, "not up");
  }
}

/// By parts where that is enough, else the whole fabric.
asio::awaitable<std::expected<Subnet, std::string>> SubnetManager::look(std::set<Guid> suspects) {
  DiscoverOptions how{.trust_tables = !mastership_.adopting(),
                      .clear_changes = !mastership_.adopting() && !options_.dry_run,
                      .restart_lost = true};
  const auto last_restart = parts_.clock.now() + kRestarts;
  while (summary_.sweep == SweepKind::incremental) {
    how.urgent = nullptr;
    if (!searched_.empty() || parts_.clock.now() < last_restart)
      how.urgent = [this] { return newer_waits(); };
    auto part = co_await refresh(&tx_, &parts_.clock, loop_.subnet().get(), suspects, how);
    const bool lost = !part && part.error() == kLostOnTheWay;
    if (lost || (!part && part.error() == kNewerWaits)) {
      how.restart_lost &= !lost;
      auto newer = take_sweep();
      if (newer.work.contains(Work::heavy)) summary_.sweep = SweepKind::heavy;
      if (!lost) give_way(suspects);
      suspects.merge(newer.suspects);
      continue;
    }
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (part || cancellation.cancelled() != asio::cancellation_type::none) co_return part;
    const auto known = suspects.size();
    if (parts_.clock.now() < last_restart)
      suspects.merge((co_await look_at_switches(loop_.subnet(), true)).suspects);
    if (suspects.size() != known) continue;  // what is silent may be behind what has changed there
    parts_.log.info("sweep.whole").kv("reason", part.error());
    summary_.sweep = SweepKind::heavy;
  }
  co_return co_await discover(&tx_, &parts_.clock, loop_.subnet().get(), how);
}

/// What is, and whether it is ours to change.
asio::awaitable<SubnetManager::Outcome> SubnetManager::observe(std::set<Guid> suspects) {
  mastership_.begin_sweep();
  auto found = co_await look(std::move(suspects));
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  if (cancellation.cancelled() != asio::cancellation_type::none) co_return Outcome::cancelled;
  if (!found) {
    if (!std::exchange(said_own_port_, true)) {
      const auto reason = found.error() + std::string(silence_hint({}));
      parts_.log.warn("own_port.silent").kv("reason", reason).subject(reason);
      events_.publish(events::OwnPortSilent{reason});
    }
    co_return Outcome::own_port_silent;
  }
  if (std::exchange(said_own_port_, false)) events_.publish(events::OwnPortAnswers{});
  const auto before = loop_.subnet();
  const auto stored = loop_.stored();
  const bool adopting = mastership_.adopting();
  FinishInput how{.before = before.get(),
                  .stored = *stored,
                  .names = config_->names.nodes,
                  .multicast_entries = multicast_entries(),
                  .adopting = adopting,
                  .adaptive_anew = adopting || summary_.sweep == SweepKind::heavy};
  *found = co_await finish(&tx_, loop_.baseline(), std::move(*found), how);
  note_restarts(*found);
  log_altered(parts_.log, adopting ? nullptr : before.get(), *found);
  loop_.take(std::move(*found));
  const auto verdict = mastership_.observed(summary_.sweep == SweepKind::heavy, options_.dry_run);
  if (verdict == machine::Verdict::contested) co_return Outcome::contested;
  co_return verdict == machine::Verdict::ours ? Outcome::done : Outcome::not_ours;
}

/// Of multicast tables, those that groups take which were stored or are decided on.
std::size_t SubnetManager::multicast_entries() const {
  const auto& multicast = loop_.decided().multicast;
  auto entries = multicast ? multicast->top : std::size_t{0};
  if (parts_.store == nullptr) return entries;
  for (const auto& [mlid, users] : parts_.store->registry()->mlids())
    entries = std::max(entries, routing::mlid_index(mlid) + 1);
  return entries;
}

/// False when cancelled.
asio::awaitable<bool> SubnetManager::reconcile_fabric() {
  auto ran =
      co_await loop_.run({.parts = {Part::fabric},
                          .adopting = mastership_.adopting(),
                          .keep_unknown_groups_until = mastership_.master_since() + config_->adopt.grace,
                          .hurry = summary_.sweep == SweepKind::incremental,
                          .dry_run = options_.dry_run});
  if (ran.cancelled) co_return false;
  if (options_.dry_run) plan_ = std::make_shared<const Plan>(std::move(ran.plan));
  note_cleared(ran.cleared);
  summary_.decide_ms = ran.decide_ms;
  summary_.apply_ms = ran.apply_ms;
  summary_.lids_changed = ran.lids_changed;
  summary_.lft_entries_changed = ran.lft_entries_changed;
  summary_.lft_blocks = ran.lft_blocks;
  summary_.mft_blocks = ran.mft_blocks;
  co_return true;
}

/// A change between our reading of a switch and this clearing of its PortStateChange left no trace: no trap
/// is sent while the bit is set. In a heavy sweep that is a switch of a fabric that we have just taken over;
/// it is looked at again. One that forwards nothing yet need not be: all its ports are Set after this, and
/// one that is down refuses. Else the next audit looks there first.
void SubnetManager::note_cleared(const std::vector<ClearedChange>& cleared) {
  const bool heavy = summary_.sweep == SweepKind::heavy;
  auto& found = heavy ? cleared_late_ : audit_.first;
  for (const auto& change : cleared) {
    if (!heavy || change.forwarded) found.insert(change.node);
  }
}

void SubnetManager::summarise(const mad::Counters& before) {
  const auto sent = tx_.counters() - before;
  summary_.smps_get = sent.total(&mad::AttributeCounters::sent, wire::Method::get);
  summary_.smps_set = sent.total(&mad::AttributeCounters::sent, wire::Method::set);
  summary_.timeouts = sent.total(&mad::AttributeCounters::timeouts);
  summary_.retries = sent.total(&mad::AttributeCounters::retries);
  const auto& failures = loop_.failures();
  summary_.sets_failed = std::max(failures.sets, failures.left);
  summary_.sets_left = failures.left;
  summary_.route_ms = loop_.times().route_ms;
  summary_.verify_ms = loop_.times().verify_ms;
  const bool ours = mastership_.state() == wire::SmState::master || options_.dry_run;
  tally(*loop_.subnet(), ours && loop_.decided().routes ? &loop_.decided() : nullptr, summary_);
  if (!ours) tally_standby(*loop_.subnet(), summary_);
  if (options_.dry_run && summary_.state != SweepState::failed) summary_.state = SweepState::dry_run;
  if (unsettled_ && is_working(summary_.state)) {
    summary_.state = SweepState::degraded;
    summary_.why = "links have changed, and switches are asked whether more have";
  }
  if (mastership_.contested()) {
    summary_.state = SweepState::degraded;
    summary_.why = "another SM is master, too";
  }
  judge();
}

}  // namespace smd::sm
