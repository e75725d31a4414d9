// SPDX-License-Identifier: Apache-2.0
// A light sweep: what traps may have lost, a slow audit, and what is not as it should be once more.
#include <algorithm>
#include <utility>

#include "mad/transactions/ask.h"
#include "smd/ha/other_sms.h"
#include "smd/manager.h"
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

}  // namespace

/// Has any switch seen a port change, has our own port, is another SM master now? Gets only. `soon`: links
/// have just gone; a switch that does not answer one try may be behind one of them and is looked at by other
/// ways.
asio::awaitable<SubnetManager::Looked> SubnetManager::light_sweep(bool soon) {
  const auto subnet = subnet_;
  const Paths paths(*subnet);
  mad::TaskGroup group(parts_.executor);
  Looked found;
  for (std::size_t i = 0; i < subnet->nodes.size(); ++i) {
    const auto& node = *subnet->nodes[i];
    const auto path = node.is_switch() ? paths.to(i) : std::nullopt;
    if (path) group.spawn(look_at_switch(mad::Target{.route = *path, .node = node.guid()}, soon, &found));
  }
  for (const auto& other : subnet->other_sms) {
    const auto path = other.answered ? path_to(paths, *subnet, other) : std::nullopt;
    if (path) group.spawn(look_at_sm(mad::Target{.route = *path, .node = other.at.node}, &found));
  }
  group.spawn(look_at_own_port(subnet, &found));
  co_await group.join();
  co_await group.stop();
  // Who has an event to tell is not audited at the same time.
  if (agent_.state() == wire::SmState::master && !found.heavy && found.suspects.empty())
    co_await audit_some(subnet, &found);
  look_at_trouble(found);
  learn_of_sms(found);
  co_return found;
}

/// Another SM's state and priority change without a trap.
void SubnetManager::learn_of_sms(const Looked& found) {
  auto others = subnet_->other_sms;
  bool changed = false;
  for (auto& other : others) {
    const auto now = std::ranges::find(found.sms, other.info.guid, &std::pair<Guid, wire::SmInfo>::first);
    if (now == found.sms.end()) continue;
    changed = changed || !other.answered || now->second.state != other.info.state ||
              now->second.priority != other.info.priority;
    other.info = now->second;
    other.answered = true;
  }
  if (!changed) return;
  auto subnet = std::make_shared<Subnet>(*subnet_);
  subnet->other_sms = std::move(others);
  subnet_ = std::move(subnet);
  publish_between_sweeps();
}

asio::awaitable<void> SubnetManager::look_at_switch(mad::Target target, bool soon, Looked* found) {
  constexpr auto kOneTry = std::chrono::milliseconds(50);
  auto request = mad::get_request<wire::SwitchInfo>(target);
  if (soon) request.single_try = kOneTry;
  const auto info = co_await mad::ask<wire::SwitchInfo>(&tx_, std::move(request));
  if (info && !info->port_state_change) co_return;
  if (!info && info.error().fault == mad::Fault::closed) co_return;
  // Whose bit we could not clear, or who says nothing, has nothing new to tell each time.
  if (((!info && !soon) || failed_nodes_.contains(target.node)) && !try_again(target.node)) co_return;
  found->suspects.insert(target.node);
  found->reason = info ? "port state change" : "a switch does not answer";
}

asio::awaitable<void> SubnetManager::look_at_sm(mad::Target target, Looked* found) {
  const auto info = co_await mad::get<wire::SmInfo>(tx_, target);
  if (info) found->sms.emplace_back(info->guid, *info);
  if (info && info->state != wire::SmState::master) co_return;
  found->heavy = true;
  found->reason = info ? "another master" : "another SM does not answer";
}

/// Who changes our own LID or master without us is another master.
asio::awaitable<void> SubnetManager::look_at_own_port(std::shared_ptr<const Subnet> subnet, Looked* found) {
  const auto& self = *subnet->find(subnet->sm_node);
  const auto& was = self.ports[subnet->sm_port.value()].info;
  const mad::Target target{.route = mad::DirectedPath{}, .node = subnet->sm_node};
  const auto asked = co_await mad::get_port_info(&tx_, target, subnet->sm_port, self.refuses_extended_speeds);
  const auto& now = asked.info;
  if (now && now->port_state == was.port_state && now->lid == was.lid && now->sm_lid == was.sm_lid) co_return;
  found->heavy = true;
  found->reason = "own port";
}

