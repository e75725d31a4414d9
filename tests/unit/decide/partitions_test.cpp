// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/partitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/apply/table_baseline.h"
#include "smd/decide/port_keys.h"
#include "smd/plan/key_changes.h"
#include "smd/policy/policies.h"
#include "smd/report/partitions.h"
#include "tests/support/partition_config.h"
#include "tests/unit/decide/partition_fabric.h"

namespace smd::sm {
namespace {

using test::partition;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(DecidePartitions, WithoutAPartitionOnlyTheSmsPortIsDecided) {
  holds(kHost, 1, {PKey{0x7fff}});
  const auto made = decide();

  EXPECT_FALSE(made.part.managed);
  EXPECT_THAT(keys(made, kHost, 1), ElementsAre(kDefaultPKey));
  EXPECT_THAT(keys(made, kOther, 1), IsEmpty());
  EXPECT_THAT(keys(made, kSwitch, 2), IsEmpty());
  EXPECT_THAT(made.part.enforced, IsEmpty());
}

TEST_F(DecidePartitions, OtherSmsAreFullMembersOfTheDefaultPartitionToo) {
  config_.partition = {partition("Default", 0x7fff, {"SELF"}, {"ALL"}),
                       partition("blue", 0x12, {"SELF"}, {"h1"})};
  const auto own = config_.sm.sm_key;
  const auto made = decide_with({sm_on(kOther, own)});
  EXPECT_THAT(keys(made, kOther, 1), ElementsAre(kDefaultPKey, PKey{0x12})) << "SELF is ours alone";
  EXPECT_THAT(keys(made, kSwitch, 2), ElementsAre(kDefaultPKey, PKey{0x12}));
  EXPECT_THAT(keys(made, kThird, 1), ElementsAre(PKey{0x7fff}));
  EXPECT_THAT(keys(made, kHost, 1), ElementsAre(kDefaultPKey, PKey{0x8012}));

  EXPECT_THAT(keys(decide_with({sm_on(kThird, 0)}), kThird, 1), ElementsAre(kDefaultPKey)) << "opensm";
  EXPECT_THAT(keys(decide_with({}, {sm_on(kThird, own)}), kThird, 1), ElementsAre(kDefaultPKey))
      << "it was one";
  EXPECT_THAT(keys(decide_with({}), kThird, 1), ElementsAre(PKey{0x7fff})) << "it is gone";
}

TEST_F(DecidePartitions, SmsThatAreNotObeyedStayWhatTheyAre) {
  config_.partition = {partition("Default", 0x7fff, {"SELF"}, {"ALL"})};
  const auto own = config_.sm.sm_key;
  EXPECT_THAT(keys(decide_with({sm_on(kOther, own + 1)}), kOther, 1), ElementsAre(PKey{0x7fff}));
  EXPECT_THAT(keys(decide_with({sm_on(kOther, own + 1)}, {sm_on(kOther, own)}), kOther, 1),
              ElementsAre(PKey{0x7fff}))
      << "it was one of ours";
  config_.sm.allowed_guids = {test::port_guid(kHost, 1), test::port_guid(kThird, 1)};
  auto liar = sm_on(kOther, own);
  liar.info.guid = test::port_guid(kThird, 1);
  const auto made = decide_with({liar, sm_on(kThird, own)});
  EXPECT_THAT(keys(made, kOther, 1), ElementsAre(PKey{0x7fff}));
  EXPECT_THAT(keys(made, kThird, 1), ElementsAre(kDefaultPKey));
}

TEST_F(DecidePartitions, WithoutAPartitionTheDefaultKeyOfOtherSmsIsAFullOne) {
  holds(kOther, 1, {PKey{0x8055}, PKey{0x7fff}});
  holds(kSwitch, 2, {PKey{0x7fff}});
  holds(kThird, 1, {PKey{0x7fff}});
  const auto made = decide_with({sm_on(kOther, config_.sm.sm_key), sm_on(kThird, config_.sm.sm_key + 1)});

  EXPECT_FALSE(made.part.managed);
  EXPECT_THAT(keys(made, kOther, 1), ElementsAre(PKey{0x8055}, kDefaultPKey));
  EXPECT_THAT(keys(made, kSwitch, 2), ElementsAre(kDefaultPKey));
  EXPECT_THAT(keys(made, kThird, 1), IsEmpty());
}

/// An SM before us has closed the fabric, and only the API defines partitions.
TEST_F(DecidePartitions, WhereTheDefaultPartitionStaysAsItIsSmsAreFullMembers) {
  for (const auto host : hosts_) holds(host, 1, {PKey{0x7fff}});
  policy::Policies policies;
  policies.api["tenant"] =
      std::make_shared<const policy::ApiPartition>(policy::ApiPartition{.name = "tenant", .pkey = 0x12});
  auto subnet = fabric_.build();
  subnet.other_sms = {sm_on(kOther, config_.sm.sm_key)};
  const auto made = decide_partitions({.subnet = subnet,
                                       .config = config_,
                                       .policy = policy::merged_policy(config_, policies),
                                       .stored = stored_});

  EXPECT_THAT(keys(made, kHost, 1), ElementsAre(kDefaultPKey));
  EXPECT_THAT(keys(made, kOther, 1), ElementsAre(kDefaultPKey));
  EXPECT_THAT(keys(made, kThird, 1), ElementsAre(PKey{0x7fff}));
}

/// It refuses to show its table, and may have any key.
TEST_F(DecidePartitions, ThePortBeforeAnUnreadTableEnforcesWhatIsConfigured) {
  config_.partition = {partition("blue", 0x12, {"h1"}), partition("red", 0x13, {}, {"h1"})};
  HeldBlocks<wire::PKeyTable> unread;
  unread.row.resize(1);
  unread.asked = BlockSet::first(1);
  fabric_.port(kOther, 1).held<wire::PKeyTable>() =
      std::make_shared<const HeldBlocks<wire::PKeyTable>>(std::move(unread));
  const auto in_service = decide();
  EXPECT_THAT(keys(in_service, kSwitch, 2), IsEmpty());
  EXPECT_EQ(in_service.part.find_enforced(test::place(kSwitch, 2)), nullptr);

  fabric_.port(kOther, 1).info.port_state = PortState::init;
  const auto begins = decide();
  EXPECT_THAT(keys(begins, kOther, 1), IsEmpty());
  EXPECT_THAT(keys(begins, kSwitch, 2), ElementsAre(PKey{0x7fff}, PKey{0x8012}, PKey{0x13}));
  EXPECT_EQ(bits(begins, 2), std::pair(true, true));
}

TEST_F(DecidePartitions, RailsAreTheAdaptersOfMachinesByGuid) {
  for (const auto host : {kOther, kThird}) fabric_.node(host).info.system_image = Guid{0x999};
  config_.partition = {partition("blue", 0x12, {"rail:2"}, {"rail:1"})};
  const auto made = decide();

  EXPECT_THAT(keys(made, kOther, 1), ElementsAre(PKey{0x7fff}, PKey{0x12}));
  EXPECT_THAT(keys(made, kThird, 1), ElementsAre(PKey{0x7fff}, PKey{0x8012}));
  EXPECT_THAT(keys(made, kHost, 1), ElementsAre(kDefaultPKey)) << "its machine has no other adapter";
}

/// Another rail would be another tenant.
TEST_F(DecidePartitions, ALostAdapterMovesNoOtherToAnotherRail) {
  for (const auto host : {kOther, kThird}) fabric_.node(host).info.system_image = Guid{0x999};
  const Guid lost{0x150};
  Inventory inventory;
  inventory.put(lost, {.type = NodeType::ca, .name = "h9", .lost_at = 1, .image = Guid{0x999}});
  inventory.put(LinkEnd{Guid{kSwitch}, PortNum{4}},
                KnownLink{.peer = {lost, PortNum{1}}, .rate = {}, .up_since = 0, .lost_at = 1});
  stored_.inventory = std::make_shared<const Inventory>(std::move(inventory));
  config_.partition = {partition("blue", 0x12, {"rail:2"}), partition("red", 0x13, {"rail:3"}),
                       partition("green", 0x14, {"rail:1"})};
  const auto made = decide();

  EXPECT_THAT(keys(made, kOther, 1), ElementsAre(PKey{0x7fff}, PKey{0x8012}));
  EXPECT_THAT(keys(made, kThird, 1), ElementsAre(PKey{0x7fff}, PKey{0x8013}));
}

TEST_F(DecidePartitions, ANewPortKeepsNoKeysThatItBrings) {
  holds(kThird, 1, {kDefaultPKey, PKey{0x8012}});
  fabric_.port(kThird, 1).info.port_state = PortState::init;
  const auto brought = [](PKey given) {
    return testing::Contains(PartitionPart::NewPort{test::place(kThird, 1), given, {PKey{0x8012}}});
  };
  const auto is_new = testing::Contains(testing::Field(&PartitionPart::NewPort::at, test::place(kThird, 1)));
  const auto open = decide();
  EXPECT_THAT(keys(open, kThird, 1), ElementsAre(kDefaultPKey));
  EXPECT_THAT(open.part.new_ports, brought(kDefaultPKey));

  holds(kOther, 1, {PKey{0x7fff}, PKey{0x8055}});
  const auto partitioned = decide();
  EXPECT_THAT(keys(partitioned, kThird, 1), ElementsAre(PKey{0x7fff}));
  EXPECT_THAT(partitioned.part.new_ports, brought(PKey{0x7fff}));

  EXPECT_THAT(decide(true).part.new_ports, testing::Not(is_new)) << "the SM before us gave it";
  stored_.port_keys[test::port_guid(kThird, 1)] = {.keys = {kDefaultPKey, PKey{0x8012}}, .at_switch = {}};
  EXPECT_THAT(decide().part.new_ports, testing::Not(is_new));
}

TEST_F(DecidePartitions, ForeignKeysComeBackAfterARestartWhilePartitionsAreManaged) {
  config_.partition = {partition("blue", 0x12, {"h1"})};
  holds(kOther, 1, {kDefaultPKey, PKey{0x8055}, PKey{0x8066}});
  const auto subnet = fabric_.build();
  stored_.pkeys[{test::port_guid(kOther, 1), PKey{0x8066}}] = 2;  // of a partition that is gone
  EXPECT_TRUE(note_foreign_keys(stored_, subnet, decide().part, false, 1));
  EXPECT_FALSE(note_foreign_keys(stored_, subnet, decide().part, false, 1));
  EXPECT_THAT(stored_.port_keys.at(test::port_guid(kOther, 1)).keys, ElementsAre(kDefaultPKey, PKey{0x8055}));
  EXPECT_EQ(stored_.port_keys.size(), 1U);
  std::vector<PKey> foreign{PKey{0x8077}};
  add_foreign_keys(stored_, nullptr, foreign);
  EXPECT_THAT(foreign, ElementsAre(PKey{0x8055}, PKey{0x8077})) << "of hosts that are off, too";

  holds(kOther, 1, {kDefaultPKey});
  fabric_.port(kOther, 1).info.port_state = PortState::init;
  const auto made = decide();
  EXPECT_THAT(keys(made, kOther, 1), ElementsAre(PKey{0x7fff}, PKey{0x8055}, PKey{}, PKey{0x8012}));
  EXPECT_THAT(made.part.restored,
              ElementsAre(PartitionPart::Restored{test::place(kOther, 1), {PKey{0x8055}}}));

  config_.adopt.foreign_pkeys = config::ForeignPKeys::remove;
  EXPECT_THAT(decide().part.restored, IsEmpty());
  EXPECT_TRUE(note_foreign_keys(stored_, subnet, decide().part, false, 1));
  EXPECT_THAT(stored_.port_keys, IsEmpty());
}

/// As `indx0` of opensm's file has it.
TEST_F(DecidePartitions, AForeignKeyAtIndex0ComesBackThere) {
  config_.partition = {partition("blue", 0x12, {"h0"})};
  holds(kOther, 1, {PKey{0x8055}, PKey{0x66}, PKey{0x7fff}});
  ASSERT_TRUE(note_foreign_keys(stored_, fabric_.build(), decide().part, true, 1));
  holds(kOther, 1, {kDefaultPKey});
  fabric_.port(kOther, 1).info.port_state = PortState::init;
  EXPECT_THAT(keys(decide(), kOther, 1), ElementsAre(PKey{0x8055}, PKey{0x66}, PKey{0x7fff}));
  stored_.pkeys[{test::port_guid(kOther, 1), PKey{0x7fff}}] = 3;
  EXPECT_THAT(keys(decide(), kOther, 1), ElementsAre(PKey{0x8055}, PKey{0x66}, PKey{}, PKey{0x7fff}));
  stored_.pkeys[{test::port_guid(kOther, 1), PKey{0x7fff}}] = 0;  // by a reindex
  EXPECT_THAT(keys(decide(), kOther, 1), ElementsAre(PKey{0x7fff}, PKey{0x8055}, PKey{0x66}));
}

TEST_F(DecidePartitions, APartitionThatTakesAForeignKeyNamesThePortsThatLoseIt) {
  config_.partition = {partition("blue", 0x12, {"h1"})};
  holds(kHost, 1, {kDefaultPKey, PKey{0x8055}});
  holds(kOther, 1, {kDefaultPKey, PKey{0x0055}});
  holds(kThird, 1, {kDefaultPKey, PKey{0x8055}});
  const auto subnet = fabric_.build();
  const auto before = decide().part;
  EXPECT_THAT(lost_foreign_keys(subnet, stored_, nullptr, before), IsEmpty());
  config_.partition.push_back(partition("red", 0x55, {"h0"}));
  const auto after = decide().part;

  const auto lost = lost_foreign_keys(subnet, stored_, &before, after);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].ports, (std::vector{test::place(kOther, 1), test::place(kThird, 1)}));
  EXPECT_EQ(
      to_string(lost[0], subnet),
      "2 ports have the P_Key 0x0055 from another SM, are no members of red and lose it: \"h1\" port 1, "
      "\"h2\" port 1");
  EXPECT_EQ(lost_foreign_keys(subnet, stored_, nullptr, after), lost) << "at the first decision too";
  EXPECT_THAT(lost_foreign_keys(subnet, stored_, &after, after), IsEmpty()) << "it was said";

