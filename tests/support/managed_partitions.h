// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mad/sim/state/tables.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"
#include "tests/support/sim_lab.h"
#include "tests/support/store_lab.h"

namespace smd::test {

/// two_leaves() with smd on h0; h1 and h2 are on leaf1.
class ManagedPartitions : public testing::Test {
 protected:
  void start(config::SubnetConfig config, store::Store* store = nullptr) {
    config.sweep.interval = std::chrono::seconds(1);
    smd_.emplace(world_, sim::Place{"h0"}, config, sm::ManagerOptions{}, store);
    group_.emplace(world_.io().get_executor());
    group_->spawn((*smd_)->run());
    run();
  }
  void reload(config::SubnetConfig config) {
    config.sweep.interval = std::chrono::seconds(1);
    sets_.clear();
    (*smd_)->requests().reload(std::move(config));
    run();
  }
  void run(sim::Duration time = std::chrono::seconds(3)) { world_.run_for(time); }
  void end() { world_.run(group_->stop()); }
  void TearDown() override {
    if (group_) end();
  }
  sim::PortIndex index(std::string_view node, unsigned port) {
    const auto& state = world_.fabric().state();
    return state.index(state.nodes[*sim::find_node(state, node)], port);
  }
  /// Without the free entries at the end.
  std::vector<PKey> keys(std::string_view node, unsigned port) {
    const auto& state = world_.fabric().state();
    std::vector<PKey> keys;
    for (unsigned i = 0; i < sim::pkey_capacity(state, index(node, port)); ++i)
      keys.push_back(sim::p_key(state, index(node, port), i));
    while (!keys.empty() && keys.back() == PKey{}) keys.pop_back();
    return keys;
  }
  std::pair<bool, bool> bits(std::string_view node, unsigned port) {
    const auto& info = world_.fabric().state().ports[index(node, port)].info;
    return {info.partition_enforce_in, info.partition_enforce_out};
  }
  void watch() {
    world_.fabric().watch_sets([this](const sim::DoneSet& set) { sets_.push_back(set); });
  }
  std::size_t sets(std::uint16_t attribute) const {
    return static_cast<std::size_t>(std::ranges::count(sets_, attribute, &sim::DoneSet::attribute));
  }
  /// Of the Sets of P_Key tables: the nodes that they went to.
  std::vector<std::string> written() {
    std::vector<std::string> names;
    const auto& state = world_.fabric().state();
    for (const auto& set : sets_) {
      if (set.attribute == wire::PKeyTable::kAttribute)
        names.push_back(state.nodes[state.ports[set.at].node].name);
    }
    return names;
  }
  Managed& smd() { return *smd_; }
  config::SubnetConfig blue() const { return with_partitions({partition("blue", 0x12, {"h1"}, {"h2"})}); }

  sim::World world_{test::two_leaves()};
  std::optional<Managed> smd_;
  std::optional<mad::TaskGroup> group_;
  std::vector<sim::DoneSet> sets_;  ///< that nodes have executed since the last reload
};

}  // namespace smd::test
