// SPDX-License-Identifier: Apache-2.0
#include "smd/offline/offline.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "mad/sim/fabric/fabric.h"
#include "smd/plan/desired.h"
#include "smd/sweep/discovery_state.h"

namespace smd::sm::inline offline {
namespace {

PeerPort peer_port(const sim::State& state, sim::PortIndex port) {
  return {.node = state.node_of(port).guid, .port = state.ports[port].number};
}

Port make_port(const sim::State& state, const sim::Node& node, unsigned number,
               const std::vector<bool>& in_service) {
  const auto& from = state.port(node, number);
  Port port;
  if (number == 0 && !node.is_switch()) return port;  // a CA has no port 0
  port.info = from.info;
  port.guid = node.is_switch() ? node.guid : from.guid;
  // Ports of a CA are behind different links: one that is down is never met.
  port.known = node.is_switch() || from.link_up();
  if (number != 0 && from.link_up() && from.peer != sim::kNowhere &&
      in_service[state.ports[from.peer].node]) {
    port.peer = peer_port(state, from.peer);
  }
  if (from.speed == LinkSpeed::fdr10) {
    port.mlnx = wire::MlnxExtPortInfo{};
    port.mlnx->link_speed_active = wire::MlnxExtPortInfo::kFdr10;
  }
  return port;
}

/// The first port that a directed route would come through: what NodeInfo shows as its own.
unsigned first_port(const sim::State& state, const sim::Node& node) {
  if (node.is_switch()) return 0;
  for (unsigned number = 1; number <= node.ports; ++number) {
    if (state.port(node, number).link_up()) return number;
  }
  return std::min<unsigned>(1, node.ports);
}

NodePtr make_node(const sim::State& state, const sim::Node& from, const std::vector<bool>& in_service) {
  auto node = std::make_shared<Node>();
  const auto met_at = first_port(state, from);
  node->info = {.base_version = 1,
                .class_version = 1,
                .type = from.type,
                .num_ports = static_cast<std::uint8_t>(from.ports),
                .system_image = from.system_image,
                .node = from.guid,
                .port = from.is_switch() ? from.guid : state.port(from, met_at).guid,
                .partition_cap = from.is_switch() ? state.options.capacities.switch_pkeys
                                                  : state.options.capacities.ca_pkeys,
                .device_id = from.device_id,
                .revision = 0xA0,  // as the simulator says
                .local_port = PortNum{static_cast<std::uint8_t>(met_at)},
                .vendor_id = from.vendor_id};
  node->description = from.name;
  if (from.sw) node->switch_info = from.sw->info;
  node->ports.reserve(from.ports + std::size_t{1});
  for (unsigned number = 0; number <= from.ports; ++number) {
    node->ports.push_back(make_port(state, from, number, in_service));
  }
  return node;
}

/// A place from which a node is reached, for the report of a second node with its GUID.
PeerPort place_of(const sim::State& state, const sim::Node& node) {
  for (unsigned number = 1; number <= node.ports; ++number) {
    const auto peer = state.port(node, number).peer;
    if (peer != sim::kNowhere) return peer_port(state, peer);
  }
  return {};
}

void note_duplicate(Subnet& subnet, const sim::State& state, const sim::Node& node) {
  auto known = std::ranges::find(subnet.duplicates, node.guid, &DuplicateGuid::guid);
  if (known == subnet.duplicates.end()) {
    subnet.duplicates.push_back({.guid = node.guid, .places = {}});
    known = std::prev(subnet.duplicates.end());
    const auto& first = *std::ranges::find(state.nodes, node.guid, &sim::Node::guid);
    known->places.push_back(place_of(state, first));
  }
  known->places.push_back(place_of(state, node));
}

sim::Options options_for(unsigned vls) {
  constexpr std::uint8_t kVl0To14 = 5;
  sim::Options options;
  if (vls <= kOfflineVls) return options;
  options.capacities.vl_cap = kVl0To14;
  options.capacities.vl_arb = static_cast<std::uint8_t>(vls);
  return options;
}

}  // namespace

Subnet offline_subnet(const base::Fabric& fabric, unsigned vls) {
  const sim::Fabric simulated(fabric, options_for(vls));
  const auto& state = simulated.state();
  Subnet subnet;
  if (const auto own = simulated.default_port()) {
    subnet.sm_node = state.node_of(*own).guid;
    subnet.sm_port = state.ports[*own].number;
  }
  std::vector<bool> in_service(state.nodes.size());
  std::unordered_map<Guid, std::size_t> places;
  for (const auto& node : state.nodes) ++places[node.guid];
  std::unordered_set<Guid> seen;
  for (std::size_t i = 0; i < state.nodes.size(); ++i) {
    const auto guid = state.nodes[i].guid;
    const bool is_first = seen.insert(guid).second;
    if (!is_first) note_duplicate(subnet, state, state.nodes[i]);
    // As a sweep without memory: of two nodes with one GUID none, unless it is the SM's own.
    in_service[i] = places[guid] == 1 || (is_first && guid == subnet.sm_node);
  }
  for (std::size_t i = 0; i < state.nodes.size(); ++i) {
    if (in_service[i]) subnet.nodes.push_back(make_node(state, state.nodes[i], in_service));
  }
  std::ranges::sort(subnet.nodes, {}, [](const NodePtr& node) { return node->guid(); });
  part_port_guids(subnet, nullptr);
  return subnet;
}

std::vector<Guid> file_order(const base::Fabric& fabric) {
  std::vector<Guid> order;
  order.reserve(fabric.nodes.size());
  std::unordered_set<Guid> seen;
  for (const auto& node : fabric.nodes) {
    if (seen.insert(node.guid).second) order.push_back(node.guid);
  }
  return order;
}

Subnet with_tables(Subnet subnet, const RoutePart& routes) {
  for (auto& node : subnet.nodes) {
    const auto* row = routes.find(node->guid());
    if (row == nullptr || !*row) continue;
    auto changed = std::make_shared<Node>(*node);
    changed->lft = {.row = *row, .known = BlockSet::first((*row)->size() / routing::kLftBlock), .asked = {}};
    if (changed->switch_info) changed->switch_info->linear_fdb_top = routes.top.value();
    node = std::move(changed);
  }
  return subnet;
}

Subnet settled(const Subnet& subnet, const Decided& decided) {
  const PlanInput in{.subnet = subnet, .decided = decided};
  Subnet after = subnet;
  for (auto& node : after.nodes) {
    auto changed = std::make_shared<Node>(*node);
    for (std::size_t p = 0; p < node->ports.size(); ++p) {
      const PortNum number{static_cast<std::uint8_t>(p)};
      const auto desired = desired_port_info(in, *node, number);
      if (!desired) continue;
      changed->ports[p].info = *desired;
      if (p != 0) changed->ports[p].info.port_state = PortState::active;
    }
    if (const auto desired = desired_switch_info(in, *node)) changed->switch_info = *desired;
    node = std::move(changed);
  }
  return with_tables(std::move(after), *decided.routes);
}

}  // namespace smd::sm::inline offline
