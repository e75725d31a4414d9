// SPDX-License-Identifier: Apache-2.0
// SL to VL and VL arbitration tables by [qos]: what ports hold afterwards, and what it costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "mad/sim/state/tables.h"
#include "smd/report/qos_explanation.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using config::PortClass;
using test::Managed;

class QosTablesWritten : public testing::Test {
 protected:
  explicit QosTablesWritten(bool optimized = true) : world_(test::spec("ft2:8"), options(optimized)) {
    config_.qos.enabled = true;
    config_.qos.all.vlarb_low = {{{Vl{0}, 10}, {Vl{1}, 20}, {Vl{2}, 30}}};
    config_.qos.all.vlarb_high = {{{Vl{3}, 40}}};
    config_.qos.all.high_limit = 4;
    config_.qos.all.sl2vl = map({0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 15});
  }
  static sim::Options options(bool optimized) {
    sim::Options options;
    options.capacities.optimized_sl_to_vl = optimized;
    return options;
  }
  static config::SlMap map(std::array<unsigned, 16> vls) {
    config::SlMap made;
    for (std::size_t sl = 0; sl < vls.size(); ++sl) made[sl] = Vl{static_cast<std::uint8_t>(vls[sl])};
    return made;
  }
  const sim::State& state() { return world_.fabric().state(); }
  sim::PortIndex at(const sim::Place& place) { return *sim::find_port(state(), place); }
  /// VL of each SL, SL 0 first, as a text of hexadecimal digits.
  std::string row(const sim::Place& place, unsigned in) {
    const auto bits = sim::sl_to_vl_row(state(), at(place), PortNum{static_cast<std::uint8_t>(in)});
    std::string text;
    for (unsigned sl = 0; sl < 16; ++sl) text += fmt::format("{:x}", bits >> (4 * sl) & 0xF);
    return text;
  }
  wire::VlWeight entry(const sim::Place& place, unsigned part, unsigned entry) {
    const auto& tables = state().ports[at(place)].tables;
    return tables && !tables->vl_arb.empty() ? tables->vl_arb[part - 1].entries[entry] : wire::VlWeight{};
  }
  std::uint64_t sets() {
    return world_.fabric().counts().sets(wire::SlToVl::kAttribute) +
           world_.fabric().counts().sets(wire::VlArbitration::kAttribute);
  }
  void begin(store::Store* store = nullptr) {
    manager_.emplace(world_, config_, sm::ManagerOptions{}, store);
    group_.spawn((*manager_)->run());
    world_.run_for(30s);
    ASSERT_EQ(manager_->last().summary.state, sm::SweepState::up) << manager_->last().summary.why;
  }
  void reload() {
    (*manager_)->requests().reload(config_);
    world_.run_for(30s);
  }
  void sweep() {
    (*manager_)->requests().resweep(sm::Resweep::heavy, "test");
    world_.run_for(30s);
  }
  /// Every port with a link maps SLs so, from each port.
  void expect_all_map(const std::string& expected) {
    std::size_t rows = 0;
    for (const auto& node : state().nodes) {
      for (unsigned p = 1; p <= node.ports; ++p) {
        const sim::Place place{node.name, PortNum{static_cast<std::uint8_t>(p)}};
        if (state().ports[at(place)].info.port_state != PortState::active) continue;
        for (unsigned in = 0; in <= (node.is_switch() ? node.ports : 0U); ++in, ++rows)
          EXPECT_EQ(row(place, in), expected) << node.name << ' ' << p << " from " << in;
      }
    }
    EXPECT_EQ(rows, 12U * 8 * 9 + 32);
  }

  sim::World world_;
  config::SubnetConfig config_;
  std::optional<Managed> manager_;
  mad::TaskGroup group_{world_.io().get_executor()};
  ~QosTablesWritten() override { world_.run(group_.stop()); }
};

class WithoutOptimizedSets : public QosTablesWritten {
 protected:
  WithoutOptimizedSets() : QosTablesWritten(false) {}
};

constexpr const char* kMap = "012301230123012f";
const sim::Place kHost{"h00005", PortNum{1}}, kUplink{"leaf003", PortNum{6}};

