// SPDX-License-Identifier: Apache-2.0
// What "auto" takes the fabric for, and which engine it chooses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "routing/chain/chain.h"
#include "routing/chain/shape.h"
#include "routing/engines/rank_order.h"
#include "routing/quality/load.h"
#include "routing/repair/reference_topology.h"
#include "routing/verify/proof.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_layer_oracle.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

constexpr unsigned kVls = 8;

const std::vector<ChainLink> kChosenByShape{{std::string(kAuto), {}}};
const std::vector<ChainLink> kBefore{{"dmodc", {}}, {"dor", {}}, {"updn", {}}, {"minhop", {}}};

fabrics::Routable routable(const std::string& spec) {
  return fabrics::with_lids(fabrics::of_spec(spec).input);
}

Chosen automatic(const fabrics::Routable& fabric, ChainOptions options = {},
                 const std::vector<ChainLink>& chain = kChosenByShape, unsigned threads = 1) {
  const Threads parallel{threads};
  auto found = route_with_chain(
      chain, {.context = {fabric.topology, fabric.lids, parallel}, .vl_budget = options.layered ? kVls : 1U},
      options);
  if (found) return *std::move(found);
  ADD_FAILURE() << to_string(found.error());
  return {};
}

ChainOptions layered() {
  ChainOptions options;
  options.layered = true;
  return options;
}

double most_loaded(const fabrics::Routable& fabric, const Routes& routes) {
  const RoutingContext context{fabric.topology, fabric.lids, Serial{}};
  return measure_load(context, routes, rank_order(context, {}), LoadOfShifts::no).max_link_time;
}

bool same_tables(const Routes& one, const Routes& other) {
  return std::ranges::equal(one.rows, other.rows, [](const auto& a, const auto& b) { return *a == *b; });
}

std::string shape_of(const std::string& spec) {
  return to_string(find_shape(Topology(fabrics::of_spec(spec).input)));
}

TEST(Shapes, AreFoundWhateverGuidsThereAre) {
  EXPECT_EQ(shape_of("torus:5x6:1+guids=1"), "torus 6x5");
  EXPECT_EQ(shape_of("torus:5x5x5:1+guids=2"), "torus 5x5x5");
  EXPECT_EQ(shape_of("torus:4x4x4:1+guids=2"), "hypercube of 6 dimensions");
  EXPECT_EQ(shape_of("mesh:8x3:1+guids=3"), "mesh 8x3");
  EXPECT_EQ(shape_of("hyperx:2x2x2x2:1+guids=4"), "hypercube of 4 dimensions");
  EXPECT_EQ(shape_of("hyperx:8x6:1+guids=5"), "HyperX 8x6");
  EXPECT_EQ(shape_of("dragonfly:4:2:2+guids=6"), "dragonfly of 9 groups of 4 switches");
  EXPECT_EQ(shape_of("dragonfly:6:3:1+guids=7"), "dragonfly of 19 groups of 6 switches");
  EXPECT_EQ(shape_of("dragonflyplus:5:4:4:2+guids=8"), "dragonfly+ of 5 groups of 8 switches");
  EXPECT_EQ(shape_of("random:24:6:2:1+guids=9"), "irregular fabric");
}

TEST(Shapes, AreFoundInDamagedFabrics) {
  EXPECT_EQ(shape_of("torus:6x6:1+guids=1+cut=2:1"), "damaged torus 6x6");
  EXPECT_EQ(shape_of("hyperx:8x8:1+guids=2+cut=5:2"), "damaged HyperX 8x8");
  EXPECT_EQ(shape_of("dragonfly:4:2:2+guids=3+cut=2:3"), "damaged dragonfly of 9 groups of 4 switches");
}

