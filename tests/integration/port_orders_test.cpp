// SPDX-License-Identifier: Apache-2.0
// Ports that an operator disables, enables and resets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "mad/sim/packets/reach.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using policy::PortAt;
using test::Managed;

/// ft2:8 in operation.
class PortOrders : public testing::Test {
 protected:
  PortOrders() : world_(test::spec("ft2:8")) { start(); }
  ~PortOrders() override { stop(); }
  void start() {
    smd_.emplace(world_, config::SubnetConfig{}, sm::ManagerOptions{}, nullptr, policies_);
    group_.emplace(world_.io().get_executor());
    group_->spawn((*smd_)->run());
    world_.run_for(3s);
  }
  void stop() {
    if (group_) world_.run(group_->stop());
    group_.reset();
    smd_.reset();
  }
  const sim::State& state() { return world_.fabric().state(); }
  /// A port of a switch, with a link to another switch.
  PortAt uplink() {
    for (const auto& node : state().nodes) {
      for (unsigned number = 1; node.is_switch() && number <= node.ports; ++number) {
        const auto& port = state().port(node, number);
        if (port.peer != sim::kNowhere && state().node_of(port.peer).is_switch())
          return {node.guid, PortNum{static_cast<std::uint8_t>(number)}};
      }
    }
    return {};
  }
  /// A port of a switch, with a link to a host that is not the SM's.
  PortAt host_link() {
    for (const auto& node : state().nodes) {
      for (unsigned number = 1; node.is_switch() && number <= node.ports; ++number) {
        const auto& port = state().port(node, number);
        if (port.peer == sim::kNowhere || state().node_of(port.peer).is_switch()) continue;
        if (state().node_of(port.peer).guid != smd_->last().subnet->sm_node)
          return {node.guid, PortNum{static_cast<std::uint8_t>(number)}};
      }
    }
    return {};
  }
  const sim::Port& at(const PortAt& end) {
    const auto node = std::ranges::find(state().nodes, end.first, &sim::Node::guid);
    return state().port(*node, end.second.value());
  }
  /// The highest state of either end while the time passes.
  PortState highest_state(const PortAt& end, std::chrono::milliseconds time) {
    auto highest = PortState::down;
    for (auto passed = 0ms; passed < time; passed += 1ms) {
      world_.run_for(1ms);
      const auto& port = at(end);
      highest = std::max({highest, port.info.port_state, state().ports[port.peer].info.port_state});
    }
    return highest;
  }
  std::string name_of(const PortAt& end) {
    return std::ranges::find(state().nodes, end.first, &sim::Node::guid)->name;
  }
  void set_disabled(policy::DisabledPorts ports) {
    auto next = std::make_shared<policy::Policies>();
    next->disabled_ports = std::move(ports);
    policies_ = std::move(next);
    (*smd_)->requests().set_policies(policies_);
    world_.run_for(2s);
  }
  bool hosts_reach_each_other() {
    std::vector<sim::PortIndex> ends;
    for (sim::PortIndex port = 0; port < state().ports.size(); ++port) {
      const bool active = state().ports[port].info.port_state == PortState::active;
      if (!state().node_of(port).is_switch() && active) ends.push_back(port);
    }
    const auto found = sim::reach(state(), ends, 1);
    return found.delivered == found.pairs;
  }

  sim::World world_;
  policy::PoliciesPtr policies_ = std::make_shared<const policy::Policies>();
  std::optional<Managed> smd_;
  std::optional<mad::TaskGroup> group_;
};

TEST_F(PortOrders, ADisabledPortStaysSoUntilItIsEnabled) {
  const auto end = uplink();
  ASSERT_EQ(at(end).info.port_state, PortState::active);

  set_disabled({{end, {.by = "test"}}});
  EXPECT_EQ(at(end).info.phys_state, PhysState::disabled);
  EXPECT_TRUE(hosts_reach_each_other()) << testing::PrintToString(smd_->lines().all);
  ASSERT_TRUE(smd_->last().disabled);
  EXPECT_EQ(smd_->last().disabled->size(), 1U);

  (*smd_)->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(2s);
  EXPECT_EQ(at(end).info.phys_state, PhysState::disabled) << "a sweep leaves it";

  (*smd_)->requests().resweep(sm::Resweep::light, "test");
  set_disabled({});
  EXPECT_EQ(at(end).info.phys_state, PhysState::disabled) << "nothing enables it by itself";
  (*smd_)->requests().train(end);
  world_.run_for(3s);
  EXPECT_EQ(at(end).info.port_state, PortState::active) << testing::PrintToString(smd_->lines().all);
  EXPECT_TRUE(hosts_reach_each_other());
}

