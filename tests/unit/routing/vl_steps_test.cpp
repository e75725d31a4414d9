// SPDX-License-Identifier: Apache-2.0
// SLs get other VLs step by step: whatever switches have answered, no credit loop.
#include "routing/update/vl_steps.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <random>

#include "routing/engines/engine.h"
#include "routing/verify/service_levels.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using NewVl = std::function<unsigned(unsigned sl)>;

/// Layers of dfsssp on a torus, of which layer n has SL n and VL n.
class Renamed {
 public:
  explicit Renamed(unsigned x = 5, unsigned y = 5)
      : fabric_(fabrics::with_lids(fabrics::torus(x, y, 1).input())),
        routes_(*find_engine("dfsssp")->run({.context = context(), .vl_budget = 8})) {}

  RoutingContext context() const { return {fabric_.topology, fabric_.lids, parallel_}; }
  unsigned layers() const { return routes_.layers.count; }

  VlChange change(const NewVl& vl_of) const {
    VlChange change{.routes = routes_, .sls_of_layer = {}, .before = {}, .after = {}};
    for (unsigned layer = 0; layer < layers(); ++layer) {
      change.sls_of_layer.emplace_back();
      change.sls_of_layer.back().set(layer);
    }
    for (SwitchIndex s = 0; s < fabric_.topology.switches(); ++s) {
      const auto ports = fabric_.topology.ports(s) + 1U;
      auto& before = change.before.emplace_back(ports * ports);
      auto& after = change.after.emplace_back(ports * ports);
      for (std::size_t at = 0; at < before.size(); ++at) {
        for (unsigned sl = 0; sl < 16; ++sl) {
          before[at][sl] = static_cast<std::uint8_t>(sl % 8);
          after[at][sl] = static_cast<std::uint8_t>(sl < layers() ? vl_of(sl) : sl % 8);
        }
      }
    }
    return change;
  }

  /// Some switches have answered to the step, by another check than that of the steps.
  std::uint64_t loops_where_some_answered(const VlChange& change, const SlSet& done, const SlSet& moving,
                                          std::mt19937& random) const {
    ServiceLevels levels;
    const auto& topology = fabric_.topology;
    for (const auto& end : topology.end_ports()) {
      auto& row = levels.path_sl.emplace_back(fabric_.lids.row_size());
      for (std::size_t lid = 1; lid < row.size(); ++lid) {
        const auto to = fabric_.lids.destination(Lid{static_cast<std::uint16_t>(lid)});
        if (to.sw != kNoSwitch)
          row[lid] = static_cast<std::uint8_t>(routes_.layers.by_pair.at(end.sw, to.sw));
      }
    }
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      auto maps = change.before[s];
      const bool answered = random() % 2 == 0;
      for (std::size_t at = 0; at < maps.size(); ++at) {
        for (unsigned sl = 0; sl < 16; ++sl) {
          if (done.test(sl) || (answered && moving.test(sl))) maps[at][sl] = change.after[s][at][sl];
        }
      }
      levels.sl_to_vl.push_back(std::move(maps));
    }
    return check_service_levels(context(), routes_, levels).credit_loops;
  }

 private:
  Serial parallel_;
  fabrics::Routable fabric_;
  Routes routes_;
};

SlSet all_of(const VlSteps& found) {
  SlSet all;
  for (const auto& step : found.steps) {
    EXPECT_TRUE((all & step).none());
    all |= step;
  }
  return all;
}

void expect_free_of_loops(const Renamed& torus, const VlChange& change, const VlSteps& found) {
  std::mt19937 random(7);
  SlSet done;
  for (const auto& step : found.steps) {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(torus.loops_where_some_answered(change, done, step, random), 0U);
    done |= step;
  }
}

TEST(VlSteps, AreNoneWhereNothingChanges) {
  const Renamed torus;
  const auto found = vl_steps(torus.context(), torus.change([](unsigned sl) { return sl; }));
  EXPECT_TRUE(found.steps.empty());
  EXPECT_TRUE(found.proven);
}

TEST(VlSteps, AreOneToVlsThatAreFree) {
  const Renamed torus;
  const auto change = torus.change([&](unsigned sl) { return sl + torus.layers(); });
  const auto found = vl_steps(torus.context(), change);
  EXPECT_EQ(found.steps.size(), 1U);
  EXPECT_TRUE(found.proven);
  expect_free_of_loops(torus, change, found);
}

/// A second class comes in between: layer n leaves VL n for VL 2n.
TEST(VlSteps, WaitForVlsThatOthersLeave) {
  const Renamed torus;
  ASSERT_GE(torus.layers(), 3U);
  ASSERT_LE(torus.layers(), 4U);
  const auto change = torus.change([](unsigned sl) { return 2 * sl; });
  const auto found = vl_steps(torus.context(), change);
  EXPECT_TRUE(found.proven);
  EXPECT_EQ(found.steps.size(), 2U) << "SL 1 goes to the VL of SL 2 when that is free";
  EXPECT_EQ(all_of(found).count(), torus.layers() - 1U);
  expect_free_of_loops(torus, change, found);
}

TEST(VlSteps, OfTwoThatChangePlacesAreNotProven) {
  const Renamed torus;
  const auto change = torus.change([](unsigned sl) { return sl < 2 ? 1 - sl : sl; });
  const auto found = vl_steps(torus.context(), change);
  EXPECT_FALSE(found.proven);
  EXPECT_EQ(all_of(found).count(), 2U) << "all of it is done in the end";
}

RC_GTEST_PROP(VlSteps, AreFreeOfLoopsInEveryOrderOfAnswers, ()) {
  const Renamed torus(*rc::gen::inRange(3U, 7U), *rc::gen::inRange(3U, 6U));
  std::vector<unsigned> vls(16);
  for (unsigned sl = 0; sl < vls.size(); ++sl) vls[sl] = *rc::gen::inRange(0U, 15U);
  // Layers have VLs of their own afterwards.
  for (unsigned sl = 0; sl < torus.layers(); ++sl) {
    while (std::find(vls.begin(), vls.begin() + sl, vls[sl]) != vls.begin() + sl)
      vls[sl] = (vls[sl] + 1) % 15;
  }
  const auto change = torus.change([&](unsigned sl) { return vls[sl]; });
  const auto found = vl_steps(torus.context(), change);
  std::mt19937 random(*rc::gen::arbitrary<std::uint32_t>());
  SlSet done;
  for (std::size_t i = 0; i < found.steps.size(); ++i) {
    const bool last = i + 1 == found.steps.size();
    if (found.proven || !last)
      RC_ASSERT(torus.loops_where_some_answered(change, done, found.steps[i], random) == 0U);
    done |= found.steps[i];
  }
  RC_ASSERT(torus.loops_where_some_answered(change, done, {}, random) == 0U);
}

}  // namespace
}  // namespace smd::routing