TEST(Auto, TakesWhatTheChainBeforeItTookOnTreesAndLattices) {
  for (const auto* spec :
       {"ft2:8", "ft3:6", "ft3:8+cut=5:1", "rails:4:2:4:2", "chassis:6:4:2:2", "mesh:5x4:2", "torus:5x5:2",
        "hyperx:4x4:2", "hyperx:2x2x2x2:2", "torus:4x4x4:1"}) {
    const auto fabric = routable(std::string(spec) + (std::string(spec).contains("+") ? "" : "+guids=3"));

    const auto found = automatic(fabric), before = automatic(fabric, {}, kBefore);

    EXPECT_EQ(found.engine, before.engine) << spec;
    EXPECT_TRUE(same_tables(found.routes, before.routes)) << spec;
    EXPECT_NE(found.why.find(": " + found.engine), std::string::npos) << found.why;
    EXPECT_TRUE(before.shape.empty() && before.why.empty());
  }
}

TEST(Auto, SaysInOneLineWhatItFoundAndWhy) {
  const auto tree = routable("ft3:8"), broken = routable("ft3:8+cut=5:1"),
             dragonfly = routable("dragonfly:4:2:2");

  EXPECT_EQ(automatic(tree).why, "tree: dmodc is the engine for it");
  EXPECT_EQ(automatic(broken).why, "damaged tree: dmodc is the engine for it");
  const auto found = automatic(dragonfly);
  EXPECT_EQ(found.shape, "dragonfly of 9 groups of 4 switches");
  EXPECT_EQ(found.why.find("dragonfly of 9 groups of 4 switches: nue has "), 0U) << found.why;
  EXPECT_NE(found.why.find(" routes over the most loaded link, updn "), std::string::npos) << found.why;
}

TEST(Auto, UsesLayersOnlyWhereClientsAskForTheirSl) {
  for (const auto* spec : {"dragonfly:4:2:2+guids=1", "torus:5x5:2+guids=1", "random:24:6:2:1+guids=1"}) {
    const auto fabric = routable(spec);

    const auto fixed = automatic(fabric), asked = automatic(fabric, layered());

    EXPECT_EQ(fixed.routes.layers.count, 1U) << spec;
    EXPECT_TRUE(fixed.verification.fixed_sl_ok) << spec;
    EXPECT_GT(asked.routes.layers.count, 1U) << spec;
    EXPECT_TRUE(asked.verification.clean()) << spec;
    EXPECT_LT(most_loaded(fabric, asked.routes), most_loaded(fabric, fixed.routes)) << spec;
  }
}

TEST(Auto, KeepsOneLayerWhereNoRoutesCanBeBetter) {
  const auto found = automatic(routable("hyperx:4x4:2+guids=1"), layered());

  EXPECT_EQ(found.engine, "dor");
  EXPECT_EQ(found.routes.layers.count, 1U);
}

/// Two trees joined at their spines look like a dragonfly+ to nothing but that engine.
TEST(Auto, ComparesDragonfliesOfLeavesAndSpines) {
  const auto fabric = routable("dragonflyplus:9:8:8:4+guids=1");

  const auto found = automatic(fabric);

  EXPECT_LT(most_loaded(fabric, found.routes), most_loaded(fabric, routed_by("dmodc", fabric)));
  EXPECT_TRUE(found.by_load);
}

/// Where links are missing, dimension order detours over a few others and overloads them.
TEST(Auto, ComparesDamagedLattices) {
  for (const auto* spec :
       {"hyperx:5x4:2+guids=16+cut=10:2", "hyperx:4x4:3+guids=3+cut=10:3", "hyperx:8x6:2+guids=1+cut=10:1",
        "torus:5x5:2+guids=4+cut=5:2", "mesh:6x5:2+cut=5:1"}) {
    const auto fabric = routable(spec);
    const auto found = most_loaded(fabric, automatic(fabric).routes);
    for (const auto* other : {"updn", "nue", "dor"}) {
      const auto routes =
          find_engine(other)->run({.context = {fabric.topology, fabric.lids, Serial{}}, .vl_budget = 1});
      if (!routes || !prove({fabric.topology, fabric.lids, Serial{}}, *routes)) continue;
      EXPECT_LE(found, most_loaded(fabric, *routes)) << spec << ' ' << other;
    }
  }
}

