// SPDX-License-Identifier: Apache-2.0
#include "smd/reconcile/bookkeeping.h"

#include <utility>

#include "smd/apply/advance.h"
#include "smd/sweep/end_ports.h"

namespace smd::sm::inline reconciling {

std::set<Guid> LeftOut::all() const {
  auto both = silent;
  both.insert(refusing.begin(), refusing.end());
  return both;
}

bool LeftOut::take(const Subnet& subnet, const Applied& applied) {
  const auto before = silent.size() + refusing.size();
  for (const auto index : applied.silent) silent.insert(subnet.nodes[index]->guid());
  for (const auto index : applied.refusing) refusing.insert(subnet.nodes[index]->guid());
  return silent.size() + refusing.size() != before;
}

void Failures::begin() { *this = {.sets = 0, .left = 0, .nodes = {}, .nodes_before = std::move(nodes)}; }

void Failures::add(const Subnet& subnet, const Applied& applied) {
  sets += applied.failed.size();
  for (const auto& set : applied.failed) nodes.insert(subnet.nodes[set.node]->guid());
}

void Failures::end(std::size_t left_sets) {
  left = left_sets;
  if (left == 0) nodes.clear();
}

std::vector<ClearedChange> cleared_changes(const Subnet& before, const Applied& applied) {
  std::vector<ClearedChange> cleared;
  for (const auto& answer : applied.switches) {
    const auto& node = *before.nodes[answer.node];
    if (answer.sent && answer.sent->port_state_change) cleared.push_back({node.guid(), node.forwards()});
  }
  return cleared;
}

std::vector<Guid> came_up(const Subnet& subnet, const Applied& applied) {
  std::vector<Guid> ports;
  for (const auto& answer : applied.ports) {
    const auto& node = *subnet.nodes[answer.node];
    if (!answer.sent || answer.sent->port_state != PortState::armed || node.is_switch()) continue;
    ports.push_back(node.ports[answer.port.value()].guid);
  }
  return ports;
}

std::vector<Guid> taken_from_another(const Subnet& subnet, const Applied& applied) {
  const auto* sm = subnet.find(subnet.sm_node);
  const std::size_t number = sm == nullptr || sm->is_switch() ? 0 : subnet.sm_port.value();
  const auto ours = sm != nullptr && number < sm->ports.size() ? sm->ports[number].info.lid : Lid{};
  std::vector<Guid> ports;
  for (const auto& answer : applied.ports) {
    const auto& node = *subnet.nodes[answer.node];
    const auto& port = node.ports[answer.port.value()];
    const auto before = port.info.sm_lid;
    const bool told = answer.sent && is_end_port(node, answer.port) && answer.sent->sm_lid != before;
    // Our own LID may have changed, too.
    if (told && before != Lid{} && before != ours) ports.push_back(port_guid(node, answer.port));
  }
  return ports;
}

Subnet after_writing(const Subnet& before, const Decided& decided, const Applied& applied) {
  auto after = advance(before, decided, applied);
  for (const auto& set : applied.ports) {
    if (set.sent) after.unanswered.erase(after.nodes[set.node]->guid());
  }
  for (const auto node : applied.silent) after.unanswered.insert(after.nodes[node]->guid());
  return after;
}

std::vector<RefusedSet> refused_sets(const Subnet& subnet, const Applied& applied,
                                     const std::vector<RefusedSet>& earlier, const std::set<Guid>& left_out) {
  std::vector<RefusedSet> refused;
  for (const auto& set : applied.failed)
    refused.push_back({{subnet.nodes[set.node]->guid(), set.port}, set.attribute, set.reason});
  for (const auto& set : earlier) {
    if (left_out.contains(set.at.node)) refused.push_back(set);
  }
  return refused;
}

}  // namespace smd::sm::inline reconciling
