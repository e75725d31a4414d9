// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fabric's state as an SM would have left it: LIDs, tables by shortest ways, all links Active. No packet is
// sent.

#include <algorithm>
#include <string_view>
#include <vector>

#include "mad/base/fabric_spec.h"
#include "mad/sim/agents/links.h"
#include "mad/sim/state/reset.h"
#include "mad/sim/state/state.h"
#include "mad/wire/tables.h"

namespace smd::test {

class RoutedState {
 public:
  /// Every end port has a LID, from 1 on in the order of the ports. `vls` is a code (4: eight).
  explicit RoutedState(const base::Fabric& fabric, std::uint8_t vls = 4) : state_(sim::power_on(fabric, {})) {
    std::uint16_t lid = 0;
    for (sim::PortIndex port = 0; port < state_.ports.size(); ++port) {
      sim::link_now(state_, port);
      if (sim::is_end_port(state_, port)) state_.ports[port].info.lid = Lid{++lid};
    }
    for (auto& port : state_.ports) {
      if (!port.link_up()) continue;
      port.info.port_state = PortState::active;
      port.info.operational_vls = vls;
      port.vls = vls;
    }
    for (auto& node : state_.nodes) {
      if (!node.is_switch()) continue;
      node.sw->lft.assign(lid / 64U * 64U + 64U, kNoPort.value());
      node.sw->info.linear_fdb_top = lid;
    }
    for (sim::PortIndex port = 0; port < state_.ports.size(); ++port) {
      if (state_.ports[port].info.lid != Lid{}) route_to(port);
    }
  }
  explicit RoutedState(std::string_view spec, std::uint8_t vls = 4)
      : RoutedState(*base::make_fabric(spec), vls) {}

  operator const sim::State&() const { return state_; }  // NOLINT(*-explicit-*)
  sim::State& operator*() { return state_; }
  sim::State* operator->() { return &state_; }

  sim::PortIndex port(const char* node, unsigned number = 0) const {
    return *sim::find_port(state_, {node, PortNum{static_cast<std::uint8_t>(number)}});
  }
  Lid lid(const char* node) const { return state_.ports[port(node)].info.lid; }
  sim::Port& at(const char* node, unsigned number = 0) { return state_.ports[port(node, number)]; }

  /// At every port.
  void arbitrate(const wire::VlArbitration& low, const wire::VlArbitration& high, std::uint8_t limit) {
    for (auto& each : state_.ports) {
      if (!each.tables) each.tables = std::make_unique<sim::PortTables>();
      each.tables->vl_arb = {low, {}, high, {}};
      each.info.vl_high_limit = limit;
    }
  }

 private:
  /// By the lowest port that leads to a nearer switch; LIDs take turns where there are several.
  void route_to(sim::PortIndex end) {
    constexpr unsigned kFar = 1000;
    std::vector<unsigned> distance(state_.nodes.size(), kFar);
    std::vector<sim::NodeIndex> found{state_.ports[end].node};
    distance[found[0]] = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& node = state_.nodes[found[i]];
      if (i > 0 && !node.is_switch()) continue;
      for (unsigned number = 1; number <= node.ports; ++number) {
        const auto& port = state_.port(node, number);
        if (!port.link_up() || (i == 0 && !node.is_switch() && state_.index(node, number) != end)) continue;
        const auto next = state_.ports[port.peer].node;
        if (distance[next] != kFar) continue;
        distance[next] = distance[found[i]] + 1;
        found.push_back(next);
      }
    }
    const auto lid = state_.ports[end].info.lid.value();
    for (const auto at : found) {
      auto& node = state_.nodes[at];
      if (!node.is_switch()) continue;
      node.sw->lft[lid] = distance[at] == 0 ? std::uint8_t{0} : next_port(node, distance, end, lid);
    }
  }
  std::uint8_t next_port(const sim::Node& node, const std::vector<unsigned>& distance, sim::PortIndex end,
                         std::uint16_t lid) const {
    std::vector<std::uint8_t> ways;
    const auto here = distance[state_.ports[node.first_port].node];
    for (unsigned number = 1; number <= node.ports; ++number) {
      const auto& port = state_.port(node, number);
      if (!port.link_up()) continue;
      const auto& peer = state_.ports[port.peer];
      const bool leads = port.peer == end || (here > 1 && state_.nodes[peer.node].is_switch()) ||
                         peer.node == state_.ports[end].node;
      if (leads && distance[peer.node] + 1 == here) ways.push_back(static_cast<std::uint8_t>(number));
    }
    return ways.empty() ? kNoPort.value() : ways[lid % ways.size()];
  }

  sim::State state_;
};

}  // namespace smd::test
