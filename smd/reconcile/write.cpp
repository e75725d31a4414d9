// SPDX-License-Identifier: Apache-2.0
// One plan of the reconcile loop: apply, advance, remember, commit.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "mad/suspend.h"
#include "mad/task_group.h"
#include "smd/apply/apply.h"
#include "smd/decide/repaired_tables.h"
#include "smd/reconcile/progress.h"
#include "smd/report/adaptive.h"
#include "smd/report/faults.h"
#include "smd/report/tables.h"
#include "smd/sweep/adaptive.h"

namespace smd::sm::inline reconciling {
namespace {

void log_drain(const log::Log& log, const Drain& drain) {
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(drain.until - drain.since);
  log.info("routing.waits")
      .kv("ms", wait.count())
      .kv("reason", "no order of writes is safe: packets on withdrawn routes must have expired first")
      .always();
}

/// Else switches may hold some tables of before.
bool wrote_all_tables(const Applied& applied) {
  const auto is_table = [](const FailedSet& set) {
    return set.attribute == wire::LinearForwardingTable::kAttribute;
  };
  return !applied.cut_short && !applied.held && applied.skipped == 0 &&
         std::ranges::none_of(applied.failed, is_table);
}

}  // namespace

/// Writes a plan, and notes what the nodes hold now. False when cancelled.
asio::awaitable<bool> Reconciler::write(const PartKind* kind, Progress* run, Plan next) {
  const bool writes_routes = kind->whole && digested_ != decided_.routes && next.lft_blocks() != 0;
  ApplyInput to_write{.subnet = subnet_, .decided = decided_, .plan = std::move(next)};
  if (kind->gives_way) to_write.urgent = parts_.newer_waits;
  const auto left_out = run->out.all();
  to_write.left_out = left_out;
  if (kind->whole) {
    to_write.hurry = run->how.hurry;
    to_write.patient = failures_.nodes_before;
    to_write.drain = drain_;
  }
  mad::TaskGroup marking(co_await asio::this_coro::executor);
  if (writes_routes) marking.spawn(mark_writing());
  run->applied = co_await apply(&parts_.tx, &parts_.clock, std::move(to_write));
  co_await marking.join();
  co_await marking.stop();
  run->wrote = true;
  const auto& applied = run->applied;
  if (kind->whole && applied.drain.since != drain_.since) log_drain(parts_.log, applied.drain);
  if (kind->whole) drain_ = applied.drain;
  const bool cancelled = co_await mad::was_cancelled();
  if (cancelled) co_return false;
  for (const auto& mft : applied.mfts) run->result.mft_blocks += mft.acknowledged.count();
  for (const auto& lft : applied.lfts)
    run->result.lft_blocks += lft.acknowledged.count() + lft.partial.size();
  auto after = after_writing(*subnet_, decided_, applied);
  if (kind->whole) after.refused = refused_sets(*subnet_, applied, subnet_->refused, left_out);
  auto ended = perhaps_ended(after, applied);
  after = co_await read_adaptive_again(&parts_.tx, std::move(after), std::move(ended));
  log_adaptive_ended(parts_.log, *subnet_, after);
  log_not_kept(parts_.log, *subnet_, after);
  for (const auto& change : cleared_changes(*subnet_, applied)) run->result.cleared.push_back(change);
  // At a takeover all ports are another SM's, and the copy has what their clients have registered with it.
  if (!run->how.adopting || run->how.merging)
    std::ranges::copy(taken_from_another(*subnet_, applied), std::back_inserter(came_up_));
  take_written(std::move(after), applied);
  for (const auto port : sm::came_up(*subnet_, applied)) came_up_.push_back(port);
  if (kind->whole) failures_.add(*subnet_, applied);
  log_failed(parts_.log, *subnet_, applied);
  auto stored = stored_;
  const bool all = kind->whole && wrote_all_tables(applied);
  const bool other_tables = all && std::exchange(digested_, decided_.routes) != decided_.routes;
  co_await parts_.compute.execute([&] {
    stored = remember(stored_, *subnet_, decided_);
    if (other_tables) stored = remember_tables(stored, decided_.routes.get());
  });
  co_await keep(std::move(stored));
  if (!kind->whole) co_return true;
  co_return co_await route_round_kept_entries();
}

/// Beside the writing: a repair does not wait for the disk.
asio::awaitable<void> Reconciler::mark_writing() {
  co_await keep(remember_writing(stored_, *subnet_, decided_.routes.get()));
}

/// All tables are as decided, though writing them was cut short.
asio::awaitable<void> Reconciler::end_writing() {
  if (!marks_writing(stored_->repaired_tables)) co_return;
  auto stored = stored_;
  digested_ = decided_.routes;
  co_await parts_.compute.execute([&] { stored = remember_tables(stored, decided_.routes.get()); });
  co_await keep(std::move(stored));
}

/// What smd has written itself is as it should be.
void Reconciler::take_written(Subnet after, const Applied& applied) {
  const bool managed = decided_.partitions && decided_.partitions->managed;
  if (!managed) log_enforcement(parts_.log, *subnet_, after, applied);
  if (!applied.answers<wire::PKeyTable>().empty()) {
    baseline_.wrote(*subnet_, after, applied);
    baseline_.look(after, subnet_.get());
    log_altered(parts_.log, subnet_.get(), after);
  }
  take(std::move(after));
}

}  // namespace smd::sm::inline reconciling
