// SPDX-License-Identifier: Apache-2.0
// SL to VL and VL arbitration tables that another SM has written: they survive restarts of nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "mad/sim/state/tables.h"
#include "smd/decide/port_vl_tables.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kLowAndHigh = 0x1111'1111'0000'0000;  ///< SLs 0 to 7 on VL 0, the others on VL 1
const sim::Place kHost{"h00005", PortNum{1}}, kUplink{"leaf003", PortNum{3}};

/// ft2:4 where another SM has two classes of traffic at h00005 and at an uplink of leaf003.
class VlTablesOfAnotherSm : public testing::Test {
 protected:
  VlTablesOfAnotherSm() : world_(test::spec("ft2:4")) { classes(kHost), classes(kUplink); }

  void classes(const sim::Place& place) {
    for (unsigned sl = 0; sl < 16; ++sl) {
      for (unsigned in = 0; in < 5; ++in)
        faults().set_sl_to_vl(place, PortNum{static_cast<std::uint8_t>(in)},
                              Sl{static_cast<std::uint8_t>(sl)},
                              Vl{sl < 8 ? std::uint8_t{0} : std::uint8_t{1}});
    }
    wire::VlArbitration low;
    low.entries[0] = {Vl{0}, 16};
    low.entries[1] = {Vl{1}, 64};
    faults().set_vl_arbitration(place, 1, low);
  }
  void run(Managed& manager, std::chrono::seconds time) { test::run_for(world_, {&*manager}, time); }
  sim::Faults faults() { return world_.fabric().faults(); }
  std::uint64_t row(const sim::Place& place, unsigned in) {
    const auto& state = world_.fabric().state();
    return sim::sl_to_vl_row(state, *sim::find_port(state, place), PortNum{static_cast<std::uint8_t>(in)});
  }
  unsigned weight(const sim::Place& place, unsigned entry) {
    const auto& state = world_.fabric().state();
    const auto& tables = state.ports[*sim::find_port(state, place)].tables;
    return tables && !tables->vl_arb.empty() ? tables->vl_arb[0].entries[entry].weight : 0U;
  }
  /// Sets by attribute from now on, those of tables before the first PortInfo to Armed counted apart.
  void watch() {
    world_.fabric().watch_sets([this](const sim::DoneSet& set) { ++sets_[set.attribute]; });
  }
  std::size_t table_sets() {
    return sets_[wire::SlToVl::kAttribute] + sets_[wire::VlArbitration::kAttribute];
  }

  sim::World world_;
  store::MemoryStore store_;
  std::map<std::uint16_t, std::size_t> sets_;
};

TEST_F(VlTablesOfAnotherSm, AreWrittenAgainWhenANodeHasRebooted) {
  watch();
  Managed manager(world_, {}, {}, &store_);
  mad::TaskGroup group(world_.io().get_executor());
  group.spawn(manager->run());
  world_.run_for(30s);
  ASSERT_EQ(store_.loaded()->vl_tables.size(), 2U) << "nodes whose tables are as they were made are not kept";
  ASSERT_EQ(table_sets(), 0U);

  faults().reboot("h00005", 2s);
  faults().reboot("leaf003", 2s);
  ASSERT_EQ(row(kHost, 0), sim::kDefaultSlToVl);
  ASSERT_EQ(weight(kUplink, 1), 0U);
  world_.run_for(60s);

  EXPECT_EQ(row(kHost, 0), kLowAndHigh);
  EXPECT_EQ(weight(kHost, 0), 16U);
  for (const unsigned in : {0U, 1U, 2U, 4U}) EXPECT_EQ(row(kUplink, in), kLowAndHigh) << in;
  EXPECT_EQ(weight(kUplink, 1), 64U);
  EXPECT_EQ(row({"leaf003", PortNum{4}}, 1), sim::kDefaultSlToVl);
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up) << manager.last().summary.why;
  EXPECT_EQ(manager.lines().count("node.vl_tables_restored"), 2U);
  EXPECT_THAT(manager.lines().all, testing::Contains(AllOf(HasSubstr("node.vl_tables_restored"),
                                                           HasSubstr("h00005"), HasSubstr("ports=1"))));
  const auto written = table_sets();
  EXPECT_GE(written, 7U);
  manager->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(30s);
  EXPECT_EQ(table_sets(), written) << "once is enough";
  world_.run(group.stop());
}

