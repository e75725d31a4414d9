// SPDX-License-Identifier: Apache-2.0
// torus-2QoS: proven by the oracle in both directions on whole and damaged tori, SLs that damage does not
// change, seeds of a torus-2QoS.conf.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "routing/quality/quality.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_layer_oracle.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

using fabrics::Routable;
using RoutesOr = std::expected<Routes, RouteError>;

Routable of(const std::string& spec) { return fabrics::with_lids(fabrics::of_spec(spec).input); }

struct Given {
  std::optional<base::TorusConf> conf{};
  const Topology* widest = nullptr;
  unsigned vls = 8;
};

RoutesOr routed(const Routable& fabric, const Given& given = {}, const Parallel& parallel = Serial{}) {
  return find_engine("torus-2QoS")
      ->run({.context = {fabric.topology, fabric.lids, parallel},
             .options = {.torus = given.conf},
             .vl_budget = given.vls,
             .widest = given.widest});
}

base::TorusConf conf_of(const std::string& text) {
  const auto read = base::read_torus_conf(text, "torus-2QoS.conf");
  EXPECT_TRUE(read) << (read ? "" : base::to_string(read.error()));
  return read.value_or(base::TorusConf{});
}

Verification checked(const Routable& fabric, const Routes& routes) {
  return verify_routes({fabric.topology, fabric.lids, Serial{}}, routes);
}

std::uint64_t max_link_paths(const Routable& fabric, const Routes& routes) {
  return measure({fabric.topology, fabric.lids, Serial{}}, routes, hosts_in_file_order(fabric.topology))
      .max_link_paths;
}

/// The layers of all pairs by GUID.
std::map<std::pair<Guid, Guid>, unsigned> layers_by_guid(const Routable& fabric, const Routes& routes) {
  std::map<std::pair<Guid, Guid>, unsigned> found;
  const auto n = static_cast<SwitchIndex>(fabric.topology.switches());
  for (SwitchIndex a = 0; a < n; ++a) {
    for (SwitchIndex b = 0; b < n; ++b)
      found[{fabric.topology.guid(a), fabric.topology.guid(b)}] = routes.layers.by_pair.at(a, b);
  }
  return found;
}

struct TorusCase {
  const char* spec;
  std::uint64_t max_link_paths;
};

// The loads are those of opensm 3.3.23's torus-2QoS, as far as it was measured.
TEST(Torus2Qos, IsProvenWithFourVlsAndHasTheLoadsOfOpensm) {
  for (const auto& [spec, load] :
       {TorusCase{"torus:5x5:4", 240}, TorusCase{"torus:6x6x6:2", 864}, TorusCase{"torus:8x8x8:1", 640},
        TorusCase{"torus:4x4x4:1", 0}, TorusCase{"torus:4x5:2", 0}, TorusCase{"mesh:4x5:2", 0},
        TorusCase{"mesh:3x3x3:1", 0}, TorusCase{"torus:3x4x5:1", 0}, TorusCase{"torus:4x4:1", 0}}) {
    const auto fabric = of(spec + std::string("+guids=5"));

    const auto routes = routed(fabric);

    ASSERT_TRUE(routes) << spec << ' ' << to_string(routes.error());
    const auto found = checked(fabric, *routes);
    EXPECT_TRUE(found.clean()) << spec << ' ' << describe(found, fabric.topology);
    EXPECT_EQ(found.vls, 4U) << spec;
    EXPECT_LE(found.layers, 8U) << spec;
    EXPECT_TRUE(found.reverse_ok) << spec;
    EXPECT_EQ(found.unreachable_switch_pairs, 0U) << spec;
    if (load != 0) {
      EXPECT_EQ(max_link_paths(fabric, *routes), load) << spec;
    }
  }
}

