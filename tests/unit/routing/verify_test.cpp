// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/verify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "routing/chain/chain.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_fabrics.h"
#include "tests/support/routing_oracle.h"

namespace smd::routing {
namespace {

std::string guid_in_words(Guid guid) { return fmt::format("N{:x}", guid.value()); }

using fabrics::Builder;
using fabrics::Routable;

/// Some entries changed to any byte.
Routes spoiled(Routes routes, std::uint64_t seed, unsigned changes) {
  std::mt19937_64 random(seed);
  for (unsigned i = 0; i < changes && !routes.rows.empty(); ++i) {
    auto& row = routes.rows[random() % routes.rows.size()];
    auto copy = std::make_shared<LftRow>(*row);
    const auto any = static_cast<std::uint8_t>(random());
    (*copy)[random() % copy->size()] = random() % 2 == 0 ? any : any % 8;
    row = std::move(copy);
  }
  if (!routes.rows.empty() && random() % 8 == 0) routes.rows[random() % routes.rows.size()] = nullptr;
  return routes;
}

void expect_same(const oracle::Found& slow, const Verification& fast) {
  RC_ASSERT(fast.host_pairs_unreachable == slow.host_pairs_unreachable);
  RC_ASSERT(fast.aggregation_pairs_unreachable == slow.aggregation_pairs_unreachable);
  RC_ASSERT(fast.unrouted_by_rule == slow.unrouted_by_rule);
  RC_ASSERT(fast.unreachable_switch_pairs == slow.unreachable_switch_pairs);
  RC_ASSERT(fast.loops == slow.loops);
  RC_ASSERT(fast.dead_ends == slow.dead_ends);
  RC_ASSERT((fast.credit_loops != 0) == slow.credit_loop);
  RC_ASSERT((fast.credit_loops + fast.management_credit_loops != 0) == slow.any_credit_loop);
}

Builder any_fabric() {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  if (*rc::gen::inRange(0, 3) == 0)
    return fabrics::damaged(fabrics::ft3(4), seed, *rc::gen::inRange(0U, 40U));
  return fabrics::irregular(seed, *rc::gen::inRange(1U, 16U), *rc::gen::inRange(0U, 16U),
                            *rc::gen::inRange(0U, 40U));
}

RC_GTEST_PROP(Verify, AgreesWithFollowingEveryPacket, ()) {
  const auto fabric =
      fabrics::with_lids(any_fabric().input(), static_cast<std::uint8_t>(*rc::gen::inRange(0, 3)),
                         *rc::gen::element(0U, 0U, 11U, 70U));
  const auto engine = general_engines()[*rc::gen::inRange<std::size_t>(0, 2)];
  const auto routes = spoiled(routed_by(engine, fabric), *rc::gen::arbitrary<std::uint64_t>(),
                              *rc::gen::element(0U, 1U, 5U, 60U, 1000U));

  const auto fast = verify_routes({fabric.topology, fabric.lids, Serial{}}, routes);

  expect_same(oracle::verify(fabric.topology, fabric.lids, routes), fast);
  RC_ASSERT((fast.loops == 0) == fast.loop_example.empty());
  RC_ASSERT((fast.dead_ends == 0) == fast.dead_end_example.empty());
  RC_ASSERT((fast.host_pairs_unreachable == 0) == fast.unreachable_example.empty());
  RC_ASSERT((fast.aggregation_pairs_unreachable == 0) == fast.aggregation_example.empty());
}

RC_GTEST_PROP(Updn, IsProvenOnAnyFabric, ()) {
  const auto fabric =
      fabrics::with_lids(any_fabric().input(), static_cast<std::uint8_t>(*rc::gen::inRange(0, 3)));

  const auto found =
      verify_routes({fabric.topology, fabric.lids, Serial{}}, routed_by(*find_engine("updn"), fabric));

  if (!found.clean()) RC_FAIL(describe(found, fabric.topology));
}

RC_GTEST_PROP(Updn, RoutesEveryPairThatTheRootsAllow, ()) {
  const auto fabric = fabrics::with_lids(any_fabric().input());
  const auto& topology = fabric.topology;
  std::vector<Guid> roots;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (*rc::gen::inRange(0, 3) == 0) roots.push_back(topology.guid(s));
  }
  RC_PRE(!roots.empty());

  const auto routes = find_engine("updn")->run(
      {.context = {topology, fabric.lids, Serial{}}, .options = RoutingOptions{.root_guids = roots}});

