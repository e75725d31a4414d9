// SPDX-License-Identifier: Apache-2.0
// What a Set of PortInfo carries, and which fields of a Set were not kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "smd/plan/desired.h"
#include "tests/support/subnet_builder.h"

namespace smd::sm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// As read: all that can be 'no change' has a value.
wire::PortInfo port_as_read() {
  return {.lid = Lid{5},
          .link_width_enabled = 3,
          .port_state = PortState::init,
          .phys_state = PhysState::link_up,
          .link_down_default = PhysState::polling,
          .link_speed_enabled = 7,
          .neighbor_mtu = Mtu::m2048,
          .client_reregister = true,
          .link_speed_ext2_enabled = 1,
          .link_speed_ext_enabled = 15};
}

TEST(PortInfoToSet, SaysNoChangeOfWhatIsAsItWas) {
  const auto now = port_as_read();

  const auto set = port_info_to_set(now, now, PortState::armed);

  auto expected = now;
  expected.port_state = PortState::armed;
  expected.phys_state = PhysState::no_change;
  expected.link_down_default = PhysState::no_change;
  expected.link_width_enabled = expected.link_speed_enabled = 0;
  expected.link_speed_ext_enabled = expected.link_speed_ext2_enabled = 0;
  expected.client_reregister = false;
  EXPECT_EQ(set, expected);
}

TEST(PortInfoToSet, CarriesWhatIsOtherThanItWas) {
  const auto now = port_as_read();
  auto desired = now;
  desired.link_down_default = PhysState::sleep;
  desired.link_width_enabled = 2;
  desired.link_speed_enabled = 1;
  desired.link_speed_ext_enabled = kNoExtendedSpeed;
  desired.link_speed_ext2_enabled = kNoExtendedSpeed2;
  desired.lid = Lid{9};

  const auto set = port_info_to_set(desired, now, PortState::no_change);

  auto expected = desired;
  expected.port_state = PortState::no_change;
  expected.phys_state = PhysState::no_change;
  expected.client_reregister = false;
  EXPECT_EQ(set, expected);
}

TEST(PortInfoToSet, APortThatGoesDownPolls) {
  const auto now = port_as_read();

  EXPECT_EQ(port_info_to_set(now, now, PortState::down).phys_state, PhysState::polling);
  EXPECT_EQ(port_info_to_set(now, now, PortState::active).phys_state, PhysState::no_change);
}

std::vector<std::string> names_of(const std::vector<NotKept>& notes) {
  std::vector<std::string> names;
  for (const auto& note : notes) names.push_back(note.field);
  return names;
}

TEST(NotKeptFields, NamesTheFieldsThatCameBackOther) {
  auto sent = port_as_read();
  auto answered = sent;
  EXPECT_THAT(not_kept(test::port_num(4), sent, answered), IsEmpty());

  answered.neighbor_mtu = Mtu::m4096;
  EXPECT_THAT(not_kept(test::port_num(4), sent, answered),
              ElementsAre(NotKept{wire::PortInfo::kAttribute, test::port_num(4), "NeighborMTU", 4}));
}

TEST(NotKeptFields, SaysNothingOfStatesLidsAndWhatWasSentAsNoChange) {
  auto sent = port_as_read();
  sent.link_width_enabled = sent.link_speed_enabled = 0;
  sent.link_speed_ext_enabled = sent.link_speed_ext2_enabled = 0;
  sent.link_down_default = PhysState::no_change;
  auto answered = port_as_read();
  answered.port_state = PortState::active;
  answered.phys_state = PhysState::training;
  answered.lid = Lid{77};
  answered.lmc = 1;
  answered.sm_lid = Lid{78};
  answered.vl_cap = 5;

  EXPECT_THAT(names_of(not_kept(PortNum{1}, sent, answered)), IsEmpty());
}

TEST(NotKeptFields, AFieldOtherThanAnEnabledOneIsNamedWhereZeroWasSent) {
  wire::PortInfo sent, answered;
  answered.master_sm_sl = Sl{3};
  answered.hoq_life = 4;

  EXPECT_THAT(names_of(not_kept(PortNum{1}, sent, answered)), ElementsAre("MasterSMSL", "HOQLife"));
}

TEST(NotKeptFields, ZeroIsAnAnswerToAllExtendedSpeedsOff) {
  auto sent = port_as_read();
  sent.link_speed_ext_enabled = kNoExtendedSpeed;
  sent.link_speed_ext2_enabled = kNoExtendedSpeed2;
  auto answered = sent;
  answered.link_speed_ext_enabled = answered.link_speed_ext2_enabled = 0;
  EXPECT_THAT(names_of(not_kept(PortNum{1}, sent, answered)), IsEmpty());

  answered.link_speed_ext_enabled = 7;
  EXPECT_THAT(names_of(not_kept(PortNum{1}, sent, answered)), ElementsAre("LinkSpeedExtEnabled"));
}

TEST(NotKeptFields, OfSwitchInfoTheLifeTimeAndOfArInfoTheSwitchAlone) {
  const wire::SwitchInfo sent{.linear_fdb_top = 9, .life_time = 18};
  const wire::SwitchInfo answered{.linear_fdb_top = 8, .life_time = 17, .port_state_change = true};
  EXPECT_THAT(not_kept(sent, answered),
              ElementsAre(NotKept{wire::SwitchInfo::kAttribute, PortNum{0}, "LifeTimeValue", 18}));

  const wire::ArInfo on{.enabled = true, .group_top = 1}, off{.enabled = false, .group_top = 2};
  EXPECT_THAT(not_kept(off, on), ElementsAre(NotKept{wire::ArInfo::kAttribute, PortNum{0}, "E", 0}));
}

}  // namespace
}  // namespace smd::sm
