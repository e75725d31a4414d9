// SPDX-License-Identifier: Apache-2.0
// Devices whose firmware chooses otherwise: the fabric comes up, stays quiet, and nothing is written for
// ever.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mad/sim/packets/forward.h"
#include "tests/support/managed_world.h"
#include "tests/support/sim_lab.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

/// A managed fabric of devices that choose like this.
class Lab {
 public:
  explicit Lab(const sim::Firmware& firmware, config::SubnetConfig config = {},
               const base::Fabric& fabric = test::spec("ft2:8"))
      : world_(fabric, options(firmware)), config_(std::move(config)) {}
  ~Lab() { stop(); }
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  void start(sim::Duration time) {
    stop();
    smd_.emplace(world_, config_);
    group_.emplace(world_.io().get_executor());
    group_->spawn((*smd_)->run());
    world_.run_for(time);
  }
  /// Starts, and runs until nothing was written for 40 s: links are trained anew in steps.
  void start_and_retrain() {
    start(30s);
    for (auto [steps, sets] = std::pair(0, std::uint64_t{0}); steps < 30 && sets != counts().sets();
         ++steps) {
      sets = counts().sets();
      world_.run_for(40s);
    }
  }
  void stop() {
    if (group_) world_.run(group_->stop());
    group_.reset();
  }
  sim::World& world() { return world_; }
  Managed& smd() { return *smd_; }
  sim::Faults faults() { return world_.fabric().faults(); }
  wire::PortInfo port(std::string_view node, unsigned number) {
    return *world_.fabric().port_info({std::string(node), PortNum{static_cast<std::uint8_t>(number)}});
  }
  sim::SmpCounts& counts() { return world_.fabric().counts(); }
  std::string lines() { return testing::PrintToString(smd().lines().all); }

 private:
  static sim::Options options(const sim::Firmware& firmware) {
    auto options = sim::World::default_options();
    options.firmware = firmware;
    return options;
  }

  sim::World world_;
  config::SubnetConfig config_;
  std::optional<Managed> smd_;
  std::optional<mad::TaskGroup> group_;
};

TEST(OtherFirmware, WhatPortsThatAreDownShowIsNoChange) {
  Lab lab({.restless_down_ports = true});
  lab.faults().link_down({"leaf000", PortNum{2}});
  lab.faults().link_down({"leaf001", PortNum{5}});
  lab.start(5s);
  lab.counts().clear();

  lab.world().run_for(5min);

  EXPECT_EQ(lab.smd().lines().count("node.changed"), 0U) << lab.lines();
  EXPECT_EQ(lab.counts().sets(), 0U);
  EXPECT_EQ(lab.smd().last().summary.state, sm::SweepState::up);
}

/// Sends come twice where answers are lost.
TEST(OtherFirmware, ActiveThatIsRefusedBecauseThePortIsActiveIsNoFailure) {
  Lab lab({.refuses_active_again = true});
  lab.faults().loss(0.05);

  lab.start(5s);

  EXPECT_EQ(lab.smd().lines().count("set.failed"), 0U) << lab.lines();
  EXPECT_EQ(lab.smd().last().summary.state, sm::SweepState::up);
  EXPECT_TRUE(lab.world().fabric().not_active().empty());
}

/// The Set of Active to a host's port is followed by a packet of the host at once: the leaf's port is Active
/// before it is Set.
TEST(OtherFirmware, APortThatDataTakesToActiveIsNoFailure) {
  Lab lab({.refuses_active_again = true, .data_activates = true});
  unsigned activated = 0;
  const auto& state = lab.world().fabric().state();
  lab.world().fabric().watch_sets([&](const sim::DoneSet& set) {
    const auto& node = state.node_of(set.at);
    const auto& port = state.ports[set.at];
    if (set.attribute != wire::PortInfo::kAttribute || node.is_switch()) return;
    if (port.info.port_state != PortState::active) return;
    const sim::Place from{node.name, port.number};
    const auto peer = port.peer;
    lab.world().at(lab.world().now(), [&state, &activated, from, peer](sim::Fabric& fabric) {
      const bool armed = state.ports[peer].info.port_state == PortState::armed;
      fabric.send_data(from, {.dlid = Lid{1}});
      activated += armed && state.ports[peer].info.port_state == PortState::active ? 1U : 0U;
    });
  });

  lab.start(5s);
  lab.world().fabric().watch_sets(nullptr);

  EXPECT_GT(activated, 0U);
  EXPECT_EQ(lab.smd().lines().count("set.failed"), 0U) << lab.lines();
  EXPECT_EQ(lab.smd().last().summary.state, sm::SweepState::up);
}

