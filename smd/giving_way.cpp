// SPDX-License-Identifier: Apache-2.0
#include "smd/giving_way.h"

#include <utility>

#include "mad/task_group.h"

namespace smd::sm {

asio::awaitable<Outcome> GivingWay::after(Outcome outcome) {
  bool follows = outcome == Outcome::not_ours;
  if (outcome == Outcome::contested) {
    const auto end = co_await parts_.mastership.await_handover();
    if (end == Mastership::Wait::cancelled) co_return Outcome::cancelled;
    follows = end == Mastership::Wait::conceded;
    if (follows)
      publish_standby("no HANDOVER");  // a lower-ranked master keeps the fabric: we are its standby
  }
  if (!follows) co_return outcome;
  const bool ended = co_await stand_by();
  co_return ended ? outcome : Outcome::cancelled;
}

asio::awaitable<Outcome> GivingWay::follow() {
  if (!parts_.mastership.follows()) co_return Outcome::done;
  publish_standby("HANDOVER");
  const bool ended = co_await stand_by();
  co_return ended ? Outcome::done : Outcome::cancelled;
}

/// No sweep has found that another SM is master.
void GivingWay::publish_standby(std::string reason) {
  parts_.status.begin_sweep(SweepKind::heavy, std::move(reason));
  parts_.status.summarise(parts_.tx.counters());
  parts_.status.publish_sweep();
  parts_.vl_tables.ask();
}

/// False when cancelled.
asio::awaitable<bool> GivingWay::stand_by() {
  // `status` of a standby shows whether the fabric is up: where it was not, it is read again.
  const auto& summary = parts_.status.summary();
  const bool was_down = summary.sm_lid == Lid{} || summary.ports_active < summary.ports_not_active;
  mad::TaskGroup watching(parts_.executor);
  if (parts_.loop.subnet()) watching.spawn(parts_.standby.watch(parts_.take_config));
  const bool ended = co_await parts_.mastership.stand_by([this, was_down] {
    const bool again = was_down && parts_.scheduler.try_again(Guid{});
    if (again) parts_.agenda.add(Work::heavy, "the fabric was not up yet");
    return again;
  });
  co_await watching.stop();
  co_return ended;
}

}  // namespace smd::sm
