// SPDX-License-Identifier: Apache-2.0
// What the log says of links, nodes and other SMs that come and go: one line each, by name.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "smd/events/event.h"
#include "smd/log/fields.h"
#include "smd/store/store.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A manager of a fabric that is up.
class ChangingFabric {
 public:
  explicit ChangingFabric(std::string_view fabric, store::Store* store = nullptr,
                          config::SubnetConfig config = {})
      : world_(test::spec(fabric)),
        manager_(world_, std::move(config), {}, store),
        group_(world_.io().get_executor()) {
    group_.spawn(manager_->run());
    world_.run_for(5s);
    manager_.hear({.kinds = events::kinds_of<events::NamedLogEvent>}, [this](const events::Event& event) {
      const auto& line = std::get<events::NamedLogEvent>(event.payload);
      heard_.emplace_back(line.name, line.fields.unpack());
    });
  }
  ~ChangingFabric() { world_.run(group_.stop()); }
  ChangingFabric(const ChangingFabric&) = delete;
  ChangingFabric& operator=(const ChangingFabric&) = delete;

  sim::World& world() { return world_; }
  sim::Faults faults() { return world_.fabric().faults(); }
  const test::Lines& lines() const { return manager_.lines(); }
  std::string all() const { return testing::PrintToString(lines().all); }
  Managed& manager() { return manager_; }
  /// Names of the nodes of its events of this name since the fabric was up.
  std::vector<std::string> nodes_of(std::string_view event) const {
    std::vector<std::string> names;
    for (const auto& one : heard_) {
      const auto* name = log::value_of(one.second, "name");
      if (one.first == event) names.push_back(name != nullptr ? *name : "none");
    }
    return names;
  }

 private:
  sim::World world_;
  Managed manager_;
  mad::TaskGroup group_;
  std::vector<std::pair<std::string, std::vector<log::Field>>> heard_;
};

TEST(Changes, AFabricThatComesUpIsOneLine) {
  ChangingFabric fabric("ft2:8");

  EXPECT_EQ(fabric.lines().count("subnet.up"), 1U) << fabric.all();
  EXPECT_THAT(fabric.lines().first("subnet.up"), AllOf(HasSubstr("state=up"), HasSubstr("cas=32")));
  for (const auto* event : {"link.", "node."}) EXPECT_EQ(fabric.lines().count(event), 0U) << fabric.all();
}

TEST(Changes, ACutCableIsNamedByBothEnds) {
  ChangingFabric fabric("ft2:8");

  fabric.faults().link_down({"leaf000", PortNum{5}});
  fabric.world().run_for(5s);
  fabric.faults().link_up({"leaf000", PortNum{5}});
  fabric.world().run_for(5s);

  EXPECT_EQ(fabric.lines().count("link.down"), 1U) << fabric.all();
  EXPECT_THAT(fabric.lines().first("link.down"),
              AllOf(HasSubstr(" name=leaf000 port=5 "), HasSubstr(" peer_name=spine000 peer_port=1 "),
                    HasSubstr("rate=\"4x HDR\""), HasSubstr("cause=\"trap 128\""), HasSubstr("up_for=")));
  EXPECT_EQ(fabric.lines().count("link.up"), 1U) << fabric.all();
  EXPECT_THAT(fabric.lines().first("link.up"),
              AllOf(HasSubstr(" name=leaf000 port=5 "), HasSubstr("down_for=")));
  EXPECT_EQ(fabric.lines().count("node."), 0U) << fabric.all();
}

TEST(Changes, ACableWhoseTrapIsLostIsNamedByTheLightSweep) {
  config::SubnetConfig config;
  config.sweep.on_trap = false;
  ChangingFabric fabric("ft2:8", nullptr, config);

  fabric.faults().link_down({"leaf000", PortNum{5}});
  fabric.world().run_for(15s);

  EXPECT_THAT(fabric.lines().first("link.down"), HasSubstr("cause=\"light sweep\""));
}