TEST_F(VlTablesOfAnotherSm, ThatDropSlZeroAreNamedOnce) {
  faults().set_sl_to_vl(kHost, PortNum{0}, Sl{0}, Vl{15});
  Managed manager(world_, {}, {}, &store_);
  mad::TaskGroup group(world_.io().get_executor());
  group.spawn(manager->run());
  world_.run_for(30s);

  EXPECT_EQ(manager.lines().count("node.drops_sl"), 1U);
  EXPECT_THAT(manager.lines().first("node.drops_sl"), HasSubstr("h00005"));
  manager->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(30s);
  EXPECT_EQ(manager.lines().count("node.drops_sl"), 1U) << "the same port";
  world_.run(group.stop());
}

TEST_F(VlTablesOfAnotherSm, AreThereBeforeTheLinkIsArmed) {
  Managed manager(world_, {}, {}, &store_);
  mad::TaskGroup group(world_.io().get_executor());
  group.spawn(manager->run());
  world_.run_for(30s);
  std::vector<std::uint16_t> order;
  world_.fabric().watch_sets([&](const sim::DoneSet& set) {
    if (world_.fabric().state().node_of(set.at).name == "h00005") order.push_back(set.attribute);
  });
  faults().reboot("h00005", 2s);
  world_.run_for(60s);

  const auto table = std::ranges::find(order, wire::SlToVl::kAttribute);
  const auto info = std::ranges::find(order, wire::PortInfo::kAttribute);
  ASSERT_NE(table, order.end());
  ASSERT_NE(info, order.end());
  EXPECT_LT(table, info);
  world_.run(group.stop());
}

/// A link is worth more than the order of its VLs.
TEST_F(VlTablesOfAnotherSm, ThatAreRefusedKeepNoLinkDown) {
  Managed manager(world_, {}, {}, &store_);
  mad::TaskGroup group(world_.io().get_executor());
  group.spawn(manager->run());
  world_.run_for(30s);
  faults().refuses("h00005", wire::SlToVl::kAttribute, 0x001C);
  faults().reboot("h00005", 2s);
  world_.run_for(60s);

  const auto& state = world_.fabric().state();
  EXPECT_EQ(state.ports[*sim::find_port(state, kHost)].info.port_state, PortState::active);
  EXPECT_EQ(weight(kHost, 0), 16U);
  world_.run(group.stop());
}

TEST_F(VlTablesOfAnotherSm, OutliveSmd) {
  {
    Managed first(world_, {}, {}, &store_);
    run(first, 30s);
  }
  faults().reboot("h00005", 1s);
  world_.run_for(2s);
  Managed second(world_, {}, {}, &store_);
  run(second, 30s);

  EXPECT_EQ(row(kHost, 0), kLowAndHigh);
  EXPECT_EQ(weight(kHost, 1), 64U);
}

/// What ports in service hold when smd becomes master counts more than what is stored.
TEST_F(VlTablesOfAnotherSm, ThatHaveChangedWhileSmdWasNotMasterReplaceTheStoredOnes) {
  {
    Managed first(world_, {}, {}, &store_);
    run(first, 30s);
  }
  const auto before = store_.loaded()->vl_tables;
  for (unsigned sl = 0; sl < 16; ++sl)
    faults().set_sl_to_vl(kHost, PortNum{0}, Sl{static_cast<std::uint8_t>(sl)}, Vl{0});
  wire::VlArbitration none;
  faults().set_vl_arbitration(kHost, 1, none);
  Managed second(world_, {}, {}, &store_);
  run(second, 30s);

  EXPECT_EQ(before.size(), 2U);
  EXPECT_EQ(store_.loaded()->vl_tables.size(), 1U) << "h00005 is as it was made";
  EXPECT_EQ(row(kHost, 0), 0U);
}

/// Changed externally while smd is master: smd says so, and a restart brings back what it became master with.
TEST_F(VlTablesOfAnotherSm, ThatAreChangedExternallyDoNotReplaceThem) {
  Managed manager(world_, {}, {}, &store_);
  mad::TaskGroup group(world_.io().get_executor());
  group.spawn(manager->run());
  world_.run_for(30s);
  ASSERT_TRUE(faults().set_sl_to_vl(kHost, PortNum{0}, Sl{3}, Vl{1}));
  world_.run_for(120s);
  ASSERT_EQ(manager.lines().count("node.changed"), 1U);

  faults().reboot("h00005", 2s);
  world_.run_for(60s);
  EXPECT_EQ(row(kHost, 0), kLowAndHigh);
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up) << manager.last().summary.why;
  world_.run(group.stop());
}

}  // namespace
}  // namespace smd
