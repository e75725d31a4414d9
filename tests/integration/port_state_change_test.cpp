// SPDX-License-Identifier: Apache-2.0
// Links that are cut while smd deals with others: their switches have sent their trap, and repeat it late.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "mad/sim/packets/reach.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

TEST(PortStateChange, OfALinkThatIsCutWhileTablesAreWrittenIsNotCleared) {
  sim::World world(test::spec("ft2:8"));
  Managed smd(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(smd->run());
  world.run_for(5s);
  ASSERT_TRUE(sim::reach(world.fabric().state()).all());
  bool writes = false;
  world.fabric().watch_packets([&](const sim::SentPacket& packet) {
    const auto header = wire::decode<wire::MadHeader>(packet.mad);
    const bool is_table = header && header->method == wire::Method::set &&
                          header->attribute == wire::LinearForwardingTable::kAttribute;
    if (!is_table || std::exchange(writes, true)) return;
    world.at(world.now(), [](sim::Fabric& now) { now.faults().link_down({"leaf000", PortNum{6}}); });
  });

  world.fabric().faults().link_down({"leaf000", PortNum{5}});
  world.run_for(500ms);

  EXPECT_TRUE(writes);
  const auto found = sim::reach(world.fabric().state());
  EXPECT_TRUE(found.all()) << found.delivered << " of " << found.pairs
                           << testing::PrintToString(smd.lines().all);
  world.run(group.stop());
}

/// Calls once, before the first such Set arrives anywhere.
void before_set(sim::World& world, std::uint16_t attribute, std::function<void(sim::Fabric&)> act) {
  auto done = std::make_shared<bool>(false);
  world.fabric().watch_packets(
      [&world, attribute, done, act = std::move(act)](const sim::SentPacket& packet) {
        const auto header = wire::decode<wire::MadHeader>(packet.mad);
        const bool is_meant = header && header->method == wire::Method::set && header->attribute == attribute;
        if (is_meant && !std::exchange(*done, true))
          world.at(world.now(), [act](sim::Fabric& now) { act(now); });
      });
}

void cut_host(sim::Fabric& fabric) { fabric.faults().link_down({"leaf000", PortNum{2}}); }

/// What the last sweep says of the port of the host that is cut.
bool is_linked(const Managed& smd) {
  for (const auto& node : smd.last().subnet->nodes) {
    if (node->description == "leaf000") return node->ports[2].linked();
  }
  return false;
}

struct HostLink : testing::Test {
  sim::World world{test::spec("ft2:8")};
  std::optional<Managed> smd;
  std::optional<mad::TaskGroup> group;

  void start(config::SubnetConfig config = {}) {
    smd.emplace(world, std::move(config));
    group.emplace(world.io().get_executor());
    group->spawn((*smd)->run());
  }
  void stop() { world.run(group->stop()); }
};

TEST_F(HostLink, ThatIsCutInTheFirstSweepIsNoticed) {
  before_set(world, wire::LinearForwardingTable::kAttribute, cut_host);

  start();
  world.run_for(1s);

  EXPECT_FALSE(is_linked(*smd)) << testing::PrintToString(smd->lines().all);
  world.run_for(30s);  // its host has left Sets unanswered
  EXPECT_TRUE(sm::is_working(smd->last().summary.state))
      << smd->last().summary.why << testing::PrintToString(smd->lines().all);
  stop();
}

/// Its trap is lost, as where the way to us is being written.
TEST_F(HostLink, ThatIsCutInAHeavySweepIsNoticedWithoutATrap) {
  config::SubnetConfig config;
  config.sweep.on_trap = false;
  start(config);
  world.run_for(5s);
  before_set(world, wire::SwitchInfo::kAttribute, cut_host);
  config.links.packet_lifetime = 17;

  (*smd)->requests().reload(config);
  world.run_for(900ms);

  EXPECT_FALSE(is_linked(*smd)) << testing::PrintToString(smd->lines().all);
  stop();
}

/// PortStateChange is set since before: no trap, and the bit is cleared with the tables.
TEST_F(HostLink, ThatIsCutWhileTheFabricIsTakenOverIsNoticed) {
  start();
  world.run_for(5s);
  stop();
  world.fabric().faults().link_down({"leaf000", PortNum{3}});
  before_set(world, wire::SwitchInfo::kAttribute, cut_host);

  start();
  world.run_for(900ms);

  EXPECT_FALSE(is_linked(*smd)) << testing::PrintToString(smd->lines().all);
  EXPECT_TRUE(sm::is_working(smd->last().summary.state))
      << smd->last().summary.why << testing::PrintToString(smd->lines().all);
  stop();
}

}  // namespace
}  // namespace smd
