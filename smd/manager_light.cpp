// SPDX-License-Identifier: Apache-2.0
// A light sweep: what traps may have lost, a slow audit, and what is not as it should be once more.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/transactions/ask.h"
#include "smd/ha/other_sms.h"
#include "smd/manager.h"
#include "smd/report/tally.h"
#include "smd/schedule/patient_group.h"
#include "smd/sweep/lost.h"
#include "smd/sweep/paths.h"

namespace smd::sm {
namespace {

/// Nodes that one light sweep audits: all of a small fabric, a large one in some 32 light sweeps.
constexpr std::size_t kAuditAtLeast = 32, kAuditShare = 32;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += text.empty() ? word : "," + word;
  return text;
}

/// The first few nodes that do not answer, by name where they have one.
std::string silent_names(const Subnet& subnet) {
  constexpr std::size_t kMost = 4;
  const auto silent = silent_nodes(subnet);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, silent.size()); ++i) {
    const auto& lost = *silent[i].first;
    const auto at =
        lost.description.empty() ? fmt::format("a node behind {}", lost.behind.node) : lost.description;
    text += (i == 0 ? "" : ",") + at;
  }
  if (silent.size() > kMost) text += fmt::format(" and {} more", silent.size() - kMost);
  return text;
}

}  // namespace

/// Has any switch seen a port change, has our own port, is another SM master now, does a silent place answer
/// again? Gets only. `soon`: links have just gone; a switch that does not answer one try may be behind one of
/// them and is looked at by other ways.
asio::awaitable<SubnetManager::Looked> SubnetManager::light_sweep(bool soon) {
  const auto subnet = loop_.subnet();
  const Paths paths(*subnet);
  PatientGroup group(parts_.executor, scheduler_), audits(parts_.executor, scheduler_);
  auto found = co_await look_at_switches(subnet, soon);
  for (const auto& other : subnet->other_sms) {
    const auto path = other.answered ? path_to(paths, *subnet, other) : std::nullopt;
    if (path) group.spawn(mastership_.read_sm(mad::Target{.route = *path, .node = other.at.node}, &found));
  }
  for (const auto& lost : subnet->unresponsive) {
    const auto before = subnet->index_of(lost.behind.node);
    const auto to = before ? paths.to(*before) : std::nullopt;
    const auto path = to ? to->then(lost.behind.port) : std::nullopt;
    if (!path) continue;
    group.spawn(look_at_silent(*path, lost.behind.node, &found));
  }
  group.spawn(mastership_.read_own_port(subnet, &found));
  co_await group.finish();
  if (mastership_.state() == wire::SmState::master && !found.heavy) {
    audits.spawn(audit_some(subnet, &found));
    co_await audits.finish();
  }
  look_at_trouble(found);
  learn_of_sms(found);
  co_return found;
}

/// Has any switch seen a port change? `only`: these are asked.
asio::awaitable<SubnetManager::Looked> SubnetManager::look_at_switches(std::shared_ptr<const Subnet> subnet,
                                                                       bool soon,
                                                                       const std::set<Guid>* only) {
  const Paths paths(*subnet);
  PatientGroup group(parts_.executor, scheduler_);
  Looked found;
  for (std::size_t i = 0; i < subnet->nodes.size(); ++i) {
    const auto& node = *subnet->nodes[i];
    const bool asked = node.is_switch() && (only == nullptr || only->contains(node.guid()));
    const auto path = asked ? paths.to(i) : std::nullopt;
    if (!path) continue;
    const mad::Target target{.route = *path, .node = node.guid()};
    group.spawn(look_at_switch(target, soon, &found));
  }
  co_await group.finish();
  co_return found;
}

/// Links have gone or tables have changed: switches whose way to us was among them have sent their traps in
/// vain, and repeat them after a second or never. They are asked as soon as tables are repaired, before we
/// say that all is well; where that goes on, not more often than every 100 ms, or a quarter of the time.
asio::awaitable<void> SubnetManager::look_once_more() {
  constexpr mad::Duration kGap = std::chrono::milliseconds(100);
  const auto earliest = last_light_ + std::max(kGap, light_took_ * 3);
  unsettled_ = true;
  if (parts_.clock.now() < earliest) {
    scheduler_.look_soon(earliest);
    co_return;
  }
  last_light_ = parts_.clock.now();
  auto found = co_await look_at_switches(loop_.subnet(), true);
  light_took_ = parts_.clock.now() - last_light_;
  unsettled_ = found.heavy || !found.suspects.empty();
  sweep_at_once(std::move(found));
}