TEST(Changes, AHostThatGoesIsNamedWithItsSwitchPort) {
  ChangingFabric fabric("ft2:8");

  fabric.faults().remove("h00004");
  fabric.world().run_for(5s);

  EXPECT_THAT(fabric.lines().first("node.gone"),
              AllOf(HasSubstr(" name=h00004 type=CA lid="), HasSubstr(" port_guid=0x"),
                    HasSubstr(" behind_name=leaf001 behind_port=1 ")));
}

TEST(Changes, AHostThatRebootsIsSaidToHave) {
  ChangingFabric fabric("ft2:8");

  fabric.faults().reboot("h00004", 3s);
  fabric.world().run_for(10s);
  fabric.faults().reboot("h00005");
  fabric.world().run_for(10s);

  const auto line = fabric.lines().first("node.rebooted");
  EXPECT_THAT(line, AllOf(HasSubstr(" name=h00004 "), HasSubstr("down_for=")));
  const std::chrono::seconds down(std::stoi(line.substr(line.find("down_for=") + 9)));
  EXPECT_GE(down, 3s) << line;
  EXPECT_LE(down, 3s + 2 * sim::World::default_options().training.longest) << line;
  EXPECT_EQ(fabric.lines().count("node.rebooted"), 2U) << fabric.all();
  EXPECT_EQ(fabric.lines().count("node.new"), 0U) << fabric.all();
}

TEST(Changes, ADeadLeafIsOneLineWithItsHosts) {
  ChangingFabric fabric("ft2:8");

  fabric.faults().remove("leaf003");
  fabric.world().run_for(5s);
  EXPECT_EQ(fabric.lines().count("node.gone"), 1U) << fabric.all();
  EXPECT_THAT(fabric.lines().first("node.gone"),
              AllOf(HasSubstr(" name=leaf003 type=switch "), HasSubstr("links=8"),
                    HasSubstr("host_names=h00012,h00013,h00014,h00015")));
  EXPECT_THAT(fabric.nodes_of("node.gone"),
              testing::UnorderedElementsAre("leaf003", "h00012", "h00013", "h00014", "h00015"))
      << "each has an event";

  fabric.faults().restore("leaf003");
  fabric.world().run_for(5s);
  const auto line = fabric.lines().first("node.rebooted");
  EXPECT_THAT(line, HasSubstr(" name=leaf003 "));
  // A host whose link trains longer has a line of its own.
  const bool together = sim::World::default_options().training.longest < 1s;
  for (const auto* host : {"h00012", "h00013", "h00014", "h00015"}) {
    if (line.find(host) != std::string::npos) continue;
    EXPECT_FALSE(together) << host;
    const auto own = AllOf(testing::StartsWith("node."), HasSubstr(fmt::format(" name={} ", host)));
    EXPECT_THAT(fabric.lines().all, testing::Contains(own));
  }
}

TEST(Changes, LinksOfASwitchThatGoTogetherAreOneLineAndAnEventEach) {
  ChangingFabric fabric("ft2:16");

  for (std::uint8_t p = 1; p <= 8; ++p) fabric.faults().link_down({"spine001", PortNum{p}});
  fabric.world().run_for(5s);

  EXPECT_EQ(fabric.lines().count("link.down"), 1U) << fabric.all();
  EXPECT_EQ(fabric.nodes_of("link.down").size(), 9U) << "with that of the line";
}

TEST(Changes, ABurstOfCutsIsABoundedNumberOfLines) {
  ChangingFabric fabric("ft3:8");
  const auto before = fabric.lines().all.size();

  for (unsigned pod = 0; pod < 8; ++pod) {
    for (unsigned agg = 0; agg < 4; ++agg) {
      const auto name = fmt::format("agg{:02}-{:02}", pod, agg);
      fabric.faults().link_down({name, PortNum{static_cast<std::uint8_t>(5 + (pod + agg) % 4)}});
    }
  }
  fabric.world().run_for(30s);

  EXPECT_LE(fabric.lines().count("link.down"), 40U) << fabric.all();
  EXPECT_GE(fabric.lines().count("link.down"), 20U) << fabric.all();
  EXPECT_LE(fabric.lines().all.size() - before, 200U) << fabric.all();
}

