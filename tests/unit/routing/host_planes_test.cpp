// SPDX-License-Identifier: Apache-2.0
// The paths to the hosts of one switch.
#include "routing/engines/host_planes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "routing/engines/engine.h"
#include "routing/engines/layer_room.h"
#include "routing/engines/tree_balance.h"
#include "routing/quality/load.h"
#include "routing/quality/quality.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_fabrics.h"
#include "tests/support/routing_layer_oracle.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

RoutingContext context_of(const fabrics::Routable& fabric) {
  static const Serial serial;
  return {fabric.topology, fabric.lids, serial};
}

std::expected<Routes, RouteError> with_eight_vls(std::string_view engine, const fabrics::Routable& fabric) {
  return find_engine(engine)->run({.context = context_of(fabric), .vl_budget = 8});
}

RouteLoad load_of(const fabrics::Routable& fabric, const Routes& routes) {
  return measure_load(context_of(fabric), routes, hosts_in_file_order(fabric.topology), LoadOfShifts::no);
}

/// Whether hosts of one switch have different paths.
bool spreads_hosts(const fabrics::Routable& fabric, const Routes& routes) {
  for (SwitchIndex to = 0; to < fabric.topology.switches(); ++to) {
    const auto ends = fabric.topology.end_ports_of(to);
    for (std::size_t i = 1; i < ends.size(); ++i) {
      const auto first = fabric.lids.of_end(fabric.topology.first_end(to));
      const auto other = fabric.lids.of_end(fabric.topology.first_end(to) + static_cast<EndIndex>(i));
      for (SwitchIndex s = 0; s < fabric.topology.switches(); ++s) {
        const auto& row = *routes.rows[s];
        if (s != to && fabric.topology.peer(s, PortNum{row[first.base.value()]}).sw !=
                           fabric.topology.peer(s, PortNum{row[other.base.value()]}).sw)
          return true;
      }
    }
  }
  return false;
}

/// Whether multicast finds room in layer 0.
bool has_room(const fabrics::Routable& fabric, const ChannelNet& net, const Routes& routes) {
  LayerGraph graph(net);
  for (SwitchIndex from = 0; from < fabric.topology.switches(); ++from) {
    for (std::uint32_t value = 1; value <= fabric.lids.top().value(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const auto to = fabric.lids.destination(lid).sw;
      if (to == kNoSwitch || to == from || routes.layers.of(from, to, lid) != 0) continue;
      std::vector<ChannelPair> waits;
      std::optional<NetChannel> before;
      for (auto s = from; s != to && (*routes.rows[s])[value] != kNoRoute;) {
        const auto peer = fabric.topology.peer(s, PortNum{(*routes.rows[s])[value]}).sw;
        auto c = net.first(s);
        while (net.head(c) != peer) ++c;
        if (before) waits.push_back(net.pair(*before, c));
        before = c;
        s = peer;
      }
      RC_ASSERT(graph.add(waits));
    }
  }
  return trees_can_grow(fabric.topology, net, graph) || graph.add(turns_in_trees(fabric.topology, net));
}

struct MostLoaded {
  const char* spec;
  const char* engine;
  std::uint64_t paths;  ///< opensm's engine of that name
};

TEST(HostPlanes, LoadNoLinkMoreThanOpensmDoes) {
  for (const auto& [spec, engine, paths] : {MostLoaded{"hyperx:6:3+guids=184+cut=3:42", "dfsssp", 12},
                                            MostLoaded{"hyperx:6:3+guids=184+cut=3:42", "sssp", 12},
                                            MostLoaded{"hyperx:7:2+guids=97+cut=3:48", "dfsssp", 6},
                                            MostLoaded{"hyperx:7:2+guids=97+cut=3:48", "sssp", 6},
                                            MostLoaded{"hyperx:7:2+guids=97+cut=3:48", "nue", 6},
                                            MostLoaded{"hyperx:8:3+guids=606+cut=3:52", "nue", 12},
                                            MostLoaded{"random:8:7:4:14+guids=266+cut=20:99", "dfsssp", 40},
                                            MostLoaded{"random:8:7:4:14+guids=266+cut=20:99", "sssp", 40},
                                            MostLoaded{"fullcore:3:3:3:2:3+guids=844", "dfsssp", 48},
                                            MostLoaded{"fullcore:3:3:3:2:3+guids=844", "sssp", 48},
                                            MostLoaded{"fullcore:3:3:3:2:3+guids=844", "nue", 48},
                                            MostLoaded{"mesh:3x3x2:3+guids=434+cut=20:1", "dfsssp", 186}}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec(spec).input);
    const auto routes = with_eight_vls(engine, fabric);
    ASSERT_TRUE(routes) << spec << ' ' << engine;
    EXPECT_TRUE(verify_routes(context_of(fabric), *routes).clean()) << spec << ' ' << engine;
    EXPECT_LE(measure(context_of(fabric), *routes, hosts_in_file_order(fabric.topology)).max_link_paths,
              paths)
        << spec << ' ' << engine;
  }
}