TEST_F(QosTablesWritten, AreWhatIsConfiguredAtEveryPort) {
  begin();
  expect_all_map(kMap);
  for (const auto& place : {kHost, kUplink}) {
    EXPECT_EQ(entry(place, 1, 1), (wire::VlWeight{Vl{1}, 20}));
    EXPECT_EQ(entry(place, 3, 0), (wire::VlWeight{Vl{3}, 40}));
    EXPECT_EQ(state().ports[at(place)].info.vl_high_limit, 4);
  }
}

TEST_F(QosTablesWritten, CostOneSetOfSlToVlASwitchThatCanAndNothingTwice) {
  begin();
  EXPECT_EQ(world_.fabric().counts().sets(wire::SlToVl::kAttribute), 12U + 32);
  EXPECT_EQ(world_.fabric().counts().sets(wire::VlArbitration::kAttribute), 128U * 2) << "low and high";
  world_.fabric().counts().clear();
  sweep();
  EXPECT_EQ(sets(), 0U);
}

TEST_F(WithoutOptimizedSets, CostASetForEachPairOfPorts) {
  begin();
  expect_all_map(kMap);
  EXPECT_EQ(world_.fabric().counts().sets(wire::SlToVl::kAttribute), 12U * 8 * 9 + 32);
  world_.fabric().counts().clear();
  sweep();
  EXPECT_EQ(sets(), 0U);
}

TEST_F(QosTablesWritten, AreThereBeforeALinkIsArmed) {
  std::map<sim::PortIndex, std::vector<std::uint16_t>> order;
  world_.fabric().watch_sets([&](const sim::DoneSet& set) {
    if (!state().node_of(set.at).is_switch()) order[set.at].push_back(set.attribute);
  });
  begin();
  ASSERT_EQ(order.size(), 32U);
  for (const auto& [port, attributes] : order) {
    const auto last_table = std::ranges::find(attributes, wire::SlToVl::kAttribute);
    const auto first_info = std::ranges::find(attributes, wire::PortInfo::kAttribute);
    ASSERT_NE(last_table, attributes.end());
    EXPECT_LT(last_table, first_info);
  }
}

TEST_F(QosTablesWritten, AreChangedByAReloadOnlyWhereTheyDiffer) {
  begin();
  world_.fabric().counts().clear();
  config_.qos.classes[static_cast<std::size_t>(PortClass::ca)].vlarb_low = {
      {{Vl{0}, 11}, {Vl{1}, 20}, {Vl{2}, 30}}};
  reload();
  EXPECT_EQ(entry(kHost, 1, 0), (wire::VlWeight{Vl{0}, 11}));
  EXPECT_EQ(entry(kUplink, 1, 0), (wire::VlWeight{Vl{0}, 10}));
  EXPECT_EQ(sets(), 32U) << "one block of each host";
}

TEST_F(QosTablesWritten, StayWhenQosIsSwitchedOff) {
  begin();
  world_.fabric().counts().clear();
  config_.qos.enabled = false;
  reload();
  EXPECT_EQ(sets(), 0U);
  expect_all_map(kMap);
}

/// A port without any turn sends nothing any more.
TEST_F(QosTablesWritten, StayWhereNoVlWouldHaveATurn) {
  begin();
  world_.fabric().counts().clear();
  config_.qos.all.vlarb_low = {{{Vl{0}, 0}}};
  config_.qos.all.vlarb_high = {{{Vl{3}, 0}}};
  reload();
  EXPECT_EQ(sets(), 0U);
  EXPECT_EQ(entry(kHost, 1, 0), (wire::VlWeight{Vl{0}, 10}));
  EXPECT_EQ(manager_->lines().count("qos.tables_without_weight"), 1U);
  EXPECT_EQ(manager_->last().summary.state, sm::SweepState::reduced);
  EXPECT_EQ(manager_->last().summary.why,
            "128 ports keep their VL arbitration tables, as no VL has a weight in those asked for");
  const auto& last = manager_->last();
  const auto found = sm::explain_qos({.subnet = *last.subnet, .decided = last.decided});
  EXPECT_THAT(found.warnings, testing::Contains(testing::StartsWith("128 ports (first ")));
}

TEST_F(QosTablesWritten, ThatDropAnSlInUseAreSaidInTheLog) {
  config_.partition = {test::partition("blue", 0x21, {"ALL_CAS"})};
  config_.partition[0].sl = 15;
  begin();
  EXPECT_EQ(manager_->lines().count("qos.sl_dropped"), 1U);
}

