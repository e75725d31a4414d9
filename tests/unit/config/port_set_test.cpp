// SPDX-License-Identifier: Apache-2.0
#include "config/port_set.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "config/glob.h"

namespace smd::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

PortSet set_of(const std::vector<std::string>& members) {
  PortSet set;
  for (const auto& member : members) {
    auto term = parse_port_term(member);
    EXPECT_TRUE(term) << member << ": " << (term ? "" : term.error().expected);
    if (term) set.terms.push_back(*std::move(term));
  }
  return set;
}

PortGroups groups_of(const std::vector<std::pair<std::string, std::vector<std::string>>>& named) {
  PortGroups groups;
  for (const auto& [name, members] : named) groups[name] = set_of(members);
  return groups;
}

/// A small fabric: two hosts, one of them with two ports, a switch with port 0 and two others, a router.
class PortSets : public testing::Test {
 protected:
  std::vector<std::string> resolved(const std::vector<std::string>& members, const PortGroups& groups = {},
                                    Guid self = Guid{0x11}) {
    const PortIndex index(ports_);
    const auto found =
        resolve(set_of(members), {.groups = groups, .partitions = names_, .self = self}, index);
    std::vector<std::string> shown;
    for (const auto port : found.ports)
      shown.push_back(fmt::format("{}:{}", ports_[port].node_name, ports_[port].port));
    for (const auto& pending : found.pending)
      shown.push_back(fmt::format("pending {}: {}", to_string(pending.term), pending.reason));
    return shown;
  }

  static constexpr std::array kOfH0{PKey{0x8005}};
  static constexpr std::array kOfH1{PKey{0x0005}, PKey{0xffff}};
  const std::map<std::string, PKey, std::less<>> names_{{"blue", PKey{0x0005}}, {"default", PKey{0x7fff}}};
  const std::vector<PortView> ports_{
      {Guid{0x11}, Guid{0x10}, "h0", PortNum{1}, NodeType::ca, 0U, 1U, false, kOfH0},
      {Guid{0x12}, Guid{0x10}, "h0", PortNum{2}, NodeType::ca, 0U, 2U, false, {}},
      {Guid{0x21}, Guid{0x20}, "h1 mlx5_0", PortNum{1}, NodeType::ca, 0U, 1U, false, kOfH1},
      {Guid{0x30}, Guid{0x30}, "MF0;leaf:MQM8700/U1", PortNum{0}, NodeType::switch_, 0U, {}, false, {}},
      {Guid{0x30}, Guid{0x30}, "MF0;leaf:MQM8700/U1", PortNum{1}, NodeType::switch_, 0U, {}, false, {}},
      {Guid{0x30}, Guid{0x30}, "MF0;leaf:MQM8700/U1", PortNum{2}, NodeType::switch_, 0U, {}, true, {}},
      {Guid{0x40}, Guid{0x40}, "spine", PortNum{0}, NodeType::switch_, 1U, {}, false, {}},
      {Guid{0x51}, Guid{0x50}, "r0", PortNum{1}, NodeType::router, {}, {}, false, {}},
  };
  /// An aggregation node on the spine.
  static constexpr PortView kAggregation{Guid{0x61}, Guid{0x60}, "an",  PortNum{1}, NodeType::ca,
                                         1U,         {},         false, {}};
};

TEST_F(PortSets, KeywordsNameEndPorts) {
  EXPECT_THAT(resolved({"ALL"}),
              ElementsAre("h0:1", "h0:2", "h1 mlx5_0:1", "MF0;leaf:MQM8700/U1:0", "spine:0", "r0:1"));
  EXPECT_THAT(resolved({"ALL_CAS"}), ElementsAre("h0:1", "h0:2", "h1 mlx5_0:1"));
  EXPECT_THAT(resolved({"ALL_SWITCHES"}), ElementsAre("MF0;leaf:MQM8700/U1:0", "spine:0"));
  EXPECT_THAT(resolved({"ALL_ROUTERS"}), ElementsAre("r0:1"));
  EXPECT_THAT(resolved({"SELF"}), ElementsAre("h0:1"));
  EXPECT_THAT(resolved({"ALL_SWITCH_TO_SWITCH"}), ElementsAre("MF0;leaf:MQM8700/U1:2"));
}