  const Guid off{0xabc};
  stored_.port_keys[off] = {.keys = {kDefaultPKey, PKey{0x8055}}, .at_switch = {}};
  const auto with_off = lost_foreign_keys(subnet, stored_, &before, after);
  ASSERT_EQ(with_off.size(), 1U);
  EXPECT_THAT(with_off[0].off, ElementsAre(off));
  EXPECT_THAT(to_string(with_off[0], subnet), testing::StartsWith("3 ports have"));
  EXPECT_THAT(to_string(with_off[0], subnet), testing::EndsWith(", 0x0000000000000abc (off)"));
  stored_.port_keys.clear();

  stored_.pkeys[{test::port_guid(kOther, 1), PKey{0x0055}}] = 1;
  stored_.pkeys[{test::port_guid(kThird, 1), PKey{0x8055}}] = 1;
  EXPECT_THAT(lost_foreign_keys(subnet, stored_, &before, after), IsEmpty()) << "smd had given it";
}

TEST_F(DecidePartitions, APortThatBeginsAnewLosesAKeyThatIsStoredForIt) {
  config_.partition = {partition("red", 0x55, {"h0"})};
  holds(kOther, 1, {kDefaultPKey});
  fabric_.port(kOther, 1).info.port_state = PortState::init;
  stored_.port_keys[test::port_guid(kOther, 1)] = {.keys = {kDefaultPKey, PKey{0x8055}}, .at_switch = {}};

  const auto lost = lost_foreign_keys(fabric_.build(), stored_, nullptr, decide().part);

  ASSERT_EQ(lost.size(), 1U);
  EXPECT_THAT(lost[0].ports, ElementsAre(test::place(kOther, 1)));
}