/// Small switches below leaves: dmodc has 1,512 routes over the most loaded link, others half of it. With one
/// cable between leaves little could be gained.
TEST(Auto, ComparesTreesInWhichLeavesAreJoined) {
  auto below = fabrics::ft2(16, 8, 16, 2), beside = fabrics::ft2(12, 6, 6);
  for (SwitchIndex i = 0; i < 3; ++i) {
    const auto small = below.add_switch(16);
    for (unsigned h = 0; h < 6; ++h) below.host(small);
    below.link(small, 2 * i);
    below.link(small, 2 * i + 1);
  }
  beside.link(0, 11);
  const auto odd = fabrics::with_lids(below.input()), nearly = fabrics::with_lids(beside.input());
  const auto of_tree = [](const fabrics::Routable& fabric) {
    return most_loaded(fabric, automatic(fabric, {}, {{"dmodc", {}}}).routes);
  };

  const auto found = automatic(odd);
  EXPECT_NE(found.engine, "dmodc") << found.why;
  EXPECT_LT(most_loaded(odd, found.routes), 0.8 * of_tree(odd));
  EXPECT_EQ(automatic(nearly).engine, "dmodc");
  EXPECT_NE(automatic(nearly).why.find("which it nearly is"), std::string::npos) << automatic(nearly).why;
}

/// As much load, and a worst shift of 3 instead of 4.
TEST(Auto, LeavesWhatIsNearlyATreeToAnEngineWithBetterShifts) {
  auto tree = fabrics::ft2(12, 6, 12);
  for (SwitchIndex leaf = 0; leaf < 2; ++leaf) {
    const auto small = tree.add_switch(16);
    for (unsigned h = 0; h < 4; ++h) tree.host(small);
    for (unsigned c = 0; c < 2; ++c) tree.link(leaf, small);
  }
  const auto fabric = fabrics::with_lids(tree.input());

  const auto found = automatic(fabric);

  EXPECT_EQ(found.engine, "ftree");
  EXPECT_NE(found.why.find("ftree is better than the engine for trees"), std::string::npos) << found.why;
  EXPECT_EQ(most_loaded(fabric, found.routes), most_loaded(fabric, routed_by("dmodc", fabric)));
}

/// Two trees of four leaves and three spines.
fabrics::Builder two_islands() {
  auto islands = fabrics::Builder("islands");
  for (const SwitchIndex first : {0U, 7U}) {
    for (unsigned i = 0; i < 7; ++i) islands.add_switch(16);
    for (SwitchIndex leaf = first; leaf < first + 4; ++leaf) {
      for (unsigned h = 0; h < 6; ++h) islands.host(leaf);
      for (SwitchIndex spine = 4; spine < 7; ++spine) islands.link(leaf, first + spine);
    }
  }
  return islands;
}

/// Two trees whose spines a few cables join: dmodc puts most paths from one to the other over one of them.
TEST(Auto, ComparesIslands) {
  auto islands = two_islands();
  for (const auto& [one, other] : {std::pair(4U, 13U), {5U, 13U}, {5U, 13U}, {5U, 11U}, {6U, 13U}, {6U, 13U}})
    islands.link(one, other);
  const auto fabric = fabrics::with_lids(islands.input());
  const auto found = automatic(fabric);
  EXPECT_LE(most_loaded(fabric, found.routes),
            0.75 * most_loaded(fabric, automatic(fabric, {}, {{"dmodc", {}}}).routes))
      << found.why;
}

/// Without the cables between them they are two trees.
TEST(Auto, LeavesTheInstalledEngineToIslandsThatLoseTheirCables) {
  auto islands = two_islands();
  const auto apart = fabrics::with_lids(islands.input());
  for (SwitchIndex spine = 4; spine < 7; ++spine) islands.link(spine, spine + 7);
  const Topology whole(islands.input());
  ChainOptions options;
  options.installed = InstalledEngine{"updn"};

  EXPECT_EQ(automatic(apart, options).engine, "dmodc") << "trees by the widest cabling, too";
  options.widest = &whole;
  EXPECT_EQ(automatic(apart, options).engine, "updn");
}