TEST_F(QosTablesWritten, ThatPutSlsInUseOnOneVlSayWhatIsAskedFor) {
  config_.partition = {test::partition("blue", 0x21, {"ALL_CAS"}),
                       test::partition("green", 0x22, {"ALL_CAS"})};
  config_.partition[0].sl = 1;
  config_.partition[1].sl = 5;
  config_.qos.all.sl2vl = map({0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
  config_.qos.all.max_vls = 4;
  begin();
  ASSERT_EQ(manager_->lines().count("qos.sls_share_vl"), 1U);
  const auto line = manager_->lines().first("qos.sls_share_vl");
  EXPECT_THAT(line, testing::HasSubstr("1, 5 on VL 1"));
  EXPECT_THAT(line, testing::HasSubstr("vls=4 vls_needed=6")) << "VL 5 is the sixth";
  EXPECT_THAT(line, testing::HasSubstr("qos.max_vls"));
}

TEST_F(QosTablesWritten, ReplaceOnALiveFabricWhatIsThere) {
  config_.qos.enabled = false;
  begin();
  config_.qos.enabled = true;
  reload();
  expect_all_map(kMap);
  EXPECT_EQ(entry(kUplink, 1, 2), (wire::VlWeight{Vl{2}, 30}));
  world_.fabric().counts().clear();
  sweep();
  EXPECT_EQ(sets(), 0U);
}

TEST_F(QosTablesWritten, AreFoundByASecondSmdThatWritesNothing) {
  begin();
  world_.run(group_.stop());
  manager_.reset();
  world_.fabric().counts().clear();
  Managed second(world_, config_);
  test::run_for(world_, {&*second}, 30s);
  EXPECT_EQ(sets(), 0U);
}

TEST_F(QosTablesWritten, AreThereAgainAfterAReboot) {
  begin();
  world_.fabric().faults().reboot("h00005", 2s);
  world_.fabric().faults().reboot("leaf003", 2s);
  world_.run_for(60s);
  expect_all_map(kMap);
  EXPECT_EQ(entry(kHost, 3, 0), (wire::VlWeight{Vl{3}, 40}));
}

TEST_F(QosTablesWritten, AreMendedWhereAnotherHandHasChangedThem) {
  config_.sweep.interval = 1s;
  begin();
  for (std::uint8_t in = 0; in <= 8; ++in)
    world_.fabric().faults().set_sl_to_vl(kUplink, PortNum{in}, Sl{2}, Vl{0});
  world_.run_for(120s);
  EXPECT_EQ(row(kUplink, 1), kMap);
  expect_all_map(kMap);
}

TEST_F(QosTablesWritten, AreLimitedToTheVlsOfEachLink) {
  world_.fabric().faults().vl_cap("h00005", 2);
  world_.fabric().faults().vl_cap("h00006", 1);
  begin();
  EXPECT_EQ(row(kHost, 0), "010101010101010f");
  EXPECT_EQ(row({"h00006", PortNum{1}}, 0), "000000000000000f");
  EXPECT_EQ(entry({"h00006", PortNum{1}}, 1, 0), wire::VlWeight{}) << "no arbitration with one VL";
  EXPECT_EQ(row({"leaf001", PortNum{2}}, 1), "010101010101010f");
  EXPECT_EQ(row({"leaf001", PortNum{1}}, 2), kMap);
  world_.fabric().counts().clear();
  sweep();
  EXPECT_EQ(sets(), 0U);
}

TEST_F(QosTablesWritten, AreWrittenRowByRowWhereASwitchRefusesTheOptimisedForm) {
  world_.fabric().faults().refuses("leaf003", wire::SlToVl::kAttribute, 0x001C);
  manager_.emplace(world_, config_, sm::ManagerOptions{});
  group_.spawn((*manager_)->run());
  world_.run_for(30s);
  EXPECT_EQ(manager_->last().summary.state, sm::SweepState::degraded);
  EXPECT_THAT(manager_->last().summary.why, testing::HasSubstr("leaf003 port "));
  world_.fabric().faults().refuses("leaf003", wire::SlToVl::kAttribute, 0);
  sweep();
  sweep();
  expect_all_map(kMap);
  EXPECT_EQ(manager_->last().summary.state, sm::SweepState::up) << manager_->last().summary.why;
}

}  // namespace
}  // namespace smd
