// SPDX-License-Identifier: Apache-2.0
// Engines with several layers: proven by the oracle in both directions, the same bytes whatever the threads.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "routing/quality/quality.h"
#include "routing/verify/changes.h"
#include "routing/verify/path_layers.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_layer_oracle.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

using fabrics::Routable;

Routable of(const std::string& spec) { return fabrics::with_lids(fabrics::of_spec(spec).input); }

std::expected<Routes, RouteError> run(std::string_view engine, const Routable& fabric, unsigned vls,
                                      const Parallel& parallel = Serial{}) {
  return find_engine(engine)->run({.context = {fabric.topology, fabric.lids, parallel}, .vl_budget = vls});
}

fabrics::Builder any_fabric(unsigned most_switches) {
  if (*rc::gen::arbitrary<bool>()) {
    const auto width = *rc::gen::inRange(3U, 6U);
    return fabrics::torus(width, *rc::gen::inRange(1U, most_switches / width + 1), *rc::gen::inRange(1U, 3U));
  }
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto switches = *rc::gen::inRange(2U, most_switches + 1);
  return fabrics::irregular(seed, switches, *rc::gen::inRange(0U, 2 * switches), *rc::gen::inRange(0U, 40U));
}

void expect_proven_by_oracle(const Routable& fabric, const Routes& routes) {
  const auto slow = oracle::verify(fabric.topology, fabric.lids, routes);
  const auto layered = oracle::verify_layers(fabric.topology, fabric.lids, routes);
  RC_ASSERT(slow.host_pairs_unreachable + slow.loops + slow.dead_ends == 0U);
  RC_ASSERT(!layered.any_credit_loop);
  const auto fast = verify_routes({fabric.topology, fabric.lids, Serial{}}, routes);
  RC_ASSERT(fast.clean());
  RC_ASSERT(fast.fixed_sl_ok == !layered.fixed_loop);
  RC_ASSERT(fast.unrouted_by_rule == slow.unrouted_by_rule);
}

RC_GTEST_PROP(Layers, AreProvenByTheOracleInBothDirections, ()) {
  const auto fabric =
      fabrics::with_lids(any_fabric(24).input(), static_cast<std::uint8_t>(*rc::gen::inRange(0, 2)));
  const auto vls = *rc::gen::inRange(1U, 9U);
  const auto engine = *rc::gen::element<std::string>("dfsssp", "lash");

  const auto routes = run(engine, fabric, vls);

  RC_TAG(engine, routes.has_value());
  if (!routes) {
    RC_ASSERT(routes.error().cause == RouteError::Cause::too_few_vls);
    RC_ASSERT(routes.error().vls == vls);
    return;
  }
  RC_ASSERT(routes->layers.count <= vls);
  expect_proven_by_oracle(fabric, *routes);
}

RC_GTEST_PROP(Nue, IsProvenByTheOracleWithOneVl, ()) {
  const auto fabric =
      fabrics::with_lids(any_fabric(40).input(), static_cast<std::uint8_t>(*rc::gen::inRange(0, 2)));

  const auto routes = run("nue", fabric, 1);

  RC_ASSERT(routes.has_value());
  RC_ASSERT(routes->layers == Layers{});
  expect_proven_by_oracle(fabric, *routes);
  RC_ASSERT(oracle::verify(fabric.topology, fabric.lids, *routes).unreachable_switch_pairs == 0U);
}

RC_GTEST_PROP(Layers, WrongLayersAreFound, ()) {
  const auto rings = fabrics::torus(*rc::gen::inRange(1U, 3U), *rc::gen::inRange(4U, 8U), 1);
  const auto fabric = fabrics::with_lids((*rc::gen::arbitrary<bool>() ? rings : any_fabric(12)).input());
  auto routes = run("sssp", fabric, 1);
  const auto n = fabric.topology.switches();
  routes->layers = {.count = 2, .by_lid = {}, .by_pair = PairLayers(n)};
  for (SwitchIndex a = 0; a < n; ++a) {
    for (SwitchIndex b = 0; b < a; ++b) routes->layers.by_pair.set(a, b, *rc::gen::inRange(0U, 2U));
  }

  const auto fast = verify_routes({fabric.topology, fabric.lids, Threads{3}}, *routes);

  const auto slow = oracle::verify_layers(fabric.topology, fabric.lids, *routes);
  RC_TAG(slow.credit_loop, slow.any_credit_loop);
  RC_ASSERT((fast.credit_loops != 0) == slow.credit_loop);
  RC_ASSERT((fast.credit_loops + fast.management_credit_loops != 0) == slow.any_credit_loop);
  RC_ASSERT(fast.fixed_sl_ok == !slow.fixed_loop);
  RC_ASSERT(fast.credit_loop_example.empty() == !slow.any_credit_loop);
  for (const auto& hop : fast.credit_loop_example) RC_ASSERT(hop.lid != Lid{0});
}