TEST(Torus2Qos, RefusesWhatItsRuleDoesNotFit) {
  for (const auto& [spec, why] :
       {std::pair("ft3:4", "the switches are no torus or mesh of at most three dimensions"),
        std::pair("dragonfly:4:2:2", "the switches are no torus or mesh of at most three dimensions"),
        std::pair("hyperx:5x5:1", "the switches are no torus or mesh of at most three dimensions"),
        std::pair("torus:3x3x3x3:1", "the switches are no torus or mesh of at most three dimensions")}) {
    const auto routes = routed(of(spec));
    ASSERT_FALSE(routes) << spec;
    EXPECT_EQ(to_string(routes.error()), why) << spec;
  }
  const auto routes = routed(of("torus:5x5:1"), {.vls = 1});
  ASSERT_FALSE(routes);
  EXPECT_EQ(to_string(routes.error()), "needs more than 1 VL");
}

TEST(Torus2Qos, GoesTheLongWayRoundABrokenRingOnTheSameSls) {
  for (const auto* spec : {"torus:5x5:1", "torus:4x4x4:1", "torus:3x4x5:1"}) {
    const auto whole = fabrics::told(fabrics::of_spec(spec).input);
    const auto complete = whole.routable();
    const auto before = layers_by_guid(complete, *routed(complete));
    for (std::size_t lost = 0; lost < whole.input.links.size(); ++lost) {
      auto rest = whole;
      rest.input.links.erase(rest.input.links.begin() + static_cast<std::ptrdiff_t>(lost));
      const auto fabric = rest.routable();

      for (const unsigned vls : {2U, 4U}) {
        const auto routes = routed(fabric, {.widest = &complete.topology, .vls = vls});

        ASSERT_TRUE(routes) << spec << ' ' << to_string(routes.error());
        const auto found = checked(fabric, *routes);
        EXPECT_TRUE(found.clean()) << spec << " without cable " << lost << ' '
                                   << describe(found, fabric.topology);
        EXPECT_EQ(found.vls, vls);
        EXPECT_EQ(layers_by_guid(fabric, *routes), before) << spec << " without cable " << lost;
      }
    }
  }
}

TEST(Torus2Qos, GoesRoundAMissingSwitchOnTheSameSls) {
  for (const auto* spec : {"torus:5x5:1", "torus:4x4x4:1", "torus:3x4x5:1", "torus:6x5:2"}) {
    const auto whole = fabrics::told(fabrics::of_spec(spec).input);
    const auto complete = whole.routable();
    const auto before = layers_by_guid(complete, *routed(complete));
    for (SwitchIndex lost = 0; lost < whole.input.switches.size(); ++lost) {
      std::vector<bool> gone(whole.input.switches.size());
      gone[lost] = true;
      const auto fabric = fabrics::without_switches(whole, gone).routable();

      const auto routes = routed(fabric, {.widest = &complete.topology});

      ASSERT_TRUE(routes) << spec << ' ' << to_string(routes.error());
      const auto found = checked(fabric, *routes);
      EXPECT_TRUE(found.clean()) << spec << " without switch " << lost << ' '
                                 << describe(found, fabric.topology);
      for (const auto& [pair, layer] : layers_by_guid(fabric, *routes)) EXPECT_EQ(layer, before.at(pair));
    }
  }
}

TEST(Torus2Qos, NeedsTheVlsOfTurnsRoundAMissingSwitch) {
  const auto whole = fabrics::told(fabrics::of_spec("torus:5x5:1").input);
  const auto complete = whole.routable();
  std::vector<bool> gone(25);
  gone[12] = true;
  const auto fabric = fabrics::without_switches(whole, gone).routable();

  const auto two = routed(fabric, {.widest = &complete.topology, .vls = 2});

  ASSERT_TRUE(two);
  EXPECT_FALSE(checked(fabric, *two).clean());
  EXPECT_TRUE(oracle::verify_layers(fabric.topology, fabric.lids, *two).any_credit_loop);
}

TEST(Torus2Qos, RefusesARingInPieces) {
  auto whole = fabrics::told(fabrics::of_spec("torus:5x5:1").input);
  const auto complete = whole.routable();
  // The links of the first ring of the second dimension: switches 0 to 4.
  std::erase_if(whole.input.links, [](const auto& link) {
    const auto low = std::min(link.a, link.b), high = std::max(link.a, link.b);
    return high == low + 1 && (low == 0 || low == 2);
  });

  const auto routes = routed(whole.routable(), {.widest = &complete.topology});

  ASSERT_FALSE(routes);
  EXPECT_EQ(routes.error().cause, RouteError::Cause::torus_in_pieces);
}