TEST_F(PortSets, GuidsAndRangesArePortGuids) {
  EXPECT_THAT(resolved({"0x12"}), ElementsAre("h0:2"));
  EXPECT_THAT(resolved({"0000:0000:0000:0021"}), ElementsAre("h1 mlx5_0:1"));
  EXPECT_THAT(resolved({"0x12-0x30"}), ElementsAre("h0:2", "h1 mlx5_0:1", "MF0;leaf:MQM8700/U1:0"));
  EXPECT_THAT(resolved({"0x10"}),
              ElementsAre("pending 0x0000000000000010: this is the GUID of node h0, not of a port"));
}

TEST_F(PortSets, NamesArePatternsAndMayHoldColons) {
  EXPECT_THAT(resolved({"h0"}), ElementsAre("h0:1", "h0:2"));
  EXPECT_THAT(resolved({"h*"}), ElementsAre("h0:1", "h0:2", "h1 mlx5_0:1"));
  EXPECT_THAT(resolved({"h0:2"}), ElementsAre("h0:2"));
  EXPECT_THAT(resolved({"*:2"}), ElementsAre("h0:2", "MF0;leaf:MQM8700/U1:2"));
  EXPECT_THAT(resolved({"MF0;leaf:MQM8700/U1"}), ElementsAre("MF0;leaf:MQM8700/U1:0"));
  EXPECT_THAT(resolved({"MF0;leaf:MQM8700/U1:1"}), ElementsAre("MF0;leaf:MQM8700/U1:1"));
  EXPECT_THAT(resolved({"node:spine"}), ElementsAre("spine:0"));
}

TEST_F(PortSets, ControlCharactersOfNamesAreBlanksHoweverTheyAreWritten) {
  for (const auto* name : {"h1 mlx5_0", "h1\tmlx5_0", "h1\\x09mlx5_0", "h1\\x1b*", "h1\\x09mlx5_0:1"})
    EXPECT_THAT(resolved({name}), ElementsAre("h1 mlx5_0:1")) << name;
}

TEST_F(PortSets, PartitionsLevelsAndRails) {
  EXPECT_THAT(resolved({"partition:blue"}), ElementsAre("h0:1", "h1 mlx5_0:1"));
  EXPECT_THAT(resolved({"partition:0x8005"}), ElementsAre("h0:1", "h1 mlx5_0:1"));
  EXPECT_THAT(resolved({"level:1"}), ElementsAre("spine:0"));
  EXPECT_THAT(resolved({"rail:1"}), ElementsAre("h0:1", "h1 mlx5_0:1"));
  const std::vector<PortView> above{ports_[6], kAggregation};
  const auto found =
      resolve(set_of({"level:1"}), {.groups = {}, .partitions = names_, .self = {}}, PortIndex(above));
  EXPECT_THAT(found.ports, ElementsAre(0U)) << "no aggregation node";
}

TEST_F(PortSets, AMemberThatIsNotThereIsPendingWithItsReason) {
  EXPECT_THAT(
      resolved(
          {"0x99", "0x90-0x9f", "h7", "h0:3", "h7:1", "h9*", "partition:red", "level:4", "rail:9", "h0:1"}),
      ElementsAre(
          "h0:1", "pending 0x0000000000000099: no port of the fabric has this GUID",
          "pending 0x0000000000000090-0x000000000000009f: no port of the fabric has one of these GUIDs",
          "pending h7: no node of the fabric has this name", "pending h0:3: this node has no such port",
          "pending h7:1: no node of the fabric has this name",
          "pending h9*: no node of the fabric has this name",
          "pending partition:red: no port is a member of this partition",
          "pending level:4: nothing belongs to it", "pending rail:9: nothing belongs to it"));
  EXPECT_THAT(resolved({"SELF"}, {}, Guid{}),
              ElementsAre("pending SELF: the port of the master SM is not known yet"));
}

