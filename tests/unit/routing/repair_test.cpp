// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/repair.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_oracle.h"

namespace smd::routing {
namespace {

using fabrics::Builder;
using fabrics::Routable;
using fabrics::Told;

std::vector<OldRow> old_rows(const Routable& fabric, const Routes& routes) {
  std::vector<OldRow> rows;
  for (SwitchIndex s = 0; s < fabric.topology.switches(); ++s) {
    rows.push_back({fabric.topology.guid(s), routes.rows[s]});
  }
  return rows;
}

std::expected<Repaired, RouteError> repaired(std::string_view engine, const Routable& before,
                                             const Routes& old, const Routable& now,
                                             const Parallel& parallel = Serial{}) {
  const auto rows = old_rows(before, old);
  const auto reference = merge({}, before.topology);
  return repair_routes({.context = {now.topology, now.lids, parallel},
                        .old = rows,
                        .reference = reference,
                        .engine = *find_engine(engine),
                        .options = {}});
}

Builder any_fabric(std::uint64_t seed) {
  switch (*rc::gen::inRange(0, 5)) {
    case 0:
      return fabrics::ft2(*rc::gen::inRange(2U, 7U), *rc::gen::inRange(2U, 5U), 3, *rc::gen::inRange(1U, 3U));
    case 1:
    case 2:
      return fabrics::ft3(*rc::gen::element(4U, 6U));
    case 3:
      return fabrics::torus(4, 3, 2);
    default:
      return fabrics::irregular(seed, *rc::gen::inRange(2U, 14U), *rc::gen::inRange(0U, 14U), 24);
  }
}

/// The old tables as they work on what is there now.
Routes old_tables(const Routable& before, const Routes& old, const Routable& now) {
  Routes routes;
  for (SwitchIndex s = 0; s < now.topology.switches(); ++s) {
    const auto was = before.topology.find(now.topology.guid(s));
    routes.rows.push_back(was == kNoSwitch ? std::make_shared<LftRow>(now.lids.row_size(), kNoRoute)
                                           : old.rows[was]);
  }
  return routes;
}

RC_GTEST_PROP(Repair, ReachesAllThatIsThereAndKeepsWhatStillArrives, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const std::string engine = *rc::gen::element<std::string>("updn", "minhop");
  const auto whole =
      fabrics::told(any_fabric(seed).input(), static_cast<std::uint8_t>(*rc::gen::inRange(0, 2)));
  const auto before = whole.routable();
  const auto old = routed_by(engine, before);
  RC_PRE(verify_routes({before.topology, before.lids, Serial{}}, old).clean());
  const auto now = fabrics::damaged(whole, seed, *rc::gen::inRange<std::size_t>(0, 5),
                                    *rc::gen::inRange<std::size_t>(0, 2))
                       .routable();

  const auto result = repaired(engine, before, old, now);

  RC_TAG(engine, result.has_value());
  if (!result) {
    const auto cause = result.error().cause;
    RC_ASSERT(cause == RouteError::Cause::no_legal_path);
    return;
  }
  const auto found = oracle::verify(now.topology, now.lids, result->routes);
  RC_ASSERT(found.host_pairs_unreachable == 0U);
  RC_ASSERT(found.loops == 0U);
  RC_ASSERT(found.dead_ends == 0U);
  const bool ordered = find_engine(engine)->ranking(before.topology, {}, Serial{}).has_value();
  if (ordered) RC_ASSERT(!found.any_credit_loop);
  const auto kept = old_tables(before, old, now);
  std::uint64_t changes = 0;
  for (SwitchIndex s = 0; s < now.topology.switches(); ++s) {
    for (std::uint32_t value = 1; value <= now.lids.top().value(); ++value) {
      const auto lid = Lid{static_cast<std::uint16_t>(value)};
      const bool same = entry(kept.rows[s].get(), lid) == entry(result->routes.rows[s].get(), lid);
      changes += same ? 0 : 1;
      if (same || now.lids.destination(lid).sw == kNoSwitch) continue;
      // Only what did not arrive may change; but for minhop, whose shortest paths may leave the tree.
      const auto end = oracle::travel(now.topology, now.lids, kept, s, lid).end;
      if (engine == "updn" || !ordered) RC_ASSERT(end != oracle::Trip::End::arrives);
    }
  }
  RC_ASSERT(changes == result->changes());
}

RC_GTEST_PROP(Repair, GivesTheSameBytesForAnyOrderOfTheInputAndAnyThreads, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto whole = fabrics::told(any_fabric(seed).input());
  const auto before = whole.routable();
  const auto old = routed_by("updn", before);
  const auto rest = fabrics::damaged(whole, seed, 3, 1);
  const auto now = rest.routable();
  const auto shuffled = fabrics::shuffled(now, rest.input, seed);

  const auto one = repaired("updn", before, old, now);
  const auto other = repaired("updn", before, old, shuffled, Threads{3});

  RC_ASSERT(one.has_value() == other.has_value());
  for (std::size_t s = 0; one && s < one->routes.rows.size(); ++s) {
    RC_ASSERT(*one->routes.rows[s] == *other->routes.rows[s]);
  }
}

TEST(Repair, NothingLostIsNothingChangedNorCopied) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(8).input());
  const auto old = routed_by("updn", fabric);

  const auto result = repaired("updn", fabric, old, fabric);

  ASSERT_TRUE(result);
  EXPECT_EQ(result->changes(), 0U);
  EXPECT_EQ(result->routes.rows, old.rows);
}

