// SPDX-License-Identifier: Apache-2.0
#include "routing/topology/rates.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "routing/quality/quality.h"
#include "routing/repair/repair.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_engines.h"

namespace smd::routing {
namespace {

using fabrics::Routable;

constexpr std::uint32_t kEdr = 100'000, kHdr = 200'000, kNdr = 400'000;

/// Routes over all cables of a rate, in both directions.
std::uint64_t routes_at(const Routable& fabric, const Routes& routes, std::uint32_t rate) {
  const auto& topology = fabric.topology;
  const auto paths = link_paths({topology, fabric.lids, Serial{}}, routes, hosts_in_file_order(topology));
  std::uint64_t sum = 0;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      for (const auto port : topology.group(s, g).ports) {
        if (topology.rate(s, port) == rate) sum += paths[topology.channel(s, port)];
      }
    }
  }
  return sum;
}

/// Of the cable that carries most for its rate.
std::uint64_t heaviest(const Routable& fabric, const Routes& routes) {
  const auto& topology = fabric.topology;
  const auto weights = route_weights(topology);
  const auto paths = link_paths({topology, fabric.lids, Serial{}}, routes, hosts_in_file_order(topology));
  std::uint64_t most = 0;
  for (std::size_t c = 0; c < paths.size(); ++c) {
    most = std::max(most, paths[c] * (weights.empty() ? 1 : weights[c]));
  }
  return most;
}

TopologyInput with_rates(TopologyInput input, std::initializer_list<std::uint32_t> rates) {
  for (std::size_t i = 0; i < input.links.size(); ++i) input.links[i].mbps = rates.begin()[i % rates.size()];
  return input;
}