TEST_F(PortOrders, AHostThatIsCutOffByItIsNotWaitedFor) {
  const auto end = host_link();
  const auto before = smd_->last().summary.cas;

  set_disabled({{end, {.by = "test"}}});

  EXPECT_EQ(smd_->last().summary.cas, before - 1) << testing::PrintToString(smd_->lines().all);
  EXPECT_EQ(smd_->lines().count("node.gone"), 1U);
  EXPECT_EQ(smd_->lines().count("node.unresponsive"), 0U) << smd_->lines().first("node.unresponsive");
  EXPECT_EQ(smd_->lines().count(" timeouts=0 "), smd_->lines().count(" timeouts="));
}

/// Its switch has begun anew, with all its ports enabled.
TEST_F(PortOrders, ASwitchThatRestartsIsToldAgain) {
  const auto end = uplink();
  set_disabled({{end, {.by = "test"}}});
  ASSERT_EQ(at(end).info.phys_state, PhysState::disabled);

  world_.fabric().faults().reboot(name_of(end));
  world_.run_for(10s);

  EXPECT_EQ(at(end).info.phys_state, PhysState::disabled) << testing::PrintToString(smd_->lines().all);
  EXPECT_TRUE(hosts_reach_each_other());
}

/// Nothing is carried on the link until it is disabled again.
TEST_F(PortOrders, ADisabledPortIsNotBroughtUpAfterARestart) {
  for (const auto& end : {uplink(), host_link()}) {
    set_disabled({{end, {.by = "test"}}});
    ASSERT_EQ(at(end).info.phys_state, PhysState::disabled);

    world_.fabric().faults().reboot(name_of(end));
    EXPECT_LE(highest_state(end, 10s), PortState::init) << testing::PrintToString(smd_->lines().all);

    EXPECT_EQ(at(end).info.phys_state, PhysState::disabled);
    EXPECT_TRUE(hosts_reach_each_other());
  }
}

/// The state directory has it, and nothing else tells the next start.
TEST_F(PortOrders, TheNextStartKnowsIt) {
  const auto end = host_link();
  set_disabled({{end, {.by = "test"}}});
  stop();
  world_.fabric().faults().reboot(name_of(end));
  start();

  EXPECT_LE(highest_state(end, 10s), PortState::init) << testing::PrintToString(smd_->lines().all);
  EXPECT_EQ(at(end).info.phys_state, PhysState::disabled);
  ASSERT_TRUE(smd_->last().disabled);
  EXPECT_EQ(smd_->last().disabled->size(), 1U);
}

/// Of a new master, too, which finds the whole fabric for the first time.
TEST_F(PortOrders, TheNextMasterDoesNotBringItUp) {
  const auto end = host_link();
  set_disabled({{end, {.by = "test"}}});
  stop();
  world_.fabric().faults().reboot(name_of(end));
  world_.run_for(1s);
  ASSERT_EQ(at(end).info.port_state, PortState::init);

  smd_.emplace(world_);
  (*smd_)->requests().set_policies(policies_);
  group_.emplace(world_.io().get_executor());
  group_->spawn((*smd_)->run());
  EXPECT_LE(highest_state(end, 8s), PortState::init) << testing::PrintToString(smd_->lines().all);

  EXPECT_EQ(at(end).info.phys_state, PhysState::disabled);
}

/// The next process, or the next master, has what was kept.
TEST_F(PortOrders, TheNextMasterGoesOnWithIt) {
  const auto end = uplink();
  set_disabled({{end, {.by = "test"}}});
  stop();
  world_.fabric().faults().reboot(name_of(end));
  world_.run_for(1s);
  ASSERT_NE(at(end).info.phys_state, PhysState::disabled);

  start();
  world_.run_for(5s);

  EXPECT_EQ(at(end).info.phys_state, PhysState::disabled) << testing::PrintToString(smd_->lines().all);
}

TEST_F(PortOrders, AResetTrainsOnce) {
  const auto end = uplink();
  const auto downs = [&] { return smd_->lines().count("link.down"); };
  const auto before = downs();

  (*smd_)->requests().train(end);
  world_.run_for(5s);

  EXPECT_EQ(at(end).info.port_state, PortState::active);
  const auto after = downs();
  world_.run_for(60s);
  EXPECT_EQ(downs(), after) << before;
  EXPECT_EQ(smd_->last().summary.state, sm::SweepState::up);
}

}  // namespace
}  // namespace smd