/// A heavy sweep takes long. No trap tells of a link that changed before PortStateChange of its switch was
/// cleared, nor of one whose way to us was being written: switches that have just answered all else are asked
/// once more. Where much is lost on the way that would take as long as the sweep, and is left to the next
/// light one.
asio::awaitable<void> SubnetManager::look_after_heavy() {
  auto late = std::exchange(cleared_late_, {});
  Looked found;
  if (!tx_.lossy()) {
    std::set<Guid> asked;
    for (const auto& node : loop_.subnet()->nodes) {
      if (node->is_switch() && !loop_.failures().nodes.contains(node->guid())) asked.insert(node->guid());
    }
    for (const auto& lost : loop_.subnet()->unresponsive) asked.erase(lost.node);
    found = co_await look_at_switches(loop_.subnet(), true, &asked);
    for (const auto silent : found.silent) found.suspects.erase(silent);
  }
  if (found.suspects.empty()) found.reason = "ports may have changed before we took over";
  found.suspects.merge(late);
  unsettled_ = !found.suspects.empty();
  sweep_at_once(std::move(found));
}

void SubnetManager::sweep_at_once(Looked found) {
  scheduler_.look_at_once(std::move(found.suspects), std::move(found.reason));
}

asio::awaitable<void> SubnetManager::look_in_trap_gap() {
  const auto began = parts_.clock.now();
  const auto nodes = scheduler_.trap_gap().take(began);
  auto found = co_await look_at_switches(loop_.subnet(), true, &nodes);
  scheduler_.trap_gap().asked(parts_.clock.now(), parts_.clock.now() - began);
  sweep_at_once(std::move(found));
}

/// After a sweep.
void SubnetManager::look_for_silent() {
  std::set<Guid> silent;
  for (const auto& lost : loop_.subnet()->unresponsive) {
    if (lost.node != Guid{}) silent.insert(lost.node);
  }
  scheduler_.silent_after_sweep(std::move(silent));
}

void SubnetManager::schedule_repair() {
  if (mastership_.state() != wire::SmState::master || loop_.failures().left == 0)
    return scheduler_.repairs().succeeded();
  const auto took =
      std::chrono::duration_cast<mad::Duration>(std::chrono::duration<double, std::milli>(summary_.total_ms));
  scheduler_.repairs().failed(loop_.failures().nodes, parts_.clock.now(), took);
}

/// No switch has more to tell.
void SubnetManager::settle_state() {
  if (std::exchange(unsettled_, false)) judge_again();
}

/// Between two sweeps.
void SubnetManager::judge_again() {
  SweepSummary now;
  now.sets_failed = summary_.sets_failed;
  now.sets_left = summary_.sets_left;
  tally(*loop_.subnet(), loop_.decided().routes ? &loop_.decided() : nullptr, now);
  const auto said = std::exchange(summary_.state, now.state);
  auto why = std::exchange(summary_.why, std::move(now.why));
  judge();
  tell_state();
  if (said == summary_.state && why == summary_.why) return;
  parts_.log.info("subnet.settled").kv("state", summary_.state).kv("why", summary_.why);
  loop_.forget_came_up();  // told of after the sweep
  publish_snapshot(events::SubnetSettled{});
}

/// Who was silent for long is back as soon as it answers once.
asio::awaitable<void> SubnetManager::look_at_silent(mad::DirectedPath path, Guid behind, Looked* found) {
  auto request = mad::get_request<wire::NodeInfo>({.route = path});
  request.single_try = config_->mad.timeout;
  const auto info = co_await mad::ask<wire::NodeInfo>(&tx_, std::move(request));
  if (!info) co_return;
  found->suspects.insert(behind);
  found->reason = "a silent node answers again";
}

/// Another SM's state and priority change without a trap.
void SubnetManager::learn_of_sms(const SmReads& found) {
  auto others = with_reads(loop_.subnet()->other_sms, found);
  if (!others) return;
  auto subnet = *loop_.subnet();
  subnet.other_sms = std::move(*others);
  loop_.take(std::move(subnet));
  mastership_.report_sms();
  publish_between_sweeps();
}