TEST_F(DecidePartitions, KeysThatSmdHadGivenAreNotForeign) {
  config_.partition = {partition("blue", 0x12, {"h1"})};
  holds(kOther, 1, {kDefaultPKey, PKey{0x8055}});
  holds(kThird, 1, {kDefaultPKey, PKey{0x8066}});
  const auto subnet = fabric_.build();
  const auto policy = policy::merged_policy(config_, {});
  EXPECT_EQ(foreign_keys(subnet, policy.get(), &stored_).ports, 2U);
  stored_.pkeys[{test::port_guid(kOther, 1), PKey{0x8055}}] =
      1;  // its partition is gone, and the host refuses

  const auto found = foreign_keys(subnet, policy.get(), &stored_);
  EXPECT_EQ(found.ports, 1U);
  EXPECT_THAT(found.keys, ElementsAre(PKey{0x8066}));
  EXPECT_EQ(foreign_keys(subnet, policy.get()).ports, 2U) << "neither is free for a new partition";
}

TEST_F(DecidePartitions, WhatPortsLoseAndGetIsKnownBefore) {
  holds(kOther, 1, {kDefaultPKey, PKey{0x8001}});
  config_.partition = {partition("blue", 0x12, {"h1"}), partition("Default", 0x7fff, {"SELF"})};
  config_.adopt.foreign_pkeys = config::ForeignPKeys::remove;
  const auto changes = key_changes(fabric_.build(), decide().tables);

  const auto of = std::ranges::find(changes, test::place(kOther, 1), &KeyChange::at);
  ASSERT_NE(of, changes.end());
  EXPECT_TRUE(of->of_end_port);
  EXPECT_THAT(of->lost, ElementsAre(kDefaultPKey, PKey{0x8001}));
  EXPECT_THAT(of->gained, ElementsAre(PKey{0x7fff}, PKey{0x8012}));
  EXPECT_EQ(std::ranges::find(changes, test::place(kHost, 1), &KeyChange::at), changes.end());
}

