// SPDX-License-Identifier: Apache-2.0
// Which ports have a desired PortInfo, and which of its fields are left to the port.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>

#include "smd/plan/desired.h"
#include "smd/sweep/enforcement.h"
#include "tests/unit/plan/support.h"

namespace smd::sm {
namespace {

TEST(DesiredPortInfo, IsNothingForAPortThatIsNotOursToSet) {
  const struct {
    std::string_view name;
    std::uint64_t node;
    unsigned port;
    std::function<void(SubnetBuilder&)> fabric;
    std::function<void(PlanCase&)> decided;
  } cases[]{
      {"not known", kSwitch, 1, [](auto& f) { f.port(kSwitch, 1).known = false; }, {}},
      {"Down", kSwitch, 1, [](auto& f) { f.state(kSwitch, 1, PortState::down); }, {}},
      {"never linked", kSwitch, 7, {}, {}},
      {"a CA's second port", kCa, 2, {}, {}},
      {"no link is decided", kSwitch, 1, {}, [](auto& c) { c.links.ports[c.index(kSwitch)][1].reset(); }},
      {"no LID for the CA", kCa, 1, {}, [](auto& c) { c.without_lid(test::port_guid(kCa, 1)); }},
      {"no LID for the switch", kSwitch, 0, {}, [](auto& c) { c.without_lid(Guid{kSwitch}); }},
      {"no LID for the CA behind it",
       kSwitch,
       1,
       {},
       [](auto& c) { c.without_lid(test::port_guid(kCa, 1)); }},
  };
  for (const auto& at : cases) {
    auto made = port_case(at.fabric);
    ASSERT_TRUE(!at.decided || desired_info(made, at.node, at.port)) << at.name;
    if (at.decided) at.decided(made);

    EXPECT_FALSE(desired_info(made, at.node, at.port)) << at.name;
  }
}

TEST(DesiredPortInfo, APortBeforeAHostWithALidIsSetWhereOthersHaveNone) {
  auto made = port_case();
  made.without_lid(test::port_guid(kCa, 1));

  EXPECT_TRUE(desired_info(made, kSwitch, 3));
  EXPECT_TRUE(desired_info(made, kRouter, 1));
  EXPECT_TRUE(desired_info(made, kSwitch, 2));
}

TEST(DesiredPortInfo, AHostOnASwitchThatNoRouteLeadsToStaysDownIfItIs) {
  for (const auto state : {PortState::init, PortState::armed, PortState::active}) {
    auto made =
        port_case([&](auto& f) { f.state(kSwitch, 1, state).state(kCa, 1, state).state(kSwitch, 2, state); });
    made.routes.beyond = {Guid{kSwitch}};
    const bool up = state == PortState::active;

    EXPECT_EQ(desired_info(made, kSwitch, 1).has_value(), up);
    EXPECT_EQ(desired_info(made, kCa, 1).has_value(), up);
    EXPECT_TRUE(desired_info(made, kSwitch, 2));  // links between switches come up
    EXPECT_TRUE(desired_info(made, kSwitch, 0));

    made.routes.beyond = {Guid{kEnhanced}};
    EXPECT_TRUE(desired_info(made, kSwitch, 1));
  }
}

NotKept port_note(unsigned port, std::string field, std::uint64_t value) {
  return {wire::PortInfo::kAttribute, test::port_num(port), std::move(field), value};
}

TEST(DesiredPortInfo, AFieldThatIsNotKeptIsLeftWhileTheSameValueIsDecided) {
  const struct {
    std::string_view name;
    NotKept note;
    bool left;
  } cases[]{
      {"the same", port_note(1, "HOQLife", 11), true},
      {"another value", port_note(1, "HOQLife", 12), false},
      {"another port", port_note(2, "HOQLife", 11), false},
      {"another field", port_note(1, "VLStallCount", 11), false},
      {"another attribute", {wire::SwitchInfo::kAttribute, test::port_num(1), "HOQLife", 11}, false},
  };
  for (const auto& at : cases) {
    auto made = port_case([&](SubnetBuilder& fabric) {
      fabric.port(kSwitch, 1).info.hoq_life = 8;
      fabric.node(kSwitch).not_kept = {port_note(3, "NeighborMTU", 1), at.note};
    });
    made.link(kSwitch, 1).hoq_life = 11;

    EXPECT_EQ(desired_info(made, kSwitch, 1)->hoq_life, at.left ? 8 : 11) << at.name;
  }
}

TEST(DesiredPortInfo, ASwitchPortStopsToEnforcePKeysThatWereMeantForAnotherNode) {
  const struct {
    std::string_view name;
    unsigned port;
    std::uint64_t meant_for;
    bool stops;
  } cases[]{{"a link to a switch", 2, kEnhanced, true},
            {"for the node behind it", 1, kCa, false},
            {"for a node that was behind it", 1, 0xABC, true}};
  for (const auto& at : cases) {
    auto made = port_case([&](SubnetBuilder& fabric) {
      auto& info = fabric.port(kSwitch, at.port).info;
      info.partition_enforce_in = info.partition_enforce_out = info.filter_raw_in = info.filter_raw_out =
          true;
    });
    made.subnet.enforced = std::make_shared<const EnforcedFor>(
        EnforcedFor{{{Guid{kSwitch}, test::port_num(at.port)}, Guid{at.meant_for}}});

    const auto desired = *desired_info(made, kSwitch, at.port);

    for (const bool field : {desired.partition_enforce_in, desired.partition_enforce_out,
                             desired.filter_raw_in, desired.filter_raw_out})
      EXPECT_EQ(field, !at.stops) << at.name;
  }
}

}  // namespace
}  // namespace smd::sm
