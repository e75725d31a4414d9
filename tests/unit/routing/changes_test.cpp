// SPDX-License-Identifier: Apache-2.0
// After a change only what it touched is repaired and verified: with the same outcome as all of it.
#include "routing/verify/changes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>

#include "routing/repair/repair.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"

namespace smd::routing {
namespace {

using fabrics::Routable;
using fabrics::Told;

Told any_fabric(std::uint64_t seed) {
  const auto lmc = static_cast<std::uint8_t>(*rc::gen::inRange(0, 2));
  switch (*rc::gen::inRange(0, 6)) {
    case 0:
      return fabrics::told(
          fabrics::ft2(*rc::gen::inRange(2U, 7U), *rc::gen::inRange(2U, 5U), 3, *rc::gen::inRange(1U, 3U))
              .input(),
          lmc);
    case 1:
      return fabrics::told(fabrics::with_aggregation_nodes(fabrics::ft3(*rc::gen::element(4U, 6U)).input()),
                           lmc);
    case 2:
      return fabrics::told(
          fabrics::with_aggregation_nodes(fabrics::ft2(*rc::gen::inRange(3U, 8U), 3, 3).input()), lmc);
    case 3:
    case 4:
      return fabrics::told(fabrics::ft3(*rc::gen::element(4U, 6U, 8U)).input(), lmc);
    default:
      return fabrics::told(
          fabrics::irregular(seed, *rc::gen::inRange(2U, 14U), *rc::gen::inRange(0U, 14U), 24).input(), lmc);
  }
}

struct Judged {
  Told told;
  Routable fabric;
  Routes routes;
  Verification found;
  Proven proven() const { return {fabric.topology, fabric.lids, routes.rows, routes.layers, found}; }
};

std::optional<Judged> routed(std::string_view engine, const Told& told) {
  Judged tables{told, told.routable(), {}, {}};
  auto routes = find_engine(engine)->run({.context = {tables.fabric.topology, tables.fabric.lids, Serial{}}});
  if (!routes) return std::nullopt;
  tables.routes = *std::move(routes);
  tables.found = verify_routes({tables.fabric.topology, tables.fabric.lids, Serial{}}, tables.routes);
  return tables;
}

std::expected<Repaired, RouteError> repaired(std::string_view engine, const Judged& old,
                                             const ReferenceTopology& reference, const Routable& now,
                                             bool touched_only) {
  std::vector<OldRow> rows;
  for (SwitchIndex s = 0; s < old.fabric.topology.switches(); ++s) {
    rows.push_back({old.fabric.topology.guid(s), old.routes.rows[s]});
  }
  const Before before{old.fabric.topology, old.fabric.lids};
  return repair_routes({.context = {now.topology, now.lids, Serial{}},
                        .old = rows,
                        .reference = reference,
                        .engine = *find_engine(engine),
                        .options = {},
                        .before = touched_only ? &before : nullptr});
}

void expect_same_rows(const Routes& one, const Routes& other) {
  RC_ASSERT(one.rows.size() == other.rows.size());
  for (std::size_t s = 0; s < one.rows.size(); ++s) RC_ASSERT(*one.rows[s] == *other.rows[s]);
}

/// The order holds for all tables: what a channel waits for has a higher number.
void expect_ascending(const Routable& fabric, const Routes& routes, const ChannelOrder& order) {
  const auto& topology = fabric.topology;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    for (std::uint32_t value = 1; value <= fabric.lids.top().value(); ++value) {
      const auto lid = Lid{static_cast<std::uint16_t>(value)};
      if (fabric.lids.destination(lid).sw == kNoSwitch) continue;
      const PortNum out{entry(routes.rows[s].get(), lid)};
      const auto next = topology.peer(s, out).sw;
      if (next == kNoSwitch) continue;
      const PortNum then{entry(routes.rows[next].get(), lid)};
      if (topology.peer(next, then).sw == kNoSwitch) continue;
      RC_ASSERT(order[0][topology.channel(s, out)] < order[0][topology.channel(next, then)]);
    }
  }
}

void expect_equal(const Verification& quick, const Verification& whole) {
  RC_ASSERT(whole.clean());
  RC_ASSERT(quick.clean());
  RC_ASSERT(quick.unrouted_by_rule == whole.unrouted_by_rule);
  RC_ASSERT(quick.unreachable_switch_pairs == whole.unreachable_switch_pairs);
  RC_ASSERT(quick.aggregation_pairs_unreachable == whole.aggregation_pairs_unreachable);
  RC_ASSERT(quick.aggregation_pair == whole.aggregation_pair);
  RC_ASSERT(quick.aggregation_example == whole.aggregation_example);
  RC_ASSERT(quick.vls == whole.vls);
}

/// As where a switch was replaced: the tables before have one that is no part of the widest fabric.
RC_GTEST_PROP(Changes, TablesOfBeforeMayHaveASwitchThatTheReferenceHasNot, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const std::string engine = *rc::gen::element<std::string>("dmodc", "updn", "dnup");
  const auto tables = routed(engine, any_fabric(seed));
  RC_PRE(tables.has_value());
  const auto told = fabrics::damaged(tables->told, seed, 0, 1);
  const Judged next{told, told.routable(), {}, {}};
  const auto whole = repaired(engine, *tables, {}, next.fabric, false);
  const auto quick = repaired(engine, *tables, {}, next.fabric, true);
  RC_ASSERT(whole.has_value() == quick.has_value());
  if (whole) expect_same_rows(whole->routes, quick->routes);
}

RC_GTEST_PROP(Changes, FaultAfterFaultTheOutcomeIsThatOfAWholeLook, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const std::string engine = *rc::gen::element<std::string>("dmodc", "ftree", "updn", "dnup");
  auto tables = routed(engine, any_fabric(seed));
  RC_PRE(tables.has_value());
  const auto reference = merge({}, tables->fabric.topology);
  for (std::uint64_t step = 0; step < 4; ++step) {
    auto told = fabrics::damaged(tables->told, seed + step, *rc::gen::inRange<std::size_t>(0, 3),
                                 *rc::gen::inRange<std::size_t>(0, 2));
    Judged next{told, told.routable(), {}, {}};
    const auto whole = repaired(engine, *tables, reference, next.fabric, false);
    const auto quick = repaired(engine, *tables, reference, next.fabric, true);
    RC_ASSERT(whole.has_value() == quick.has_value());
    if (!whole) return;
    expect_same_rows(whole->routes, quick->routes);
    RC_ASSERT(whole->changes() == quick->changes());
    next.routes = quick->routes;
    next.found = verify_routes({next.fabric.topology, next.fabric.lids, Serial{}}, next.routes);
    const auto changes =
        verify_changes(tables->proven(), {next.fabric.topology, next.fabric.lids, Serial{}}, next.routes);
    RC_TAG(changes.has_value());
    if (changes) {
      expect_equal(*changes, next.found);
      expect_ascending(next.fabric, next.routes, *changes->order);
      next.found = *changes;  // the next proof stands on this one
    }
    if (!next.found.clean()) return;
    tables = std::move(next);
  }
}

RC_GTEST_PROP(Changes, WrongEntriesAreNeverProven, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto tables = routed("updn", any_fabric(seed));
  RC_PRE(tables && tables->found.clean());
  std::mt19937_64 random(seed);
  Routes routes = tables->routes;
  const auto& topology = tables->fabric.topology;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    const auto s = random() % topology.switches();
    auto row = std::make_shared<LftRow>(*routes.rows[s]);
    const auto port =
        random() % 8 == 0 ? kNoRoute : random() % (topology.ports(static_cast<SwitchIndex>(s)) + 1);
    (*row)[1 + random() % tables->fabric.lids.top().value()] = static_cast<std::uint8_t>(port);
    routes.rows[s] = std::move(row);
  }