/// Round robin cannot be even where edge switches have eight cables to five line boards.
TEST(Auto, CountsDestinationsInWholeTreesThatAreTooIrregular) {
  for (const std::string guids : {"1", "2", "3"}) {
    const auto fabric = routable("chassis:12:8:10:6+guids=" + guids);

    const auto found = automatic(fabric);
    const auto round_robin = automatic(fabric, {}, {{"dmodc", {}}});

    EXPECT_EQ(found.engine, "ftree");
    EXPECT_LE(most_loaded(fabric, found.routes), 96.0);
    EXPECT_GT(most_loaded(fabric, round_robin.routes), 96.0);
    EXPECT_TRUE(same_tables(found.routes, automatic(fabric, {}, kChosenByShape, 4).routes));
    EXPECT_TRUE(found.why.starts_with("tree: ftree has 96 routes over the most loaded link, dmodc "))
        << found.why;
  }
}

/// Six pods of three leaves and three middle switches, with three cables each to five cores in turns.
fabrics::Builder three_of_five() {
  fabrics::Builder builder("three of five");
  for (int i = 0; i < 6 * 6 + 5; ++i) builder.add_switch(36);
  for (SwitchIndex pod = 0; pod < 6; ++pod) {
    const auto middle = pod * 6 + 3;
    for (auto leaf = pod * 6; leaf < middle; ++leaf) {
      for (int h = 0; h < 6; ++h) builder.host(leaf);
      for (const SwitchIndex m : {0U, 1U, 2U, 0U}) builder.link(leaf, middle + m);
    }
    for (SwitchIndex u = 0; u < 9; ++u) builder.link(middle + u / 3, 36 + u % 5);
  }
  return builder;
}

/// No middle switch has what the others have, and nothing is missing.
TEST(Auto, CountsDestinationsInTreesWhoseUplinksAreDealtOut) {
  auto input = three_of_five().input();
  const auto fabric = fabrics::with_lids(input);

  const auto found = automatic(fabric);

  EXPECT_EQ(found.engine, "ftree") << found.why;
  EXPECT_TRUE(found.why.starts_with("tree: ftree has ")) << found.why;
  EXPECT_LT(most_loaded(fabric, found.routes),
            most_loaded(fabric, automatic(fabric, {}, {{"dmodc", {}}}).routes));
  input.links.erase(std::ranges::find_if(input.links, [](const auto& link) { return link.b >= 36; }));
  EXPECT_EQ(automatic(fabrics::with_lids(input)).engine, "ftree") << "a cable more or less changes little";
}

/// Leaves of two generations: round robin gives the older ones, with fewer cables, worse shifts.
TEST(Auto, CountsDestinationsWhereLeavesDiffer) {
  auto generations = fabrics::ft2(8, 3, 4);
  for (unsigned i = 0; i < 2; ++i) {
    const auto old = generations.add_switch(16);
    for (unsigned h = 0; h < 4; ++h) generations.host(old);
    for (const SwitchIndex spine : {8U, 9U}) generations.link(old, spine);
  }
  const auto fabric = fabrics::with_lids(generations.input());
  const RoutingContext context{fabric.topology, fabric.lids, Serial{}};
  const auto load = [&](const Chosen& found) {
    return measure_load(context, found.routes, rank_order(context, {}), LoadOfShifts::yes);
  };
  const auto found = automatic(fabric);
  const auto counted = load(found), round_robin = load(automatic(fabric, {}, {{"dmodc", {}}}));

  EXPECT_TRUE(leaves_differ(fabric.topology));
  EXPECT_EQ(found.engine, "ftree") << found.why;
  EXPECT_LE(counted.max_link_time, round_robin.max_link_time);
  EXPECT_LT(counted.shift_max, round_robin.shift_max);
  EXPECT_FALSE(leaves_differ(routable("ft3:8+cut=5:1").topology)) << "cables are missing";
  EXPECT_FALSE(leaves_differ(routable("ft2:8").topology));
}