TEST(OtherFirmware, SpeedsThatAreSwitchedOffAreSetOnceHoweverTheyShow) {
  for (const bool shows : {true, false}) {
    config::SubnetConfig config;
    config.links.speed = LinkSpeed::qdr;
    Lab lab({.shows_speed_off = shows}, config, test::spec("ft2:4"));
    lab.start_and_retrain();
    ASSERT_EQ(lab.port("leaf000", 1).link_speed_ext_enabled, shows ? 30 : 0);
    ASSERT_EQ(lab.port("leaf000", 1).link_speed_ext_active, 0);
    lab.counts().clear();

    lab.smd()->requests().resweep(sm::Resweep::heavy, "test");
    lab.world().run_for(30s);

    EXPECT_EQ(lab.counts().sets(), 0U) << shows;
    EXPECT_EQ(lab.smd().lines().count("field.not_kept"), 0U) << shows << lab.lines();
  }
}

TEST(OtherFirmware, ALimitBelowXdrHoldsForLinksOfXdr) {
  auto fabric = test::spec("ft2:4");
  for (auto& node : fabric.nodes) {
    for (auto& port : node.ports) port.rate.speed = LinkSpeed::xdr;
  }
  for (const bool shows : {true, false}) {
    config::SubnetConfig config;
    config.links.speed = LinkSpeed::ndr;
    Lab lab({.shows_speed_off = shows}, config, fabric);
    lab.world().run_for(1s);
    ASSERT_EQ(lab.port("leaf000", 1).link_speed_ext2_active, 1);
    lab.start_and_retrain();

    for (const auto* name : {"leaf000", "spine001", "h00007"}) {
      EXPECT_EQ(lab.port(name, 1).link_speed_ext2_active, 0) << name;
      EXPECT_EQ(lab.port(name, 1).link_speed_ext_active, 8) << name << " NDR";
    }
    lab.counts().clear();
    lab.smd()->requests().resweep(sm::Resweep::heavy, "test");
    lab.world().run_for(30s);

    EXPECT_EQ(lab.counts().sets(), 0U) << shows;
    EXPECT_EQ(lab.smd().lines().count("field.not_kept"), 0U) << shows << lab.lines();
  }
}

TEST(OtherFirmware, PortsThatWouldSleepAreToldToPoll) {
  Lab lab({.down_default = PhysState::sleep});
  lab.start(5s);
  EXPECT_EQ(lab.port("leaf000", 2).link_down_default, PhysState::polling);
  lab.faults().link_down({"leaf000", PortNum{2}});
  lab.world().run_for(1s);

  lab.faults().link_up({"leaf000", PortNum{2}});
  lab.world().run_for(2s);

  EXPECT_EQ(lab.port("leaf000", 2).port_state, PortState::active) << lab.lines();
}

TEST(OtherFirmware, ADefaultStateThatIsNotKeptIsSetOnce) {
  Lab lab({.down_default = PhysState::sleep});
  lab.faults().forgets("leaf000", wire::PortInfo::kAttribute, "LinkDownDefaultState");
  lab.start(30s);
  EXPECT_EQ(lab.smd().last().summary.state, sm::SweepState::up);
  EXPECT_GE(lab.smd().lines().count("LinkDownDefaultState"), 1U) << lab.lines();
  lab.counts().clear();

  lab.smd()->requests().resweep(sm::Resweep::heavy, "test");
  lab.world().run_for(30s);

  EXPECT_EQ(lab.counts().sets(), 0U);
}