TEST_F(DecidePartitions, MembersGetTheirKeysAndTheSwitchEnforcesThem) {
  config_.partition = {partition("blue", 0x12, {"h1"}, {"h2"})};
  const auto made = decide();

  EXPECT_TRUE(made.part.managed);
  EXPECT_THAT(keys(made, kHost, 1), ElementsAre(kDefaultPKey));
  EXPECT_THAT(keys(made, kOther, 1), ElementsAre(PKey{0x7fff}, PKey{0x8012}));
  EXPECT_THAT(keys(made, kThird, 1), ElementsAre(PKey{0x7fff}, PKey{0x12}));
  EXPECT_THAT(keys(made, kSwitch, 0), ElementsAre(PKey{0x7fff}));
  EXPECT_THAT(keys(made, kSwitch, 2), ElementsAre(PKey{0x7fff}, PKey{0x8012}));
  EXPECT_EQ(bits(made, 2), std::pair(true, true));
}

TEST_F(DecidePartitions, ASwitchPortHasNoGapsAndNoLimitedKeyBesideTheFullOne) {
  config_.partition = {partition("blue", 0x12, {}), partition("red", 0x13, {"h1"})};
  config_.partition[0].both = test::port_terms({"h1"});
  config_.partitions.allow_both_pkeys = true;
  holds(kOther, 1, {PKey{0x7fff}, PKey{}, PKey{0x8013}});
  const auto made = decide();

  EXPECT_THAT(keys(made, kOther, 1), ElementsAre(PKey{0x7fff}, PKey{0x8012}, PKey{0x8013}, PKey{0x12}));
  EXPECT_THAT(keys(made, kSwitch, 2), ElementsAre(PKey{0x7fff}, PKey{0x8012}, PKey{0x8013}));
}

