// SPDX-License-Identifier: Apache-2.0
// Ports of switches before end ports: what is noted of them, and what they pass where not all keys fit.
#include <gmock/gmock.h>

#include "smd/decide/port_keys.h"
#include "tests/support/partition_config.h"
#include "tests/unit/decide/partition_fabric.h"

namespace smd::sm {
namespace {

using test::partition;
using testing::ElementsAre;

/// For hosts that are off when smd starts without the partitions that there were.
TEST_F(DecidePartitions, WhatASwitchEnforcesIsKeptWithForeignKeys) {
  config_.partition = {partition("blue", 0x12, {"h1"})};
  for (const auto& [node, port] : {std::pair(kOther, 1U), std::pair(kSwitch, 2U)})
    holds(node, port, {PKey{0x7fff}, PKey{0x8055}, PKey{0x8012}});
  auto& at_switch = fabric_.port(kSwitch, 2).info;
  at_switch.partition_enforce_in = at_switch.partition_enforce_out = true;
  EXPECT_TRUE(note_foreign_keys(stored_, fabric_.build(), decide().part, false, 1));
  EXPECT_FALSE(note_foreign_keys(stored_, fabric_.build(), decide().part, false, 1));

  config_.partition.clear();
  holds(kOther, 1, {kDefaultPKey});
  fabric_.state(kOther, 1, PortState::init);
  const auto made = decide();
  EXPECT_THAT(keys(made, kOther, 1), ElementsAre(PKey{0x7fff}, PKey{0x8055}));
  EXPECT_THAT(keys(made, kSwitch, 2), ElementsAre(PKey{0x7fff}, PKey{0x8055}));
  EXPECT_EQ(bits(made, 2), std::pair(true, true));
}

/// It would come back as an empty one, which lets nothing pass.
TEST_F(DecidePartitions, ATableThatEnforcesIsNotNotedBeforeItIsKnown) {
  holds(kOther, 1, {kDefaultPKey, PKey{0x8055}});
  fabric_.port(kSwitch, 2).held<wire::PKeyTable>() = nullptr;
  fabric_.port(kSwitch, 2).info.partition_enforce_in = true;
  EXPECT_TRUE(note_port_keys(stored_, fabric_.build(), true, 1));
  EXPECT_FALSE(stored_.port_keys.contains(test::port_guid(kOther, 1)));
  EXPECT_TRUE(stored_.port_keys.contains(test::port_guid(kThird, 1)));

  holds(kSwitch, 2, {kDefaultPKey, PKey{0x8055}});
  EXPECT_TRUE(note_port_keys(stored_, fabric_.build(), false, 1));
  const auto& row = stored_.port_keys.at(test::port_guid(kOther, 1));
  EXPECT_THAT(row.at_switch, ElementsAre(kDefaultPKey, PKey{0x8055}));
  EXPECT_TRUE(row.in);
}

/// It cannot go back to Armed: the switch checks what fits, and what it has checked so far.
TEST_F(DecidePartitions, AnActiveLinkIsNarrowedWhereEnforcementIsRequired) {
  config_.partition = {partition("red", 0x13, {"h1"}), partition("blue", 0x12, {"h1"})};
  config_.partitions.enforcement_required = true;
  fabric_.node(kSwitch).switch_info->partition_enforcement_cap = 2;
  holds(kSwitch, 2, {kDefaultPKey, PKey{0x12}});
  const auto made = decide();

  EXPECT_THAT(keys(made, kOther, 1), ElementsAre(PKey{0x7fff}, PKey{0x8013}, PKey{0x8012}));
  EXPECT_THAT(keys(made, kSwitch, 2), ElementsAre(PKey{0x7fff}, PKey{0x8012}));
  EXPECT_EQ(bits(made, 2), std::pair(true, true));
  EXPECT_EQ(made.part.not_enforced[0], (PartitionPart::NotEnforced{test::place(kSwitch, 2), 2, 3, true}));

  fabric_.state(kSwitch, 2, PortState::init);
  EXPECT_EQ(bits(decide(), 2), std::pair(false, false)) << "it waits in Armed";
  fabric_.state(kSwitch, 2, PortState::active);
  fabric_.node(kSwitch).switch_info->partition_enforcement_cap = 0;
  EXPECT_EQ(bits(decide(), 2), std::pair(false, false)) << "the switch cannot enforce at all";
}

/// It was asked for as the switch booted, and would let everything pass.
TEST_F(DecidePartitions, ATableOfASwitchThatWasNotAnsweredIsDecided) {
  HeldBlocks<wire::PKeyTable> unread;
  unread.row.resize(1);
  unread.asked = BlockSet::first(1);
  for (const unsigned port : {1U, 2U})
    fabric_.port(kSwitch, port).held<wire::PKeyTable>() =
        std::make_shared<const HeldBlocks<wire::PKeyTable>>(unread);
  config_.partition = {partition("blue", 0x12, {"h1"})};
  const auto managed = decide();
  EXPECT_THAT(keys(managed, kSwitch, 2), ElementsAre(PKey{0x7fff}, PKey{0x8012}));
  EXPECT_EQ(bits(managed, 2), std::pair(true, true));

  config_.partition.clear();
  fabric_.state(kOther, 1, PortState::init);
  stored_.port_keys[test::port_guid(kOther, 1)] = {.keys = {PKey{0x7fff}, PKey{0x8055}},
                                                   .at_switch = {PKey{0x7fff}, PKey{0x8055}},
                                                   .in = true,
                                                   .out = true,
                                                   .seen = 1};
  const auto restored = decide();
  EXPECT_THAT(keys(restored, kSwitch, 2), ElementsAre(PKey{0x7fff}, PKey{0x8055}));
  EXPECT_EQ(bits(restored, 2), std::pair(true, true));
  EXPECT_THAT(restored.tables.no_room, testing::IsEmpty()) << "nothing is known of the SM's switch port";
}

/// It has lost what an earlier SM told it to check, and no table can be written.
TEST_F(DecidePartitions, ALinkWaitsForASwitchThatDoesNotAnswerSwitchInfo) {
  for (const std::uint64_t host : {kHost, kOther, kThird}) {
    fabric_.state(host, 1, PortState::init);
    const bool enforced = host != kThird;
    stored_.port_keys[test::port_guid(host, 1)] = {
        .keys = {kDefaultPKey}, .at_switch = {kDefaultPKey}, .in = enforced, .out = false, .seen = 1};
  }
  fabric_.node(kSwitch).switch_info.reset();
  const auto waits = decide();
  EXPECT_FALSE(waits.part.holds_back(test::place(kSwitch, 1))) << "of the SM";
  EXPECT_TRUE(waits.part.holds_back(test::place(kSwitch, 2)));
  EXPECT_FALSE(waits.part.holds_back(test::place(kSwitch, 3))) << "nothing was enforced there";

  fabric_.port(kSwitch, 2).info.partition_enforce_in = true;
  EXPECT_FALSE(decide().part.holds_back(test::place(kSwitch, 2))) << "the host alone has rebooted";
}

/// The Set that was to bring them back as the switch booted was refused or not answered.
TEST_F(DecidePartitions, AnActiveLinkGetsBackWhatItsSwitchLostByARestart) {
  stored_.port_keys[test::port_guid(kOther, 1)] = {.keys = {PKey{0x7fff}, PKey{0x8055}},
                                                   .at_switch = {PKey{0x7fff}, PKey{0x8055}},
                                                   .in = true,
                                                   .out = true,
                                                   .seen = 1};
  const auto lost = decide();
  EXPECT_THAT(keys(lost, kSwitch, 2), ElementsAre(PKey{0x7fff}, PKey{0x8055}));
  EXPECT_EQ(bits(lost, 2), std::pair(true, true));
  EXPECT_THAT(keys(lost, kOther, 1), testing::IsEmpty()) << "the host keeps its own table";
  EXPECT_EQ(decide(true).part.find_enforced(test::place(kSwitch, 2)), nullptr) << "of the SM before us";

  holds(kSwitch, 2, {PKey{0x7fff}, PKey{0x8066}});
  EXPECT_EQ(decide().part.find_enforced(test::place(kSwitch, 2)), nullptr) << "changed by another program";
}

/// After its restart nothing can be written before it answers: what it lets pass was said nowhere.
TEST_F(DecidePartitions, APortThatEnforcesNothingIsNamedWhileItsSwitchDoesNotAnswerSwitchInfo) {
  config_.partition = {partition("blue", 0x12, {"h1"})};
  fabric_.node(kSwitch).switch_info.reset();
  fabric_.port(kSwitch, 1).info.partition_enforce_in = true;
  fabric_.port(kSwitch, 3).info.partition_enforce_out = true;
  const auto made = decide();
  EXPECT_THAT(made.part.not_enforced,
              ElementsAre(PartitionPart::NotEnforced{test::place(kSwitch, 2), 0, 2, false}));
  EXPECT_EQ(made.part.find_enforced(test::place(kSwitch, 2)), nullptr) << "it is not known what it can do";

  config_.partitions.enforcement = config::Enforcement::off;
  EXPECT_THAT(decide().part.not_enforced, testing::IsEmpty());
}

/// Another SM's host has moved to it: what it enforced elsewhere has no room here.
TEST_F(DecidePartitions, ASwitchWithLessRoomThanTheOneBeforeIsNamed) {
  fabric_.state(kOther, 1, PortState::init);
  stored_.port_keys[test::port_guid(kOther, 1)] = {.keys = {PKey{0x7fff}, PKey{0x8055}},
                                                   .at_switch = {PKey{0x7fff}, PKey{0x8055}},
                                                   .in = true,
                                                   .out = true,
                                                   .seen = 1};
  for (const auto room : {std::uint16_t{1}, std::uint16_t{0}}) {
    fabric_.node(kSwitch).switch_info->partition_enforcement_cap = room;
    const auto made = decide();
    ASSERT_EQ(made.part.not_enforced.size(), 1U);
    EXPECT_EQ(made.part.not_enforced[0],
              (PartitionPart::NotEnforced{test::place(kSwitch, 2), room, 2, false}));
    EXPECT_EQ(bits(made, 2), std::pair(false, false));
    EXPECT_THAT(keys(made, kOther, 1), ElementsAre(PKey{0x7fff}, PKey{0x8055}));
  }
  fabric_.node(kSwitch).switch_info->partition_enforcement_cap = 2;
  EXPECT_EQ(bits(decide(), 2), std::pair(true, true));
}

}  // namespace
}  // namespace smd::sm
