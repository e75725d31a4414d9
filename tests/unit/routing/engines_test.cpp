// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "routing/chain.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using fabrics::Builder;
using fabrics::Routable;

std::vector<Builder> all_fabrics() {
  std::vector<Builder> all;
  all.push_back(fabrics::ft2(8, 4, 4));
  all.push_back(fabrics::ft2(6, 3, 4, 2));
  all.push_back(fabrics::ft3(4));
  all.push_back(fabrics::ft3(8));
  all.push_back(fabrics::damaged(fabrics::ft3(8), 1, 10));
  all.push_back(fabrics::torus(5, 5, 1));
  all.push_back(fabrics::torus(4, 6, 3));
  all.push_back(fabrics::torus(2, 2, 2));
  all.push_back(fabrics::torus(1, 7, 2));
  all.push_back(fabrics::torus(300, 1, 1, false));
  all.push_back(fabrics::irregular(7, 40, 60, 100));
  all.push_back(Builder("nothing"));
  return all;
}

std::expected<Routes, RouteError> run(const EngineInfo& engine, const Routable& fabric,
                                      const Parallel& parallel) {
  return engine.run(
      {.topology = fabric.topology, .lids = fabric.lids, .options = {}, .parallel = parallel, .stop = {}});
}

class EveryEngine : public testing::TestWithParam<EngineInfo> {};

TEST_P(EveryEngine, ReachesEveryHostAndLoopsNowhere) {
  for (const auto& builder : all_fabrics()) {
    for (const auto lmc : {std::uint8_t{0}, std::uint8_t{2}}) {
      const auto fabric = fabrics::with_lids(builder.input(), lmc);

      const auto routes = run(GetParam(), fabric, Serial{});

      ASSERT_TRUE(routes) << builder.name();
      const auto found = verify(fabric.topology, fabric.lids, *routes, Serial{});
      EXPECT_EQ(found.host_pairs_unreachable, 0U) << builder.name() << describe(found, fabric.topology);
      EXPECT_EQ(found.loops, 0U) << builder.name() << describe(found, fabric.topology);
      EXPECT_EQ(found.dead_ends, 0U) << builder.name() << describe(found, fabric.topology);
    }
  }
}

TEST_P(EveryEngine, IsFreeOfCreditLoopsOnWholeTrees) {
  for (const auto& builder :
       {fabrics::ft2(8, 4, 4), fabrics::ft2(6, 3, 4, 2), fabrics::ft3(4), fabrics::ft3(8)}) {
    const auto fabric = fabrics::with_lids(builder.input());

    const auto routes = run(GetParam(), fabric, Serial{});

    const auto found = verify(fabric.topology, fabric.lids, *routes, Serial{});
    EXPECT_TRUE(found.clean()) << builder.name() << ": " << describe(found, fabric.topology);
    EXPECT_EQ(found.unreachable_switch_pairs, 0U) << builder.name();
  }
}

TEST_P(EveryEngine, GivesTheSameBytesForAnyOrderOfTheInputAndAnyThreads) {
  for (const auto& builder : all_fabrics()) {
    const auto fabric = fabrics::with_lids(builder.input(), 1);
    const auto shuffled = fabrics::shuffled(fabric, builder.input(), 42);

    const auto one = run(GetParam(), fabric, Serial{});
    const auto other = run(GetParam(), shuffled, Threads{3});

    ASSERT_TRUE(one && other);
    ASSERT_EQ(one->rows.size(), other->rows.size());
    for (std::size_t s = 0; s < one->rows.size(); ++s) {
      ASSERT_EQ(*one->rows[s], *other->rows[s]) << builder.name() << " switch " << s;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, EveryEngine, testing::ValuesIn(kEngines),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Updn, IsFreeOfCreditLoopsOnAnyFabric) {
  for (const auto& builder : all_fabrics()) {
    const auto fabric = fabrics::with_lids(builder.input());

    const auto routes = updn(
        {.topology = fabric.topology, .lids = fabric.lids, .options = {}, .parallel = Serial{}, .stop = {}});

    const auto found = verify(fabric.topology, fabric.lids, *routes, Serial{});
    EXPECT_TRUE(found.clean()) << builder.name() << ": " << describe(found, fabric.topology);
  }
}

}  // namespace
}  // namespace smd::routing
