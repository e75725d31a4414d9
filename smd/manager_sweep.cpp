// SPDX-License-Identifier: Apache-2.0
// One sweep: observe, decide, plan, apply, advance.

#include <algorithm>
#include <utility>

#include "smd/apply/advance.h"
#include "smd/apply/apply.h"
#include "smd/manager.h"
#include "smd/report/adaptive.h"
#include "smd/report/tables.h"
#include "smd/report/tally.h"
#include "smd/report/trouble.h"
#include "smd/sweep/adaptive.h"
#include "smd/sweep/discover.h"
#include "smd/sweep/lost.h"
#include "smd/sweep/mft.h"
#include "smd/sweep/mute.h"
#include "smd/sweep/refresh.h"

namespace smd::sm {
namespace {

/// Plans of one sweep: what fails is planned again, at once and then once more, before the next sweep.
constexpr unsigned kAttempts = 3;

/// A look at a part begins anew where something happens while it waits for an answer; no longer than this,
/// because what is known already must be put right.
constexpr auto kRestarts = std::chrono::milliseconds(500);

std::vector<RefusedSet> refused_sets(const Subnet& subnet, const Applied& applied) {
  std::vector<RefusedSet> refused;
  for (const auto& set : applied.failed)
    refused.push_back({{subnet.nodes[set.node]->guid(), set.port}, set.attribute, set.reason});
  return refused;
}

/// Nodes to which nothing more is written for now.
struct LeftOut {
  std::set<Guid> silent, refusing;
  std::set<Guid> all() const {
    auto both = silent;
    both.insert(refusing.begin(), refusing.end());
    return both;
  }
  /// Whether there is a new one.
  bool take(const Subnet& subnet, const Applied& applied) {
    const auto before = silent.size() + refusing.size();
    for (const auto index : applied.silent) silent.insert(subnet.nodes[index]->guid());
    for (const auto index : applied.refusing) refusing.insert(subnet.nodes[index]->guid());
    return silent.size() + refusing.size() != before;
  }
};

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
  failed_sets_ = sets_left_ = 0;
  patient_with_ = std::exchange(failed_nodes_, {});
  came_up_.clear();
  cleared_late_.clear();
  restarts_ = {};
  times_ = {};
  auto observed = co_await observe(std::move(suspects));
  summary_.discover_ms = lap();
  co_await mastership_.send_handover();
  if (observed == Outcome::not_ours || observed == Outcome::contested) {
    summarise(before);
    summary_.total_ms = total();
    publish();
  }
  if (observed != Outcome::done) co_return observed;
  if (mastership_.adopting()) log_foreign_keys(parts_.log, *subnet_);
  tell_adaptive();

  const bool decided = co_await settle_decision();
  summary_.decide_ms = lap();
  if (!decided) co_return Outcome::cancelled;
  const bool written = co_await write_difference();
  summary_.apply_ms = lap();
  if (!written) co_return Outcome::cancelled;
  SweepSummary now;
  tally(*subnet_, nullptr, now);
  const bool fails_anew = !std::ranges::includes(in_repair_, failed_nodes_);
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
    auto part = co_await refresh(&tx_, &parts_.clock, subnet_.get(), suspects, how);
    const bool lost = !part && part.error() == kLostOnTheWay;
    if (lost || (!part && part.error() == kNewerWaits)) {
      how.restart_lost &= !lost;
      auto newer = take_sweep();
      if (newer.work == Work::heavy) summary_.sweep = SweepKind::heavy;
      if (!lost) give_way(suspects);
      suspects.merge(newer.suspects);
      continue;
    }
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (part || cancellation.cancelled() != asio::cancellation_type::none) co_return part;
    const auto known = suspects.size();
    if (parts_.clock.now() < last_restart)
      suspects.merge((co_await look_at_switches(subnet_, true)).suspects);
    if (suspects.size() != known) continue;  // what is silent may be behind what has changed there
    parts_.log.info("sweep.whole").kv("reason", part.error());
    summary_.sweep = SweepKind::heavy;
  }
  co_return co_await discover(&tx_, &parts_.clock, subnet_.get(), how);
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
      if (options_.on_own_port) options_.on_own_port(reason);
    }
    co_return Outcome::own_port_silent;
  }
  if (std::exchange(said_own_port_, false) && options_.on_own_port) options_.on_own_port({});
  *found = recall(std::move(*found), subnet_.get(), *stored_);
  name_nodes(*found);
  if (subnet_) found->mute = mute_switches(*subnet_, *found);
  *found = co_await hold_mfts(&tx_, std::move(*found), multicast_entries());
  const bool anew = mastership_.adopting() || summary_.sweep == SweepKind::heavy;
  *found = co_await hold_adaptive(&tx_, std::move(*found), subnet_.get(), anew);
  if (subnet_) name_lost(*found, *subnet_);
  note_restarts(*found);
  note_tables(*found);
  subnet_ = std::make_shared<const Subnet>(std::move(*found));
  const auto verdict = mastership_.observed(summary_.sweep == SweepKind::heavy, options_.dry_run);
  if (verdict == machine::Verdict::contested) co_return Outcome::contested;
  co_return verdict == machine::Verdict::ours ? Outcome::done : Outcome::not_ours;
}