TEST(Auto, CountsDestinationsInDamagedTreesThatRoundRobinCannotBalance) {
  for (const auto* spec : {"chassis:20:9:6:5+guids=1+cut=2:1", "chassis:18:9:10:5:2+guids=3+cut=0.2:1"}) {
    ChainOptions installed;
    installed.installed = InstalledEngine{.engine = "dmodc"};
    const auto fabric = routable(spec);
    const RoutingContext context{fabric.topology, fabric.lids, Serial{}};
    const auto load = [&](const Routes& routes) {
      return measure_load(context, routes, rank_order(context, {}));
    };

    const auto found = automatic(fabric), kept = automatic(fabric, installed);

    EXPECT_EQ(found.engine, "ftree") << spec;
    EXPECT_EQ(found.shape, "damaged tree") << spec;
    const auto counted = load(found.routes), round_robin = load(routed_by("dmodc", fabric));
    EXPECT_LE(counted.max_link_time, round_robin.max_link_time) << spec;
    EXPECT_LE(counted.shift_max, round_robin.shift_max) << spec;
    EXPECT_LT(counted.shift_mean, round_robin.shift_mean) << spec;
    EXPECT_EQ(kept.engine, "dmodc") << spec;
  }
}

/// A regular tree as built: moves of single destinations do not come down to the bound of the leaves' cables.
TEST(Auto, CountsDestinationsInDamagedTreesThatCanCarryATenthLess) {
  for (const auto& [spec, less, most] : {std::tuple("xgft:2;8,8;1,4;1,2+guids=32076+cut=1:26682", 64.0, 72.0),
                                         {"ft3:8:4+guids=398701+cut=3:868752", 64.0, 68.0}}) {
    const auto fabric = routable(spec);
    ChainOptions installed;
    installed.installed = InstalledEngine{.engine = "dmodc"};

    const auto found = automatic(fabric), kept = automatic(fabric, installed);

    EXPECT_EQ(found.engine, "ftree") << spec;
    EXPECT_TRUE(found.why.starts_with("damaged tree: ftree has ")) << found.why;
    EXPECT_EQ(most_loaded(fabric, found.routes), less) << spec;
    EXPECT_EQ(kept.engine, "dmodc") << "the engine stays";
    EXPECT_EQ(most_loaded(fabric, kept.routes), most) << spec;
  }
}

/// Load and shifts weigh the same, whether cables are missing or not: the tables are taken that lose least in
/// their worst figure.
TEST(Auto, TakesTheTablesWhoseWorstFigureIsLeastWorse) {
  for (const auto& [spec, engine] : {std::pair("chassis:8:6:6:3+guids=1", "dmodc"),
                                     {"chassis:8:6:6:3+guids=2", "dmodc"},
                                     {"chassis:9:8:6:3+guids=1+cut=2:1", "ftree"},
                                     {"chassis:9:8:6:3+guids=1+cut=2:2", "ftree"},
                                     {"xgft:2;8,8;1,4;1,2+guids=488219+cut=15:968299", "ftree"}}) {
    const auto fabric = routable(spec);
    const RoutingContext context{fabric.topology, fabric.lids, Serial{}};
    const auto load = [&](const Routes& routes) {
      return measure_load(context, routes, rank_order(context, {}));
    };

    const auto found = automatic(fabric);

    EXPECT_EQ(found.engine, engine) << spec << ": " << found.why;
    const auto other = std::string_view(engine) == "ftree" ? "dmodc" : "ftree";
    const auto taken = load(found.routes), left = load(routed_by(other, fabric));
    EXPECT_GT(taken.max_link_time, left.max_link_time) << spec;
    EXPECT_LT(taken.max_link_time / left.max_link_time, left.shift_mean / taken.shift_mean) << spec;
  }
}

TEST(Auto, KeepsCountedRoutesOfATreeThatLosesACable) {
  const auto fabric = routable("chassis:12:8:10:6+guids=1+cut=1:1");
  ChainOptions options;
  options.installed = InstalledEngine{"ftree"};

  const auto found = automatic(fabric, options);

  EXPECT_EQ(found.engine, "ftree");
  EXPECT_EQ(found.why, "damaged tree: ftree is installed and stays");
}

