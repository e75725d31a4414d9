// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/extend.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/support/routing_damage.h"
#include "tests/support/routing_oracle.h"

namespace smd::routing {
namespace {

using fabrics::Routable;

Routes routed_by(std::string_view engine, const Routable& fabric) {
  return *find_engine(engine)->run({.context = {fabric.topology, fabric.lids, Serial{}}});
}

/// The old tables as they work on what is there now.
Routes old_tables(const Routable& before, const Routes& old, const Routable& now) {
  Routes routes;
  for (SwitchIndex s = 0; s < now.topology.switches(); ++s) {
    const auto was = before.topology.find(now.topology.guid(s));
    routes.rows.push_back(was == kNoSwitch ? nullptr : old.rows[was]);
  }
  return routes;
}

std::expected<Repaired, RouteError> extended(const Routable& now, const Routes& old) {
  return extend({.context = {now.topology, now.lids, Serial{}}, .old = old.rows, .layers = {}});
}

RC_GTEST_PROP(Extend, KeepsAllThatArrivesAndInterruptsNothing, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto builder = *rc::gen::inRange(0, 2) == 0 ? fabrics::torus(4, 3, 1)
                                                    : fabrics::irregular(seed, *rc::gen::inRange(2U, 12U),
                                                                         *rc::gen::inRange(0U, 12U), 16);
  const auto whole = fabrics::told(builder.input());
  const auto before = whole.routable();
  const auto old = routed_by("updn", before);
  const auto now = fabrics::damaged(whole, seed, *rc::gen::inRange<std::size_t>(0, 5),
                                    *rc::gen::inRange<std::size_t>(0, 2))
                       .routable();
  const auto kept = old_tables(before, old, now);

  const auto result = extended(now, kept);

  RC_TAG(result.has_value());
  if (!result) {
    RC_ASSERT(result.error().cause == RouteError::Cause::no_legal_path);
    return;
  }
  const auto found = oracle::verify(now.topology, now.lids, result->routes);
  RC_ASSERT(found.host_pairs_unreachable == 0U);
  RC_ASSERT(found.loops == 0U);
  RC_ASSERT(!found.any_credit_loop);
  for (SwitchIndex s = 0; s < now.topology.switches(); ++s) {
    for (std::uint32_t value = 1; value <= now.lids.top().value(); ++value) {
      const auto lid = Lid{static_cast<std::uint16_t>(value)};
      if (now.lids.destination(lid).sw == kNoSwitch) continue;
      if (oracle::travel(now.topology, now.lids, kept, s, lid).end != oracle::Trip::End::arrives) continue;
      RC_ASSERT(entry(kept.rows[s].get(), lid) == entry(result->routes.rows[s].get(), lid));
    }
  }
}

TEST(Extend, WhereNothingIsLostNothingChanges) {
  const auto fabric = fabrics::with_lids(fabrics::torus(4, 4, 1).input());
  const auto old = routed_by("updn", fabric);

  const auto result = extended(fabric, old);

  ASSERT_TRUE(result);
  EXPECT_EQ(result->changes(), 0U);
  EXPECT_EQ(result->routes.rows, old.rows);
}

/// A ring that was cut, routed by the order of what was left, and is whole again.
TEST(Extend, ALinkThatComesBackChangesNothing) {
  const auto whole = fabrics::told(fabrics::torus(6, 1, 1).input());
  auto cut = whole;
  cut.input.links.pop_back();
  const auto before = cut.routable(), now = whole.routable();
  const auto old = routed_by("updn", before);

  const auto result = extended(now, old_tables(before, old, now));

  ASSERT_TRUE(result);
  EXPECT_EQ(result->changes(), 0U);
}

}  // namespace
}  // namespace smd::routing
