// SPDX-License-Identifier: Apache-2.0
#include "smd/report/tally.h"

#include <algorithm>

namespace smd::sm {
namespace {

void count_ports(const Node& node, SweepSummary& summary, std::uint64_t& linked_ends) {
  for (std::size_t p = 1; p < node.ports.size(); ++p) {
    const auto& port = node.ports[p];
    if (!port.linked()) continue;
    ++(port.info.port_state == PortState::active ? summary.ports_active : summary.ports_not_active);
    if (port.peer) ++linked_ends;
  }
}

/// A switch that could be asked and is left out of the routes: its table is too small.
bool left_out(const Subnet& subnet, const RoutePart& routes) {
  return std::ranges::any_of(subnet.nodes, [&](const NodePtr& node) {
    return node->switch_info && routes.find(node->guid()) == nullptr;
  });
}

SweepState state_of(const Subnet& subnet, const Decided* decided, const SweepSummary& summary) {
  if (decided == nullptr || !decided->routes) return SweepState::failed;
  const bool whole = !is_cut_off(subnet) && subnet.unresponsive.empty() && subnet.duplicates.empty() &&
                     decided->lids->without_lid.empty() && summary.sets_left == 0 &&
                     summary.ports_not_active == 0 && decided->routes->verification.ok() &&
                     !left_out(subnet, *decided->routes);
  return whole ? SweepState::up : SweepState::degraded;
}

}  // namespace

bool is_cut_off(const Subnet& subnet) {
  const auto* self = subnet.find(subnet.sm_node);
  if (self == nullptr || self->is_switch() || subnet.sm_port.value() >= self->ports.size()) return false;
  const auto& port = self->ports[subnet.sm_port.value()];
  return port.known && !port.linked();
}

void tally(const Subnet& subnet, const Decided* decided, SweepSummary& summary) {
  std::uint64_t linked_ends = 0;
  for (const auto& node : subnet.nodes) {
    switch (node->info.type) {
      case NodeType::switch_:
        ++summary.switches;
        break;
      case NodeType::router:
        ++summary.routers;
        break;
      default:
        ++summary.cas;
        break;
    }
    count_ports(*node, summary, linked_ends);
  }
  summary.links = linked_ends / 2;
  summary.unresponsive = subnet.unresponsive.size();
  if (decided != nullptr && decided->routes) {
    for (const auto& entry : decided->lids->entries) summary.lids += std::uint64_t{1} << entry.lmc;
    summary.engine = decided->routes->engine;
    summary.sm_lid = decided->lids->sm_lid;
  }
  summary.state = state_of(subnet, decided, summary);
}

std::uint64_t lids_changed(const Subnet& subnet, const LidPart& lids) {
  std::uint64_t changed = 0;
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = node->is_switch() ? 0 : 1; p < (node->is_switch() ? 1 : node->ports.size()); ++p) {
      const auto& port = node->ports[p];
      const auto* entry = port.known ? lids.find(node->is_switch() ? node->guid() : port.guid) : nullptr;
      if (entry != nullptr && port.info.lid != Lid{} && port.info.lid != entry->base) ++changed;
    }
  }
  return changed;
}

}  // namespace smd::sm