TEST_F(DecidePartitions, EnforcementFollowsTheConfigurationAndTheSwitch) {
  config_.partition = {partition("blue", 0x12, {"h1"})};
  using enum config::Enforcement;
  const struct {
    config::Enforcement mode;
    bool in, out;
  } cases[]{{both, true, true}, {in, true, false}, {out, false, true}, {off, false, false}};
  for (const auto& at : cases) {
    config_.partitions.enforcement = at.mode;
    EXPECT_EQ(bits(decide(), 2), std::pair(at.in, at.out));
  }
  EXPECT_THAT(keys(decide(), kSwitch, 2), IsEmpty())
      << "nor is the table of a port that does not enforce ours";
  config_.partitions.enforcement = both;
  fabric_.node(kSwitch).switch_info->outbound_enforcement = false;
  EXPECT_EQ(bits(decide(), 2), std::pair(true, false));
}

TEST_F(DecidePartitions, ATableThatIsTooSmallIsNotEnforced) {
  config_.partition = {partition("blue", 0x12, {"h1"})};
  fabric_.node(kSwitch).switch_info->partition_enforcement_cap = 1;
  const auto made = decide();

  EXPECT_EQ(bits(made, 2), std::pair(false, false));
  EXPECT_EQ(bits(made, 1), std::pair(true, true)) << "h0 has the default key alone";
  ASSERT_EQ(made.part.not_enforced.size(), 1U);
  EXPECT_EQ(made.part.not_enforced[0], (PartitionPart::NotEnforced{test::place(kSwitch, 2), 1, 2, false}));
  EXPECT_FALSE(made.part.holds_back(test::place(kSwitch, 2)));
  config_.partitions.enforcement_required = true;
  EXPECT_TRUE(decide().part.holds_back(test::place(kSwitch, 2)));
}