TEST(Auto, SaysWhichEnginesItLeftOutBecauseTheyReachFewerSwitches) {
  const auto found = automatic(routable("ft3:4+guids=38+cut=30:11"));

  EXPECT_EQ(found.engine, "updn");
  EXPECT_THAT(found.fell_back_from,
              testing::Contains(
                  testing::AllOf(testing::Field(&Refusal::engine, "sssp"),
                                 testing::Field(&Refusal::reason,
                                                "reaches fewer switches than updn: 3 missing routes from "
                                                "hosts to switches instead of 0"))));
}

TEST(Auto, TellsTheShapeByTheWidestCablingSeen) {
  const auto whole = Topology(fabrics::of_spec("dragonfly:4:2:2+guids=3").input);
  const auto fabric = routable("dragonfly:4:2:2+guids=3+cut=30:1");
  ChainOptions options;
  options.widest = &whole;

  EXPECT_EQ(automatic(fabric).shape, "irregular fabric");
  EXPECT_EQ(automatic(fabric, options).shape, "damaged dragonfly of 9 groups of 4 switches");
}

TEST(Auto, LeavesTheInstalledEngine) {
  const auto fabric = routable("dragonfly:4:2:2+guids=1");
  ChainOptions options;
  options.installed = InstalledEngine{"updn"};
  const auto kept = automatic(fabric, options);
  options.installed->may_change = true;
  const auto changed = automatic(fabric, options);

  EXPECT_EQ(kept.engine, "updn");
  EXPECT_EQ(kept.why, "dragonfly of 9 groups of 4 switches: updn is installed and stays");
  EXPECT_EQ(changed.engine, "nue");
}

/// Proven, by the slow verification of the tests too, the same for any number of threads, and no worse than
/// each proven engine that the SL rule allows, but for a little load that better shifts are worth.
void check_property(const fabrics::Routable& fabric, const ChainOptions& options) {
  const auto found = automatic(fabric, options), same = automatic(fabric, options, kChosenByShape, 4);

  RC_ASSERT(found.verification.clean());
  RC_ASSERT(found.engine == same.engine);
  RC_ASSERT(same_tables(found.routes, same.routes));
  RC_ASSERT(options.layered || found.verification.fixed_sl_ok);
  const auto oracle = oracle::verify(fabric.topology, fabric.lids, found.routes);
  RC_ASSERT(oracle.host_pairs_unreachable + oracle.loops + oracle.dead_ends == 0U);
  RC_ASSERT(!oracle::verify_layers(fabric.topology, fabric.lids, found.routes).credit_loop);
  RC_TAG(found.engine, found.by_load);
  if (!found.by_load) return;
  const bool of_tree = found.why.contains("which it nearly is");  // stays for a little more
  const auto load = most_loaded(fabric, found.routes) * (of_tree ? 0.8 : 1 / kLittleMore);
  const RoutingContext context{fabric.topology, fabric.lids, Serial{}};
  for (const auto& engine : computing_engines()) {
    if (engine.layered && !options.layered) continue;
    const auto alone = engine.run({.context = context, .vl_budget = kVls});
    if (!alone) continue;
    const auto proof = verify_routes(context, *alone);
    if (!proof.clean() || proof.unreachable_switch_pairs != 0) continue;
    RC_LOG() << engine.name << " is better than " << found.engine << ": " << found.why << '\n';
    RC_ASSERT(load <= most_loaded(fabric, *alone) * (1 + 1e-9));
  }
}

fabrics::Routable small_irregular() {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
  const auto switches = *rc::gen::inRange(4U, 20U);
  const auto more = *rc::gen::inRange(0U, 3 * switches), hosts = *rc::gen::inRange(2U, 3 * switches);
  return fabrics::with_lids(fabrics::irregular(seed, switches, more, hosts).input());
}

RC_GTEST_PROP(AutoOfAnyFabric, IsProvenAndNoWorseThanEveryEngineWithOneLayer, ()) {
  check_property(small_irregular(), {});
}

RC_GTEST_PROP(AutoOfAnyFabric, IsProvenAndNoWorseThanEveryEngineWithLayers, ()) {
  check_property(small_irregular(), layered());
}

}  // namespace
}  // namespace smd::routing
