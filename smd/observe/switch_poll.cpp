// SPDX-License-Identifier: Apache-2.0
#include "smd/observe/switch_poll.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "smd/schedule/patient_group.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline observing {

asio::awaitable<PollResult> SwitchPoll::ask(std::shared_ptr<const Subnet> subnet, bool soon,
                                            const std::set<Guid>* only) {
  const Paths paths(*subnet);
  PatientGroup group(parts_.executor, parts_.scheduler);
  PollResult found;
  for (std::size_t i = 0; i < subnet->nodes.size(); ++i) {
    const auto& node = *subnet->nodes[i];
    const bool asked = node.is_switch() && (only == nullptr || only->contains(node.guid()));
    const auto path = asked ? paths.to(i) : std::nullopt;
    if (!path) continue;
    const auto target = target_of(node, PortNum{0}, *path);
    group.spawn(ask_switch(target, soon, &found));
  }
  co_await group.finish();
  co_return found;
}

asio::awaitable<void> SwitchPoll::ask_switch(mad::Target target, bool soon, PollResult* found) {
  constexpr auto kOneTry = std::chrono::milliseconds(50);
  auto& tx = parts_.tx;
  auto& scheduler = parts_.scheduler;
  auto request = mad::get_request<wire::SwitchInfo>(target);
  if (soon && !tx.lossy()) request.single_try = kOneTry;  // else one that is not answered tells nothing
  const auto info = co_await mad::ask<wire::SwitchInfo>(&tx, std::move(request));
  if (info && !info->port_state_change) co_return;
  if (!info && info.error().fault == mad::Fault::closed) co_return;
  // A switch whose bit could not be cleared, or that is silent, has nothing new to tell each time.
  const bool nothing_new = (!info && !soon) || parts_.loop.failures().nodes.contains(target.node);
  if (nothing_new && !scheduler.try_again(target.node)) co_return;
  found->suspects.insert(target.node);
  if (!info) found->silent.insert(target.node);
  if (info) scheduler.link_reported(target.node);
  found->reason = info ? "port state change" : "a switch does not answer";
}

/// Links have gone or tables have changed: switches whose way to us was among them have sent their traps in
/// vain, and repeat them after a second or never. They are asked as soon as tables are repaired, before we
/// say that all is well; where that goes on, not more often than every 100 ms, or a quarter of the time.
asio::awaitable<void> SwitchPoll::look_once_more() {
  constexpr mad::Duration kGap = std::chrono::milliseconds(100);
  const auto earliest = round_ + std::max(kGap, took_ * 3);
  parts_.status.set_unsettled(true);
  if (parts_.scheduler.clock().now() < earliest) {
    parts_.scheduler.look_soon(earliest);
    co_return;
  }
  begin_round();
  auto found = co_await ask(parts_.loop.subnet(), true);
  end_round();
  parts_.status.set_unsettled(found.heavy || !found.suspects.empty());
  sweep_at_once(std::move(found));
}

std::set<Guid> SwitchPoll::switches_that_answer() const {
  const auto& loop = parts_.loop;
  std::set<Guid> switches;
  for (const auto& node : loop.subnet()->nodes) {
    if (node->is_switch() && !loop.failures().nodes.contains(node->guid())) switches.insert(node->guid());
  }
  for (const auto& lost : loop.subnet()->unresponsive) switches.erase(lost.node);
  return switches;
}

/// A heavy sweep takes long. No trap tells of a link that changed before PortStateChange of its switch was
/// cleared, nor of one whose way to us was being written: switches that have just answered all else are asked
/// once more. Where much is lost on the way that would take as long as the sweep, and is left to the next
/// light one.
asio::awaitable<void> SwitchPoll::look_after_heavy() {
  auto late = std::exchange(cleared_late_, {});
  PollResult found;
  if (!parts_.tx.lossy()) {
    const auto asked = switches_that_answer();
    found = co_await ask(parts_.loop.subnet(), true, &asked);
    for (const auto silent : found.silent) found.suspects.erase(silent);
  }
  if (found.suspects.empty()) found.reason = "ports may have changed before we took over";
  found.suspects.merge(late);
  parts_.status.set_unsettled(!found.suspects.empty());
  sweep_at_once(std::move(found));
}

asio::awaitable<void> SwitchPoll::look_in_trap_gap() {
  auto& clock = parts_.scheduler.clock();
  auto& gap = parts_.scheduler.trap_gap();
  const auto began = clock.now();
  const auto nodes = gap.take(began);
  auto found = co_await ask(parts_.loop.subnet(), true, &nodes);
  gap.asked(clock.now(), clock.now() - began);
  sweep_at_once(std::move(found));
}

void SwitchPoll::sweep_at_once(PollResult found) {
  parts_.scheduler.look_at_once(std::move(found.suspects), std::move(found.reason));
}

}  // namespace smd::sm::inline observing
