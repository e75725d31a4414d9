// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/intra_level_links.h"

#include <gtest/gtest.h>

#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using fabrics::Builder;

TEST(Beside, SpinesThatAreAllCabledWithEachOtherAreTheRuleAndOneCableIsNot) {
  auto plus = Builder("dragonfly+");
  for (unsigned i = 0; i < 16; ++i) plus.add_switch(16);  // 4 groups of 2 leaves and 2 spines
  for (unsigned group = 0; group < 4; ++group) {
    for (unsigned leaf = 0; leaf < 2; ++leaf) {
      plus.host(group * 4 + leaf);
      plus.link(group * 4 + leaf, group * 4 + 2);
      plus.link(group * 4 + leaf, group * 4 + 3);
    }
    for (unsigned other = 0; other < group; ++other) {
      for (unsigned spine = 2; spine < 4; ++spine) plus.link(group * 4 + spine, other * 4 + spine);
    }
  }
  auto tree = fabrics::ft2(4, 2, 2);
  tree.link(4, 5);
  const Topology beside(plus.input()), straight(tree.input());

  const auto found = find_intra_level_link(beside, find_tree(beside));

  ASSERT_TRUE(found);
  EXPECT_EQ(*found, std::pair(SwitchIndex{2}, SwitchIndex{6}));
  EXPECT_FALSE(find_intra_level_link(straight, find_tree(straight)));
}

}  // namespace
}  // namespace smd::routing