/// Names from the map file, and where the other SMs sit.
void SubnetManager::name_nodes(Subnet& subnet) const {
  for (auto& node : subnet.nodes) {
    const auto it = config_->names.nodes.find(node->guid());
    const auto wanted = it != config_->names.nodes.end() ? it->second : printable(node->own_description());
    if (wanted == node->description) continue;
    auto named = std::make_shared<Node>(*node);
    named->name(wanted);
    node = std::move(named);
  }
  for (auto& sm : subnet.other_sms) {
    if (const auto* node = subnet.find(sm.at.node); node != nullptr) sm.node_description = node->description;
  }
}

/// Before anything that rests on it is written to the fabric.
asio::awaitable<void> SubnetManager::keep(StoredPtr now) {
  stored_ = std::move(now);
  if (parts_.store != nullptr && !options_.dry_run) co_await parts_.store->commit(stored_);
}

/// Plans and writes until nothing differs, or until what is left fails again. Nodes that do not answer, or
/// refuse tables, are left out at once and the rest is planned without them: none waits for another. Those
/// that refuse are tried once more in the end. False when cancelled.
asio::awaitable<bool> SubnetManager::write_difference() {
  LeftOut out;
  bool first = true;
  for (unsigned attempt = 1; attempt <= kAttempts;) {
    const auto left_out = out.all();
    Plan next;
    const PlanInput input{*subnet_, decided_, &left_out};
    bool planned = co_await make_plan(input, &next);
    if (!planned) co_return false;
    if (first && (next.interrupts || next.drains()) && routes_before_) {
      planned = co_await interrupt_less(next.interrupts);
      if (planned) planned = co_await make_plan(input, &next);
      if (!planned) co_return false;
    }
    if (std::exchange(first, false)) summary_.lft_entries_changed = next.lft_entries_changed;
    if (options_.dry_run) {
      if (options_.on_plan) options_.on_plan(*subnet_, decided_, next);
      co_return true;
    }
    if (next.empty() && left_out.empty()) {  // what failed at first was made good
      sets_left_ = 0;
      failed_nodes_.clear();
      co_return true;
    }
    if (next.empty() && out.refusing.empty()) break;
    if (next.empty()) {
      out.refusing.clear();
      ++attempt;
      continue;
    }
    const auto applied = co_await write(std::move(next), left_out);
    const auto cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none) co_return false;
    const bool routed = co_await route_round_kept_entries();
    if (!routed) co_return false;
    if (!out.take(*subnet_, applied)) ++attempt;
    if (!applied.silent.empty() && summary_.sweep == SweepKind::incremental) co_await look_once_more();
    if ((!applied.failed.empty() || applied.cut_short) && newer_waits())
      break;  // who did not answer may be what it is about
  }
  // What is still not as decided although it was Set well counts as failed: some node does not do it.
  Plan left;
  const PlanInput input{*subnet_, decided_};
  const bool planned = co_await make_plan(input, &left);
  if (!planned) co_return false;
  sets_left_ = left.sets();
  if (left.empty()) failed_nodes_.clear();
  co_return true;
}

/// False when cancelled.
asio::awaitable<bool> SubnetManager::make_plan(PlanInput input, Plan* made) {
  input.draining = parts_.clock.now() < drain_.until;
  const bool planned = co_await parts_.compute.execute(
      [&](const std::stop_token& stop) { *made = plan(input, parts_.compute.parallel(), stop); });
  co_return planned;
}