TEST(Rates, AreWholeMultiplesAndTheUnknownIsTheUsual) {
  const Topology topology(with_rates(fabrics::ft2(3, 1, 1, 2).input(), {kEdr, 0, kHdr, kEdr, 0, 56'000}));
  const auto rate = [&](SwitchIndex leaf, std::uint8_t port) { return topology.rate(leaf, PortNum{port}); };

  EXPECT_FALSE(topology.one_rate());
  EXPECT_EQ(rate(0, 2), 25U);  // the first port is the host's
  EXPECT_EQ(rate(0, 3), 25U);
  EXPECT_EQ(rate(1, 2), 50U);
  EXPECT_EQ(rate(2, 3), 14U);
  EXPECT_EQ(rate(3, 3), 50U);  // the same cable from above
  const auto weights = route_weights(topology);
  EXPECT_EQ(weights[topology.channel(0, PortNum{2})], 14U);
  EXPECT_EQ(weights[topology.channel(1, PortNum{2})], 7U);
  EXPECT_EQ(weights[topology.channel(2, PortNum{3})], 25U);
}

TEST(Rates, ThatAreAllAlikeDoNotMatter) {
  const auto none = fabrics::ft3(4).input();
  EXPECT_TRUE(Topology(none).one_rate());
  EXPECT_TRUE(Topology(with_rates(none, {kHdr})).one_rate());
  EXPECT_TRUE(Topology(with_rates(none, {kHdr, 0})).one_rate());
  EXPECT_TRUE(route_weights(Topology(none)).empty());
}

/// Half of the spines are EDR, beside HDR: the ideal by time is the bound of the leaves.
TEST(Rates, SlowSpinesTakeTheirShareWithHardlyACollisionInShifts) {
  const auto input = with_rates(
      fabrics::ft2(16, 8, 16, 2).input(),
      {kEdr, kEdr, kEdr, kEdr, kEdr, kEdr, kEdr, kEdr, kHdr, kHdr, kHdr, kHdr, kHdr, kHdr, kHdr, kHdr});
  const auto fabric = fabrics::with_lids(input);
  const Serial serial;
  const RoutingContext context{fabric.topology, fabric.lids, serial};

  const auto quality = measure(context, routed_by("dmodc", fabric), hosts_in_file_order(fabric.topology));

  EXPECT_LE(quality.max_link_time, 1.1 * quality.leaf_bound);
  EXPECT_LE(quality.shift_max, 2U);
}

class EveryEngineByRate : public testing::TestWithParam<EngineInfo> {};

TEST_P(EveryEngineByRate, GivesParallelCablesTheirShares) {
  for (const auto& [slow, fast, times] :
       {std::array{kEdr, kHdr, 2U}, std::array{kEdr, kNdr, 4U}, std::array{56'000U, 112'000U, 2U}}) {
    const auto input = with_rates(fabrics::ft2(2, 1, 2 * (times + 1), 2).input(), {fast, slow});
    const auto fabric = fabrics::with_lids(input);

    const auto routes = routed_by(GetParam(), fabric);

    EXPECT_EQ(routes_at(fabric, routes, times), times * routes_at(fabric, routes, 1)) << fast;
    EXPECT_TRUE(verify_routes({fabric.topology, fabric.lids, Serial{}}, routes).clean());
  }
}

TEST_P(EveryEngineByRate, GivesASlowSpineItsShare) {
  const auto fabric = fabrics::with_lids(with_rates(fabrics::ft2(4, 3, 15).input(), {kHdr, kEdr, kHdr}));

  const auto routes = routed_by(GetParam(), fabric);

  EXPECT_EQ(routes_at(fabric, routes, 2), 4 * routes_at(fabric, routes, 1));
}

TEST_P(EveryEngineByRate, RoutesALevelOfAnotherRateAsIfItHadTheSame) {
  auto input = fabrics::ft3(8).input();
  const auto plain = fabrics::with_lids(input);
  for (auto& link : input.links) link.mbps = link.a < 32 ? kHdr : kNdr;
  const auto rated = fabrics::with_lids(input);

  const auto before = routed_by(GetParam(), plain), now = routed_by(GetParam(), rated);

  for (std::size_t s = 0; s < now.rows.size(); ++s) ASSERT_EQ(*before.rows[s], *now.rows[s]) << s;
}

INSTANTIATE_TEST_SUITE_P(Engines, EveryEngineByRate, testing::ValuesIn(engines_for_trees()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Rates, CountWhereTheFabricIsNoTree) {
  auto builder = fabrics::torus(3, 3, 12);
  const auto once = builder.input().links.size();
  for (std::size_t i = 0; i < once; ++i) {
    const auto link = builder.input().links[i];
    builder.link(link.a, link.b);
  }
  for (std::size_t i = 0; i < 2 * once; ++i) builder.input().links[i].mbps = i < once ? kEdr : kHdr;
  const auto fabric = fabrics::with_lids(builder.input());

  for (const auto& engine : general_engines()) {
    const auto routes = routed_by(engine, fabric);

    const auto slow = routes_at(fabric, routes, 1), fast = routes_at(fabric, routes, 2);
    EXPECT_GE(fast * 10, slow * 18) << engine.name;
    EXPECT_LE(fast * 10, slow * 22) << engine.name;
  }
}

TEST(Rates, CountForWhatARepairMoves) {
  // One spine by two cables, the other by an EDR and an HDR one; the first fails.
  const auto input = with_rates(fabrics::ft2(2, 2, 36, 2).input(), {kHdr, kHdr, kHdr, kEdr});
  const auto whole = fabrics::told(input);
  auto rest = whole;
  std::vector<bool> gone(input.switches.size());
  gone[2] = true;
  rest = fabrics::without_switches(rest, gone);
  const auto before = whole.routable(), now = rest.routable();
  const auto& engine = *find_engine("dmodc");
  std::vector<OldRow> old;
  const auto routes = routed_by(engine, before);
  for (SwitchIndex s = 0; s < routes.rows.size(); ++s)
    old.push_back({before.topology.guid(s), routes.rows[s]});

  const auto repaired = repair_routes({.context = {now.topology, now.lids, Serial{}},
                                       .old = old,
                                       .reference = merge({}, before.topology),
                                       .engine = engine,
                                       .options = {}});

  // Leaves lead to half of the hosts by other ports now; spines keep their entries.
  ASSERT_TRUE(repaired);
  std::size_t slow = 0, fast = 0;
  for (const auto leaf : now.topology.leaves()) {
    for (EndIndex e = 0; e < now.topology.end_ports().size(); ++e) {
      if (now.topology.end_ports()[e].sw == leaf) continue;
      const PortNum port{entry(repaired->routes.rows[leaf].get(), now.lids.of_end(e).base)};
      ++(now.topology.rate(leaf, port) == 1 ? slow : fast);
    }
  }
  EXPECT_GE(fast * 10, slow * 18);
  EXPECT_LE(fast * 10, slow * 22);
}

/// Trees with cables that came up with less than they should, and with some that are gone.
TopologyInput any_degraded(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto builder = random() % 2 == 0
                     ? fabrics::ft3(random() % 2 == 0 ? 4 : 6)
                     : fabrics::ft2(2 + random() % 8, 2 + random() % 4, 1 + random() % 8, 1 + random() % 3);
  auto whole = fabrics::told(builder.input());
  const auto percent = std::array{0U, 0U, 2U, 5U}[random() % 4];
  auto input = fabrics::damaged(whole, random(), whole.input.links.size() * percent / 100, 0).input;
  const auto slow = 1 + random() % 20;
  for (auto& link : input.links) {
    link.mbps = random() % 100 >= slow ? kHdr : std::array{50'000U, kEdr, 56'000U, 0U}[random() % 4];
  }
  return input;
}

RC_GTEST_PROP(Rates, DegradedTreesAreRoutedWellAndAlikeInAnyOrder, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto input = any_degraded(seed);
  const auto fabric = fabrics::with_lids(input);
  const auto blind = fabrics::with_lids(with_rates(input, {0}));
  const auto shuffled = fabrics::shuffled(fabric, input, seed);

  for (const auto& engine : engines_for_trees()) {
    const auto run = [&](const Routable& of, const Parallel& parallel) {
      return engine.run({.context = {of.topology, of.lids, parallel}});
    };
    const auto routes = run(fabric, Serial{}), other = run(shuffled, Threads{3}),
               plain = run(blind, Serial{});

    RC_ASSERT(routes.has_value() == plain.has_value());
    RC_ASSERT(routes.has_value() == other.has_value());
    if (!routes) continue;
    for (std::size_t s = 0; s < routes->rows.size(); ++s) RC_ASSERT(*routes->rows[s] == *other->rows[s]);
    const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes);
    RC_ASSERT(found.host_pairs_unreachable == 0U);
    RC_ASSERT(found.loops == 0U);
    RC_ASSERT(engine.name == "minhop" || found.clean());
    // Moves end where no single one helps: in one of some hundred fabrics that is more, up to a quarter.
    RC_ASSERT(heaviest(fabric, *routes) * 2 <= heaviest(fabric, *plain) * 3);
  }
}

/// With cables side by side, cables of a switch to itself, hosts anywhere.
RC_GTEST_PROP(Rates, AnyFabricIsRoutedAlikeInAnyOrder, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  std::mt19937_64 random(seed);
  auto input =
      random() % 3 == 0 ? fabrics::torus(4, 4, 2).input() : fabrics::irregular(seed, 20, 40, 40).input();
  for (auto& link : input.links) link.mbps = std::array{0U, 56'000U, kEdr, kHdr, kNdr}[random() % 5];
  const auto fabric = fabrics::with_lids(input, 1);
  const auto shuffled = fabrics::shuffled(fabric, input, seed);

  for (const auto& engine : general_engines()) {
    const auto routes = routed_by(engine, fabric), other = routed_by(engine, shuffled);

    for (std::size_t s = 0; s < routes.rows.size(); ++s) RC_ASSERT(*routes.rows[s] == *other.rows[s]);
    const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, routes);
    RC_ASSERT(found.host_pairs_unreachable == 0U);
    RC_ASSERT(found.loops == 0U);
    RC_ASSERT(engine.name == "minhop" || found.clean());
  }
}

}  // namespace
}  // namespace smd::routing
