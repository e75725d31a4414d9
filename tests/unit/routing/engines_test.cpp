// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

#include "routing/chain/chain.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_fabrics.h"
#include "tests/support/routing_oracle.h"

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
  return engine.run({.context = {fabric.topology, fabric.lids, parallel}});
}

/// Engines for trees and lattices may refuse what is none, and say why.
void expect_refusal(const EngineInfo& engine, const RouteError& error) {
  if (error.cause == RouteError::Cause::not_a_lattice) {
    EXPECT_EQ(engine.name, "dor");
    return;
  }
  if (error.cause == RouteError::Cause::too_few_vls) {
    EXPECT_TRUE(engine.layered) << engine.name;
    return;
  }
  EXPECT_TRUE(engine.name == "dmodc" || engine.name == "ftree" || engine.name == "dnup") << engine.name;
  EXPECT_TRUE(error.cause == RouteError::Cause::not_a_tree || error.cause == RouteError::Cause::no_legal_path)
      << to_string(error);
  EXPECT_EQ(error.guids.size(), 2U);
}

class EveryEngine : public testing::TestWithParam<EngineInfo> {};

TEST_P(EveryEngine, ReachesEveryHostAndLoopsNowhere) {
  for (const auto& builder : all_fabrics()) {
    for (const auto lmc : {std::uint8_t{0}, std::uint8_t{2}}) {
      const auto fabric = fabrics::with_lids(builder.input(), lmc);

      const auto routes = run(GetParam(), fabric, Serial{});

      if (!routes) {
        expect_refusal(GetParam(), routes.error());
        continue;
      }
      const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes);
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

    if (!routes) {
      expect_refusal(GetParam(), routes.error());
      continue;
    }
    const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes);
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

    ASSERT_EQ(one.has_value(), other.has_value());
    if (!one) continue;
    ASSERT_EQ(one->rows.size(), other->rows.size());
    for (std::size_t s = 0; s < one->rows.size(); ++s) {
      ASSERT_EQ(*one->rows[s], *other->rows[s]) << builder.name() << " switch " << s;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, EveryEngine, testing::ValuesIn(computing_engines()),
                         [](const auto& info) { return test_name(info.param); });

TEST(Updn, IsFreeOfCreditLoopsOnAnyFabric) {
  for (const auto& builder : all_fabrics()) {
    const auto fabric = fabrics::with_lids(builder.input());

    const auto routes = find_engine("updn")->run({.context = {fabric.topology, fabric.lids, Serial{}}});

    const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes);
    EXPECT_TRUE(found.clean()) << builder.name() << ": " << describe(found, fabric.topology);
  }
}

/// Trees of two and three levels, and with parallel cables.
Builder any_tree() {
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return fabrics::ft2(*rc::gen::inRange(2U, 10U), *rc::gen::inRange(2U, 6U), *rc::gen::inRange(1U, 7U),
                          *rc::gen::inRange(1U, 4U));
    case 1:
      return fabrics::ft3(4);
    case 2:
      return fabrics::ft3(6);
    default:
      return fabrics::ft3(8);
  }
}

RC_GTEST_PROP(TreeEngines, RouteEveryDamagedTreeInWhichLeavesHaveAWayUpAndDown, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto whole = fabrics::told(any_tree().input(), static_cast<std::uint8_t>(*rc::gen::inRange(0, 2)));
  const auto links = whole.input.links.size(), switches = whole.input.switches.size();
  const auto fabric = fabrics::damaged(whole, seed, links * *rc::gen::element<std::size_t>(0, 1, 5, 10) / 100,
                                       switches * *rc::gen::element<std::size_t>(0, 1, 5, 10) / 100)
                          .routable();
  const auto& topology = fabric.topology;
  const auto& engine = *find_engine(*rc::gen::element<std::string>("dmodc", "ftree"));

  const auto routes = run(engine, fabric, Serial{});

  RC_TAG(engine.name, routes.has_value());
  if (!routes) {
    // The error names two leaves; verification confirms that they have no path.
    RC_ASSERT(routes.error().cause == RouteError::Cause::no_legal_path);
    const auto order = find_tree(topology);
    const auto a = topology.find(routes.error().guids[0]), b = topology.find(routes.error().guids[1]);
    RC_ASSERT(!oracle::reachable_up_down(topology, order, a)[b]);
    return;
  }
  const auto found = oracle::verify(topology, fabric.lids, *routes);
  RC_ASSERT(found.host_pairs_unreachable == 0U);
  RC_ASSERT(found.loops == 0U);
  RC_ASSERT(found.dead_ends == 0U);
  RC_ASSERT(!found.any_credit_loop);
}

