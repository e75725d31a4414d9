// SPDX-License-Identifier: Apache-2.0
// A standby reads the fabric while it copies.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/replica_site.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Ends of the cables between switches.
std::set<std::pair<std::string, std::uint8_t>> cables_of(std::string_view spec) {
  std::set<std::pair<std::string, std::uint8_t>> cables;
  const auto fabric = test::spec(spec);
  for (const auto& node : fabric.nodes) {
    for (std::uint8_t p = 1; node.type == NodeType::switch_ && p <= node.port_count(); ++p) {
      const auto& peer = node.ports[p].peer;
      if (peer && fabric.nodes[peer->node].type == NodeType::switch_) cables.emplace(node.name, p);
    }
  }
  return cables;
}

/// What the standby has computed in advance is of the engine that the master had then.
TEST(StandbySweep, TheEngineThatTheMasterHasGoneOverToStays) {
  constexpr auto *kMaster = "h00000", *kStandby = "h00003";
  constexpr const char* kFabric = "random:12:4:2:5+guids=3";
  const auto left = cables_of("random:12:4:2:5+guids=3+cut=40:5");
  test::ReplicaSite site(kFabric);
  auto faults = site.world.fabric().faults();
  std::vector<sim::Place> lost;
  for (const auto& [node, port] : cables_of(kFabric)) {
    if (!left.contains({node, port})) lost.push_back({node, PortNum{port}});
  }
  for (const auto& cable : lost) faults.link_down(cable);
  site.start(kMaster, test::with_priority(5), {kStandby});
  site.start(kStandby, test::with_priority(3), {kMaster});
  site.world.run_for(seconds(10));
  ASSERT_EQ(site[kMaster].last().decided.routes->engine, "updn");
  for (const auto& cable : lost) faults.link_up(cable);
  site.world.run_for(seconds(20));
  ASSERT_EQ(site[kStandby].store().view()->role, replica::ReplicaView::Role::current);
  site[kMaster].manager().requests().resweep(sm::Resweep::converge_engine, "test");
  site.world.run_for(seconds(60));
  ASSERT_EQ(site[kMaster].last().decided.routes->engine, "nue");

  site.kill(kMaster);
  site.world.run_for(seconds(60));

  ASSERT_TRUE(site[kStandby].is_master());
  EXPECT_EQ(site[kStandby].last().decided.routes->engine, "nue");
  EXPECT_NE(site[kStandby].last().decided.routes->origin, sm::RoutePart::Origin::adopted);
}

/// The sweep waits for a silent host, for longer than the master is silent in the stream.
TEST(StandbySweep, TheCopyAndTheMasterAreKeptMeanwhile) {
  constexpr auto *kMaster = "h00000", *kStandby = "h00003";
  test::ReplicaSite site("ft2:4");
  site.start(kMaster, test::with_priority(5), {kStandby});
  site.start(kStandby, test::with_priority(3), {kMaster});
  site.world.run_for(seconds(3));
  ASSERT_TRUE(site[kMaster].is_master());
  auto& standby = site[kStandby];
  ASSERT_EQ(standby.store().view()->role, replica::ReplicaView::Role::current);
  ASSERT_TRUE(site.world.fabric().faults().silent("h00007"));

  unsigned sweeping = 0, lost = 0;
  std::optional<std::expected<replica::CallAnswer, std::string>> answer;
  for (unsigned round = 0; round < 4; ++round) {
    standby.manager().requests().resweep(sm::Resweep::heavy, "test");
    for (unsigned i = 0; i < 1100; ++i) {
      site.world.run_for(milliseconds(1));
      const auto sms = standby.manager().sms();
      ASSERT_EQ(sms->state.sm, wire::SmState::standby);
      if (!sms->state.polled && ++sweeping == 300) {
        standby.store().call({.caller = "client", .role = "operator", .method = "POST", .body = "new"},
                             [&](auto made) { answer = std::move(made); });
      }
      const auto role = standby.store().view()->role;
      if (role == replica::ReplicaView::Role::none || role == replica::ReplicaView::Role::lost) ++lost;
    }
  }

  EXPECT_GE(sweeping, 300U);
  EXPECT_EQ(lost, 0U);
  EXPECT_EQ(standby.lines.count("ha.replica_lost"), 0U) << testing::PrintToString(standby.lines.all);
  EXPECT_EQ(site[kMaster].lines.count("ha.standby_lost"), 0U)
      << testing::PrintToString(site[kMaster].lines.all);
  ASSERT_TRUE(answer && *answer) << (answer ? answer->error() : "no answer");
}

}  // namespace
}  // namespace smd
