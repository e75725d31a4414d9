// SPDX-License-Identifier: Apache-2.0
// Dimension order: its loads, its proof by the oracle, and what it does without some cables and switches.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "routing/chain/chain.h"
#include "routing/quality/quality.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_oracle.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

using fabrics::Routable;

const std::vector<ChainLink> kDorFirst{{"dmodc", {}}, {"dor", {}}, {"updn", {}}, {"minhop", {}}};

Chosen chosen_of(const Routable& fabric, const std::vector<ChainLink>& chain = kDorFirst) {
  const Serial serial;
  auto found = route_with_chain(chain, {.context = {fabric.topology, fabric.lids, serial}});
  if (found) return *std::move(found);
  ADD_FAILURE() << to_string(found.error());
  return {};
}

std::uint64_t max_link_paths(const Routable& fabric, const Routes& routes) {
  return measure({fabric.topology, fabric.lids, Serial{}}, routes, hosts_in_file_order(fabric.topology))
      .max_link_paths;
}

struct Expected {
  const char* spec;
  std::uint64_t max_link_paths;
};

// On one VL these are the figures of opensm 3.3.23's best engine that is free of credit loops (dor, lash), or
// less: it has 464 (nue) on the torus 5x5, 768 on 4x4x4.
TEST(Dor, IsChosenWhereItHasTheLeastLoad) {
  for (const auto& [spec, load] : {Expected{"hyperx:8x8:4", 128}, Expected{"hyperx:12x8:7", 588},
                                   Expected{"mesh:8x8:4", 2048}, Expected{"hyperx:2x2x2x2x2x2:4", 512},
                                   Expected{"torus:4x4x4:4", 512}, Expected{"torus:5x5:4", 320}}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec(spec + std::string("+guids=5")).input);

    const auto chosen = chosen_of(fabric);

    EXPECT_EQ(chosen.engine, "dor") << spec;
    EXPECT_TRUE(chosen.by_load) << spec;
    EXPECT_TRUE(chosen.verification.clean()) << spec;
    EXPECT_EQ(chosen.verification.unreachable_switch_pairs, 0U) << spec;
    EXPECT_EQ(max_link_paths(fabric, chosen.routes), load) << spec;
  }
}

std::vector<std::string> engines_run(const std::string& spec) {
  const auto fabric = fabrics::with_lids(fabrics::of_spec(spec).input);
  std::vector<std::string> names;
  ChainOptions options;
  options.on_step = [&](std::string_view engine, ChainOptions::Step step) {
    if (step == ChainOptions::Step::routed) names.emplace_back(engine);
  };
  EXPECT_TRUE(route_with_chain(kDorFirst, {.context = {fabric.topology, fabric.lids, Serial{}}}, options));
  return names;
}

TEST(Dor, IsComparedWithOthersOnlyWhereTheyMayBeBetter) {
  EXPECT_EQ(engines_run("hyperx:4x4:2"), std::vector<std::string>{"dor"});
  EXPECT_EQ(engines_run("torus:5x5:1"), std::vector<std::string>{"dor"});
  EXPECT_GT(engines_run("torus:8:1").size(), 1U);
}

TEST(Dor, SharesParallelCables) {
  const auto fabric = fabrics::with_lids(fabrics::doubled(fabrics::of_spec("hyperx:4x4:4").input));

  EXPECT_EQ(max_link_paths(fabric, routed_by("dor", fabric)), 4U * 4 * 4 / 2);
}

TEST(Dor, TakesASingleSwitch) {
  const auto fabric = fabrics::with_lids(fabrics::of_spec("mesh:1x1:4+guids=5").input);

  const auto chosen = chosen_of(fabric, {{"dor", {}}});

  EXPECT_EQ(chosen.engine, "dor");
  EXPECT_TRUE(chosen.verification.clean());
}

TEST(Dor, RefusesOtherFabricsInOneLine) {
  const auto fabric = fabrics::with_lids(fabrics::of_spec("dragonfly:4:2:2").input);

  const auto routes = find_engine("dor")->run({.context = {fabric.topology, fabric.lids, Serial{}}});

  ASSERT_FALSE(routes);
  EXPECT_EQ(to_string(routes.error()), "the switches are no mesh, hypercube, HyperX or torus");
}

/// As opensm's dor does.
TEST(Dor, TakesOtherFabricsWhereShortestPathsCloseNoCycle) {
  for (const auto* spec : {"dragonflyplus:3:3:2:3+guids=466", "fullcore:3:3:3:2:3+guids=844",
                           "random:8:4:4:36+guids=696", "xgft:3;3,3,3;1,2,2;1,1,2+guids=816"}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec(spec).input);

    const auto chosen = chosen_of(fabric, {{"dor", {}}});

    EXPECT_EQ(chosen.engine, "dor") << spec;
    EXPECT_TRUE(chosen.verification.ok()) << spec;
    EXPECT_EQ(chosen.routes.layers.count, 1U);
  }
}

TEST(Sssp, TakesOtherTiesWhereBalancedPathsCloseACycle) {
  const auto fabric = fabrics::with_lids(fabrics::of_spec("dragonflyplus:5:2:3:1+guids=890+cut=30:62").input);

  const auto chosen = chosen_of(fabric, {{"sssp", {}}});

  EXPECT_EQ(chosen.engine, "sssp");
  EXPECT_TRUE(chosen.verification.ok());
}