/// The same fabric with its LIDs dealt out at random.
Routable with_lids_at_random(const Routable& fabric, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto other = fabric;
  std::vector<LidRange*> all;
  for (auto* lids : {&other.switch_lids, &other.end_lids}) {
    for (auto& range : *lids) all.push_back(&range);
  }
  for (std::size_t i = all.size(); i > 1; --i) std::swap(*all[i - 1], *all[random() % i]);
  other.lids = LidMap(other.topology, other.switch_lids, other.end_lids);
  return other;
}

/// Also what is only faster: entries in the order of numbers, not of LIDs.
RC_GTEST_PROP(TreeEngines, RouteWholeTreesAlikeWhateverTheirLids, ()) {
  const auto fabric = fabrics::with_lids(any_tree().input());
  const auto random = with_lids_at_random(fabric, *rc::gen::arbitrary<std::uint64_t>());
  const auto& engine = *find_engine(*rc::gen::element<std::string>("dmodc", "ftree", "updn", "minhop"));

  const auto one = run(engine, fabric, Serial{}), other = run(engine, random, Serial{});

  RC_ASSERT(one && other);
  for (SwitchIndex s = 0; s < one->rows.size(); ++s) {
    const auto same = [&](LidRange here, LidRange there) {
      return (*one->rows[s])[here.base.value()] == (*other->rows[s])[there.base.value()];
    };
    RC_ASSERT(std::ranges::equal(fabric.switch_lids, random.switch_lids, same));
    RC_ASSERT(std::ranges::equal(fabric.end_lids, random.end_lids, same));
  }
}

TEST(TreeEngines, SayWhyATorusIsNoTree) {
  const auto fabric = fabrics::with_lids(fabrics::torus(4, 4, 2).input());

  const auto routes = run(*find_engine("dmodc"), fabric, Serial{});

  ASSERT_FALSE(routes);
  EXPECT_TRUE(to_string(routes.error()).starts_with("not a tree: switch 0x000000000000100"))
      << to_string(routes.error());
}

TEST(TreeEngines, WhatIsMissingMovesOnlyWhatWouldHaveGoneThere) {
  const auto whole = fabrics::told(fabrics::ft3(8).input());
  auto damaged = whole;
  damaged.input.links.erase(damaged.input.links.begin());
  const auto before = whole.routable(), now = damaged.routable();

  const auto old = run(*find_engine("dmodc"), before, Serial{});
  const auto fresh = run(*find_engine("dmodc"), now, Serial{});

  std::size_t changed = 0, dead = 0;
  for (SwitchIndex s = 0; s < 80; ++s) {
    for (std::uint32_t value = 1; value <= now.lids.top().value(); ++value) {
      const auto lid = Lid{static_cast<std::uint16_t>(value)};
      changed += entry(old->rows[s].get(), lid) != entry(fresh->rows[s].get(), lid) ? 1 : 0;
      const auto end = oracle::travel(now.topology, now.lids, *old, s, lid).end;
      dead += end != oracle::Trip::End::arrives ? 1 : 0;
    }
  }
  EXPECT_LE(changed, dead);
}

TEST(FileEngine, TakesTheTablesAsTheyAre) {
  const auto fabric = fabrics::with_lids(fabrics::ft2(4, 2, 3).input());
  const auto wanted = run(*find_engine("updn"), fabric, Serial{});
  auto tables = std::make_shared<Tables>();
  for (SwitchIndex s = 0; s < fabric.topology.switches(); ++s) {
    (*tables)[fabric.topology.guid(s)] = wanted->rows[s];
  }
  const auto routed = [&](std::shared_ptr<const Tables> given) {
    return find_engine("file")->run({.context = {fabric.topology, fabric.lids, Serial{}},
                                     .options = RoutingOptions{.tables = std::move(given)}});
  };

  const auto routes = routed(tables);
  const auto none = routed(nullptr);

  ASSERT_TRUE(routes);
  EXPECT_EQ(routes->rows, wanted->rows);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().cause, RouteError::Cause::no_tables);
}

}  // namespace
}  // namespace smd::routing
