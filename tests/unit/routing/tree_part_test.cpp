// SPDX-License-Identifier: Apache-2.0
// A missing cable in trees with other cabling beside it: cables within a level, switches below leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "routing/cabling/health.h"
#include "tests/support/health.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using fabrics::Builder;
using testing::HasSubstr;

/// Each of the first cables, of leaves to spines, is found where it is missing, and nothing is where all are
/// there.
void expect_found(const Builder& builder, std::size_t cables) {
  const auto& whole = builder.input();
  for (const auto& finding : examined(whole).findings) {
    EXPECT_FALSE(is_fault(finding)) << builder.name() << ": " << finding.text;
  }
  for (std::size_t i = 0; i < cables; ++i) {
    auto input = whole;
    const auto link = input.links[i];
    input.links.erase(input.links.begin() + static_cast<std::ptrdiff_t>(i));

    auto findings = examined(input).findings;

    std::erase_if(findings, [](const Finding& finding) { return !is_fault(finding); });
    ASSERT_THAT(findings, testing::SizeIs(1)) << builder.name() << ", cable " << i;
    EXPECT_EQ(findings[0].kind, CablingFault::missing) << findings[0].text;
    EXPECT_THAT(findings[0].ports,
                testing::UnorderedElementsAre(PortName{input.switches[link.a].guid, link.a_port},
                                              PortName{input.switches[link.b].guid, link.b_port}))
        << findings[0].text;
  }
}

TEST(TreePart, IsComparedWhereLeavesAreCabledInPairs) {
  for (const unsigned leaves : {6U, 8U, 12U}) {
    auto builder = fabrics::ft2(leaves, 4, 6);
    for (unsigned leaf = 0; leaf < leaves; leaf += 2) builder.link(leaf, leaf + 1);
    expect_found(builder, std::size_t{leaves} * 4);
    EXPECT_THAT(examined(builder.input()).left_out,
                testing::AllOf(testing::StartsWith("not a tree: "),
                               HasSubstr("of cables between switches of one level only speeds")));
  }
}

TEST(TreePart, IsComparedWhereTheSpinesOfTreesAreCabled) {
  Builder builder("islands");
  for (int i = 0; i < 17; ++i) builder.add_switch(36);
  for (SwitchIndex leaf = 0; leaf < 9; ++leaf) {
    for (int h = 0; h < 4; ++h) builder.host(leaf);
    for (SwitchIndex spine = 0; spine < 4; ++spine) builder.link(leaf, (leaf < 4 ? 9 : 13) + spine);
  }
  for (SwitchIndex spine = 9; spine < 13; ++spine) {
    for (int i = 0; i < 2; ++i) builder.link(spine, spine + 4);
  }
  expect_found(builder, 44);
}

/// Two trees of eight leaves and six spines, of which so many have a cable to the other tree.
Builder two_trees(SwitchIndex joined) {
  Builder builder("two trees");
  for (int i = 0; i < 28; ++i) builder.add_switch(36);
  for (const SwitchIndex first : {0U, 14U}) {
    for (SwitchIndex leaf = first; leaf < first + 8; ++leaf) {
      for (int h = 0; h < 4; ++h) builder.host(leaf);
      for (SwitchIndex cable = 0; cable < 12; ++cable) builder.link(leaf, first + 8 + cable % 6);
    }
  }
  for (SwitchIndex spine = 8; spine < 8 + joined; ++spine) builder.link(spine, spine + 14);
  return builder;
}

/// They are few beside those to leaves: all of the fabric is compared as one tree.
TEST(TreePart, MissesACableBetweenTrees) {
  const auto builder = two_trees(6);
  expect_found(builder, builder.input().links.size());
  auto input = builder.input();
  input.links.erase(input.links.end() - 2);

  const auto health = examined(input);

  EXPECT_TRUE(health.left_out.empty()) << health.left_out;
  ASSERT_THAT(health.findings, testing::SizeIs(1));
  EXPECT_EQ(health.findings.at(0).text,
            "no cable between N100c port 17 and N101a port 17: 5 of 5 switches like N100c have 1 cable to "
            "the tree of N101a");
}