/// Any dimension of any port: some of these close cycles of VLs and some break those of channels. Or one VL.
VlMap any_vls(const Topology& topology) {
  const auto indexes = *rc::gen::element(1U, VlMap::kWithoutTurns, VlMap::kWithTurns);
  if (indexes == 1) return {indexes, {}};
  std::vector<std::vector<std::uint8_t>> dimensions(topology.switches());
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (unsigned p = 0; p <= topology.ports(s); ++p)
      dimensions[s].push_back(static_cast<std::uint8_t>(p == 0 ? 3 : *rc::gen::inRange(0, 4)));
  }
  return {indexes, std::move(dimensions)};
}

RC_GTEST_PROP(Layers, OnVlsByPortAreFollowedAsTheOracleDoes, ()) {
  const auto rings = fabrics::torus(*rc::gen::inRange(1U, 3U), *rc::gen::inRange(4U, 8U), 1);
  const auto fabric = fabrics::with_lids((*rc::gen::arbitrary<bool>() ? rings : any_fabric(12)).input());
  auto routes = run(*rc::gen::element<std::string>("sssp", "nue"), fabric, 1);
  const auto n = fabric.topology.switches();
  routes->layers = {.count = 8, .by_lid = {}, .by_pair = PairLayers(n), .vls = any_vls(fabric.topology)};
  for (SwitchIndex a = 0; a < n; ++a) {
    for (SwitchIndex b = 0; b < a; ++b) routes->layers.by_pair.set(a, b, *rc::gen::inRange(0U, 8U));
  }

  const auto fast = verify_routes({fabric.topology, fabric.lids, Threads{3}}, *routes);

  const auto slow = oracle::verify_layers(fabric.topology, fabric.lids, *routes);
  RC_TAG(slow.any_credit_loop, slow.fixed_loop);
  RC_ASSERT(fast.vls == routes->layers.vls.indexes());
  RC_ASSERT((fast.credit_loops != 0) == slow.credit_loop);
  RC_ASSERT((fast.credit_loops + fast.management_credit_loops != 0) == slow.any_credit_loop);
  RC_ASSERT(fast.fixed_sl_ok == !slow.fixed_loop);
  RC_ASSERT(fast.credit_loop_example.empty() == !slow.any_credit_loop);
  for (const auto& hop : fast.credit_loop_example) RC_ASSERT(hop.lid != Lid{0});
}

RC_GTEST_PROP(Layers, HaveTheSameBytesForAnyThreadsAndOrder, ()) {
  const auto builder = any_fabric(60);
  const auto fabric = fabrics::with_lids(builder.input(), static_cast<std::uint8_t>(*rc::gen::inRange(0, 2)));
  const auto shuffled = fabrics::shuffled(fabric, builder.input(), *rc::gen::arbitrary<std::uint64_t>());
  const auto engine = *rc::gen::element<std::string>("sssp", "dfsssp", "lash", "nue");

  const auto one = run(engine, fabric, 8);
  const auto other = run(engine, shuffled, 8, Threads{8});

  RC_ASSERT(one.has_value() == other.has_value());
  if (!one) return;
  RC_ASSERT(one->layers == other->layers);
  for (std::size_t s = 0; s < one->rows.size(); ++s) RC_ASSERT(*one->rows[s] == *other->rows[s]);
}

TEST(Layers, LargeRandomGraphsAreProvenByTheOracle) {
  for (const auto* const engine : {"dfsssp", "lash"}) {
    for (const std::uint64_t seed : {1U, 2U}) {
      const auto fabric = fabrics::with_lids(fabrics::irregular(seed, 200, 300, 200).input());

      const auto routes = run(engine, fabric, 15, Threads{2});

      ASSERT_TRUE(routes) << to_string(routes.error());
      const auto found = verify_routes({fabric.topology, fabric.lids, Threads{2}}, *routes);
      EXPECT_TRUE(found.clean()) << describe(found, fabric.topology);
      EXPECT_FALSE(oracle::verify_layers(fabric.topology, fabric.lids, *routes).any_credit_loop);
    }
  }
}