TEST_F(DecidePartitions, AFullTableNamesWhatIsLeftOutAndKeepsTheDefaultKey) {
  config_.partition = {partition("red", 0x13, {"h1"}), partition("blue", 0x12, {"h1"}),
                       partition("green", 0x11, {"h1"})};
  fabric_.node(kOther).info.partition_cap = 2;
  const auto made = decide();

  EXPECT_THAT(keys(made, kOther, 1), ElementsAre(PKey{0x7fff}, PKey{0x8013}));
  EXPECT_THAT(made.part.no_room,
              ElementsAre(PartitionPart::NoRoom{test::place(kOther, 1), 2, {PKey{0x8012}, PKey{0x8011}}}));
}

TEST_F(DecidePartitions, ForeignKeysStayUntilTheyAreKnownOrUnwanted) {
  config_.partition = {partition("blue", 0x12, {"h1"})};
  holds(kOther, 1, {kDefaultPKey, PKey{0x8055}});
  EXPECT_THAT(keys(decide(), kOther, 1), ElementsAre(PKey{0x7fff}, PKey{0x8055}, PKey{0x8012}));
  stored_.pkeys[{test::port_guid(kOther, 1), PKey{0x8055}}] = 1;
  EXPECT_THAT(keys(decide(), kOther, 1), ElementsAre(PKey{0x7fff}, PKey{}, PKey{0x8012})) << "it was ours";
  stored_.pkeys.clear();
  config_.adopt.foreign_pkeys = config::ForeignPKeys::remove;
  EXPECT_THAT(keys(decide(), kOther, 1), ElementsAre(PKey{0x7fff}, PKey{}, PKey{0x8012}));
}

TEST_F(DecidePartitions, IndexesAreStoredAndComeBackAfterAReset) {
  config_.partition = {partition("blue", 0x12, {"h1"})};
  holds(kOther, 1, {kDefaultPKey, PKey{}, PKey{0x8012}});
  Decided decided;
  decided.lids = std::make_shared<const LidPart>();
  decided.partitions = std::make_shared<const PartitionPart>(decide().part);
  const auto before = std::make_shared<const Stored>();
  const auto stored = remember(before, fabric_.build(), decided);
  EXPECT_EQ(stored->pkeys.at({test::port_guid(kOther, 1), PKey{0x8012}}), 2);
  EXPECT_EQ(remember(stored, fabric_.build(), decided), stored) << "nothing is new";

  stored_ = *stored;
  holds(kOther, 1, {kDefaultPKey});
  fabric_.state(kOther, 1, PortState::init);
  EXPECT_THAT(keys(decide(), kOther, 1), ElementsAre(PKey{0x7fff}, PKey{}, PKey{0x8012}));
}

