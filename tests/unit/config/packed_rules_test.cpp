// SPDX-License-Identifier: Apache-2.0
// Lists of rules: they read as they were written, and copies share them.
#include "config/packed_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "config/partitions.h"

namespace smd::config {
namespace {

using testing::ElementsAreArray;

MemberRule rule_of(std::string_view member, Membership membership = Membership::limited) {
  return {.ports = {{*parse_port_term(member)}}, .membership = membership};
}

TEST(PackedRules, AListReadsAsItWasWritten) {
  auto guid = rule_of("0x10", Membership::both);
  guid.index0 = true;
  guid.source = {.origin = PolicyOrigin::file, .line = 70'000};
  auto several = rule_of("0x11");
  several.ports.terms.push_back(*parse_port_term("0x12"));
  const std::vector<MemberRule> rules{guid,
                                      rule_of("0x10-0x1f", Membership::full),
                                      rule_of("h1"),
                                      several,
                                      rule_of("group:storage"),
                                      rule_of("0x13")};
  MemberRules list;
  for (const auto& rule : rules) list.push_back(rule);

  EXPECT_EQ(list.size(), rules.size());
  EXPECT_THAT(std::vector(list.begin(), list.end()), ElementsAreArray(rules));
  std::vector<bool> packed;
  for (std::size_t i = 0; i < list.size(); ++i) packed.push_back(list.is_packed(i));
  EXPECT_THAT(packed, testing::ElementsAre(true, true, false, false, false, true));
}

TEST(PackedRules, ACopyStaysAsItIsWhenTheOtherOneChanges) {
  MemberRules list{rule_of("0x10"), rule_of("h1")};
  const auto copy = list;
  list.push_back(rule_of("h2"));
  auto other = copy;
  other.push_back(rule_of("0x11"));

  EXPECT_EQ(copy, (MemberRules{rule_of("0x10"), rule_of("h1")}));
  EXPECT_EQ(list, (MemberRules{rule_of("0x10"), rule_of("h1"), rule_of("h2")}));
  EXPECT_EQ(other, (MemberRules{rule_of("0x10"), rule_of("h1"), rule_of("0x11")}));
}

/// The thread sanitizer judges.
TEST(PackedRules, ThreadsHaveCopiesOfTheirOwn) {
  auto first = std::make_unique<MemberRules>(MemberRules{rule_of("0x10"), rule_of("h1")});
  auto copy = *first;
  std::size_t sum = 0;
  std::jthread reader([&sum, mine = std::move(first)]() mutable {
    for (const auto& rule : *mine) sum += rule.ports.terms.size();
    const auto again = *mine;
    mine.reset();
    sum += again.size();
  });
  copy.push_back(rule_of("0x11"));  // while the other thread reads, or when it has let go of its copy
  reader.join();
  copy.push_back(rule_of("0x12"));

  EXPECT_EQ(sum, 4U);
  EXPECT_EQ(copy.size(), 4U);
}

TEST(PackedRules, ListsAreEqualByTheirRules) {
  EXPECT_EQ(MemberRules(), MemberRules());
  EXPECT_NE(MemberRules(), MemberRules{rule_of("0x10")});
  EXPECT_NE(MemberRules{rule_of("0x10")}, MemberRules{rule_of("0x11")});
  EXPECT_NE(MemberRules{rule_of("0x10")}, (MemberRules{rule_of("0x10", Membership::full)}));
  EXPECT_NE(MemberRules{rule_of("0x10")}, MemberRules{rule_of("0x10-0x10")});
  EXPECT_NE(MemberRules{rule_of("h1")}, MemberRules{rule_of("h2")});
  MemberRules emptied{rule_of("0x10")};
  emptied.clear();
  EXPECT_EQ(emptied, MemberRules());
}

TEST(PackedRules, AnAppendedListFollows) {
  const MemberRules front{rule_of("0x10")}, back{rule_of("h1"), rule_of("0x11")};
  MemberRules list;
  list.append(front);
  list.append(back);

  EXPECT_EQ(list, (MemberRules{rule_of("0x10"), rule_of("h1"), rule_of("0x11")}));
  EXPECT_EQ(front, MemberRules{rule_of("0x10")});
}

TEST(PackedRules, APendingMemberKeepsAReasonOfItsOwn) {
  const auto pending = [](std::string_view member, std::string_view reason) {
    return PendingRule{.member = {.term = *parse_port_term(member), .reason = std::string(reason)},
                       .membership = Membership::full,
                       .source = {.origin = PolicyOrigin::api}};
  };
  const PendingRules list{pending("0x10", kNoPortHasGuid), pending("0x10-0x1f", kNoPortInRange),
                          pending("0x11", "this is the GUID of node h1, not of a port"),
                          pending("h2", "no node of the fabric has this name")};

  EXPECT_EQ(list[0], pending("0x10", kNoPortHasGuid));
  EXPECT_EQ(list[1], pending("0x10-0x1f", kNoPortInRange));
  EXPECT_EQ(list[2].member.reason, "this is the GUID of node h1, not of a port");
  EXPECT_TRUE(list.is_packed(0) && list.is_packed(1));
  EXPECT_FALSE(list.is_packed(2) || list.is_packed(3));
}

/// A hostile client names 200,000 ports that are not there.
TEST(PackedRules, APolicySharesTheMembersOfItsDefinition) {
  PartitionSources sources;
  auto& blue = sources.api.emplace_back(PartitionDefinition{.name = "blue", .pkey = 1});
  blue.members = {rule_of("0x10"), rule_of("0x11", Membership::full)};
  const auto merged = merge_partitions(sources);
  ASSERT_TRUE(merged);
  const auto* partition = merged->policy.find(PKey{1});

  EXPECT_TRUE(partition->members.shares_with(blue.members));
  EXPECT_EQ(partition->order_of(1), partition->order_of(0) + 1);
  const PortIndex nothing({});
  const auto resolved = resolve_partitions(merged->policy, nothing, Guid{});
  EXPECT_EQ(resolved[0].pending.size(), 2U);
  EXPECT_TRUE(resolved[0].pending.shares_with(blue.members)) << "all of them are pending";
  EXPECT_EQ(resolved[0].pending[1].membership, Membership::full);
}

}  // namespace
}  // namespace smd::config
