// SPDX-License-Identifier: Apache-2.0
// What a damaged tree is: not one whose leaves are of several kinds.
#include <gtest/gtest.h>

#include "routing/chain/shape.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using fabrics::Builder;

/// Leaves with two cables to each of four spines, and `storage` ones with one.
Builder with_storage_leaves(unsigned storage) {
  auto builder = fabrics::ft2(8, 4, 6, 2);
  for (unsigned i = 0; i < storage; ++i) {
    const auto leaf = builder.add_switch(36);
    for (int h = 0; h < 4; ++h) builder.host(leaf);
    for (SwitchIndex spine = 8; spine < 12; ++spine) builder.link(leaf, spine);
  }
  return builder;
}

TEST(MissesUplinks, NotWhereLeavesHaveOneOfTwoParallelCablesEverywhere) {
  for (const unsigned storage : {0U, 1U, 2U, 3U})
    EXPECT_FALSE(misses_uplinks(Topology(with_storage_leaves(storage).input()))) << storage;
}

TEST(MissesUplinks, NotWhereAManagementLeafHasACableToEveryOtherSpine) {
  for (const unsigned spines : {4U, 6U, 8U}) {
    auto builder = fabrics::ft2(8, spines, 6);
    const auto leaf = builder.add_switch(36);
    builder.host(leaf);
    for (unsigned i = 0; i < spines; i += 2) builder.link(leaf, 8 + i);
    EXPECT_FALSE(misses_uplinks(Topology(builder.input()))) << spines;
  }
}

/// chassis:4:2:1:1: with one line board the spine board looks like an edge switch that lacks a cable.
TEST(MissesUplinks, NotWhereATopWithoutHostsHasFewerCablesThanLeaves) {
  auto builder = fabrics::ft2(4, 1, 2, 2);
  builder.link(4, builder.add_switch(8));

  EXPECT_FALSE(misses_uplinks(Topology(builder.input())));
}

TEST(MissesUplinks, WhereACableIsMissingInAnyOfTheLeaves) {
  for (const unsigned storage : {0U, 2U, 3U}) {
    const auto whole = with_storage_leaves(storage).input();
    for (std::size_t i = 0; i < whole.links.size(); i += 3) {
      auto input = whole;
      input.links.erase(input.links.begin() + static_cast<std::ptrdiff_t>(i));
      if (storage < 3 && i >= 64) continue;  // the leaf without lacks five of eight, alone
      EXPECT_TRUE(misses_uplinks(Topology(input))) << storage << ", cable " << i;
    }
  }
}

TEST(MissesUplinks, WhereTwoLeavesLackOneEach) {
  auto input = fabrics::ft2(8, 4, 6).input();
  input.links.erase(input.links.begin() + 9);
  input.links.erase(input.links.begin() + 2);
  EXPECT_TRUE(misses_uplinks(Topology(input)));
}

}  // namespace
}  // namespace smd::routing
