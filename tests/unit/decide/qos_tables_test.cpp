// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/qos_tables.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/capability.h"
#include "smd/decide/links.h"
#include "smd/report/qos_explanation.h"
#include "tests/unit/decide/support.h"

namespace smd::sm {
namespace {

using config::PortClass;
using testing::ElementsAre;

constexpr std::uint64_t kFarSwitch = 0x20, kFarRouter = 0x300;

/// Host 0x100 and router 0x300 on switch 0x10, which has a link to switch 0x20 with an enhanced port 0. All
/// have 8 VLs and arbitration tables of 8 entries.
class DecideQosTables : public testing::Test {
 protected:
  DecideQosTables() {
    fabric_.add_switch(kSwitch).add_switch(kFarSwitch).host(kHost, kSwitch, 1).add_router(kFarRouter);
    fabric_.link(kSwitch, 2, kFarSwitch, 1).link(kSwitch, 3, kFarRouter, 1).sm(kHost, 1);
    fabric_.node(kFarSwitch).switch_info->enhanced_port0 = true;
    fabric_.node(kHost).description = "h0";
    for (const auto guid : {kSwitch, kFarSwitch, kHost, kFarRouter}) {
      for (auto& port : fabric_.node(guid).ports) {
        port.known = true;
        port.info.vl_cap = port.info.operational_vls = 4;
        port.info.vl_arb_low_cap = port.info.vl_arb_high_cap = 8;
        port.info.capability_mask |= wire::kCapSlMapping;
      }
    }
    config_.qos.enabled = true;
  }
  /// Of the host; its link uses as many.
  void has_vls(std::uint8_t code) {
    fabric_.port(kHost, 1).info.vl_cap = code;
    fabric_.port(kHost, 1).info.operational_vls = fabric_.port(kSwitch, 1).info.operational_vls = code;
  }
  const QosPart& decide() {
    const auto subnet = fabric_.build();
    const auto links = decide_links(subnet, config_.links, {});
    made_ = decide_qos_tables({.subnet = subnet,
                               .config = config_,
                               .links = links,
                               .policy = {},
                               .partitions = partitions_ ? &*partitions_ : nullptr});
    index_ = [&](std::uint64_t guid) { return *subnet.index_of(Guid{guid}); };
    for (const auto guid : {kSwitch, kFarSwitch, kHost, kFarRouter}) indexes_[guid] = index_(guid);
    return *made_;
  }
  const QosPart::Tables& of(std::uint64_t node, unsigned port) {
    return *made_->find(indexes_.at(node), test::port_num(port));
  }
  bool has(std::uint64_t node, unsigned port) {
    return made_->find(indexes_.at(node), test::port_num(port)) != nullptr;
  }
  static std::vector<unsigned> vls(const QosPart::Tables& tables) {
    std::vector<unsigned> found;
    for (const auto vl : tables.sl_to_vl.vls) found.push_back(vl.value());
    return found;
  }
  static config::SlMap all_on(std::uint8_t vl) {
    config::SlMap map;
    map.fill(Vl{vl});
    return map;
  }
  config::QosTables& of_class(PortClass which) {
    return config_.qos.classes[static_cast<std::size_t>(which)];
  }