TEST(Repair, ASwitchWithoutATableGetsOne) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(4).input());
  const auto old = routed_by("updn", fabric);
  auto rows = old_rows(fabric, old);
  rows.erase(rows.begin() + 2);
  rows[5].row = nullptr;
  const auto reference = merge({}, fabric.topology);

  const auto result = repair_routes({.context = {fabric.topology, fabric.lids, Serial{}},
                                     .old = rows,
                                     .reference = reference,
                                     .engine = *find_engine("updn"),
                                     .options = {}});

  ASSERT_TRUE(result);
  EXPECT_TRUE(verify_routes({fabric.topology, fabric.lids, Serial{}}, result->routes).clean());
  EXPECT_EQ(result->replaced + result->withdrawn, 0U);
  EXPECT_GT(result->added, 0U);
}

TEST(Repair, WhatLostItsPortIsSharedByTheOthers) {
  auto builder = fabrics::ft2(2, 4, 12);
  const auto before = fabrics::with_lids(builder.input());
  const auto old = routed_by("updn", before);
  auto& links = builder.input().links;
  links.erase(links.begin());  // leaf 0 to the first spine
  const auto now = fabrics::with_lids(builder.input());

  const auto result = repaired("updn", before, old, now);

  ASSERT_TRUE(result);
  for (const SwitchIndex leaf : {SwitchIndex{0}, SwitchIndex{1}}) {
    std::map<std::uint8_t, unsigned> used;
    for (const auto& end : now.topology.end_ports_of(1 - leaf)) {
      const auto e = now.topology.first_end(1 - leaf) +
                     static_cast<EndIndex>(&end - now.topology.end_ports_of(1 - leaf).data());
      ++used[entry(result->routes.rows[leaf].get(), now.lids.of_end(e).base)];
    }
    EXPECT_EQ(used.size(), 3U);
    for (const auto& [port, count] : used) EXPECT_EQ(count, 4U) << "leaf " << leaf << " port " << int{port};
  }
}

TEST(Repair, ALeafThatIsGoneChangesNothingElsewhere) {
  const auto whole = fabrics::told(fabrics::ft3(6).input());
  const auto before = whole.routable();
  const auto old = routed_by("updn", before);
  std::vector<bool> gone(whole.input.switches.size());
  gone[4] = true;
  const auto now = fabrics::without_switches(whole, gone).routable();

  const auto result = repaired("updn", before, old, now);

  ASSERT_TRUE(result);
  EXPECT_EQ(result->changes(), 0U);
  EXPECT_TRUE(verify_routes({now.topology, now.lids, Serial{}}, result->routes).clean());
}

TEST(Repair, EntriesOfNobodysLidGoWhereTheyWouldGoRound) {
  Builder b;
  for (unsigned i = 0; i < 3; ++i) b.add_switch(4);
  b.link(0, 1);
  b.link(1, 2);
  b.host(0);
  const auto fabric = fabrics::with_lids(b.input());
  const auto lid = fabric.lids.top().value() + 1U;  // in the last block, unassigned
  Routes old = routed_by("updn", fabric);
  for (const auto& [s, port] : {std::pair{0U, 1U}, std::pair{1U, 1U}}) {
    auto row = std::make_shared<LftRow>(*old.rows[s]);
    (*row)[lid] = static_cast<std::uint8_t>(port);
    (*row)[lid + 1] = 4;  // to nothing: ends
    old.rows[s] = std::move(row);
  }

  const auto result = repaired("updn", fabric, old, fabric);

  ASSERT_TRUE(result);
  EXPECT_EQ(result->withdrawn, 2U);
  EXPECT_EQ((*result->routes.rows[0])[lid], kNoRoute);
  EXPECT_EQ((*result->routes.rows[0])[lid + 1], 4);
}

TEST(ReferenceTopology, RemembersWhatIsGoneAndBelievesTheNewerCable) {
  Builder b;
  for (unsigned i = 0; i < 3; ++i) b.add_switch(4);
  b.link(0, 1);
  b.link(1, 2);
  b.host(2);
  b.host(2);
  const auto whole = b.input();
  auto lesser = whole;
  lesser.links.clear();
  lesser.end_ports.pop_back();
  auto recabled = whole;
  recabled.links[0] = {2, PortNum{4}, 0, PortNum{1}};

  const auto reference = merge({}, Topology(whole));

  EXPECT_EQ(merge(reference, Topology(lesser)), reference);
  EXPECT_EQ(merge({}, Topology(to_input(reference))), reference);
  const auto later = merge(reference, Topology(recabled));
  ASSERT_EQ(later.links.size(), 2U);
  EXPECT_EQ(later.links[0].b.guid, Guid{0x1002});
}

TEST(ReferenceTopology, ForgetsSwitchesInWhosePlaceOthersAre) {
  Builder b;
  for (unsigned i = 0; i < 4; ++i) b.add_switch(4);
  b.link(0, 1);
  b.link(1, 2);
  b.link(2, 3);
  const auto whole = b.input();
  auto without = whole;  // the last two are off
  without.switches.resize(2);
  without.links.resize(1);
  auto replaced = whole;
  replaced.switches[2].guid = Guid{0x2002};
  replaced.switches[3].guid = Guid{0x2003};

  const auto reference = merge({}, Topology(whole));

  EXPECT_EQ(merge(reference, Topology(without)), reference);
  EXPECT_EQ(merge(reference, Topology(replaced)), merge({}, Topology(replaced)));
}

}  // namespace
}  // namespace smd::routing