/// Of the second LIDs of ports other switches are crossed than of the first ones.
TEST(Layers, ThatDoNotSufficeKeepOnlyPathsThatOthersCrossInTheSamePlane) {
  const auto fabric = fabrics::with_lids(fabrics::irregular(3871631639858549U, 12, 11, 20).input(), 1);

  const auto routes = run("dfsssp", fabric, 1);

  ASSERT_TRUE(routes) << to_string(routes.error());
  EXPECT_FALSE(oracle::verify_layers(fabric.topology, fabric.lids, *routes).any_credit_loop);
}

TEST(Layers, ATreeNeedsOneLayer) {
  for (const auto* const engine : {"sssp", "dfsssp", "lash"}) {
    const auto fabric = of("ft3:8");

    const auto routes = run(engine, fabric, 1);

    ASSERT_TRUE(routes) << to_string(routes.error());
    EXPECT_EQ(routes->layers.count, 1U);
    const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes);
    EXPECT_TRUE(found.clean()) << describe(found, fabric.topology);
    EXPECT_TRUE(found.fixed_sl_ok);
    EXPECT_EQ(found.unreachable_switch_pairs, 0U);
  }
}

// Paths between inner switches that others cross take layers of their own where they fit into no other.
TEST(Layers, ADamagedTreeNeedsNoMoreThanOpensm) {
  const auto fabric = of("ft3:8+cut=5:3+guids=2");
  for (const auto* const engine : {"dfsssp", "lash"}) {
    const auto routes = run(engine, fabric, 8);

    ASSERT_TRUE(routes) << engine;
    EXPECT_LE(routes->layers.vl_indexes(), 4U) << engine;
    expect_proven_by_oracle(fabric, *routes);
  }
}

TEST(Layers, ARingNeedsTwoAndIsRefusedWithOne) {
  const auto fabric = of("torus:5:2");
  for (const auto* const engine : {"dfsssp", "lash"}) {
    const auto refused = run(engine, fabric, 1), routes = run(engine, fabric, 8);

    ASSERT_FALSE(refused);
    EXPECT_EQ(to_string(refused.error()), "needs more than 1 VL");
    ASSERT_TRUE(routes);
    const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes);
    EXPECT_TRUE(found.clean()) << describe(found, fabric.topology);
    EXPECT_EQ(found.layers, 2U);
    EXPECT_FALSE(found.fixed_sl_ok);
    EXPECT_TRUE(found.reverse_ok);
  }
}

/// Layers by LID are one direction's only: the way back goes by the other's LID.
TEST(Layers, ByLidMayNotHoldForTheWayBack) {
  const auto fabric = of("torus:5:1");
  auto routes = *run("sssp", fabric, 1);
  routes.layers.count = 5;
  routes.layers.by_lid.resize(std::size_t{fabric.lids.top().value()} + 1);
  for (std::uint32_t value = 1; value <= fabric.lids.top().value(); ++value) {
    const auto to = fabric.lids.destination(Lid{static_cast<std::uint16_t>(value)});
    routes.layers.by_lid[value] = static_cast<std::uint8_t>(to.sw);
  }

  const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, routes);

  EXPECT_TRUE(found.clean()) << describe(found, fabric.topology);
  EXPECT_EQ(found.reverse_ok, !oracle::verify_layers(fabric.topology, fabric.lids, routes).credit_loop);
  EXPECT_FALSE(found.fixed_sl_ok);
}

TEST(Layers, AreNotProvenByTheProofOfOthers) {
  const auto fabric = of("torus:5:2");
  const auto routes = *run("lash", fabric, 8);
  const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, routes);

  EXPECT_FALSE(verify_changes({fabric.topology, fabric.lids, routes.rows, routes.layers, found},
                              {fabric.topology, fabric.lids, Serial{}}, routes));
}

struct WantedLayers {
  const char* spec;
  const char* engine;
  std::uint64_t max_link_paths;
  unsigned layers;
};

