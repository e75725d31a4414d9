// SPDX-License-Identifier: Apache-2.0
// P_Key tables that an earlier SM has left.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "mad/wire/capability.h"
#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "tests/support/api_backend.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"
#include "tests/support/sim_lab.h"

namespace smd {
namespace {

using test::Managed;

/// two_leaves() as an SM on h0 has left it that is gone now; smd on h1.
class LeftPartitions : public testing::Test {
 protected:
  LeftPartitions() : world_(test::two_leaves()) {
    test::Asker asker(world_);
    test::bring_up_two_leaves(asker);
  }
  void key(const sim::Place& place, unsigned index, unsigned value) {
    ASSERT_TRUE(world_.fabric().faults().set_p_key(place, index, PKey{static_cast<std::uint16_t>(value)}));
  }
  void run() {
    world_.record_trace(true);
    smd_.emplace(world_, "h1");
    test::run_for(world_, {&**smd_}, std::chrono::seconds(5));
  }
  std::array<PKey, 32> keys_of_sm() {
    test::Asker asker(world_, {"h1", PortNum{1}});
    return asker.get<wire::PKeyTable>(test::path({})).value.keys;
  }
  /// Attribute of the first Set that any client sent.
  std::uint16_t first_set() const {
    for (const auto& entry : world_.trace()) {
      const auto smp = wire::Smp::from_bytes(entry.bytes);
      if (entry.sent && smp && smp->method() == wire::Method::set) return smp->attribute();
    }
    return 0;
  }