/// A block that another hand has changed is unknown from now on, and written again.
asio::awaitable<void> SubnetManager::audit_some(std::shared_ptr<const Subnet> subnet, Looked* found) {
  const auto nodes = std::max(kAuditAtLeast, subnet->nodes.size() / kAuditShare);
  const auto audited = co_await audit(&tx_, subnet.get(), &audit_, nodes);
  if (audited.empty()) co_return;
  for (const auto& changed : audited.ports) {
    parts_.log.warn("node.changed")
        .port(changed.node, subnet->find(changed.node)->description, changed.port)
        .kv("fields", joined(changed.fields))
        .kv("reason", "changed by another hand, or no trap told");
    found->suspects.insert(changed.node);
  }
  auto edited = std::make_shared<Subnet>(*subnet);
  for (const auto& changed : audited.blocks) {
    const auto index = *edited->index_of(changed.node);
    auto node = std::make_shared<Node>(*edited->nodes[index]);
    node->lft.known.reset(changed.block);
    parts_.log.warn("node.changed")
        .port(changed.node, node->description, PortNum{0})
        .kv("lft_block", changed.block)
        .kv("reason", "changed by another hand");
    edited->nodes[index] = std::move(node);
    found->suspects.insert(changed.node);
  }
  for (const auto node : audited.silent) {
    if (try_again(node)) found->suspects.insert(node);
  }
  for (const auto& table : audited.tables) forget_table(*edited, table, *found);
  if (!audited.blocks.empty() || !audited.tables.empty()) subnet_ = std::move(edited);
  if (!found->suspects.empty()) found->reason = "audit";
}

/// What it holds now is read again: P_Keys with the node, lane tables when nothing else is to be done.
void SubnetManager::forget_table(Subnet& subnet, const Audit::Table& table, Looked& found) {
  const auto index = *subnet.index_of(table.node);
  auto node = std::make_shared<Node>(*subnet.nodes[index]);
  auto& port = node->ports[table.port.value()];
  const bool keys = table.attribute == wire::PKeyTable::kAttribute;
  if (table.changed)
    parts_.log.warn("node.changed")
        .port(table.node, node->description, table.port)
        .kv("table", wire::attribute_name(table.attribute))
        .kv("reason", "changed by another hand");
  if (keys) port.pkeys = nullptr, found.suspects.insert(table.node);
  if (!keys) port.lanes = nullptr, ask_for_lanes();
  subnet.nodes[index] = std::move(node);
}

/// Is it time to look once more at what did not come right?
bool SubnetManager::try_again(Guid node) {
  const auto now = parts_.clock.now();
  if (retry_pace_.due(node) > now) return false;
  retry_pace_.looked(node, now);
  return true;
}

/// What is not as it should be is looked at again, whether or not a switch says so; more and more seldom.
void SubnetManager::look_at_trouble(Looked& found) {
  if (summary_.state == SweepState::up) return;
  const auto again = [&](Guid node) {
    const bool now = try_again(node);
    if (now && found.reason.empty()) found.reason = "not up";
    return now;
  };
  if (agent_.state() != wire::SmState::master || !decided_.routes || !subnet_->duplicates.empty())
    found.heavy = again(Guid{}) || found.heavy;
  const auto suspect = [&](Guid node) {
    if (again(node)) found.suspects.insert(node);
  };
  for (const auto& lost : subnet_->unresponsive) suspect(lost.behind.node);
  for (const auto node : failed_nodes_) suspect(node);
  for (const auto& node : subnet_->nodes) {
    const bool waits = std::ranges::any_of(node->ports, [](const Port& port) {
      return port.linked() && port.info.port_state != PortState::active &&
             port.info.port_state != PortState::no_change;
    });
    if (waits && node->is_switch()) suspect(node->guid());
  }
}

}  // namespace smd::sm