  std::vector<SwitchIndex> root_indexes;
  for (const auto guid : roots) root_indexes.push_back(topology.find(guid));
  const auto order = rank_from_roots(topology, root_indexes);
  const auto found = verify_routes({topology, fabric.lids, Serial{}}, *routes);
  RC_ASSERT(found.loops + found.dead_ends + found.credit_loops + found.management_credit_loops == 0U);
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto legal = oracle::reachable_up_down(topology, order, s);
    for (std::uint32_t value = 1; value <= fabric.lids.top().value(); ++value) {
      const auto lid = Lid{static_cast<std::uint16_t>(value)};
      const auto to = fabric.lids.destination(lid).sw;
      if (to == kNoSwitch) continue;
      RC_ASSERT((entry((*routes).rows[s].get(), lid) != kNoRoute) == legal[to]);
    }
  }
}

TEST(Verify, NamesTheCreditLoopOfARing) {
  const auto fabric = fabrics::with_lids(fabrics::torus(1, 5, 1).input());

  const auto found =
      verify_routes({fabric.topology, fabric.lids, Serial{}}, routed_by(*find_engine("minhop"), fabric));

  EXPECT_NE(found.credit_loops, 0U);
  ASSERT_EQ(found.credit_loop_example.size(), 5U);
  for (const auto& hop : found.credit_loop_example) EXPECT_NE(hop.lid, Lid{0});
  EXPECT_FALSE(found.ok());
}

TEST(Verify, TreatsLayersApart) {
  const auto fabric = fabrics::with_lids(fabrics::torus(1, 5, 1).input());
  auto routes = routed_by(*find_engine("minhop"), fabric);
  routes.layers.count = 5;
  routes.layers.by_lid.resize(std::size_t{fabric.lids.top().value()} + 1);
  for (std::uint32_t value = 1; value <= fabric.lids.top().value(); ++value) {
    const auto to = fabric.lids.destination(Lid{static_cast<std::uint16_t>(value)});
    routes.layers.by_lid[value] = static_cast<std::uint8_t>(to.sw);
  }

  const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, routes);

  EXPECT_TRUE(found.clean()) << describe(found, fabric.topology);
  EXPECT_EQ(found.vls, 5U);
}

TEST(Verify, SaysTheSameWithManyThreads) {
  const auto fabric = fabrics::with_lids(fabrics::damaged(fabrics::ft3(8), 3, 20).input());
  const auto routes = spoiled(routed_by(*find_engine("minhop"), fabric), 9, 200);

  const auto one = verify_routes({fabric.topology, fabric.lids, Serial{}}, routes);
  const auto other = verify_routes({fabric.topology, fabric.lids, Threads{4}}, routes);

  EXPECT_EQ(describe(one, fabric.topology), describe(other, fabric.topology));
  EXPECT_EQ(one.unrouted_by_rule, other.unrouted_by_rule);
}

TEST(Verify, TwoHostsBackToBackAreFine) {
  TopologyInput input;
  input.end_ports.push_back({Guid{1}, kNoSwitch, PortNum{1}, EndKind::compute, Guid{1}, Guid{1}});
  input.end_ports.push_back({Guid{2}, kNoSwitch, PortNum{1}, EndKind::compute, Guid{2}, Guid{2}});
  const auto fabric = fabrics::with_lids(input);

  const auto chosen = route_with_chain({}, {.context = {fabric.topology, fabric.lids, Serial{}}});

  ASSERT_TRUE(chosen);
  EXPECT_TRUE(chosen->verification.clean());
  EXPECT_TRUE(chosen->routes.rows.empty());
  EXPECT_EQ(fabric.lids.size(), 2U);
}

TEST(Chain, FallsBackFromWhatIsNotProvenAndSaysWhy) {
  const auto fabric = fabrics::with_lids(fabrics::torus(5, 5, 1).input());
  const EngineInput input{.context = {fabric.topology, fabric.lids, Serial{}}};
  const std::vector<ChainLink> chain{{"updn", RoutingOptions{.root_guids = {Guid{0x99}}}},
                                     {"minhop", RoutingOptions{}}};

  const auto chosen = route_with_chain(chain, input);
  const auto forced = route_with_chain(chain, input, {.allow_credit_loops = true, .on_step = {}});

  ASSERT_TRUE(chosen && forced);
  EXPECT_EQ(chosen->engine, "updn");
  EXPECT_TRUE(chosen->verification.clean());
  ASSERT_EQ(chosen->fell_back_from.size(), 2U);
  EXPECT_NE(chosen->fell_back_from[0].reason.find("0x0000000000000099"), std::string::npos);
  EXPECT_NE(chosen->fell_back_from[1].reason.find("credit loop"), std::string::npos);
  EXPECT_EQ(forced->engine, "minhop");
  EXPECT_EQ(forced->fell_back_from.size(), 1U);
}