TEST(HostPlanes, AreOneWhereOthersLowerNothing) {
  for (const auto* const spec : {"hyperx:4x4:2", "mesh:4x4:2", "torus:5x5:2", "hyperx:3x3x3:4"}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec(std::string(spec) + "+guids=1").input);
    for (const auto* const engine : {"dfsssp", "sssp"}) {
      const auto routes = with_eight_vls(engine, fabric);
      if (routes) EXPECT_FALSE(spreads_hosts(fabric, *routes)) << spec << ' ' << engine;
    }
  }
}

/// Of a fabric where hosts are spread when they have one LID.
TEST(HostPlanes, LeaveSeveralLidsOfAPortTheirTrees) {
  for (const auto lmc : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2}}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec("hyperx:6:3+guids=184+cut=3:42").input, lmc);
    const auto in = context_of(fabric);
    const ChannelNet net(fabric.topology);
    const auto found = in_layers(in, net, balanced_trees(in, net), 8);
    ASSERT_TRUE(found);
    const auto routes = routes_along(in, net, *found);
    EXPECT_EQ(spreads_hosts(fabric, routes), lmc == 0);
    const auto rows = tables_along(in, found->planes);
    const bool same = std::ranges::equal(
        routes.rows, rows, {}, [](const auto& row) { return *row; }, [](const auto& row) { return *row; });
    EXPECT_EQ(same, lmc != 0);
  }
}

/// Paths are as long as before, in the same layers, and no link carries more.
RC_GTEST_PROP(HostPlanes, KeepLayersAndLengthsOfTheirPairs, ()) {
  const auto seed = *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
  const auto switches = *rc::gen::inRange(3U, 20U);
  const auto builder =
      fabrics::irregular(seed, switches, *rc::gen::inRange(0U, 2 * switches), *rc::gen::inRange(0U, 60U));
  const auto fabric = fabrics::with_lids(builder.input());
  const auto in = context_of(fabric);
  const ChannelNet net(fabric.topology);
  const auto most = *rc::gen::element(1U, 2U, 8U);
  auto found = in_layers(in, net, balanced_trees(in, net), most);
  RC_PRE(found.has_value());
  const Routes alone{tables_along(in, found->planes), found->layers};

  const auto routes = routes_along(in, net, *found);

  RC_ASSERT(routes.layers == alone.layers);
  const auto before = load_of(fabric, alone), now = load_of(fabric, routes);
  RC_ASSERT(now.mean_hops <= before.mean_hops);
  RC_TAG(spreads_hosts(fabric, routes));
  if (now.max_link_time >= before.max_link_time) {
    for (std::size_t s = 0; s < routes.rows.size(); ++s) RC_ASSERT(*routes.rows[s] == *alone.rows[s]);
  }
  const auto slow = oracle::verify(fabric.topology, fabric.lids, routes);
  RC_ASSERT(slow.host_pairs_unreachable + slow.loops + slow.dead_ends == 0U);
  RC_ASSERT(!oracle::verify_layers(fabric.topology, fabric.lids, routes).any_credit_loop);
  RC_ASSERT(has_room(fabric, net, routes) || !has_room(fabric, net, alone));
}

}  // namespace
}  // namespace smd::routing