  sim::World world_;
  std::optional<Managed> smd_;
};

TEST_F(LeftPartitions, ALimitedSmPortBecomesAFullMemberWithTheFirstSet) {
  key({"h1", PortNum{1}}, 0, 0x7FFF);
  run();

  EXPECT_EQ(keys_of_sm()[0], kDefaultPKey);
  EXPECT_EQ(first_set(), wire::PKeyTable::kAttribute);
  EXPECT_EQ(smd_->lines().count("partition.sm_port"), 1U);
  EXPECT_EQ(smd_->last().summary.state, sm::SweepState::up);
}

TEST_F(LeftPartitions, OtherKeysOfTheSmPortKeepTheirIndexes) {
  key({"h1", PortNum{1}}, 0, 0x8001);
  key({"h1", PortNum{1}}, 1, 0x8002);
  key({"h1", PortNum{1}}, 3, 0x7FFF);
  run();

  const auto keys = keys_of_sm();
  EXPECT_THAT(std::vector(keys.begin(), keys.begin() + 5),
              testing::ElementsAre(PKey{0x8001}, PKey{0x8002}, PKey{}, kDefaultPKey, PKey{}));
}

TEST_F(LeftPartitions, WithoutADefaultKeyAFreeIndexIsTaken) {
  key({"h1", PortNum{1}}, 0, 0x8001);
  run();

  const auto keys = keys_of_sm();
  EXPECT_EQ(keys[0], PKey{0x8001});
  EXPECT_EQ(keys[1], kDefaultPKey);
}

TEST_F(LeftPartitions, TheSwitchPortBeforeItBecomesOneToo) {
  key({"leaf1", PortNum{1}}, 0, 0x7FFF);
  run();

  test::Asker asker(world_, {"h1", PortNum{1}});
  EXPECT_EQ(asker.get<wire::PKeyTable>(test::path({1}), 1U << 16U).value.keys[0], kDefaultPKey);
}

TEST_F(LeftPartitions, AFullMemberIsLeftAlone) {
  run();
  EXPECT_NE(first_set(), wire::PKeyTable::kAttribute);
  EXPECT_EQ(smd_->lines().count("partition.sm_port"), 0U);
}

TEST_F(LeftPartitions, AFullTableIsNamed) {
  for (unsigned index = 0; index < 128; ++index) key({"h1", PortNum{1}}, index, 0x8001 + index);
  run();

  EXPECT_EQ(smd_->lines().count("partition.no_room"), 1U) << testing::PrintToString(smd_->lines().all);
  EXPECT_EQ(keys_of_sm()[0], PKey{0x8001});
}

/// 130 partitions and a table of 128 keys: what is left out is in the log once, and in the status as long as
/// it is so.
TEST(FullTables, AreShownByStatus) {
  sim::World world(test::two_leaves());
  config::SubnetConfig config;
  for (unsigned number = 0; number < 130; ++number)
    config.partition.push_back(
        test::partition(fmt::format("p{}", number), static_cast<std::uint16_t>(0x10 + number), {"h1"}));
  Managed smd(world, "h0", config);
  test::run_for(world, {&*smd}, std::chrono::seconds(5));

  EXPECT_EQ(smd.lines().count("partition.no_room"), 1U) << testing::PrintToString(smd.lines().all);
  test::FakeBackend backend;
  backend.add({.name = "a", .port = "p", .snapshot = std::make_shared<sm::Snapshot>(smd.last())});
  const auto answer = api::answer({.method = "GET", .target = "/v1/status", .body = {}}, backend);
  std::ostringstream text;
  cli::print_status(text, *api::parse_json(answer.body));
  EXPECT_THAT(text.str(), testing::HasSubstr("\"h1\" port 1: 131 keys, room for 128\n"));
  EXPECT_EQ(smd.last().summary.state, sm::SweepState::reduced);
  EXPECT_EQ(smd.last().summary.why,
            "1 P_Key table has no room for all keys, 1 port of switches lets packets of all partitions pass: "
            "too many keys for a P_Key table");
}

/// VFs of newer adapters are virtual ports, which wait for an SM that sets them up.
TEST(VirtualPorts, ThatSmdDoesNotSetUpAreShownByStatus) {
  sim::World world(test::two_leaves());
  Managed smd(world, "h0");
  test::run_for(world, {&*smd}, std::chrono::seconds(5));
  const auto shown = [](const sm::Snapshot& now) {
    test::FakeBackend backend;
    backend.add({.name = "a", .port = "p", .snapshot = std::make_shared<sm::Snapshot>(now)});
    const auto answer = api::answer({.method = "GET", .target = "/v1/status", .body = {}}, backend);
    std::ostringstream text;
    cli::print_status(text, *api::parse_json(answer.body));
    return text.str();
  };
  auto now = smd.last();
  EXPECT_THAT(shown(now), testing::Not(testing::HasSubstr("virtual ports")));

  auto subnet = *now.subnet;
  for (auto& place : subnet.nodes) {
    if (place->is_switch() || place->description != "h1") continue;
    auto node = *place;
    node.ports[1].info.capability_mask |= wire::kCapCapabilityMask2;
    node.ports[1].info.capability_mask2 |= wire::kCap2Virtualization;
    place = std::make_shared<const sm::Node>(std::move(node));
  }
  now.subnet = std::make_shared<const sm::Subnet>(std::move(subnet));
  EXPECT_THAT(shown(now), testing::HasSubstr("1 port can have virtual ports (SR-IOV)"));
}

/// Enforcement by leaf1, with a key in the tables that only h1 and h2 had.
class LeftEnforcement : public LeftPartitions {
 protected:
  void enforce(const sim::Place& place) {
    ASSERT_TRUE(world_.fabric().faults().enforce_p_keys(place, true, true));
    key(place, 0, 0x8001);
  }
  bool enforces(std::string_view node, unsigned port) {
    const auto& state = world_.fabric().state();
    const auto& info = state.port(state.nodes[*sim::find_node(state, node)], port).info;
    return info.partition_enforce_in || info.partition_enforce_out;
  }
};

TEST_F(LeftEnforcement, StaysForTheNodeThatWasThere) {
  enforce({"leaf1", PortNum{2}});
  world_.at(world_.now() + std::chrono::seconds(2),
            [](sim::Fabric& fabric) { fabric.faults().reboot("h2", std::chrono::seconds(1)); });
  run();

  EXPECT_TRUE(enforces("leaf1", 2));
  EXPECT_EQ(smd_->lines().count("partition.enforcement_cleared"), 0U);
  EXPECT_EQ(smd_->last().summary.ports_active, 10U);
}

TEST_F(LeftEnforcement, IsClearedForAnotherNode) {
  enforce({"leaf1", PortNum{2}});
  // h0 is plugged in where h2 was.
  world_.at(world_.now() + std::chrono::seconds(2), [](sim::Fabric& fabric) {
    fabric.faults().move({"leaf1", PortNum{2}}, {"leaf1", PortNum{4}});
    fabric.faults().move({"leaf0", PortNum{1}}, {"leaf1", PortNum{2}});
  });
  run();

  EXPECT_FALSE(enforces("leaf1", 2));
  EXPECT_TRUE(enforces("leaf1", 4)) << "bits and table move with the node";
  test::Asker asker(world_, {"h1", PortNum{1}});
  EXPECT_EQ(asker.get<wire::PKeyTable>(test::path({1}), 4U << 16U).value.keys[0], PKey{0x8001});
  const auto line = smd_->lines().first("partition.enforcement_cleared");
  EXPECT_NE(line.find("name=leaf1 port=2"), std::string::npos) << line;
  EXPECT_NE(line.find("peer_name=h0"), std::string::npos) << line;
}

TEST_F(LeftEnforcement, StaysWhereTwoNodesHaveChangedPlaces) {
  enforce({"leaf1", PortNum{2}});  // h2
  enforce({"leaf0", PortNum{1}});  // h0
  world_.at(world_.now() + std::chrono::seconds(2), [](sim::Fabric& fabric) {
    fabric.faults().move({"leaf1", PortNum{2}}, {"leaf1", PortNum{4}});
    fabric.faults().move({"leaf0", PortNum{1}}, {"leaf1", PortNum{2}});
    fabric.faults().move({"leaf1", PortNum{4}}, {"leaf0", PortNum{1}});
  });
  run();
  test::run_for(world_, {&**smd_}, std::chrono::seconds(60));  // light and heavy sweeps

  EXPECT_TRUE(enforces("leaf1", 2));
  EXPECT_TRUE(enforces("leaf0", 1));
  EXPECT_EQ(smd_->lines().count("partition.enforcement_cleared"), 0U)
      << testing::PrintToString(smd_->lines().all);
}

TEST_F(LeftEnforcement, OfAPortWithoutALinkIsClearedForWhoeverComes) {
  enforce({"leaf1", PortNum{4}});
  world_.at(world_.now() + std::chrono::seconds(2),
            [](sim::Fabric& fabric) { fabric.faults().move({"leaf0", PortNum{1}}, {"leaf1", PortNum{4}}); });
  run();
  EXPECT_FALSE(enforces("leaf1", 4));
}

TEST_F(LeftEnforcement, IsClearedBetweenSwitches) {
  enforce({"leaf1", PortNum{3}});
  enforce({"spine", PortNum{2}});
  run();

  EXPECT_FALSE(enforces("leaf1", 3));
  EXPECT_FALSE(enforces("spine", 2));
  EXPECT_EQ(smd_->lines().count("reason=\"the link leads to a switch\""), 2U)
      << testing::PrintToString(smd_->lines().all);
}

TEST_F(LeftEnforcement, ThatASwitchKeepsIsReportedOnceAndNotSetAgain) {
  enforce({"spine", PortNum{2}});
  for (const auto* field : {"PartitionEnforcementInbound", "PartitionEnforcementOutbound"})
    world_.fabric().faults().forgets("spine", wire::PortInfo::kAttribute, field);
  run();

  EXPECT_TRUE(enforces("spine", 2));
  EXPECT_EQ(smd_->last().summary.sets_left, 0U);
  EXPECT_EQ(smd_->lines().count("partition.enforcement_cleared"), 0U);
  EXPECT_EQ(smd_->lines().count("event=field.not_kept") + smd_->lines().count("field.not_kept "), 2U)
      << testing::PrintToString(smd_->lines().all);
}

}  // namespace
}  // namespace smd
