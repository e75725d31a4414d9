// SPDX-License-Identifier: Apache-2.0
// Pairs of spines that have no route at first, by rule, and get one by a repair.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "smd/decide/routed_pairs.h"
#include "tests/support/layered_fabric.h"

namespace smd {
namespace {

using namespace std::chrono_literals;

class UnroutedPairs : public test::LayeredFabric {
 protected:
  UnroutedPairs() : LayeredFabric("dragonflyplus:3:3:2:2+guids=14") {}
};

TEST_F(UnroutedPairs, HaveNoSlThatIsStale) {
  start();
  const auto first = routes();
  const sm::RoutedPairs had_route(first);

  world_.fabric().faults().link_down({"g001-s00", PortNum{2}});
  world_.run_for(10s);

  const auto& now = routes();
  const sm::RoutedPairs has_route(now);
  std::size_t moved = 0, of_hosts = 0, without = 0;
  ASSERT_EQ(now.topology->switches(), first.topology->switches());
  for (routing::SwitchIndex a = 0; a < now.topology->switches(); ++a) {
    ASSERT_EQ(now.topology->guid(a), first.topology->guid(a));
    for (routing::SwitchIndex b = 0; b < a; ++b) {
      if (now.layers.by_pair.at(a, b) == first.layers.by_pair.at(a, b) || !has_route(a, b)) continue;
      ++(had_route(a, b) ? moved : without);
      of_hosts += had_route(a, b) && has_route.has_hosts(a, b) ? 1U : 0U;
    }
  }
  EXPECT_NE(without, 0U) << "another cable is to be lost";
  EXPECT_EQ(now.pairs_moved, moved);
  EXPECT_EQ(now.host_pairs_moved, of_hosts);
  EXPECT_EQ(of_hosts, 0U);
}

}  // namespace
}  // namespace smd
