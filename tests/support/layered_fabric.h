// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fabric whose routes have several layers, under a manager.

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "mad/sim/state/tables.h"
#include "smd/decide/path_layers.h"
#include "tests/support/managed_world.h"
#include "tests/support/store_lab.h"

namespace smd::test {

class LayeredFabric : public ::testing::Test {
 protected:
  explicit LayeredFabric(std::string_view text = "torus:4x4:2+guids=7") : world_(spec(text)) {
    config_.routing.engines = {"dfsssp"};
    config_.routing.path_sl = config::PathSl::asked;
    config_.routing.converge_after = std::chrono::seconds(20);
  }
  void begin() {
    start();
    ASSERT_GT(routes().layers.count, 1U);
  }
  void start() {
    manager_.emplace(world_, config_, sm::ManagerOptions{}, &*store_);
    group_.emplace(world_.io().get_executor());
    group_->spawn((*manager_)->run());
    world_.run_for(std::chrono::seconds(10));
  }
  void end() {
    world_.run(group_->stop());
    group_.reset();
    manager_.reset();
  }
  /// A cable fails, and the daemon stops and starts: no route, SL or table of VLs is another then.
  void expect_a_restart_keeps_all() {
    world_.fabric().faults().link_down(cable(9));
    world_.run_for(std::chrono::seconds(10));
    const auto layers_then = layers();
    const auto tables_then = tables();
    end();
    world_.fabric().counts().clear();
    begin();
    EXPECT_EQ(layers(), layers_then);
    EXPECT_EQ(tables(), tables_then);
    EXPECT_EQ(vl_sets(), 0U);
    EXPECT_EQ(world_.fabric().counts().sets(wire::LinearForwardingTable::kAttribute), 0U);
  }
  const sm::RoutePart& routes() { return *manager_->last().decided.routes; }
  const sim::State& state() { return world_.fabric().state(); }
  std::uint64_t vl_sets() {
    return world_.fabric().counts().sets(wire::SlToVl::kAttribute) +
           world_.fabric().counts().sets(wire::VlArbitration::kAttribute);
  }
  /// Of all pairs of switches, a digit each.
  std::string layers() {
    std::string found;
    const auto& topology = *routes().topology;
    for (routing::SwitchIndex a = 0; a < topology.switches(); ++a) {
      for (routing::SwitchIndex b = 0; b < a; ++b)
        found += fmt::format("{:x}", routes().layers.by_pair.at(a, b));
    }
    return found;
  }
  /// A digest of all forwarding tables.
  std::size_t tables() {
    std::string bytes;
    for (const auto& row : routes().rows) bytes.append(row.row->begin(), row.row->end());
    return std::hash<std::string>{}(bytes);
  }
  /// Switch and port of a cable between switches.
  sim::Place cable(std::size_t which) {
    for (const auto& node : state().nodes) {
      if (!node.is_switch()) continue;
      for (unsigned p = 1; p <= node.ports; ++p) {
        const sim::Place place{node.name, PortNum{static_cast<std::uint8_t>(p)}};
        if (between_switches(place) && which-- == 0) return place;
      }
    }
    return {};
  }
  bool between_switches(const sim::Place& place) {
    const auto* node = manager_->last().subnet->find(state().nodes[state().ports[at(place)].node].guid);
    const auto& peer = node->ports[place.port.value()].peer;
    return peer && manager_->last().subnet->find(peer->node)->is_switch();
  }
  sim::PortIndex at(const sim::Place& place) { return *sim::find_port(state(), place); }

  sim::World world_;
  config::SubnetConfig config_;
  std::optional<store::MemoryStore> store_{std::in_place};
  std::optional<Managed> manager_;
  std::optional<mad::TaskGroup> group_;
  ~LayeredFabric() override {
    if (group_) world_.run(group_->stop());
  }
};

}  // namespace smd::test