std::string any_torus() {
  const auto dimensions = *rc::gen::inRange(2, 4);
  std::string sizes;
  for (int d = 0; d < dimensions; ++d)
    sizes += (d == 0 ? "" : "x") +
             std::to_string(*rc::gen::inRange(dimensions == 3 ? 2 : 3, dimensions == 3 ? 5 : 7));
  return *rc::gen::element<std::string>("torus", "torus", "torus", "mesh") + ":" + sizes +
         ":1+guids=" + std::to_string(*rc::gen::inRange(0, 1000));
}

RC_GTEST_PROP(Torus2Qos, IsVerifiedAsTheOracleDoesOnDamagedTori, ()) {
  const auto spec = any_torus();
  const auto whole =
      fabrics::told(fabrics::of_spec(spec).input, static_cast<std::uint8_t>(*rc::gen::inRange(0, 2)));
  const auto complete = whole.routable();
  const auto links = *rc::gen::element<std::size_t>(0, 1, 1, 2, 3);
  const auto switches = *rc::gen::element<std::size_t>(0, 0, 1, 2);
  const auto fabric =
      fabrics::damaged(whole, *rc::gen::arbitrary<std::uint64_t>(), links, switches).routable();
  const bool known = *rc::gen::arbitrary<bool>();
  const auto vls = *rc::gen::element(2U, 4U, 8U);

  const auto routes = routed(fabric, {.widest = known ? &complete.topology : nullptr, .vls = vls});

  RC_TAG(routes.has_value(), links != 0 || switches != 0);
  if (!routes) return;
  const auto fast = verify_routes({fabric.topology, fabric.lids, Threads{3}}, *routes);
  const auto slow = oracle::verify(fabric.topology, fabric.lids, *routes);
  const auto layered = oracle::verify_layers(fabric.topology, fabric.lids, *routes);
  RC_ASSERT(slow.loops + slow.dead_ends + slow.host_pairs_unreachable == 0U);
  RC_ASSERT(fast.ok() == !layered.credit_loop);
  RC_ASSERT(fast.clean() == !layered.any_credit_loop);
  RC_ASSERT(fast.fixed_sl_ok == !layered.fixed_loop);
  for (const auto& hop : fast.credit_loop_example) RC_ASSERT(hop.lid != Lid{0});
  // What the theory takes: cables, or one switch with the VLs of turns.
  if (switches == 0 || (links == 0 && switches == 1 && vls >= 4)) RC_ASSERT(fast.clean());
}

RC_GTEST_PROP(Torus2Qos, HasTheSameBytesForAnyThreadsAndOrder, ()) {
  const auto input = fabrics::damaged(fabrics::told(fabrics::of_spec(any_torus()).input),
                                      *rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange(0U, 2U), 0)
                         .input;
  const auto fabric = fabrics::with_lids(input, 1);
  const auto shuffled = fabrics::shuffled(fabric, input, *rc::gen::arbitrary<std::uint64_t>());

  const auto one = routed(fabric), other = routed(shuffled, {}, Threads{8});

  RC_ASSERT(one.has_value() == other.has_value());
  if (!one) return;
  RC_ASSERT(one->layers == other->layers);
  for (std::size_t s = 0; s < one->rows.size(); ++s) RC_ASSERT(*one->rows[s] == *other->rows[s]);
}

/// By the spec's numbers switch 0 is at 0,0,0, the last coordinate is fastest.
std::string seed_of(const Routable& fabric, const std::string& name, SwitchIndex from, SwitchIndex to) {
  const auto guid = [&](SwitchIndex s) {
    return fmt::format("{}", fabric.topology.guid(fabric.topology.from_input(s)));
  };
  return name + "_link " + guid(from) + " " + guid(to) + "\n";
}

