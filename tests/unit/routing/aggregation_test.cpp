// SPDX-License-Identifier: Apache-2.0
// Aggregation nodes never change the routes of hosts.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "mad/base/fabric_spec.h"
#include "routing/chain/chain.h"
#include "routing/repair/repair.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_trees.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

std::string name_in_words(Guid guid) { return fmt::format("N{:x}", guid.value()); }

using fabrics::Routable;
using fabrics::Told;

/// By switch and LID owner (an end port that is no aggregation node, or a switch) the output port.
using HostRoutes = std::map<std::pair<Guid, Guid>, std::uint8_t>;

HostRoutes host_routes(const Routable& fabric, const Routes& routes) {
  HostRoutes found;
  const auto& topology = fabric.topology;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto* const row = routes.rows[s].get();
    for (EndIndex e = 0; e < topology.end_ports().size(); ++e) {
      const auto& end = topology.end_ports()[e];
      if (end.kind != EndKind::aggregation)
        found[{topology.guid(s), end.guid}] = entry(row, fabric.lids.of_end(e).base);
    }
    for (SwitchIndex to = 0; to < topology.switches(); ++to)
      found[{topology.guid(s), topology.guid(to)}] = entry(row, fabric.lids.of_switch(to).base);
  }
  return found;
}

fabrics::Builder fabric_for_nodes(std::uint64_t seed) {
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return fabrics::damaged(fabrics::ft3(4), seed, *rc::gen::inRange(0U, 30U));
    case 1:
      return fabrics::damaged(fabrics::random_tree(seed % 200), seed, *rc::gen::element(0U, 1U, 10U));
    case 2:
      return fabrics::torus(3, 4, 2);
    default:
      return fabrics::irregular(seed, *rc::gen::inRange(2U, 14U), *rc::gen::inRange(0U, 14U), 30);
  }
}

TopologyInput without_aggregation_nodes(TopologyInput input) {
  std::erase_if(input.end_ports, [](const EndPortSpec& end) { return end.kind == EndKind::aggregation; });
  return input;
}

RC_GTEST_PROP(Aggregation, NodesOnAllSwitchesChangeNoRouteOfAHost, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto input = without_aggregation_nodes(fabric_for_nodes(seed).input());
  const auto engine = *rc::gen::element<std::string>("dmodc", "ftree", "updn", "dnup", "minhop");
  const auto plain = fabrics::with_lids(input);
  const auto more = fabrics::with_lids(fabrics::with_aggregation_nodes(input));
  const auto run = [&](const Routable& fabric) {
    return find_engine(engine)->run({.context = {fabric.topology, fabric.lids, Serial{}}});
  };

  const auto without = run(plain), with = run(more);

  RC_ASSERT(without.has_value() == with.has_value());
  if (!with) return;
  RC_ASSERT(host_routes(plain, *without) == host_routes(more, *with));
}

std::expected<Repaired, RouteError> repair_of(const std::string& engine, const Routable& before,
                                              const Routes& old, const Routable& now, bool known) {
  std::vector<OldRow> rows;
  for (SwitchIndex s = 0; s < before.topology.switches(); ++s)
    rows.push_back({before.topology.guid(s), old.rows[s]});
  const auto reference = merge({}, before.topology);
  const Before was{before.topology, before.lids};
  return repair_routes({.context = {now.topology, now.lids, Serial{}},
                        .old = rows,
                        .reference = reference,
                        .engine = *find_engine(engine),
                        .options = {},
                        .before = known ? &was : nullptr});
}

RC_GTEST_PROP(Aggregation, NodesChangeNoRepairOfAHostsRoute, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto input = without_aggregation_nodes(fabric_for_nodes(seed).input());
  const auto engine = *rc::gen::element<std::string>("dmodc", "updn");
  const bool known = *rc::gen::arbitrary<bool>();
  std::optional<HostRoutes> first;
  std::optional<bool> repairs;
  for (const auto& of : {input, fabrics::with_aggregation_nodes(input)}) {
    const auto whole = fabrics::told(of);
    const auto before = whole.routable();
    const auto old = find_engine(engine)->run({.context = {before.topology, before.lids, Serial{}}});
    if (!old) return;
    const auto rest = fabrics::damaged(whole, seed, 2, 0).routable();
    const auto result = repair_of(engine, before, *old, rest, known);
    RC_ASSERT((!repairs || *repairs == result.has_value()));  // the macro alone evaluates both sides
    repairs = result.has_value();
    if (!result) return;
    const auto found = verify_routes({rest.topology, rest.lids, Serial{}}, result->routes);
    if (!found.clean()) RC_FAIL(describe(found, rest.topology));
    const auto routes = host_routes(rest, result->routes);
    RC_ASSERT((!first || *first == routes));
    first = routes;
  }
}

/// A leaf with one cable to each spine loses one of them: there is no path up and down to that spine.
TEST(Aggregation, ALeafWithoutItsOnlyCableToASpineKeepsTheEngineAndNamesThePair) {
  const auto whole = fabrics::told(fabrics::with_aggregation_nodes(fabrics::ft2(8, 4, 4).input()));
  auto rest = whole;
  std::erase_if(rest.input.links, [](const LinkSpec& link) { return link.a == 0 && link.b == 8; });
  const auto before = whole.routable(), now = rest.routable();
  const RoutingContext context{now.topology, now.lids, Serial{}};
  const auto old = *find_engine("dmodc")->run({.context = {before.topology, before.lids, Serial{}}});
  const std::vector<ChainLink> chain{{"dmodc", {}}};

  const auto chosen = route_with_chain(chain, {.context = context});
  const auto repair = repair_of("dmodc", before, old, now, true);

  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->engine, "dmodc");
  ASSERT_TRUE(repair);
  const auto repaired_found = verify_routes(context, repair->routes);
  for (const auto& found : {chosen->verification, repaired_found}) {
    EXPECT_TRUE(found.clean()) << describe(found, now.topology);
    EXPECT_EQ(found.host_pairs_unreachable, 0U);
    EXPECT_EQ(found.aggregation_pairs_unreachable, 8U);  // 4 hosts and the node of the spine, both ways
    EXPECT_EQ(describe_left_out(found, now.topology, name_in_words),
              "8 pairs of a host and an aggregation node have no legal path, as from 0x0000000000800000 "
              "N800000 to 0x0000000000a00008 Na00008 of N1008");
  }
}

}  // namespace
}  // namespace smd::routing
