// SPDX-License-Identifier: Apache-2.0
// PortInfo as desired, field by field. Which ports are set at all is in desired_ports_test.cpp.
#include "smd/plan/desired.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "tests/unit/plan/support.h"

namespace smd::sm {
namespace {

/// Names of the fields in which two PortInfos differ.
std::set<std::string> differing_fields(const wire::PortInfo& a, const wire::PortInfo& b) {
  std::set<std::string> names;
  wire::for_each_field<wire::PortInfo>([&](const auto& row) {
    if (row.get(a, 0) != row.get(b, 0)) names.insert(std::string(row.name));
  });
  return names;
}

/// Decides other values than the ports have, for every field.
void decide_others(PlanCase& made) {
  for (const auto& entry : std::vector(made.lids.entries)) {
    const bool of_switch = entry.port == Guid{kSwitch} || entry.port == Guid{kEnhanced};
    made.lid(entry.port, entry.base.value() * 16U, of_switch ? 0 : 2);
  }
  made.lids.sm_lid = Lid{80};
  made.config.sm.subnet_prefix = 0xfec0000000000001;
  made.config.links.subnet_timeout = 20;
  made.config.links.local_phy_errors_threshold = 3;
  made.config.links.overrun_errors_threshold = 4;
  for (auto& ports : made.links.ports) {
    for (auto& link : ports) {
      if (link)
        link = LinkSettings{.operational_vls = 3,
                            .neighbor_mtu = Mtu::m4096,
                            .hoq_life = 11,
                            .vl_stall_count = 5,
                            .enabled = {.width = 2, .speed = 1, .speed_ext = 6, .speed_ext2 = 1}};
    }
  }
}

/// Ports whose fields that smd sets are other than smd leaves them.
void spoil(SubnetBuilder& fabric) {
  for (const auto guid : {kSwitch, kEnhanced, kCa, kRouter}) {
    for (auto& port : fabric.node(guid).ports) {
      port.info.link_down_default = PhysState::sleep;
      port.info.master_sm_sl = Sl{3};
    }
  }
}

const std::set<std::string> kIdentity{"LID", "MasterSMLID", "MasterSMSL", "GidPrefix", "SubnetTimeOut"};
const std::set<std::string> kLinkFields{"OperationalVLs",      "NeighborMTU",          "HOQLife",
                                        "VLStallCount",        "LinkWidthEnabled",     "LinkSpeedEnabled",
                                        "LinkSpeedExtEnabled", "LinkSpeedExtEnabled2", "LocalPhyErrors",
                                        "OverrunErrors"};

std::set<std::string> operator+(std::set<std::string> a, const std::set<std::string>& b) {
  a.insert(b.begin(), b.end());
  return a;
}

TEST(DesiredPortInfo, SetsTheFieldsThatAreOursAndNoOther) {
  const struct {
    std::string_view name;
    std::uint64_t node;
    unsigned port;
    std::set<std::string> fields;
  } cases[]{
      {"CA", kCa, 1, kIdentity + kLinkFields + std::set<std::string>{"LMC", "LinkDownDefaultState"}},
      {"router", kRouter, 1, kIdentity + kLinkFields + std::set<std::string>{"LMC", "LinkDownDefaultState"}},
      {"switch to CA", kSwitch, 1, kLinkFields + std::set<std::string>{"LinkDownDefaultState"}},
      {"switch to switch", kSwitch, 2, kLinkFields + std::set<std::string>{"LinkDownDefaultState"}},
      {"base port 0", kSwitch, 0, kIdentity},
      {"enhanced port 0", kEnhanced, 0, kIdentity + kLinkFields},
  };
  for (const auto& at : cases) {
    auto made = port_case(spoil);
    decide_others(made);

    const auto desired = desired_info(made, at.node, at.port);

    ASSERT_TRUE(desired) << at.name;
    EXPECT_EQ(differing_fields(*desired, made.node(at.node).ports[at.port].info), at.fields) << at.name;
  }
}

TEST(DesiredPortInfo, HasTheDecidedValues) {
  auto made = port_case(spoil);
  decide_others(made);

  const auto desired = *desired_info(made, kCa, 1);

  EXPECT_EQ(desired.lid, Lid{80});
  EXPECT_EQ(desired.lmc, 2);
  EXPECT_EQ(desired.sm_lid, Lid{80});
  EXPECT_EQ(desired.master_sm_sl, Sl{0});
  EXPECT_EQ(desired.gid_prefix, 0xfec0000000000001);
  EXPECT_EQ(desired.subnet_timeout, 20);
  EXPECT_EQ(desired.operational_vls, 3);
  EXPECT_EQ(desired.neighbor_mtu, Mtu::m4096);
  EXPECT_EQ(desired.hoq_life, 11);
  EXPECT_EQ(desired.vl_stall_count, 5);
  EXPECT_EQ(desired.link_width_enabled, 2);
  EXPECT_EQ(desired.link_speed_enabled, 1);
  EXPECT_EQ(desired.link_speed_ext_enabled, 6);
  EXPECT_EQ(desired.link_speed_ext2_enabled, 1);
  EXPECT_EQ(desired.local_phy_errors, 3);
  EXPECT_EQ(desired.overrun_errors, 4);
  EXPECT_EQ(desired.link_down_default, PhysState::polling);
  EXPECT_EQ(desired.port_state, PortState::active);  // left as it is
}

TEST(DesiredPortInfo, IsWhatThePortSaysWhereThatIsAsDecided) {
  auto made = port_case();
  for (const auto [node, port] :
       {std::pair{kCa, 1U}, {kRouter, 1U}, {kSwitch, 0U}, {kSwitch, 1U}, {kSwitch, 2U}}) {
    EXPECT_EQ(desired_info(made, node, port), made.node(node).ports[port].info) << node << " port " << port;
  }
}

TEST(DesiredPortInfo, LeavesWhatIsNotDecidedForALinkAsItIs) {
  auto made = port_case([](SubnetBuilder& fabric) {
    auto& info = fabric.port(kSwitch, 1).info;
    info.operational_vls = 4;
    info.hoq_life = 9;
    info.vl_stall_count = 2;
    info.link_width_enabled = 3;
    info.link_speed_enabled = 7;
    info.link_speed_ext_enabled = 1;
    info.link_speed_ext2_enabled = 1;
  });
  made.link(kSwitch, 1) = LinkSettings{};
  made.link(kSwitch, 1).operational_vls = 0;  // as they are until the link comes up anew

  EXPECT_EQ(desired_info(made, kSwitch, 1), made.node(kSwitch).ports[1].info);
}

TEST(DesiredPortInfo, AllExtendedSpeedsOffIsAlreadySoWhereThePortShowsZero) {
  // Some firmware shows 0 after such a Set, other the code that was Set.
  const struct {
    std::uint8_t now, decided, expected;
  } cases[]{{0, kNoExtendedSpeed, 0},
            {kNoExtendedSpeed, kNoExtendedSpeed, kNoExtendedSpeed},
            {7, kNoExtendedSpeed, kNoExtendedSpeed},
            {7, 0, 7},
            {0, 3, 3},
            {7, 3, 3}};
  for (const auto& at : cases) {
    auto made = port_case(
        [&](SubnetBuilder& fabric) { fabric.port(kSwitch, 1).info.link_speed_ext_enabled = at.now; });
    made.link(kSwitch, 1).enabled.speed_ext = at.decided;

    EXPECT_EQ(desired_info(made, kSwitch, 1)->link_speed_ext_enabled, at.expected)
        << +at.now << ' ' << +at.decided;
  }
  auto made = port_case();
  made.link(kSwitch, 1).enabled.speed_ext2 = kNoExtendedSpeed2;
  EXPECT_EQ(desired_info(made, kSwitch, 1)->link_speed_ext2_enabled, 0);
}

}  // namespace
}  // namespace smd::sm