TEST(OtherFirmware, ARoutersPortGetsTheHoqLifeOfALeaf) {
  auto fabric = test::spec("ft2:4");
  for (auto& node : fabric.nodes) {
    if (node.name == "h00002") node.type = NodeType::router;
  }
  config::SubnetConfig config;
  config.links.leaf_hoq_lifetime = 14;
  Lab lab({}, config, fabric);
  const auto untouched = lab.port("h00003", 1).hoq_life;

  lab.start(5s);

  EXPECT_EQ(lab.port("h00002", 1).hoq_life, 14);
  EXPECT_EQ(lab.port("leaf001", 1).hoq_life, 14);
  EXPECT_EQ(lab.port("h00003", 1).hoq_life, untouched);
  EXPECT_EQ(lab.smd().last().summary.state, sm::SweepState::up);
}

/// Hosts of three leaves.
std::shared_ptr<const sm::GroupList> three(Lab& lab, Lid mlid) {
  sm::GroupMembers group{.mlid = mlid, .members = {}};
  for (const auto& node : lab.smd().last().subnet->nodes) {
    const auto& name = node->description;
    if (name == "h00000" || name == "h00009" || name == "h00031")
      group.members.push_back({node->ports[1].guid, true});
  }
  return std::make_shared<const sm::GroupList>(sm::GroupList{std::move(group)});
}

TEST(OtherFirmware, MulticastTablesStandAfterARestartWhateverTheTopMeans) {
  constexpr Lid kFirmwareGroup{0xC000 + 32 * 2};
  for (const auto top :
       {sim::MulticastTop::unsupported, sim::MulticastTop::zero_is_all, sim::MulticastTop::zero_is_none}) {
    Lab lab({.multicast_top = top});
    lab.start(2s);
    const auto groups = three(lab, kFirmwareGroup);
    lab.smd()->requests().set_groups([groups] { return groups; });
    lab.world().run_for(1s);
    ASSERT_EQ(lab.world().fabric().spread({"h00000"}, kFirmwareGroup).reached.size(), 2U);
    lab.counts().clear();

    lab.start(2s);
    lab.smd()->requests().set_groups([groups] { return groups; });
    lab.world().run_for(1s);

    EXPECT_EQ(lab.counts().sets(wire::MulticastForwardingTable::kAttribute), 0U);
    EXPECT_EQ(lab.world().fabric().spread({"h00000"}, kFirmwareGroup).reached.size(), 2U);
  }
}

/// An SM without groups sets the top to 0xBFFF, as OpenSM does, and may leave entries behind.
TEST(OtherFirmware, MulticastEntriesThatAreNotInForceAreNeitherReadNorKept) {
  Lab lab({.multicast_top = sim::MulticastTop::zero_is_all});
  lab.start(2s);
  const auto groups = three(lab, Lid{0xC000});
  lab.smd()->requests().set_groups([groups] { return groups; });
  lab.world().run_for(1s);
  lab.stop();
  test::Asker opensm(lab.world(), {"h00000"});
  for (const auto& way : {test::path({1}), test::path({1, 5})}) {  // leaf000 and a spine
    ASSERT_TRUE(
        opensm
            .change<wire::SwitchInfo>(way, 0, [](wire::SwitchInfo& info) { info.multicast_fdb_top = 0xBFFF; })
            .good());
  }
  const auto& state = lab.world().fabric().state();
  lab.counts().clear();

  lab.start(2s);
  const auto read = lab.counts().gets(wire::MulticastForwardingTable::kAttribute);
  const auto other = std::make_shared<const sm::GroupList>(
      sm::GroupList{{.mlid = Lid{0xC001}, .members = groups->front().members}});
  lab.smd()->requests().set_groups([other] { return other; });
  lab.world().run_for(6min);  // longer than groups are kept that are not known

  EXPECT_EQ(read, 10U) << "of 12 switches two have no entry in force, the others a block";
  EXPECT_EQ(lab.world().fabric().spread({"h00000"}, Lid{0xC001}).reached.size(), 2U);
  const auto& leaf = *state.nodes[*sim::find_node(state, "leaf000")].sw;
  EXPECT_EQ(sim::mft_mask(leaf, Lid{0xC000}, 0), 0U);
}

}  // namespace
}  // namespace smd