  SubnetBuilder fabric_;
  config::SubnetConfig config_;
  std::optional<PartitionPart> partitions_;
  std::optional<QosPart> made_;
  std::function<std::size_t(std::uint64_t)> index_;
  std::map<std::uint64_t, std::size_t> indexes_;
};

TEST_F(DecideQosTables, AreNotThereWithoutQos) {
  config_.qos.enabled = false;
  const auto subnet = fabric_.build();
  EXPECT_FALSE(decide_qos_tables(
      {.subnet = subnet, .config = config_, .links = decide_links(subnet, config_.links, {}), .policy = {}}));
}

TEST_F(DecideQosTables, OfEachPortWithALinkAndOfEnhancedPorts0) {
  decide();
  for (const auto& [node, port] : {std::pair{kSwitch, 1U},
                                   {kSwitch, 2U},
                                   {kSwitch, 3U},
                                   {kFarSwitch, 1U},
                                   {kFarSwitch, 0U},
                                   {kHost, 1U},
                                   {kFarRouter, 1U}})
    EXPECT_TRUE(has(node, port)) << node << ' ' << port;
  EXPECT_FALSE(has(kSwitch, 0)) << "a base port 0";
  EXPECT_FALSE(has(kSwitch, 4)) << "no link";
}

TEST_F(DecideQosTables, ByDefaultAreThoseOfOpenSm) {
  decide();
  const auto& tables = of(kHost, 1);
  EXPECT_THAT(vls(tables), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(tables.arbitration[2].entries[0], (wire::VlWeight{Vl{0}, 4})) << "high: VL 0 alone";
  EXPECT_EQ(tables.arbitration[2].entries[1], (wire::VlWeight{Vl{1}, 0}));
  EXPECT_EQ(tables.arbitration[0].entries[0], (wire::VlWeight{Vl{0}, 0})) << "low: all others";
  EXPECT_EQ(tables.arbitration[0].entries[7], (wire::VlWeight{Vl{7}, 4}));
  EXPECT_EQ(tables.arbitration[0].entries[8], wire::VlWeight{}) << "above the capacity";
  EXPECT_EQ(tables.high_limit, 0);
}

TEST_F(DecideQosTables, WithoutAnyWeightAreNotWritten) {
  config_.qos.all.vlarb_high = config::ArbitrationList{{Vl{0}, 0}};
  config_.qos.all.vlarb_low = config::ArbitrationList{{Vl{1}, 0}};
  of_class(PortClass::ca).vlarb_low = config::ArbitrationList{{Vl{1}, 1}};
  decide();
  EXPECT_TRUE(has(kHost, 1));
  EXPECT_FALSE(has(kSwitch, 1)) << "it keeps what it has";
}

TEST_F(DecideQosTables, HaveTheVlsThatTheLinkHas) {
  has_vls(2);
  config_.qos.all.sl2vl = all_on(7);
  (*config_.qos.all.sl2vl)[3] = Vl{15};
  (*config_.qos.all.sl2vl)[4] = Vl{2};
  decide();
  for (const auto& [node, port] : {std::pair{kHost, 1U}, {kSwitch, 1U}}) {
    EXPECT_EQ(vls(of(node, port))[0], 1U) << "7 modulo 2 VLs, at both ends";
    EXPECT_EQ(vls(of(node, port))[3], 15U) << "is discarded";
    EXPECT_EQ(vls(of(node, port))[4], 0U);
  }
  EXPECT_EQ(vls(of(kSwitch, 2))[0], 7U) << "another link";
  EXPECT_EQ(of(kHost, 1).arbitration[0].entries[7].vl, Vl{1});
}

TEST_F(DecideQosTables, OfOneVlHaveNoArbitration) {
  config_.qos.all.high_limit = 9;
  has_vls(1);
  decide();
  EXPECT_EQ(of(kHost, 1).low, 0);
  EXPECT_EQ(of(kHost, 1).high_limit, 0);
  EXPECT_EQ(vls(of(kHost, 1)), std::vector<unsigned>(16, 0U));
  EXPECT_EQ(of(kSwitch, 1).low, 8) << "its VLCap is 8 VLs";
  EXPECT_EQ(of(kSwitch, 1).high_limit, 9);
}

TEST_F(DecideQosTables, OfSlsNeedSlMapping) {
  fabric_.port(kHost, 1).info.capability_mask &= ~wire::kCapSlMapping;
  fabric_.port(kFarSwitch, 0).info.capability_mask &= ~wire::kCapSlMapping;
  decide();
  EXPECT_FALSE(of(kHost, 1).maps_sls);
  EXPECT_FALSE(of(kFarSwitch, 1).maps_sls) << "of a switch port 0 says it";
  EXPECT_TRUE(of(kSwitch, 1).maps_sls);
  EXPECT_EQ(vls(of(kHost, 1)), std::vector<unsigned>(16, 0U)) << "VL 0 without a table, also SL 15";
  EXPECT_EQ(vls(of(kSwitch, 1))[7], 7U);
}

TEST_F(DecideQosTables, WithoutSlMappingAreExplainedAsTheyAreDecided) {
  config_.qos.all.sl2vl = all_on(3);
  (*config_.qos.all.sl2vl)[2] = Vl{15};
  const QosUses uses{{Sl{1}, {.of_class = Sl{1}}}, {Sl{2}, {.of_class = Sl{2}}}};
  fabric_.port(kHost, 1).info.capability_mask &= ~wire::kCapSlMapping;
  const auto explained = [&] {
    decide();
    return explain_kind("adapters", of(kHost, 1), uses, 4096);
  };
  auto kind = explained();
  EXPECT_THAT(kind.warnings, testing::Contains(testing::HasSubstr("no SL to VL table")));
  EXPECT_THAT(kind.warnings, testing::Contains("SL 1, 2 share VL 0 and delay each other"));
  has_vls(1);
  kind = explained();
  ASSERT_EQ(kind.lanes.size(), 2U);
  for (const auto& lane : kind.lanes) {
    EXPECT_EQ(lane.vl, Vl{0});
    EXPECT_DOUBLE_EQ(lane.share, 0.5);
  }
  EXPECT_THAT(kind.notes,
              testing::ElementsAre("no SL to VL table (no IsSLMappingSupported): all SLs have VL 0",
                                   testing::HasSubstr("equal parts")));
  EXPECT_THAT(kind.warnings, testing::ElementsAre("SL 1, 2 share VL 0 and delay each other"));
}

TEST_F(DecideQosTables, OfAPortAreThoseOfItsSetThenOfItsClassThenOfAll) {
  config_.qos.all.sl2vl = all_on(1);
  config_.qos.all.high_limit = 1;
  of_class(PortClass::ca).sl2vl = all_on(2);
  of_class(PortClass::router).sl2vl = all_on(3);
  of_class(PortClass::switch_port0).sl2vl = all_on(4);
  of_class(PortClass::switch_external).sl2vl = all_on(5);
  config::QosPorts named;
  named.ports = {*config::parse_port_term("h0")};
  named.sl2vl = all_on(6);
  auto later = named;
  later.sl2vl = all_on(7);
  config_.qos.ports = {named, later};
  decide();
  EXPECT_EQ(vls(of(kHost, 1))[0], 6U);
  EXPECT_EQ(of(kHost, 1).high_limit, 1) << "of all ports";
  EXPECT_EQ(vls(of(kFarRouter, 1))[0], 3U);
  EXPECT_EQ(vls(of(kFarSwitch, 0))[0], 4U);
  EXPECT_EQ(vls(of(kFarSwitch, 1))[0], 5U);
  config_.qos.ports.clear();
  decide();
  EXPECT_EQ(vls(of(kHost, 1))[0], 2U);
}

TEST_F(DecideQosTables, OfASetAreThoseOfAPartitionsMembers) {
  config::PolicyPartition blue;
  blue.name = "blue";
  blue.pkey = PKey{0x12};
  config::PartitionPolicy policy;
  policy.partitions.push_back(blue);
  partitions_.emplace();
  partitions_->policy = std::make_shared<const config::PartitionPolicy>(policy);
  partitions_->managed = true;
  partitions_->partitions = {{.pkey = PKey{0x12},
                              .members = {{.port = fabric_.port(kHost, 1).guid,
                                           .at = {},
                                           .membership = config::Membership::limited}},
                              .pending = {}}};
  config::QosPorts set;
  set.ports = {*config::parse_port_term("partition:blue"), *config::parse_port_term("partition:red"),
               *config::parse_port_term("h9")};
  set.sl2vl = all_on(6);
  config_.qos.ports = {set};
  decide();
  EXPECT_EQ(vls(of(kHost, 1))[0], 6U);
  EXPECT_EQ(vls(of(kFarRouter, 1))[1], 1U);
  EXPECT_THAT(made_->pending,
              ElementsAre("[[qos.ports]] 1: partition:red: no port is a member of this partition",
                          testing::StartsWith("[[qos.ports]] 1: h9: ")));
}

TEST_F(DecideQosTables, OfMoreThan256SetsAreEachPortsOwn) {
  constexpr unsigned kPorts = 300;
  for (unsigned i = 0; i < kPorts; ++i) {
    const std::uint64_t leaf = 0x1000 + i / 150, host = 0x2000 + 0x10 * i;
    if (i % 150 == 0) fabric_.add_switch(leaf, 151);
    fabric_.host(host, leaf, 1 + i % 150);
    if (i % 150 == 0) fabric_.link(leaf, 151, kSwitch, 4 + i / 150);
    fabric_.node(host).description = fmt::format("n{}", i);
    auto& port = fabric_.port(host, 1);
    port.known = true;
    port.info.vl_cap = port.info.operational_vls = 4;
    port.info.capability_mask |= wire::kCapSlMapping;
    auto& set = config_.qos.ports.emplace_back();
    set.ports = {*config::parse_port_term(fmt::format("n{}", i))};
    set.high_limit = i % 200;
    set.sl2vl = all_on(static_cast<std::uint8_t>(i / 200));
  }
  const auto subnet = fabric_.build();
  decide();
  for (unsigned i = 0; i < kPorts; ++i) {
    const auto* tables = made_->find(*subnet.index_of(Guid{0x2000 + 0x10 * i}), PortNum{1});
    ASSERT_NE(tables, nullptr) << i;
    EXPECT_EQ(tables->high_limit, i % 200) << i;
    EXPECT_EQ(vls(*tables)[0], i / 200) << i;
  }
}

TEST_F(DecideQosTables, OfLinksBetweenSwitchesAreASetOfTheirOwn) {
  config::QosPorts between;
  between.ports = {*config::parse_port_term("ALL_SWITCH_TO_SWITCH")};
  between.sl2vl = all_on(3);
  config_.qos.ports = {between};
  decide();
  EXPECT_EQ(vls(of(kSwitch, 2))[0], 3U);
  EXPECT_EQ(vls(of(kFarSwitch, 1))[0], 3U);
  EXPECT_EQ(vls(of(kSwitch, 1))[0], 0U);
  EXPECT_EQ(vls(of(kHost, 1))[0], 0U);
}

TEST_F(DecideQosTables, AlikeAreHeldOnce) {
  decide();
  EXPECT_EQ(&of(kSwitch, 1), &of(kSwitch, 2));
  EXPECT_LE(made_->tables.size(), 2U);
}

TEST_F(DecideQosTables, OfPortsThatMaxVlsMakesAlikeAreHeldOnce) {
  has_vls(3);
  config_.qos.all.max_vls = 4;
  decide();
  EXPECT_EQ(of(kSwitch, 2).vls, 3U) << "the code of 4 VLs";
  EXPECT_EQ(&of(kSwitch, 1), &of(kSwitch, 2)) << "4 VLs and 8";
}

}  // namespace
}  // namespace smd::sm