TEST(Torus2Qos, TakesSizesSeedsAndDatelinesFromAFile) {
  const auto fabric = of("torus:4x5:1");  // switch 5 i + j
  const auto n = [&](unsigned i, unsigned j) { return fabric.topology.from_input(5 * i + j); };
  const auto layer = [&](const Routes& routes, SwitchIndex a, SwitchIndex b) {
    return routes.layers.by_pair.at(a, b);
  };
  const auto seeds = seed_of(fabric, "yp", 0, 5) + seed_of(fabric, "ym", 0, 15) + seed_of(fabric, "zp", 0, 1);

  const auto plain = routed(fabric, {.conf = conf_of("torus 1 4 5\n" + seeds)});
  const auto moved = routed(fabric, {.conf = conf_of("torus 1 4 5\n" + seeds + "z_dateline -1\n")});
  const auto other =
      routed(fabric, {.conf = conf_of("torus 1 5 4\n" + seed_of(fabric, "zp", 0, 5) +
                                      seed_of(fabric, "zm", 0, 15) + seed_of(fabric, "ym", 0, 1))});

  ASSERT_TRUE(plain && moved && other);
  for (const auto* routes : {&*plain, &*moved, &*other}) EXPECT_TRUE(checked(fabric, *routes).clean());
  EXPECT_EQ(layer(*plain, n(0, 0), n(0, 4)), 4U) << "bit 2 is that of z";
  EXPECT_EQ(layer(*plain, n(0, 3), n(0, 4)), 0U);
  EXPECT_EQ(layer(*plain, n(0, 0), n(3, 4)), 6U);
  EXPECT_EQ(layer(*moved, n(0, 0), n(0, 4)), 0U) << "the common switch is at z=1";
  EXPECT_EQ(layer(*moved, n(0, 3), n(0, 4)), 4U);
  EXPECT_EQ(layer(*other, n(0, 0), n(0, 4)), 0U) << "down from 0, 0 is 0, 1, which is at y=4";
  EXPECT_EQ(layer(*other, n(0, 0), n(0, 1)), 2U);
}

TEST(Torus2Qos, AFileOfAnotherTorusIsRefused) {
  const auto fabric = of("torus:5x5:1");
  const auto links = seed_of(fabric, "xp", 0, 5) + seed_of(fabric, "yp", 0, 1);
  const auto refused = [&](const std::string& text) {
    const auto routes = routed(fabric, {.conf = conf_of(text)});
    return routes ? std::string("routed") : to_string(routes.error());
  };
  const std::string sizes = "the switches are no torus or mesh of the sizes in the torus-2QoS.conf";
  EXPECT_EQ(refused("torus 5 5 1\n" + links), "routed");
  EXPECT_EQ(refused("torus 5 6 1\n" + links), sizes);
  EXPECT_EQ(refused("mesh 5 5 1\n" + links), "routed") << "without a cable of each ring, as opensm";
  EXPECT_EQ(refused("torus 5 5 1\n" + seed_of(fabric, "xp", 0, 1) + seed_of(fabric, "yp", 0, 1)), sizes);
  EXPECT_EQ(refused("torus 5 5 1\nxp_link 0x1 0x2\nyp_link 0x1 0x3\n"),
            "of each seed in the torus-2QoS.conf at least one switch is missing");
  EXPECT_EQ(refused("torus 5 5 1\nxp_link 0x1 0x2\nyp_link 0x1 0x3\nnext_seed\n" + links), "routed");
}

TEST(Torus2Qos, ParallelCablesTakeTurnsByThePortOrder) {
  const auto fabric = fabrics::with_lids(fabrics::doubled(fabrics::of_spec("torus:5x5:2").input));
  const auto seeds = "torus 5 5 1\n" + seed_of(fabric, "xp", 0, 5) + seed_of(fabric, "yp", 0, 1);
  const auto first = [&](const Routes& routes, unsigned host) {
    return int{entry(routes.rows[0].get(), fabric.lids.of_end(fabric.topology.first_end(1) + host).base)};
  };

  const auto ascending = routed(fabric, {.conf = conf_of(seeds)});
  const auto given = routed(fabric, {.conf = conf_of(seeds + "port_order 6 5\n")});

  ASSERT_TRUE(ascending && given);
  EXPECT_EQ(std::pair(first(*ascending, 0), first(*ascending, 1)), std::pair(3, 103));
  EXPECT_EQ(std::pair(first(*given, 0), first(*given, 1)), std::pair(103, 3));
  EXPECT_EQ(max_link_paths(fabric, *ascending), 240U / 4 / 2);
}

}  // namespace
}  // namespace smd::routing
