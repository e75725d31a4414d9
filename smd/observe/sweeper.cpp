// SPDX-License-Identifier: Apache-2.0
// What follows an observation. The observation: observe.cpp.
#include "smd/observe/sweeper.h"

#include <utility>

#include "smd/base/stopwatch.h"
#include "smd/plan/port_orders.h"
#include "smd/report/tables.h"
#include "smd/report/tally.h"

namespace smd::sm::inline observing {

asio::awaitable<Outcome> Sweeper::sweep(SweepKind kind, std::string reason, std::set<Guid> suspects) {
  parts_.tx.begin_round();  // a node that was silent for a light sweep may answer by another way
  const auto before = parts_.tx.counters();
  auto& status = parts_.status;
  Stopwatch total(parts_.scheduler.clock()), lap(parts_.scheduler.clock());
  const auto links = status.summary().links;
  status.begin_sweep(kind, std::move(reason));
  parts_.loop.begin_sweep();
  parts_.switches.begin_sweep();
  parts_.inventory.begin_sweep();
  const auto known = parts_.loop.subnet();
  const auto observed = co_await observe(std::move(suspects));
  status.summary().discover_ms = lap();
  co_await parts_.mastership.send_handover();
  const auto tell = [&] {
    status.summarise(before);
    status.summary().total_ms = total();
    status.count_sweep(kind, status.summary().total_ms);
    status.publish_sweep();
  };
  if (observed == Outcome::not_ours || observed == Outcome::contested) tell();
  if (observed != Outcome::done) co_return observed;
  if (parts_.mastership.adopting())
    log_foreign_keys(parts_.log, *parts_.loop.subnet(), parts_.loop.partitions().get(),
                     *parts_.loop.stored());
  status.tell_adaptive(known.get());

  const auto beyond = leave_out_disabled();
  const bool written = co_await reconcile_fabric();
  if (!written) co_return Outcome::cancelled;
  SweepSummary now;
  tally(*parts_.loop.subnet(), nullptr, now);
  const bool fails_anew = !parts_.scheduler.repairs().covers(parts_.loop.failures().nodes);
  const bool changed = now.links != links || status.summary().lft_blocks != 0 || fails_anew;
  co_await look_for_missed_changes(changed);
  const bool taken = co_await update_inventory();
  if (!taken) co_return Outcome::cancelled;
  for (const auto node : beyond) parts_.scheduler.agenda().look_at(node, "port order");
  tell();
  co_return Outcome::done;
}

/// Links that are to be disabled and have come up. The plan disables one end; the nodes at the other ends are
/// returned, because what was read of their ports does not hold then.
std::set<Guid> Sweeper::leave_out_disabled() {
  std::set<Guid> beyond;
  const auto before = parts_.loop.subnet();
  auto without = without_disabled(*before, *parts_.loop.disabled());
  if (!without) return beyond;
  for (const auto& [at, by] : *parts_.loop.disabled()) {
    const auto* node = before->find(at.first);
    const bool known = node != nullptr && at.second.value() < node->ports.size();
    const auto peer = known ? node->ports[at.second.value()].peer : std::nullopt;
    if (peer && without->find(peer->node) != nullptr) beyond.insert(peer->node);
  }
  parts_.loop.take(*std::move(without));
  return beyond;
}

/// False when cancelled.
asio::awaitable<bool> Sweeper::reconcile_fabric() {
  auto& status = parts_.status;
  const auto& mastership = parts_.mastership;
  auto ran = co_await parts_.loop.run(
      {.parts = {Part::fabric},
       .adopting = mastership.adopting(),
       .merging = mastership.merging(),
       .keep_unknown_groups_until = mastership.master_since() + parts_.config->adopt.grace,
       .hurry = status.summary().sweep == SweepKind::incremental,
       .dry_run = parts_.dry_run});
  if (ran.cancelled) co_return false;
  if (parts_.dry_run) status.set_plan(std::make_shared<const Plan>(std::move(ran.plan)));
  note_cleared(ran.cleared);
  auto& summary = status.summary();
  summary.decide_ms = ran.decide_ms;
  summary.apply_ms = ran.apply_ms;
  summary.lids_changed = ran.lids_changed;
  summary.lft_entries_changed = ran.lft_entries_changed;
  summary.lft_blocks = ran.lft_blocks;
  summary.mft_blocks = ran.mft_blocks;
  co_return true;
}

/// A change between our reading of a switch and this clearing of its PortStateChange left no trace: no trap
/// is sent while the bit is set. In a heavy sweep that is a switch of a fabric that we have just taken over;
/// it is looked at again. One that forwards nothing yet need not be: all its ports are Set after this, and
/// one that is down refuses. Else the next audit looks there first.
void Sweeper::note_cleared(const std::vector<ClearedChange>& cleared) {
  const bool heavy = parts_.status.summary().sweep == SweepKind::heavy;
  for (const auto& change : cleared) {
    if (!heavy) parts_.light.audit_first(change.node);
    if (heavy && change.forwarded) parts_.switches.cleared_late(change.node);
  }
}

/// What has happened while we were at work with other things.
asio::awaitable<void> Sweeper::look_for_missed_changes(bool changed) {
  const bool whole = parts_.status.summary().sweep == SweepKind::heavy;
  if (parts_.once || parts_.dry_run) co_return;
  if (whole) co_return co_await parts_.switches.look_after_heavy();
  if (changed) co_return co_await parts_.switches.look_once_more();
  if (!parts_.scheduler.looks_again()) parts_.status.set_unsettled(false);
}

/// False when cancelled.
asio::awaitable<bool> Sweeper::update_inventory() {
  const auto taken = co_await parts_.inventory.update(parts_.status.cause());
  // The trap of either end may have gone into a way that is lost, and the next one waits for a second.
  for (const auto node : taken.ends) parts_.scheduler.link_reported(node);
  co_return !taken.cancelled;
}

}  // namespace smd::sm::inline observing
