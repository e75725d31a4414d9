// SPDX-License-Identifier: Apache-2.0
// SL to VL and VL arbitration: read when nothing else is to be done, held, and audited.
#include "smd/sweep/vl_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "mad/wire/attributes.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;
using testing::HasSubstr;

/// A manager that runs over ft2:8, looked at more often than elsewhere so that audits come round soon.
class VlTables : public testing::Test {
 protected:
  VlTables() : world_(test::spec("ft2:8")), manager_(world_, config()), group_(world_.io().get_executor()) {
    manager_.on_sweep([this](const sm::Snapshot&) { gets_at_sweep_ = gets(); });
  }
  ~VlTables() override { world_.run(group_.stop()); }
  void begin() { group_.spawn(manager_->run()); }

  static config::SubnetConfig config() {
    config::SubnetConfig config;
    config.sweep.interval = 1s;
    return config;
  }
  std::uint64_t gets() {
    return world_.fabric().counts().gets(wire::SlToVl::kAttribute) +
           world_.fabric().counts().gets(wire::VlArbitration::kAttribute);
  }
  const sm::Node& node(const std::string& name) {
    for (const auto& node : manager_.last().subnet->nodes) {
      if (node->description == name) return *node;
    }
    throw std::runtime_error(name + " is not there");
  }

  std::uint64_t gets_at_sweep_ = 0;
  sim::World world_;
  Managed manager_;
  mad::TaskGroup group_;
};

/// Every table that ports say they have is known; how many.
template <class A>
std::size_t known_of(const sm::Node& node, PortNum port) {
  const auto blocks = sm::TableKind<A>::blocks(node, port);
  if (blocks.empty()) return 0;
  const auto& held = node.ports[port.value()].held<A>();
  EXPECT_TRUE(held && held->known == blocks) << sm::port_text(node, port);
  return blocks.count();
}

std::size_t known(const sm::Subnet& subnet) {
  std::size_t count = 0;
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 0; p < node->ports.size(); ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      count += known_of<wire::SlToVl>(*node, port) + known_of<wire::VlArbitration>(*node, port);
    }
  }
  return count;
}

TEST_F(VlTables, AreReadAfterTheFabricIsUpAndPublished) {
  world_.fabric().faults().set_sl_to_vl({"leaf000", PortNum{2}}, PortNum{3}, Sl{9}, Vl{4});
  begin();
  world_.run_for(5s);

  EXPECT_EQ(gets_at_sweep_, 0U) << "no sweep waits for them";
  const auto count = known(*manager_.last().subnet);
  EXPECT_GT(count, 12U * 8 * 9) << "each pair of ports of each switch";
  EXPECT_GE(gets(), count);
  EXPECT_LT(gets(), count + 5U * 32 * 32) << "each once, but for what audits ask";
  const auto& row = node("leaf000").ports[2].held<wire::SlToVl>()->row;
  EXPECT_EQ(row[3].vls[9], Vl{4});
  EXPECT_EQ(row[3].vls[2], Vl{2});
  EXPECT_EQ(node("leaf001").ports[2].tables, node("leaf002").ports[2].tables) << "equal ones are held once";
}

TEST_F(VlTables, OfNodesThatAreAsTheyWereStandInLaterSweeps) {
  begin();
  world_.run_for(5s);
  world_.fabric().counts().clear();
  manager_->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(500ms);
  known(*manager_.last().subnet);
  EXPECT_LT(gets(), 12U * 32 + 32 * 5) << "an audit's at most";
}

TEST_F(VlTables, OfASwitchThatWasResetAreReadAgain) {
  begin();
  world_.run_for(5s);
  auto without_audits = config();
  without_audits.sweep.interval = 1h;
  manager_->requests().reload(without_audits);
  world_.run_for(2s);
  world_.fabric().faults().remove("spine001");
  world_.run_for(2s);
  world_.fabric().counts().clear();
  world_.fabric().faults().restore("spine001");
  world_.run_for(3s);
  known(*manager_.last().subnet);
  EXPECT_GE(gets(), 8U * 9);
  EXPECT_LT(gets(), 500U) << "and nobody else's";
}

TEST_F(VlTables, ChangedByAnotherHandAreNamedAndReadAgain) {
  begin();
  world_.run_for(5s);
  for (std::uint8_t in = 0; in <= 8; ++in)
    world_.fabric().faults().set_sl_to_vl({"leaf003", PortNum{5}}, PortNum{in}, Sl{7}, Vl{0});
  world_.fabric().faults().set_p_key({"h00009", PortNum{1}}, 1, PKey{0x8001});
  world_.run_for(60s);

  EXPECT_THAT(manager_.lines().first("table=SLtoVLMappingTable"), HasSubstr("leaf003"));
  EXPECT_EQ(node("leaf003").ports[5].held<wire::SlToVl>()->row[1].vls[7], Vl{0});
  EXPECT_THAT(manager_.lines().first("table=P_KeyTable"), HasSubstr("h00009"));
  EXPECT_EQ(node("h00009").ports[1].held<wire::PKeyTable>()->row[0].keys[1], PKey{0x8001});
  known(*manager_.last().subnet);
}

TEST_F(VlTables, OfASilentNodeHoldUpNothingElse) {
  begin();
  world_.run_for(150ms);
  world_.fabric().faults().silent("leaf001");
  world_.run_for(350ms);
  world_.fabric().counts().clear();
  world_.fabric().faults().link_down({"leaf003", PortNum{6}});
  world_.run_for(20ms);

  EXPECT_GT(world_.fabric().counts().gets(wire::SwitchInfo::kAttribute), 0U)
      << "the trap is acted on: " << testing::PrintToString(manager_.lines().all);
}

TEST_F(VlTables, ThatAreRefusedAreAskedForSeldom) {
  world_.fabric().faults().refuses("leaf001", wire::SlToVl::kAttribute, 0x000C, false);
  begin();
  world_.run_for(20s);
  EXPECT_EQ(manager_.last().summary.state, sm::SweepState::up);
  const auto before = gets();
  world_.run_for(10s);
  EXPECT_LT(gets() - before, 10U * (12 * 32 + 32 * 5)) << "audits' at most";
  EXPECT_FALSE(node("leaf001").ports[1].held<wire::SlToVl>()->known.test(0));
  EXPECT_TRUE(node("leaf001").ports[1].held<wire::VlArbitration>()->known.test(0));
}

}  // namespace
}  // namespace smd