TEST(Dnup, OrdersSwitchesThatAreEquallyFarFromHostsFromARoot) {
  for (const auto* spec : {"mesh:3x2:4+guids=231+cut=3:11", "hyperx:3:1+guids=33+cut=30:90",
                           "torus:7:4+guids=59", "mesh:9:2+guids=188"}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec(spec).input);

    const auto chosen = chosen_of(fabric, {{"dnup", {}}});

    EXPECT_EQ(chosen.engine, "dnup") << spec;
    EXPECT_TRUE(chosen.verification.clean()) << spec;
  }
}

TEST(Dor, OneMissingCableIsGoneAround) {
  for (const auto* spec : {"mesh:4x5:2", "torus:5x5:2", "hyperx:4x3:2", "hyperx:2x2x2x2:2", "mesh:3x3x3:1"}) {
    const auto whole = fabrics::told(fabrics::of_spec(spec).input);
    for (std::size_t lost = 0; lost < whole.input.links.size(); ++lost) {
      auto rest = whole;
      rest.input.links.erase(rest.input.links.begin() + static_cast<std::ptrdiff_t>(lost));
      const auto fabric = rest.routable();

      const auto chosen = chosen_of(fabric, {{"dor", {}}});

      EXPECT_EQ(chosen.engine, "dor") << spec << " without cable " << lost;
      EXPECT_TRUE(chosen.verification.clean()) << spec << " without cable " << lost;
    }
  }
}

TEST(Dor, AHyperXWithoutSomeCablesSpreadsTheWaysAround) {
  const auto whole = fabrics::told(fabrics::of_spec("hyperx:8x8:4").input);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto fabric = fabrics::damaged(whole, seed, whole.input.links.size() / 20, 0).routable();

    const auto chosen = chosen_of(fabric);

    EXPECT_EQ(chosen.engine, "dor") << seed;
    EXPECT_LE(max_link_paths(fabric, chosen.routes), 2U * 128) << seed;
  }
}

TEST(Dor, CarriesNoMoreThanShortestPathsAroundMissingCables) {
  for (const auto* spec :
       {"hyperx:4x4:3+guids=7+cut=1:7", "hyperx:4x4:3+guids=7+cut=5:7", "hyperx:2x2x2x2:3+guids=4+cut=1:4",
        "hyperx:2x2x2x2:3+guids=4+cut=10:4", "hyperx:9:4+guids=1+cut=3:1"}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec(spec).input);

    const auto shortest = chosen_of(fabric, {{"sssp", {}}});
    const auto chosen = chosen_of(fabric, {{"dor", {}}});

    EXPECT_EQ(shortest.engine, "sssp") << spec;
    EXPECT_EQ(chosen.engine, "dor") << spec;
    EXPECT_TRUE(chosen.verification.clean()) << spec;
    EXPECT_LE(max_link_paths(fabric, chosen.routes), max_link_paths(fabric, shortest.routes)) << spec;
  }
}

std::string any_lattice() {
  const std::string kind = *rc::gen::element<std::string>("mesh", "torus", "hyperx");
  std::string sizes;
  const auto dimensions = *rc::gen::inRange(1, 4);
  for (int d = 0; d < dimensions; ++d)
    sizes += (d == 0 ? "" : "x") + std::to_string(*rc::gen::inRange(2, dimensions == 3 ? 4 : 6));
  return kind + ":" + sizes + ":" + std::to_string(*rc::gen::inRange(1, 3)) +
         "+guids=" + std::to_string(*rc::gen::inRange(0, 1000));
}

RC_GTEST_PROP(Dor, IsFreeOfCreditLoopsOnDamagedLattices, ()) {
  const auto spec = any_lattice();
  const auto lmc = static_cast<std::uint8_t>(*rc::gen::inRange(0, 2));
  const auto whole = fabrics::told(fabrics::of_spec(spec).input, lmc);
  const auto percent = *rc::gen::element<std::size_t>(0, 0, 5, 10);
  const auto links = (whole.input.links.size() * percent + 99) / 100;
  const auto fabric =
      fabrics::damaged(whole, *rc::gen::arbitrary<std::uint64_t>(), links, percent == 0 ? 0 : 1).routable();

  const auto chosen = chosen_of(fabric, {{"dor", {}}});

  RC_TAG(chosen.engine, percent != 0);
  RC_ASSERT((percent != 0 || chosen.engine == "dor"));
  const auto found = oracle::verify(fabric.topology, fabric.lids, chosen.routes);
  RC_ASSERT(found.host_pairs_unreachable == 0U);
  RC_ASSERT(found.loops == 0U);
  RC_ASSERT(found.dead_ends == 0U);
  RC_ASSERT(!found.any_credit_loop);
}

RC_GTEST_PROP(Dor, GivesTheSameBytesForAnyOrderOfTheInputAndAnyThreads, ()) {
  const auto whole = fabrics::told(fabrics::of_spec(any_lattice()).input);
  const auto input = fabrics::damaged(whole, *rc::gen::arbitrary<std::uint64_t>(), 1, 0).input;
  const auto fabric = fabrics::with_lids(input);
  const auto shuffled = fabrics::shuffled(fabric, input, *rc::gen::arbitrary<std::uint64_t>());

  const auto one = find_engine("dor")->run({.context = {fabric.topology, fabric.lids, Serial{}}});
  const auto other = find_engine("dor")->run({.context = {shuffled.topology, shuffled.lids, Threads{8}}});

  RC_ASSERT(one.has_value() == other.has_value());
  if (!one) return;
  for (std::size_t s = 0; s < one->rows.size(); ++s) RC_ASSERT(*one->rows[s] == *other->rows[s]);
}

}  // namespace
}  // namespace smd::routing