TEST(TreePart, TakesAFewCablesBetweenTreesAsADesign) {
  for (const SwitchIndex joined : {3U, 4U}) {
    EXPECT_THAT(examined(two_trees(joined).input()).findings, testing::IsEmpty()) << joined;
  }
}

/// Each tree has one top: the cable joins all.
TEST(TreePart, TakesTheOnlyCableBetweenTwoTopsAsADesign) {
  Builder builder("two stars");
  for (int i = 0; i < 6; ++i) builder.add_switch(16);
  for (SwitchIndex leaf = 0; leaf < 4; ++leaf) {
    for (int h = 0; h < 2; ++h) builder.host(leaf);
    builder.link(leaf, leaf < 2 ? 4U : 5U);
  }
  builder.link(4, 5);

  EXPECT_THAT(examined(builder.input()).findings, testing::IsEmpty());
}

TEST(TreePart, IsComparedWhereSwitchesHangBelowLeaves) {
  for (const int cables : {1, 2, 3}) {
    auto builder = fabrics::ft2(8, 5, 6);
    for (const SwitchIndex leaf : {0U, 1U, 2U}) {
      const auto small = builder.add_switch(16);
      for (int i = 0; i < 5; ++i) builder.host(small);
      for (int i = 0; i < cables; ++i) builder.link(small, leaf);
    }
    expect_found(builder, cables == 1 ? 40 : builder.input().links.size());
    const auto health = examined(builder.input());
    EXPECT_THAT(health.findings, testing::SizeIs(3));
    EXPECT_THAT(health.findings.at(0).text, HasSubstr("hangs below"));
    EXPECT_TRUE(health.left_out.empty()) << health.left_out;
  }
}

/// Which leaf it led to cannot be known: others have one to each of two leaves.
TEST(TreePart, MissesACableOfASwitchBelowSeveralLeaves) {
  auto builder = fabrics::ft2(8, 5, 6);
  for (const SwitchIndex leaf : {0U, 2U, 4U}) {
    const auto small = builder.add_switch(16);
    for (int i = 0; i < 6; ++i) builder.host(small);
    builder.link(small, leaf);
    builder.link(small, leaf + 1);
  }
  EXPECT_THAT(examined(builder.input()).findings, testing::IsEmpty());
  auto input = builder.input();
  input.links.erase(input.links.end() - 4);

  auto findings = examined(input).findings;

  std::erase_if(findings, [](const Finding& finding) { return !is_fault(finding); });
  ASSERT_THAT(findings, testing::SizeIs(1));
  EXPECT_EQ(findings[0].kind, CablingFault::missing);
  EXPECT_THAT(findings[0].ports, testing::ElementsAre(PortName{input.switches[14].guid, PortNum{7}}));
  EXPECT_EQ(
      findings[0].text,
      "no cable to a leaf at N100e port 7: 2 of 2 switches like N100e have 2 cables to leaves, it has 1");
}

/// Torus and random fabrics have levels, too, but no tree is left without the cables within them.
TEST(TreePart, IsNotFoundInOtherFabrics) {
  auto builder = fabrics::torus(4, 5, 0);
  for (SwitchIndex s = 0; s < 20; s += 3) builder.host(s);

  const auto health = examined(builder.input());

  EXPECT_FALSE(health.tree);
  EXPECT_THAT(health.left_out, HasSubstr("; only speeds"));
  EXPECT_THAT(health.findings, testing::IsEmpty());
}

/// Of five the second and the fourth would be tops that lack a cable each.
TEST(TreePart, IsNotFoundInRowsOfSwitchesWithHosts) {
  for (const unsigned switches : {4U, 5U, 6U, 9U}) {
    Builder builder("row");
    for (unsigned i = 0; i < switches; ++i) builder.add_switch(16);
    for (SwitchIndex s = 0; s < switches; ++s) {
      for (int h = 0; h < 3; ++h) builder.host(s);
    }
    for (SwitchIndex s = 0; s + 1 < switches; ++s) builder.link(s, s + 1);

    const auto health = examined(builder.input());

    EXPECT_FALSE(health.tree) << switches;
    EXPECT_THAT(health.findings, testing::IsEmpty()) << switches;
  }
}

}  // namespace
}  // namespace smd::routing
