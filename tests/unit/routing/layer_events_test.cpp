// SPDX-License-Identifier: Apache-2.0
// Cables of fabrics with layers fail and come back: repair in layers, and the writes between the tables.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "routing/repair/extend_layers.h"
#include "routing/repair/guid_layers.h"
#include "routing/update/update_schedule.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_fabrics.h"
#include "tests/support/routing_layer_oracle.h"

namespace smd::routing {
namespace {

using fabrics::Routable;

const std::vector<std::uint64_t> kAllBlocks(16, ~std::uint64_t{0});

fabrics::Builder layered_fabric(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto in_range = [&](unsigned first, unsigned end) {
    return first + static_cast<unsigned>(random() % (end - first));
  };
  if (random() % 2 == 0) return fabrics::torus(in_range(3, 6), in_range(3, 5), in_range(1, 3));
  const auto switches = in_range(3, 20);
  return fabrics::irregular(seed, switches, in_range(switches / 2, 2 * switches), in_range(4, 30));
}

/// Also of fabrics that need one layer the pairs are listed.
std::expected<Routes, RouteError> fresh(const Routable& fabric) {
  const auto engine = *rc::gen::element<std::string>("dfsssp", "lash");
  auto routes =
      find_engine(engine)->run({.context = {fabric.topology, fabric.lids, Serial{}}, .vl_budget = 8});
  if (routes && routes->layers.by_pair.empty())
    routes->layers.by_pair = PairLayers(fabric.topology.switches());
  return routes;
}

std::expected<Repaired, RouteError> repaired(const Routable& fabric, const Routes& old,
                                             const PairLayers& home) {
  return extend_layers({.context = {fabric.topology, fabric.lids, Serial{}},
                        .old = old.rows,
                        .now = old.layers.by_pair,
                        .home = home,
                        .most_layers = 8});
}

/// Plays the writes of each step in any order, some at a time; nothing in between has a cycle in a layer of
/// the pairs.
bool written_safely(const Routable& fabric, const Routes& from, const Routes& to, std::uint64_t seed) {
  std::vector<InstalledTable> installed;
  for (const auto& row : from.rows) installed.push_back({row.get(), kAllBlocks, true});
  const auto steps = update_schedule(
      {fabric.topology, fabric.lids, Serial{}},
      {.installed = installed, .routes = to, .sm_lid = Lid{1}, .layers_before = &from.layers});
  std::vector<LftRow> rows;
  for (const auto& row : from.rows) rows.push_back(*row);
  std::mt19937_64 random(seed);
  bool interrupts = false;
  const bool moved = from.layers.by_pair != to.layers.by_pair;  // packets on their old SLs are not proven
  const auto check = [&] {
    Routes now{.rows = {}, .layers = to.layers};
    for (const auto& row : rows) now.rows.push_back(std::make_shared<LftRow>(row));
    RC_ASSERT(oracle::verify(fabric.topology, fabric.lids, now).loops == 0U);
    if (!moved) RC_ASSERT(!oracle::verify_layers(fabric.topology, fabric.lids, now).any_credit_loop);
  };
  for (const auto& step : steps) {
    interrupts = interrupts || step.interrupts;
    auto writes = step.writes;
    std::shuffle(writes.begin(), writes.end(), random);
    for (const auto& write : writes) {
      for (std::size_t i = 0; i < kLftBlock; ++i) {
        const auto at = write.block * kLftBlock + i;
        if (at >= rows[write.sw].size()) continue;
        const Lid lid{static_cast<std::uint16_t>(at)};
        // What is kept is what the switch held at first.
        auto port = entry(((write.kept >> i & 1U) != 0 ? from : to).rows[write.sw].get(), lid);
        if ((write.dropped >> i & 1U) != 0) port = kNoRoute;
        rows[write.sw][at] = port;
      }
      if (random() % 4 == 0) check();
    }
    check();
  }
  for (std::size_t s = 0; s < rows.size(); ++s) RC_ASSERT(rows[s] == *to.rows[s]);
  return !interrupts;
}

RC_GTEST_PROP(LayerRepair, IsProvenAndKeepsTheLayersOfPairs, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto whole_input = layered_fabric(seed);
  const auto whole = fabrics::with_lids(whole_input.input());
  const auto first = fresh(whole);
  RC_PRE(first.has_value());
  const auto damaged =
      fabrics::with_lids(fabrics::damaged(whole_input, seed, *rc::gen::element(5U, 10U, 20U)).input());

  const auto result = repaired(damaged, *first, first->layers.by_pair);

  RC_TAG(result.has_value());
  RC_PRE(result.has_value());
  const auto& routes = result->routes;
  const auto found = verify_routes({damaged.topology, damaged.lids, Serial{}}, routes);
  RC_ASSERT((found.clean() ? "ok" : describe(found, damaged.topology)) == "ok");
  RC_ASSERT(!oracle::verify_layers(damaged.topology, damaged.lids, routes).any_credit_loop);
  const auto n = damaged.topology.switches();
  const auto moved = pairs_differing(n, routes.layers.by_pair, first->layers.by_pair);
  const bool still = written_safely(damaged, *first, routes, seed);
  RC_TAG(moved == 0 ? "no SL moved" : "some SLs moved", still);
  for (SwitchIndex s = 0; s < n; ++s) {  // what arrives goes on by its entry
    for (std::uint32_t value = 1; value <= damaged.lids.top().value(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const auto trip = oracle::travel(damaged.topology, damaged.lids, *first, s, lid);
      if (trip.end == oracle::Trip::End::arrives)
        RC_ASSERT((*routes.rows[s])[value] == (*first->rows[s])[value]);
    }
  }
  // Mended: back to the first tables and layers.
  written_safely(whole, routes, *first, seed + 1);
}

RC_GTEST_PROP(LayerRepair, OfWholeTablesChangesNothing, ()) {
  const auto fabric = fabrics::with_lids(layered_fabric(*rc::gen::arbitrary<std::uint64_t>()).input());
  const auto first = fresh(fabric);
  RC_PRE(first.has_value());
  const auto result = repaired(fabric, *first, first->layers.by_pair);

  RC_ASSERT(result.has_value());
  RC_ASSERT(result->routes.layers.by_pair == first->layers.by_pair);
  RC_ASSERT(result->replaced + result->withdrawn == 0U);
}

/// Two switches without end ports, whose paths to each other fit in no layer that there is, had got one more.
TEST(LayerRepair, OpensNoLayerForSwitchesWithoutEndPorts) {
  const auto fabric = fabrics::with_lids(layered_fabric(1205365038954).input());
  auto first =
      find_engine("dfsssp")->run({.context = {fabric.topology, fabric.lids, Serial{}}, .vl_budget = 8});
  ASSERT_TRUE(first);
  ASSERT_EQ(first->layers.count, 1U);
  first->layers.by_pair = PairLayers(fabric.topology.switches());
  const auto result = repaired(fabric, *first, first->layers.by_pair);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->routes.layers.by_pair, first->layers.by_pair);
}

/// Tables of an SM that did not say which SL its paths have.
RC_GTEST_PROP(LayerRepair, FindsLayersForPathsThatHaveNone, ()) {
  const auto fabric = fabrics::with_lids(layered_fabric(*rc::gen::arbitrary<std::uint64_t>()).input());
  auto first = fresh(fabric);
  RC_PRE(first.has_value());
  const PairLayers unknown(fabric.topology.switches(), kNoLayer);
  first->layers.by_pair = unknown;

  const auto result = repaired(fabric, *first, unknown);

  RC_TAG(result.has_value());
  if (result) RC_ASSERT(verify_routes({fabric.topology, fabric.lids, Serial{}}, result->routes).clean());
}

TEST(GuidLayers, PairsKeepTheirLayerWhileSwitchesComeAndGo) {
  auto whole = fabrics::torus(4, 3, 1).input();
  const Topology topology(whole);
  PairLayers layers(topology.switches());
  for (std::size_t a = 0; a < topology.switches(); ++a) {
    for (std::size_t b = 0; b < a; ++b) layers.set(a, b, static_cast<unsigned>((a * 7 + b) % 5));
  }
  const auto known = merge({}, topology, layers, KeptLayer::before);
  whole.switches.erase(whole.switches.begin() + 4);
  std::erase_if(whole.links, [](const auto& link) { return link.a == 4 || link.b == 4; });
  for (auto& link : whole.links) link.a -= link.a > 4 ? 1U : 0U, link.b -= link.b > 4 ? 1U : 0U;
  whole.end_ports.clear();
  const Topology smaller(whole);
  const auto fewer = layers_for(smaller, known);
  for (std::size_t a = 0; a < smaller.switches(); ++a) {
    for (std::size_t b = 0; b < a; ++b)
      EXPECT_EQ(fewer.at(a, b), layers.at(topology.find(smaller.guid(static_cast<SwitchIndex>(a))),
                                          topology.find(smaller.guid(static_cast<SwitchIndex>(b)))));
  }
  auto other = fewer;
  other.set(1, 0, 4);
  EXPECT_EQ(merge(known, smaller, other, KeptLayer::before), known);
  const auto after = merge(known, smaller, other, KeptLayer::now);
  EXPECT_EQ(layers_for(smaller, after), other);
  EXPECT_EQ(after.switches, known.switches);
}

/// VLs by port: a cable of a torus or mesh fails and comes back, on the same SLs all the time.
RC_GTEST_PROP(LayerRepair, TablesOfTorus2QosAreWrittenSafely, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto torus = fabrics::torus(*rc::gen::inRange(3U, 6U), *rc::gen::inRange(3U, 6U), 1);
  const auto told = fabrics::told(torus.input());
  const auto whole = told.routable(), damaged = fabrics::damaged(told, seed, 1, 0).routable();
  const auto run = [&](const Routable& fabric) {
    return find_engine("torus-2QoS")
        ->run({.context = {fabric.topology, fabric.lids, Serial{}},
               .vl_budget = *rc::gen::element(2U, 4U),
               .widest = &whole.topology});
  };
  const auto first = run(whole), then = run(damaged);
  RC_ASSERT(first.has_value() && then.has_value());
  RC_ASSERT(first->layers.by_pair == then->layers.by_pair);

  const bool free = written_safely(damaged, *first, *then, seed);
  const bool back = written_safely(whole, *then, *first, seed);

  RC_TAG(free, back);
}

}  // namespace
}  // namespace smd::routing