  const auto quick = verify_changes(tables->proven(), {topology, tables->fabric.lids, Serial{}}, routes);

  RC_TAG(quick.has_value());
  const auto whole = verify_routes({topology, tables->fabric.lids, Serial{}}, routes);
  if (quick) expect_equal(*quick, whole);
  const auto after = verify_after(tables->proven(), {topology, tables->fabric.lids, Serial{}}, routes);
  RC_ASSERT(after.ok() == whole.ok());
}

TEST(Changes, ACableOfAWholeTreeIsTakenAwayAndComesBack) {
  const auto tables = *routed("dmodc", fabrics::told(fabrics::ft3(8).input()));
  const auto reference = merge({}, tables.fabric.topology);
  auto told = tables.told;
  told.input.links.erase(told.input.links.begin());
  Judged without{told, told.routable(), {}, {}};

  without.routes = repaired("dmodc", tables, reference, without.fabric, true)->routes;
  auto found = verify_changes(tables.proven(), {without.fabric.topology, without.fabric.lids, Serial{}},
                              without.routes);

  ASSERT_TRUE(found);
  EXPECT_GT(found->unrouted_by_rule, tables.found.unrouted_by_rule);
  EXPECT_GT(found->unreachable_switch_pairs, 0U);
  without.found = *std::move(found);

  const auto back = repaired("dmodc", without, reference, tables.fabric, true);
  ASSERT_TRUE(back);
  const auto again =
      verify_changes(without.proven(), {tables.fabric.topology, tables.fabric.lids, Serial{}}, back->routes);

  ASSERT_TRUE(again);
  EXPECT_EQ(again->unrouted_by_rule, tables.found.unrouted_by_rule);
  EXPECT_EQ(again->unreachable_switch_pairs, 0U);
}

}  // namespace
}  // namespace smd::routing
