// SPDX-License-Identifier: Apache-2.0
#include "routing/ranking/islands.h"

#include <gtest/gtest.h>

#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

/// Two leaves below two spines, twice: switches 0 to 3 and 4 to 7.
fabrics::Builder two_trees() {
  auto fabric = fabrics::Builder("islands");
  for (unsigned i = 0; i < 8; ++i) fabric.add_switch(8);
  for (const SwitchIndex first : {0U, 4U}) {
    for (const auto leaf : {first, first + 1}) {
      fabric.host(leaf);
      fabric.link(leaf, first + 2);
      fabric.link(leaf, first + 3);
    }
  }
  return fabric;
}

TEST(Islands, AreTreesThatOnlyCablesBetweenSpinesJoin) {
  auto joined = two_trees(), apart = two_trees(), by_leaves = two_trees(), beside = fabrics::ft2(4, 2, 2);
  joined.link(2, 6);
  by_leaves.link(0, 4);
  beside.link(4, 5);

  EXPECT_TRUE(has_islands(Topology(joined.input())));
  EXPECT_FALSE(has_islands(Topology(apart.input()))) << "two fabrics";
  EXPECT_FALSE(has_islands(Topology(by_leaves.input())));
  EXPECT_FALSE(has_islands(Topology(beside.input()))) << "the spines have the leaves in common";
}

}  // namespace
}  // namespace smd::routing