/// Writes a plan, and notes what the nodes hold now.
asio::awaitable<Applied> SubnetManager::write(Plan next, std::set<Guid> left_out) {
  ApplyInput to_write{subnet_, decided_, std::move(next), [this] { return newer_waits(); }};
  to_write.left_out = left_out;
  to_write.hurry = summary_.sweep == SweepKind::incremental;
  to_write.patient = patient_with_;
  to_write.drain = drain_;
  auto applied = co_await apply(&tx_, &parts_.clock, std::move(to_write));
  if (applied.drain.since != drain_.since) {
    parts_.log.info("routing.waits")
        .kv("ms",
            std::chrono::duration_cast<std::chrono::milliseconds>(applied.drain.until - applied.drain.since)
                .count())
        .kv("reason", "no order of writes is safe: packets must be gone that went by routes taken away")
        .always();
  }
  drain_ = applied.drain;
  const auto cancellation = co_await asio::this_coro::cancellation_state;
  if (cancellation.cancelled() != asio::cancellation_type::none) co_return applied;
  for (const auto& mft : applied.mfts) summary_.mft_blocks += mft.acknowledged.count();
  for (const auto& lft : applied.lfts) summary_.lft_blocks += lft.acknowledged.count() + lft.partial.size();
  auto noted = advance(*subnet_, decided_, applied);
  noted.refused = refused_sets(noted, applied);
  for (const auto& set : applied.ports) {
    if (set.sent) noted.unanswered.erase(noted.nodes[set.node]->guid());
  }
  for (const auto node : applied.silent) noted.unanswered.insert(noted.nodes[node]->guid());
  for (const auto& earlier : subnet_->refused) {
    if (left_out.contains(earlier.at.node)) noted.refused.push_back(earlier);
  }
  auto ended = perhaps_ended(noted, applied);
  noted = co_await read_adaptive_again(&tx_, std::move(noted), std::move(ended));
  log_adaptive_ended(parts_.log, *subnet_, noted);
  adaptive_ = adaptive_switches(noted);
  log_not_kept(parts_.log, *subnet_, noted);
  note_cleared(*subnet_, applied);
  take_written(std::move(noted), applied);
  note_came_up(applied);
  failed_sets_ += applied.failed.size();
  for (const auto& set : applied.failed) failed_nodes_.insert(subnet_->nodes[set.node]->guid());
  log_failed(parts_.log, *subnet_, applied);
  auto stored = stored_;
  co_await parts_.compute.execute([&] { stored = remember(stored_, *subnet_, decided_); });
  co_await keep(std::move(stored));
  co_return applied;
}

/// A change between our reading of a switch and this clearing of its PortStateChange left no trace: no trap
/// is sent while the bit is set. In a heavy sweep that is a switch of a fabric that we have just taken over;
/// it is looked at again. One that forwards nothing yet need not be: all its ports are Set after this, and
/// one that is down refuses. Else the next audit looks there first.
void SubnetManager::note_cleared(const Subnet& before, const Applied& applied) {
  auto& found = summary_.sweep == SweepKind::heavy ? cleared_late_ : audit_.first;
  for (const auto& answer : applied.switches) {
    const auto& node = *before.nodes[answer.node];
    const bool is_new = summary_.sweep == SweepKind::heavy && !node.forwards();
    if (answer.sent && answer.sent->port_state_change && !is_new) found.insert(node.guid());
  }
}

/// Adapters and routers that were in Init: their link was down, or they begin anew.
void SubnetManager::note_came_up(const Applied& applied) {
  for (const auto& answer : applied.ports) {
    const auto& node = *subnet_->nodes[answer.node];
    if (!answer.sent || answer.sent->port_state != PortState::armed || node.is_switch()) continue;
    came_up_.push_back(node.ports[answer.port.value()].guid);
  }
}

void SubnetManager::summarise(const mad::Counters& before) {
  const auto sent = tx_.counters() - before;
  summary_.smps_get = sent.total(&mad::AttributeCounters::sent, wire::Method::get);
  summary_.smps_set = sent.total(&mad::AttributeCounters::sent, wire::Method::set);
  summary_.timeouts = sent.total(&mad::AttributeCounters::timeouts);
  summary_.retries = sent.total(&mad::AttributeCounters::retries);
  summary_.sets_failed = std::max(failed_sets_, sets_left_);
  summary_.sets_left = sets_left_;
  summary_.route_ms = times_.route_ms;
  summary_.verify_ms = times_.verify_ms;
  const bool ours = mastership_.state() == wire::SmState::master || options_.dry_run;
  tally(*subnet_, ours && decided_.routes ? &decided_ : nullptr, summary_);
  if (!ours) tally_standby(*subnet_, summary_);
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