TEST_F(DecidePartitions, AnotherMembershipIsTheSameStoredEntry) {
  stored_.pkeys[{test::port_guid(kOther, 1), PKey{0x8012}}] = 2;
  config_.partition = {partition("blue", 0x12, {}, {"h1"})};
  Decided decided;
  decided.lids = std::make_shared<const LidPart>();
  decided.partitions = std::make_shared<const PartitionPart>(decide().part);
  const auto stored = remember(std::make_shared<const Stored>(stored_), fabric_.build(), decided);

  EXPECT_EQ(stored->pkeys.count({test::port_guid(kOther, 1), PKey{0x8012}}), 0U);
  EXPECT_EQ(stored->pkeys.at({test::port_guid(kOther, 1), PKey{0x12}}), 2);
}

TEST_F(DecidePartitions, WhatIsStoredOfOtherPortsStays) {
  config_.partition = {partition("blue", 0x12, {"h0", "h1", "h2"})};
  Decided decided;
  decided.lids = std::make_shared<const LidPart>();
  decided.partitions = std::make_shared<const PartitionPart>(decide().part);
  stored_ = *remember(std::make_shared<const Stored>(), fabric_.build(), decided);
  EXPECT_EQ(stored_.pkeys.at({test::port_guid(kOther, 1), PKey{0x8012}}), 1);
  for (const std::uint64_t off : {0x1ULL, 0x202ULL, 0x999ULL}) stored_.pkeys[{Guid{off}, PKey{0x8012}}] = 4;

  config_.partition = {partition("blue", 0x12, {"h0", "h2"}), partition("red", 0x13, {"h1"})};
  decided.partitions = std::make_shared<const PartitionPart>(decide().part);
  auto wanted = stored_.pkeys;
  wanted[{test::port_guid(kOther, 1), PKey{0x8013}}] = 2;
  EXPECT_EQ(remember(std::make_shared<const Stored>(stored_), fabric_.build(), decided)->pkeys, wanted);
}

TEST_F(DecidePartitions, AMemberThatIsNotThereIsPending) {
  config_.partition = {partition("blue", 0x12, {"h1", "h9"})};
  const auto made = decide();
  const auto& blue = made.part.partitions.front();

  EXPECT_EQ(blue.pkey, PKey{0x12});
  ASSERT_EQ(blue.members.size(), 1U);
  EXPECT_EQ(blue.members[0].at, test::place(kOther, 1));
  ASSERT_EQ(blue.pending.size(), 1U);
  EXPECT_EQ(to_string(blue.pending[0].member.term), "h9");
}

TEST_F(DecidePartitions, ATableThatWasNotReadIsNotDecided) {
  config_.partition = {partition("blue", 0x12, {"h1"})};
  fabric_.port(kOther, 1).held<wire::PKeyTable>() = nullptr;
  const auto made = decide();

  EXPECT_THAT(keys(made, kOther, 1), IsEmpty());
  EXPECT_THAT(keys(made, kSwitch, 2), IsEmpty());
  EXPECT_EQ(made.part.find_enforced(test::place(kSwitch, 2)), nullptr);
}

TEST_F(DecidePartitions, LevelsAreCountedFromTheHosts) {
  fabric_.add_switch(0x20).link(kSwitch, 8, 0x20, 1);
  fabric_.node(0x20).info.partition_cap = 32;
  holds(0x20, 0, {kDefaultPKey});
  config_.partition = {partition("spines", 0x12, {"level:1"})};
  const auto made = decide();

  EXPECT_THAT(keys(made, 0x20, 0), ElementsAre(PKey{0x7fff}, PKey{0x8012}));
  EXPECT_THAT(keys(made, kSwitch, 0), ElementsAre(PKey{0x7fff}));
}

}  // namespace
}  // namespace smd::sm
