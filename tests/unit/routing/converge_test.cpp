// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/converge.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "routing/repair/repair.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"

namespace smd::routing {
namespace {

using fabrics::Routable;

Routes routed(const Routable& fabric) {
  return *find_engine("updn")->run({.context = {fabric.topology, fabric.lids, Serial{}}});
}

Routes repaired(const Routable& before, const Routes& old, const Routable& now) {
  std::vector<OldRow> rows;
  for (SwitchIndex s = 0; s < before.topology.switches(); ++s) {
    rows.push_back({before.topology.guid(s), old.rows[s]});
  }
  const auto reference = merge({}, before.topology);
  auto result = repair_routes({.context = {now.topology, now.lids, Serial{}},
                               .old = rows,
                               .reference = reference,
                               .engine = *find_engine("updn"),
                               .options = {}});
  RC_PRE(result.has_value());
  return std::move(result->routes);
}

RC_GTEST_PROP(Converge, EndsWithTheGoalInBoundedStepsThatReachEverything, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto whole = fabrics::told(fabrics::ft3(*rc::gen::element(4U, 6U, 8U)).input(), 1);
  const auto before = whole.routable();
  const auto now = fabrics::damaged(whole, seed, *rc::gen::inRange<std::size_t>(1, 6),
                                    *rc::gen::inRange<std::size_t>(0, 2))
                       .routable();
  auto routes = repaired(before, routed(before), now);
  const auto goal = routed(now);
  const std::size_t most = *rc::gen::element<std::size_t>(1, 40, 200);
  const std::size_t switches = now.topology.switches();

  std::size_t steps = 0;
  for (bool done = false; !done; ++steps) {
    auto step = converge(
        {.topology = now.topology, .lids = now.lids, .now = routes.rows, .goal = goal, .most_blocks = most});
    RC_ASSERT(step.blocks <= std::max(most, switches));
    const auto found = verify_routes({now.topology, now.lids, Serial{}}, step.routes);
    RC_ASSERT(found.host_pairs_unreachable == 0U);
    RC_ASSERT(found.loops == 0U);
    RC_ASSERT(found.dead_ends == 0U);
    done = step.done;
    RC_ASSERT(done || step.blocks != 0U);
    routes = std::move(step.routes);
  }
  RC_TAG(steps);
  for (std::size_t s = 0; s < switches; ++s) RC_ASSERT(*routes.rows[s] == *goal.rows[s]);
}

TEST(Converge, WhereNothingDiffersNothingIsDone) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(4).input());
  const auto goal = routed(fabric);

  const auto step =
      converge({.topology = fabric.topology, .lids = fabric.lids, .now = goal.rows, .goal = goal});

  EXPECT_TRUE(step.done);
  EXPECT_EQ(step.blocks, 0U);
  EXPECT_EQ(step.routes.rows, goal.rows);
}

}  // namespace
}  // namespace smd::routing
