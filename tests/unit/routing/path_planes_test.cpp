// SPDX-License-Identifier: Apache-2.0
// The paths to the LIDs of one port.
#include "routing/engines/path_planes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "routing/verify/verify.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_layer_oracle.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

std::expected<Routes, RouteError> routed_with_lids(std::string_view engine, const fabrics::Routable& fabric) {
  return find_engine(engine)->run({.context = {fabric.topology, fabric.lids, Serial{}}, .vl_budget = 8});
}

/// Of the pairs of hosts on different switches, the share whose paths meet at no switch between.
double apart(const fabrics::Routable& fabric, const Routes& routes) {
  std::size_t pairs = 0, none_shared = 0;
  for (const auto from : fabric.topology.leaves()) {
    for (EndIndex e = 0; e < fabric.topology.end_ports().size(); ++e) {
      const auto to = fabric.topology.end_ports()[e].sw;
      if (to == from) continue;
      std::set<SwitchIndex> met;
      bool twice = false;
      const auto range = fabric.lids.of_end(e);
      std::set<oracle::Channel> taken;
      for (std::uint32_t k = 0; k < range.count(); ++k) {
        const Lid lid{static_cast<std::uint16_t>(range.base.value() + k)};
        for (const auto& at : oracle::travel(fabric.topology, fabric.lids, routes, from, lid).channels) {
          twice = twice || !taken.insert(at).second || (at.first != from && !met.insert(at.first).second);
        }
      }
      ++pairs;
      none_shared += twice ? 0U : 1U;
    }
  }
  return static_cast<double>(none_shared) / static_cast<double>(pairs);
}

TEST(SeveralLids, HaveDisjointPathsInTrees) {
  for (const auto lmc : {std::uint8_t{1}, std::uint8_t{2}}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec("ft3:8+guids=1").input, lmc);
    for (const auto* engine : {"dmodc", "ftree", "updn", "minhop", "dfsssp", "lash", "sssp"}) {
      const auto routes = routed_with_lids(engine, fabric);
      ASSERT_TRUE(routes) << engine;
      EXPECT_TRUE(verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes).clean()) << engine;
      EXPECT_EQ(apart(fabric, *routes), 1) << engine << ' ' << int{lmc};
    }
  }
}

struct ApartInSpec {
  const char* spec;
  const char* engine;
  double share;
};

TEST(SeveralLids, HaveOtherPathsWhereThereAreOthersAsShort) {
  for (const auto& [spec, engine, share] :
       {ApartInSpec{"hyperx:6x6:2", "dfsssp", 0.7}, ApartInSpec{"hyperx:6x6:2", "lash", 0.7},
        ApartInSpec{"torus:4x4x4:1", "nue", 0.3}, ApartInSpec{"dragonfly:4:2:2", "dfsssp", 0.27},
        ApartInSpec{"dragonfly:4:2:2", "nue", 0.15}, ApartInSpec{"ft3:8", "nue", 0.8}}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec(spec + std::string("+guids=1")).input, 1);
    const auto routes = routed_with_lids(engine, fabric);
    ASSERT_TRUE(routes) << spec << ' ' << engine;
    EXPECT_TRUE(verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes).clean()) << spec << engine;
    EXPECT_GE(apart(fabric, *routes), share) << spec << ' ' << engine;
  }
}

/// The slow verification of the tests follows each LID.
RC_GTEST_PROP(SeveralLids, OfAnyFabricAreProvenInTheLayerOfTheirPair, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
  const auto switches = *rc::gen::inRange(3U, 16U);
  const auto builder = fabrics::irregular(seed, switches, *rc::gen::inRange(0U, 2 * switches), switches);
  const auto fabric = fabrics::with_lids(builder.input(), static_cast<std::uint8_t>(*rc::gen::inRange(0, 3)));
  for (const auto* engine : {"sssp", "dfsssp", "lash", "nue"}) {
    const auto routes = routed_with_lids(engine, fabric);
    if (!routes) continue;
    const auto slow = oracle::verify(fabric.topology, fabric.lids, *routes);
    RC_ASSERT(slow.host_pairs_unreachable + slow.loops + slow.dead_ends == 0U);
    const auto layered = oracle::verify_layers(fabric.topology, fabric.lids, *routes);
    RC_ASSERT(std::string_view(engine) == "sssp" || !layered.any_credit_loop);
    RC_ASSERT(verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes).credit_loops == 0U ||
              std::string_view(engine) == "sssp");
  }
}

}  // namespace
}  // namespace smd::routing