TEST_F(PortSets, GroupsOfGroupsAreFollowedOnceEach) {
  const auto groups = groups_of({{"a", {"h0", "group:b"}}, {"b", {"group:c", "0x77"}}, {"c", {"r0"}}});

  EXPECT_THAT(check_groups(groups), IsEmpty());
  EXPECT_THAT(
      resolved({"group:a", "group:b"}, groups),
      ElementsAre("h0:1", "h0:2", "r0:1", "pending 0x0000000000000077: no port of the fabric has this GUID"));
}

TEST_F(PortSets, AChainOfVeryManyGroupsIsNoDeepRecursion) {
  PortGroups groups;
  constexpr int kMany = 50'000;
  for (int i = 0; i < kMany; ++i) groups[fmt::format("{}", i)] = set_of({fmt::format("group:{}", i + 1)});
  groups[fmt::format("{}", kMany)] = set_of({"spine"});

  EXPECT_THAT(check_groups(groups), IsEmpty());
  EXPECT_THAT(resolved({"group:0"}, groups), ElementsAre("spine:0"));
}

TEST(PortGroupErrors, ACycleIsNamedWithItsPathOnce) {
  const auto groups =
      groups_of({{"a", {"group:b"}}, {"b", {"h0", "group:c"}}, {"c", {"group:b"}}, {"d", {"group:d"}}});
  const auto errors = check_groups(groups);

  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(to_string(errors[0]), "group b: b -> c -> b is a cycle");
  EXPECT_EQ(to_string(errors[1]), "group d: d -> d is a cycle");
}

TEST(PortGroupErrors, AGroupThatDoesNotExistIsNamedWithTheNearest) {
  const auto groups = groups_of({{"storage", {"h0"}}, {"all", {"group:storag"}}});

  const auto errors = check_groups(groups);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(to_string(errors[0]), "group all: there is no group storag; did you mean \"storage\"?");
  const auto of_set = check_references(set_of({"group:storages"}), groups);
  ASSERT_TRUE(of_set);
  EXPECT_EQ(to_string(*of_set), "there is no group storages; did you mean \"storage\"?");
  EXPECT_FALSE(check_references(set_of({"group:storage"}), groups));
}

TEST(PortTerms, WhatIsShownReadsAsTheSame) {
  for (const auto* text : {"ALL",
                           "ALL_CAS",
                           "ALL_SWITCHES",
                           "ALL_ROUTERS",
                           "ALL_SWITCH_TO_SWITCH",
                           "SELF",
                           "0x11",
                           "0x10-0x1f",
                           "0002c90300001234",
                           "h0",
                           "h*",
                           "h0:0",
                           "h0:254",
                           "node:ALL_HOSTS",
                           "group:a",
                           "partition:Default",
                           "partition:0x8001",
                           "level:0",
                           "rail:65535",
                           "node:self",
                           "node:all",
                           "node:xelf",
                           "node:ALL_HOSTS_OF_OURS",
                           "host00001",
                           "rack-1.host_2",
                           "node:host:12",
                           "node:group:a",
                           "host[0-3]",
                           "host 00001",
                           "node:host["}) {
    const auto term = parse_port_term(text);
    ASSERT_TRUE(term) << text;
    const auto shown = to_string(*term);
    const auto again = parse_port_term(shown);
    ASSERT_TRUE(again) << shown;
    EXPECT_EQ(*again, *term) << shown;
  }
}

TEST(PortTerms, HostsMayHaveNamesLikeTheWordsOfTerms) {
  for (const auto* name : {"node1", "nodes", "mode", "code", "mail", "rail1", "group1", "level0"}) {
    const auto term = parse_port_term(fmt::format("{}:1", name));
    ASSERT_TRUE(term) << name;
    EXPECT_EQ(term->kind, PortTermKind::node_port);
    EXPECT_EQ(term->name, name);
    EXPECT_EQ(term->number, 1U);
  }
}