/// Three leaves and three spines, the first of which is left with one leaf and has an aggregation node.
Builder lame_spine() {
  Builder b;
  for (unsigned i = 0; i < 6; ++i) b.add_switch(8);
  for (SwitchIndex leaf = 0; leaf < 3; ++leaf) {
    b.host(leaf);
    b.host(leaf);
    for (SwitchIndex spine = leaf == 1 ? 3 : 4; spine < 6; ++spine) b.link(leaf, spine);
  }
  b.host(0, EndKind::aggregation);
  b.host(3, EndKind::aggregation);
  return b;
}

TEST(Verify, PairsOfAHostAndAnAggregationNodeOfAnotherSwitchMayBeLeftOutAndAreNamed) {
  const auto builder = lame_spine();
  const auto fabric = fabrics::with_lids(builder.input());
  const auto routes = routed_by(*find_engine("updn"), fabric);

  const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, routes);

  EXPECT_TRUE(found.clean()) << describe(found, fabric.topology);
  EXPECT_EQ(found.host_pairs_unreachable, 0U);
  EXPECT_EQ(found.aggregation_pairs_unreachable, 8U);
  EXPECT_EQ(describe_left_out(found, fabric.topology, guid_in_words),
            "8 pairs of a host and an aggregation node have no legal path, "
            "as from 0x0000000000800000 N800000 to 0x0000000000800007 N800007 of N1003");
}

TEST(Verify, HostsMustReachTheAggregationNodeOfTheirOwnSwitch) {
  const auto fabric = fabrics::with_lids(lame_spine().input());
  auto routes = routed_by(*find_engine("updn"), fabric);
  auto row = std::make_shared<LftRow>(*routes.rows[0]);
  (*row)[fabric.end_lids[6].base.value()] = kNoRoute;
  routes.rows[0] = std::move(row);

  const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, routes);

  EXPECT_FALSE(found.ok());
  EXPECT_EQ(found.host_pairs_unreachable, 2U);
}

TEST(Chain, KeepsATreeInWhichAHostHasNoWayUpAndDownToAnAggregationNode) {
  for (const auto* const engine : {"dmodc", "ftree"}) {
    const auto fabric = fabrics::with_lids(lame_spine().input());
    const std::vector<ChainLink> chain{{engine, {}}};

    const auto chosen = route_with_chain(chain, {.context = {fabric.topology, fabric.lids, Serial{}}});

    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->engine, engine);
    EXPECT_TRUE(chosen->verification.clean()) << describe(chosen->verification, fabric.topology);
    EXPECT_EQ(chosen->verification.aggregation_pairs_unreachable, 8U);
  }
}

TEST(Chain, KeepsTheTreeWhereOnlyAggregationNodesDoNotReachEachOther) {
  auto builder = fabrics::ft2(8, 4, 4);
  for (SwitchIndex spine = 8; spine < 12; ++spine) builder.host(spine, EndKind::aggregation);
  const auto fabric = fabrics::with_lids(builder.input());
  for (const auto* const engine : {"dmodc", "ftree"}) {
    const std::vector<ChainLink> chain{{engine, {}}};

    const auto chosen = route_with_chain(chain, {.context = {fabric.topology, fabric.lids, Serial{}}});

    ASSERT_TRUE(chosen);
    EXPECT_EQ(chosen->engine, engine);
    EXPECT_TRUE(chosen->verification.clean());
    EXPECT_EQ(chosen->verification.unrouted_by_rule, 4U * 3U * 2U);
  }
}

TEST(Chain, StopsWhenToldTo) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(8).input());
  std::stop_source source;
  source.request_stop();

  const auto chosen =
      route_with_chain({}, {.context = {fabric.topology, fabric.lids, Serial{}, source.get_token()}});

  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().cause, RouteError::Cause::stopped);
}

}  // namespace
}  // namespace smd::routing