/// With eight VLs, or with fewer layers and less load.
void expect_wanted(const WantedLayers& wanted) {
  const auto& [spec, engine, load, layers] = wanted;
  const auto fabric = of(spec + std::string("+guids=5"));

  const auto routes = run(engine, fabric, 8);

  ASSERT_TRUE(routes) << spec << ' ' << engine << ' ' << to_string(routes.error());
  EXPECT_LE(routes->layers.count, layers) << spec << ' ' << engine;
  EXPECT_LE(measure({fabric.topology, fabric.lids, Serial{}}, *routes, hosts_in_file_order(fabric.topology))
                .max_link_paths,
            load)
      << spec << ' ' << engine;
  EXPECT_TRUE(verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes).clean()) << spec;
}

// What opensm 3.3.23's engines of these names need with eight VLs, or less.
TEST(Layers, AndLoadsAreThoseOfOpensmsEnginesOrLess) {
  for (const auto& wanted :
       {WantedLayers{"torus:5x5:4", "dfsssp", 240, 3}, WantedLayers{"torus:5x5:4", "lash", 240, 3},
        WantedLayers{"torus:4x4x4:4", "dfsssp", 576, 8}, WantedLayers{"torus:4x4x4:4", "lash", 768, 4},
        WantedLayers{"torus:6x6x6:2", "dfsssp", 864, 8}, WantedLayers{"hyperx:8x8:4", "dfsssp", 128, 1},
        WantedLayers{"hyperx:8x8:4", "lash", 128, 1}, WantedLayers{"mesh:8x8:4", "dfsssp", 2048, 1},
        WantedLayers{"dragonfly:4:2:2", "dfsssp", 88, 3}, WantedLayers{"dragonfly:4:2:2", "lash", 88, 3}}) {
    expect_wanted(wanted);
  }
}

// opensm 3.3.23's nue with one VL has 278, 464, 392, 906 and 2,682.
TEST(Nue, HasLessLoadThanOpensmsOnOneVl) {
  for (const auto& [spec, load] :
       {std::pair("dragonfly:4:2:2", 220U), std::pair("torus:5x5:4", 464U), std::pair("hyperx:8x8:4", 200U),
        std::pair("random:24:6:5:1", 400U), std::pair("random:60:8:6:1", 1400U)}) {
    const auto fabric = of(spec + std::string("+guids=5"));

    const auto routes = run("nue", fabric, 1, Threads{2});

    const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes);
    EXPECT_TRUE(found.clean() && found.fixed_sl_ok) << spec << describe(found, fabric.topology);
    EXPECT_LE(measure({fabric.topology, fabric.lids, Serial{}}, *routes, hosts_in_file_order(fabric.topology))
                  .max_link_paths,
              load)
        << spec;
  }
}

// With one root each: 850 and 1,308, of which the worst are 136 and 212.
TEST(Nue, TakesTheBestOfSeveralRootsInSmallFabrics) {
  for (const auto& [spec, load] : {std::pair("torus:5x5:2", 830U), std::pair("dragonfly:4:2:2", 1270U)}) {
    std::uint64_t sum = 0;
    for (unsigned guids = 1; guids <= 8; ++guids) {
      const auto fabric = of(fmt::format("{}+guids={}", spec, guids));
      const auto routes = run("nue", fabric, 1, Threads{2});
      sum += measure({fabric.topology, fabric.lids, Serial{}}, *routes, hosts_in_file_order(fabric.topology))
                 .max_link_paths;
    }
    EXPECT_LE(sum, load) << spec;
  }
}

/// Greedy layers would be more than 8 in the first two, and paths breadth first less even in the others.
TEST(Layers, OfEvenToriAreTwoForEachRingAndTheirLoadsEven) {
  for (const auto& wanted :
       {WantedLayers{"torus:8x8x8:1", "lash", 576, 8}, WantedLayers{"torus:8x8x8:1", "dfsssp", 576, 8},
        WantedLayers{"torus:6x6x6:2", "lash", 720, 8}, WantedLayers{"torus:8x6:2", "lash", 216, 4},
        WantedLayers{"torus:8:4", "lash", 144, 2}, WantedLayers{"torus:7x8:1", "lash", 64, 4},
        WantedLayers{"torus:4x5:2", "lash", 48, 2}}) {
    expect_wanted(wanted);
  }
  const auto small = of("torus:6x5:1+guids=3");
  expect_proven_by_oracle(small, *run("lash", small, 4));
}

}  // namespace
}  // namespace smd::routing
