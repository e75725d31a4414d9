// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/balanced_tree.h"

#include <gtest/gtest.h>

#include <vector>

#include "routing/ranking/switch_ranking.h"
#include "tests/support/routing_damage.h"

namespace smd::routing {
namespace {

bool is_even(const TopologyInput& input) {
  const Topology topology(input);
  const auto order = find_tree(topology);
  const auto tree_template = find_tree_template(topology, order);
  return is_whole(topology, tree_template) && is_regular(topology, order, tree_template);
}

TEST(Even, AreWholeTrees) {
  const auto whole = fabrics::told(fabrics::ft3(8).input());
  std::vector<bool> core(whole.input.switches.size());
  core[64] = true;

  EXPECT_TRUE(is_even(whole.input));
  EXPECT_FALSE(is_even(fabrics::damaged(whole, 1, 1, 0).input));
  EXPECT_FALSE(is_even(fabrics::without_switches(whole, core).input));
}

/// Leaves are 0 to 31, middle switches 32 to 63, four a pod.
TEST(Even, AreTreesWhoseLevelsOrPodsDifferInTheirRates) {
  auto levels = fabrics::ft3(8).input(), pods = levels;
  for (auto& link : levels.links) link.mbps = link.a < 32 ? 200'000U : 400'000U;
  for (auto& link : pods.links) link.mbps = link.a % 32 < 16 ? 100'000U : 200'000U;

  EXPECT_TRUE(is_even(levels));
  EXPECT_TRUE(is_even(pods));
}

TEST(Even, AreNoTreesWhereASwitchHasWaysOfDifferentRates) {
  auto one = fabrics::ft3(8).input(), middle = one, parallel = fabrics::ft2(4, 2, 4, 2).input();
  for (auto* input : {&one, &middle, &parallel}) {
    for (auto& link : input->links) link.mbps = 200'000;
  }
  one.links.front().mbps = 100'000;
  for (auto& link :
       middle.links) {  // one middle switch of a pod reaches its cores more slowly than the others
    if (link.a == 33) link.mbps = 100'000;
  }
  for (std::size_t i = 0; i < parallel.links.size(); i += 2) parallel.links[i].mbps = 100'000;

  EXPECT_FALSE(is_even(one));
  EXPECT_FALSE(is_even(middle));
  EXPECT_FALSE(is_even(parallel));
}

}  // namespace
}  // namespace smd::routing
