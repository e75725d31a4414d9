// SPDX-License-Identifier: Apache-2.0
// Ports that leave a partition, by whatever rule they are members.
#include "smd/policy/port_removal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <string>

namespace smd::policy {
namespace {

using config::PortView;

/// h1 and h3 have two ports; two nodes are called h2.
constexpr std::array kPortsOfFabric{
    PortView{.port_guid = Guid{0x11}, .node_guid = Guid{0x10}, .node_name = "h1", .port = PortNum{1}},
    PortView{.port_guid = Guid{0x12}, .node_guid = Guid{0x10}, .node_name = "h1", .port = PortNum{2}},
    PortView{.port_guid = Guid{0x21}, .node_guid = Guid{0x20}, .node_name = "h2", .port = PortNum{1}},
    PortView{.port_guid = Guid{0x29}, .node_guid = Guid{0x28}, .node_name = "h2", .port = PortNum{1}},
    PortView{.port_guid = Guid{0x31}, .node_guid = Guid{0x30}, .node_name = "h3", .port = PortNum{1}},
    PortView{.port_guid = Guid{0x32}, .node_guid = Guid{0x30}, .node_name = "h3", .port = PortNum{2}}};

class PortRemoval : public testing::Test {
 protected:
  PortRemoval() { groups_["pair"] = {{*config::parse_port_term("h1"), *config::parse_port_term("h3")}}; }

  /// What is left of these members, or why nothing is taken away.
  std::string left(std::initializer_list<std::string_view> members,
                   std::initializer_list<std::uint64_t> ports,
                   std::initializer_list<std::string_view> terms = {}) {
    ApiPartition partition{.name = "p", .pkey = 0x42};
    for (const auto member : members) partition.members.push_back(rule(member));
    Removal removal;
    for (const auto port : ports) removal.ports.insert(Guid{port});
    for (const auto term : terms) removal.terms.push_back(*config::parse_port_term(term));
    const config::PortIndex fabric(kPortsOfFabric);
    const auto found = members_without(partition, removal, groups_, fabric, Guid{0x31});
    if (!found) return std::string(found.error().code) + ": " + found.error().text;
    std::string text;
    for (const auto& one : *found) {
      EXPECT_EQ(one.membership, config::Membership::full);
      EXPECT_TRUE(one.index0);
      text += (text.empty() ? "" : " ") + to_string(one.ports);
    }
    return text;
  }
  static config::MemberRule rule(std::string_view member) {
    config::MemberRule made{.membership = config::Membership::full, .index0 = true};
    made.ports.terms.push_back(*config::parse_port_term(member));
    return made;
  }

  config::PortGroups groups_;
};

TEST_F(PortRemoval, AGuidGoesWithItsRule) {
  EXPECT_EQ(left({"0x11", "0x77", "h3"}, {0x77}), "0x0000000000000011 h3");
  EXPECT_EQ(left({"0x11", "0x31-0x31"}, {0x31, 0x99}), "0x0000000000000011");
  EXPECT_EQ(left({"0x11"}, {0x11}), "");
}

TEST_F(PortRemoval, TheNameOfANodeBecomesItsOtherPorts) {
  EXPECT_EQ(left({"0x77", "h1", "h3"}, {0x11}), "0x0000000000000077 0x0000000000000012 h3");
  EXPECT_EQ(left({"h1"}, {0x11, 0x12}), "");
  EXPECT_EQ(left({"h1:2", "h3:1"}, {0x12}), "h3:1");
  EXPECT_EQ(left({"h9", "h1"}, {0x99}), "h9 h1") << "not in the fabric";
}

TEST_F(PortRemoval, ARuleForSeveralPortsIsAConflict) {
  for (const auto* member : {"h*", "h[1]", "group:pair", "0x10-0x1f", "ALL", "ALL_CAS", "h*:1"})
    EXPECT_EQ(
        left({"0x77", member}, {0x77, 0x11}),
        "member_rule: port 0x0000000000000011 is in partition p by the member " +
            std::string(member == std::string_view("0x10-0x1f") ? "0x0000000000000010-0x000000000000001f"
                                                                : member) +
            ", which stands for other ports too: remove or change that member");
  EXPECT_THAT(left({"h2"}, {0x21}), testing::StartsWith("member_rule: ")) << "two nodes have the name";
  EXPECT_THAT(left({"SELF"}, {0x31}), testing::StartsWith("member_rule: "));
  EXPECT_EQ(left({"group:pair", "0x21"}, {0x21}), "group:pair") << "of which the port is none";
}

TEST_F(PortRemoval, ARuleThatIsNamedGoesAsItStands) {
  EXPECT_EQ(left({"h1", "h*"}, {}, {"h*"}), "h1");
  EXPECT_EQ(left({"h2", "0x21", "0x77"}, {0x21, 0x29}, {"h2"}), "0x0000000000000077");
}

TEST_F(PortRemoval, TheFabricIsNeededForRulesOfOtherWords) {
  EXPECT_FALSE(needs_fabric({rule("0x11"), rule("0x12")}, {.ports = {Guid{0x11}}, .terms = {}}));
  EXPECT_TRUE(needs_fabric({rule("0x11"), rule("h1")}, {.ports = {Guid{0x11}}, .terms = {}}));
  EXPECT_FALSE(needs_fabric({rule("h1")}, {.ports = {}, .terms = {*config::parse_port_term("h1")}}));
}

}  // namespace
}  // namespace smd::policy