TEST(PortTerms, WhatIsNoMemberIsRefusedWithWhatIsMeant) {
  const auto hint = [](std::string_view text) {
    const auto term = parse_port_term(text);
    EXPECT_FALSE(term) << text;
    return term ? std::string() : term.error().hint;
  };
  EXPECT_EQ(hint("ALL_CA"), "did you mean \"ALL_CAS\"? A node of that name is \"node:ALL_CA\"");
  EXPECT_EQ(hint("self"), "did you mean \"SELF\"? A node of that name is \"node:self\"");
  EXPECT_EQ(hint("all"), "did you mean \"ALL\"? A node of that name is \"node:all\"");
  EXPECT_EQ(hint("All_CAs"), "did you mean \"ALL_CAS\"? A node of that name is \"node:All_CAs\"");
  EXPECT_EQ(hint("all_switches"),
            "did you mean \"ALL_SWITCHES\"? A node of that name is \"node:all_switches\"");
  for (const auto* host : {"allen", "all_in_one", "alls", "a"}) EXPECT_TRUE(parse_port_term(host)) << host;
  EXPECT_EQ(hint("groups:a"), "did you mean \"group:\"? A node of that name is \"node:groups:a\"");
  EXPECT_EQ(hint("1234"), "a GUID begins with 0x");
  EXPECT_EQ(hint("00:02:c9:03:00:00:12:ab"),
            "a GUID is 0x0002c903000012ab; a node of that name is \"node:00:02:c9:03:00:00:12:ab\"");
  EXPECT_EQ(parse_port_term("0002:c903:0000:12ab")->first, Guid{0x0002c903000012ab});
  EXPECT_TRUE(parse_port_term("rack:c903:0000:12ab"));
  EXPECT_EQ(hint("group:"), "a name or a number belongs behind the colon");
  EXPECT_EQ(hint("rails:1"), "did you mean \"rail:\"? A node of that name is \"node:rails:1\"");
  EXPECT_EQ(hint("Rail:1"), "did you mean \"rail:\"? A node of that name is \"node:Rail:1\"");
  EXPECT_FALSE(parse_port_term("rail:0")) << "they are counted from 1";
  EXPECT_EQ(hint("h[0-3"), "a node of that name is \"node:h[0-3\"");
  EXPECT_FALSE(parse_port_term("h[]")) << "the ']' is of the set";
  EXPECT_TRUE(parse_port_term("h[]]"));
  EXPECT_TRUE(parse_port_term("node:h["));
  for (const auto* text : {"", " ", "0x", "0x0", "0xg", "0x20-0x10", "0x10-", "0x10-zz", "h0:255",
                           "h0:99999999999999999999", "level:", "level:x", "rail:65536", "node:"}) {
    EXPECT_FALSE(parse_port_term(text)) << text;
  }
}

TEST(Globs, MatchAsInAShell) {
  EXPECT_TRUE(matches_glob("h*", "h00001"));
  EXPECT_TRUE(matches_glob("h?[0-3a]", "hxa"));
  EXPECT_TRUE(matches_glob("h[!0-3]", "h4"));
  EXPECT_FALSE(matches_glob("h[!0-3]", "h2"));
  EXPECT_TRUE(matches_glob("*a*b*", "xxaxxb"));
  EXPECT_FALSE(matches_glob("*a*b", "xxaxxbc"));
  EXPECT_TRUE(matches_glob("a[", "a["));
  EXPECT_TRUE(matches_glob("[]]", "]"));
  EXPECT_TRUE(matches_glob("**", ""));
  EXPECT_FALSE(matches_glob("?", ""));
  EXPECT_FALSE(matches_glob("H1", "h1"));
}

TEST(Globs, APatternOfManyStarsEndsSoon) {
  std::string pattern;
  for (int i = 0; i < 2000; ++i) pattern += "*a";
  EXPECT_FALSE(matches_glob(pattern + "b", std::string(4000, 'a')));
}

}  // namespace
}  // namespace smd::config
