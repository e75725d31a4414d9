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

/// The node of the master that we follow, or there is none.
bool GivingWay::master_is_read() const {
  const auto* master = parts_.mastership.answering_master();
  const auto& subnet = parts_.loop.subnet();
  return master == nullptr || !subnet || subnet->find(master->at.node) != nullptr;
}

/// False when cancelled.
asio::awaitable<bool> GivingWay::stand_by() {
  // `status` of a standby shows whether the fabric is up: where it was not, or what is round the master was
  // not read, it is read again.
  const auto& summary = parts_.status.summary();
  const bool was_down = summary.sm_lid == Lid{} || summary.ports_active < summary.ports_not_active;
  mad::TaskGroup watching(parts_.executor);
  if (parts_.loop.subnet()) watching.spawn(parts_.standby.watch(parts_.take_config));
  const bool ended = co_await parts_.mastership.stand_by([this, was_down] {
    const bool again = (was_down || !master_is_read()) && parts_.scheduler.try_again(Guid{});
    if (again)
      parts_.agenda.add(Work::heavy,
                        was_down ? "the fabric was not up yet" : "the master's node did not answer");
    return again;
  });
  co_await watching.stop();
  co_return ended;
}

}  // namespace smd::sm