asio::awaitable<void> SubnetManager::look_at_switch(mad::Target target, bool soon, Looked* found) {
  constexpr auto kOneTry = std::chrono::milliseconds(50);
  auto request = mad::get_request<wire::SwitchInfo>(target);
  if (soon && !tx_.lossy()) request.single_try = kOneTry;  // else one that is not answered tells nothing
  const auto info = co_await mad::ask<wire::SwitchInfo>(&tx_, std::move(request));
  if (info && !info->port_state_change) co_return;
  if (!info && info.error().fault == mad::Fault::closed) co_return;
  // Whose bit we could not clear, or who says nothing, has nothing new to tell each time.
  if (((!info && !soon) || loop_.failures().nodes.contains(target.node)) &&
      !scheduler_.try_again(target.node))
    co_return;
  found->suspects.insert(target.node);
  if (!info) found->silent.insert(target.node);
  if (info) scheduler_.link_reported(target.node);
  found->reason = info ? "port state change" : "a switch does not answer";
}

/// A block that was changed externally is unknown from now on, and written again.
asio::awaitable<void> SubnetManager::audit_some(std::shared_ptr<const Subnet> subnet, Looked* found) {
  const auto nodes = std::max(kAuditAtLeast, subnet->nodes.size() / kAuditShare);
  const auto audited = co_await audit(&tx_, subnet.get(), &audit_, nodes, found->suspects);
  if (audited.empty()) co_return;
  for (const auto& changed : audited.ports) {
    parts_.log.warn("node.changed")
        .port(changed.node, subnet->find(changed.node)->description, changed.port)
        .kv("fields", joined(changed.fields))
        .kv("reason", "changed externally, or no trap told");
    found->suspects.insert(changed.node);
  }
  for (const auto& changed : audited.blocks) {
    parts_.log.warn("node.changed")
        .port(changed.node, subnet->find(changed.node)->description, PortNum{0})
        .kv("lft_block", changed.block)
        .kv("reason", "changed externally");
    found->suspects.insert(changed.node);
  }
  for (const auto node : audited.silent) {
    if (scheduler_.try_again(node)) found->suspects.insert(node);
  }
  // Then it is said which entries differ.
  for (const auto& table : audited.tables) {
    if (table.read_by_sweep()) found->suspects.insert(table.node);
    if (!table.read_by_sweep()) vl_tables_.ask();
  }
  if (!audited.blocks.empty() || !audited.tables.empty()) loop_.take(without_audited(*subnet, audited));
  if (!found->suspects.empty() && found->reason.empty()) found->reason = "audit";
}

/// Repaired tables go back to freshly made ones once all is well and quiet.
bool SubnetManager::may_converge() const {
  const auto after = config_->routing.converge_after;
  return after.count() != 0 && is_working(summary_.state) && loop_.repaired_since(after);
}

/// What is not as it should be is looked at again, whether or not a switch says so; more and more seldom.
void SubnetManager::look_at_trouble(Looked& found) {
  searched_.clear();
  if (is_working(summary_.state)) return;
  const auto again = [&](Guid node) {
    const bool now = scheduler_.try_again(node);
    if (now && found.reason.empty()) found.reason = "not up";
    return now;
  };
  const auto silent = silent_names(*loop_.subnet());
  if (mastership_.state() != wire::SmState::master || !loop_.decided().routes ||
      !loop_.subnet()->duplicates.empty())
    found.heavy = again(Guid{}) || found.heavy;
  const auto suspect = [&](Guid node) {
    if (!again(node)) return;
    if (found.suspects.insert(node).second) searched_.insert(node);
  };
  for (const auto& lost : loop_.subnet()->unresponsive) suspect(lost.behind.node);
  if (!found.suspects.empty() && found.reason == "not up" && !silent.empty())
    found.reason = fmt::format("still unresponsive: {}", silent);
  for (const auto node : loop_.failures().nodes) suspect(node);
  for (const auto& node : loop_.subnet()->nodes) {
    const bool waits = std::ranges::any_of(node->ports, [](const Port& port) {
      return port.linked() && port.info.port_state != PortState::active &&
             port.info.port_state != PortState::no_change;
    });
    if (waits && node->is_switch()) suspect(node->guid());
  }
}

}  // namespace smd::sm