TEST(Changes, AFlappingLinkIsSaidToFlapAndThenNoMore) {
  ChangingFabric fabric("ft2:8");

  fabric.faults().link_flaps({"leaf003", PortNum{6}}, 300ms);
  fabric.world().run_for(60s);
  EXPECT_GE(fabric.lines().count("link.flapping"), 1U) << fabric.all();
  EXPECT_THAT(fabric.lines().first("link.flapping"),
              AllOf(HasSubstr(" name=leaf003 port=6 "), HasSubstr(" downs=5 in=60s")));
  EXPECT_LE(fabric.lines().count("link.down"), 5U) << fabric.all();

  fabric.faults().link_up({"leaf003", PortNum{6}});
  fabric.world().run_for(150s);
  EXPECT_THAT(fabric.lines().all, testing::Contains(HasSubstr("it flaps no more")).Times(1)) << fabric.all();
}

TEST(Changes, ALinkNarrowerThanItsEndsCanIsToldOfOnce) {
  ChangingFabric fabric("ft2:8");

  fabric.faults().link_rate({"leaf003", PortNum{6}}, LinkWidth::x1, LinkSpeed::hdr);
  fabric.world().run_for(5s);
  fabric.manager()->requests().resweep(sm::Resweep::heavy, "test");
  fabric.world().run_for(30s);

  EXPECT_EQ(fabric.lines().count("link.degraded"), 1U) << fabric.all();
  EXPECT_THAT(fabric.lines().first("link.degraded"),
              AllOf(HasSubstr(" name=leaf003 port=6 "), HasSubstr("rate=\"1x HDR\" best=\"4x HDR\"")));
}

/// The store is what a restart leaves.
TEST(Changes, WhatWentWhileSmdWasStoppedIsNamedAtItsStart) {
  store::MemoryStore store;
  sim::World world(test::spec("ft2:8"));
  {
    Managed manager(world, {}, {}, &store);
    test::run_for(world, {&*manager}, 10s);
  }
  world.fabric().faults().remove("h00004");
  world.fabric().faults().link_down({"leaf000", PortNum{5}});

  Managed manager(world, {}, {}, &store);
  test::run_for(world, {&*manager}, 10s);

  EXPECT_EQ(manager.lines().count("link.down"), 2U);
  EXPECT_THAT(manager.lines().first("node.gone"),
              AllOf(HasSubstr(" name=h00004 "), HasSubstr("cause=start")));
  EXPECT_EQ(manager.lines().count("node.new"), 0U);
}

TEST(Changes, AnotherSmIsSeenAndNamed) {
  sim::World world(test::spec("ft2:8"));
  config::SubnetConfig higher, lower;
  higher.sm.priority = 7;
  lower.sm.priority = 5;
  Managed first(world, higher);
  auto second = std::make_unique<Managed>(world, sim::Place{"h00020", PortNum{1}}, lower);
  mad::TaskGroup group(world.io().get_executor()), other(world.io().get_executor());
  group.spawn(first->run());
  world.run_for(5s);
  EXPECT_EQ(first.lines().count("sm.seen"), 0U);

  other.spawn((*second)->run());
  world.run_for(30s);
  EXPECT_THAT(first.lines().first("sm.seen"), HasSubstr(" name=h00020 port=1 "));
  EXPECT_THAT(first.lines().first("priority=5 state=standby"), HasSubstr("sm.seen"))
      << testing::PrintToString(first.lines().all);

  world.run(other.stop());
  second.reset();
  world.run_for(60s);
  EXPECT_EQ(first.lines().count("sm.gone"), 1U) << testing::PrintToString(first.lines().all);
  world.run(group.stop());
}

}  // namespace
}  // namespace smd
