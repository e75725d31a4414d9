// SPDX-License-Identifier: Apache-2.0
#include "routing/update/update_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "routing/verify/verify.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_fabrics.h"
#include "tests/support/routing_oracle.h"

namespace smd::routing {
namespace {

using fabrics::Builder;
using fabrics::Routable;

/// Written that can be written block by block.
struct Written {
  std::vector<LftRow> rows;
  explicit Written(const Routes& routes) {
    for (const auto& row : routes.rows) rows.push_back(*row);
  }
  void write(const BlockWrite& write, const Routes& wanted) {
    for (std::size_t i = 0; i < 64; ++i) {
      const auto at = write.block * std::size_t{64} + i;
      if ((write.kept >> i & 1U) != 0) continue;
      rows[write.sw][at] = (write.dropped >> i & 1U) != 0 ? kNoRoute : (*wanted.rows[write.sw])[at];
    }
  }
  Routes routes() const {
    Routes result;
    for (const auto& row : rows) result.rows.push_back(std::make_shared<LftRow>(row));
    return result;
  }
};

std::vector<InstalledTable> installed(const Routes& routes, std::span<const std::uint64_t> known) {
  std::vector<InstalledTable> tables;
  for (const auto& row : routes.rows) tables.push_back({row.get(), known, true});
  return tables;
}

const std::vector<std::uint64_t> kAllKnown(16, ~std::uint64_t{0});

bool arrives(const Routable& fabric, const Routes& routes, SwitchIndex s, Lid lid) {
  return oracle::travel(fabric.topology, fabric.lids, routes, s, lid).end == oracle::Trip::End::arrives;
}

/// Nothing that a moment in the middle of a round must not have.
void expect_safe(const Routable& fabric, const Routes& before, const Routes& now, const Routes& wanted,
                 bool dropping) {
  const auto found = oracle::verify(fabric.topology, fabric.lids, now);
  RC_ASSERT(found.loops == 0U);
  RC_ASSERT(!found.any_credit_loop);
  if (dropping) return;
  for (SwitchIndex s = 0; s < fabric.topology.switches(); ++s) {
    for (std::uint32_t value = 1; value <= fabric.lids.top().value(); ++value) {
      const auto lid = Lid{static_cast<std::uint16_t>(value)};
      if (!arrives(fabric, before, s, lid) || !arrives(fabric, wanted, s, lid)) continue;
      RC_ASSERT(arrives(fabric, now, s, lid));
    }
  }
}

RC_GTEST_PROP(Rounds, AreSafeAtEveryMomentAndEndWithWhatIsWanted, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto whole = *rc::gen::inRange(0, 2) == 0 ? fabrics::ft3(4)
                                                  : fabrics::irregular(seed, *rc::gen::inRange(2U, 10U),
                                                                       *rc::gen::inRange(0U, 12U), 12);
  const auto old_fabric = fabrics::with_lids(whole.input());
  const auto fabric =
      fabrics::with_lids(fabrics::damaged(whole, seed, *rc::gen::element(0U, 5U, 20U)).input());
  const auto old = routed_by("updn", old_fabric);
  const auto wanted = routed_by("updn", fabric);
  const auto start = oracle::verify(fabric.topology, fabric.lids, old);
  RC_PRE(start.loops == 0U && !start.any_credit_loop);

  const auto proof = verify_routes({fabric.topology, fabric.lids, Serial{}}, wanted);
  const bool with_order = *rc::gen::arbitrary<bool>();
  RC_ASSERT(proof.order != nullptr);

  const bool draining = *rc::gen::arbitrary<bool>();
  const auto rounds = update_schedule({fabric.topology, fabric.lids, Serial{}},
                                      {.installed = installed(old, kAllKnown),
                                       .routes = wanted,
                                       .sm_lid = Lid{1},
                                       .order = with_order ? proof.order.get() : nullptr,
                                       .draining = draining});

  const auto drains = std::ranges::count_if(rounds, &UpdateStep::drain);
  RC_ASSERT(drains <= 1);
  if (draining && drains != 0) RC_ASSERT(rounds.front().drain);
  std::mt19937_64 random(seed);
  Written tables(old);
  bool dropped = false;
  for (const auto& round : rounds) {
    auto writes = round.writes;
    std::shuffle(writes.begin(), writes.end(), random);
    const auto before = tables.routes();
    dropped = dropped || round.interrupts;
    for (const auto& write : writes) {
      tables.write(write, wanted);
      if (random() % 4 == 0) expect_safe(fabric, before, tables.routes(), wanted, dropped);
    }
    expect_safe(fabric, before, tables.routes(), wanted, dropped);
  }
  for (std::size_t s = 0; s < tables.rows.size(); ++s) RC_ASSERT(tables.rows[s] == *wanted.rows[s]);
  RC_TAG(rounds.size(), dropped, with_order);
}

TEST(Rounds, NothingToWriteIsNoRound) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(4).input());
  const auto routes = routed_by("updn", fabric);

  EXPECT_TRUE(update_schedule({fabric.topology, fabric.lids, Serial{}},
                              {.installed = installed(routes, kAllKnown), .routes = routes, .sm_lid = Lid{1}})
                  .empty());
}

TEST(Rounds, AFabricFreshFromResetIsOneRound) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(8).input());
  const auto routes = routed_by("updn", fabric);
  const std::vector<InstalledTable> fresh(fabric.topology.switches(), InstalledTable{nullptr, {}, false});

  const auto rounds = update_schedule({fabric.topology, fabric.lids, Serial{}},
                                      {.installed = fresh, .routes = routes, .sm_lid = Lid{1}});

  ASSERT_EQ(rounds.size(), 1U);
  EXPECT_EQ(rounds[0].writes.size(), fabric.topology.switches() * fabric.lids.row_size() / 64);
}

TEST(Rounds, WhatIsNotKnownComesFirst) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(8).input());
  const auto routes = routed_by("updn", fabric);
  auto tables = installed(routes, kAllKnown);
  const std::vector<std::uint64_t> but_block_1{~std::uint64_t{2}};
  tables[7].known = but_block_1;
  auto other = std::make_shared<LftRow>(*routes.rows[3]);
  (*other)[5] = kNoRoute;
  tables[3].row = other.get();

  const auto rounds = update_schedule({fabric.topology, fabric.lids, Serial{}},
                                      {.installed = tables, .routes = routes, .sm_lid = Lid{1}});

  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_THAT(rounds[0].writes, testing::ElementsAre(BlockWrite{7, 1, 0, 0}));
  EXPECT_THAT(rounds[1].writes, testing::ElementsAre(BlockWrite{3, 0, 0, 0}));
}

TEST(Rounds, ALinkThatTurnsRoundIsWrittenFromTheFarEnd) {
  // 0 and 1 are neighbours, both have a cable to 2. Before, 0 reached 2 through 1; now 1 reaches it through
  // 0.
  Builder b;
  for (unsigned i = 0; i < 3; ++i) b.add_switch(4);
  b.link(0, 1);
  b.link(1, 2);
  b.link(0, 2);
  b.host(2);
  const auto fabric = fabrics::with_lids(b.input());
  const auto lid = fabric.lids.of_end(0).base;
  const auto tables = [&](std::array<unsigned, 3> out) {
    Routes routes;
    for (const auto port : out) {
      LftRow row(64, kNoRoute);
      row[lid.value()] = static_cast<std::uint8_t>(port);
      routes.rows.push_back(std::make_shared<LftRow>(std::move(row)));
    }
    return routes;
  };
  const auto old = tables({1, 2, 3}), wanted = tables({2, 1, 3});

  const auto rounds =
      update_schedule({fabric.topology, fabric.lids, Serial{}},
                      {.installed = installed(old, kAllKnown), .routes = wanted, .sm_lid = Lid{40}});

  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_THAT(rounds[0].writes, testing::ElementsAre(BlockWrite{0, 0, 0, 0}));
  EXPECT_THAT(rounds[1].writes, testing::ElementsAre(BlockWrite{1, 0, 0, 0}));
}

/// Three switches, each with a cable to each other; 0 and 1 reach a host of 2.
struct Triangle {
  Triangle() {
    for (unsigned i = 0; i < 3; ++i) builder.add_switch(4);
    builder.link(0, 1);
    builder.link(1, 2);
    builder.link(0, 2);
    builder.host(2);
    fabric = fabrics::with_lids(builder.input());
    lid = fabric.lids.of_end(0).base;
  }
  std::shared_ptr<const LftRow> row(unsigned port) const {
    LftRow row(64, kNoRoute);
    row[lid.value()] = static_cast<std::uint8_t>(port);
    return std::make_shared<LftRow>(std::move(row));
  }
  Builder builder;
  Routable fabric;
  Lid lid;
};

TEST(Rounds, WhatWouldLoopByASetThatWasNotAnsweredIsLeftOut) {
  const Triangle at;
  // 1 was told to go through 0 and did not answer; now 0 is to go through 1.
  const Routes old{.rows = {at.row(2), at.row(2), at.row(3)}, .layers = {}};
  const Routes wanted{.rows = {at.row(1), at.row(2), at.row(3)}, .layers = {}};
  const std::vector<std::shared_ptr<const LftRow>> sent{at.row(1)};
  const std::vector<std::uint64_t> first_block{1};
  auto tables = installed(old, kAllKnown);
  const auto schedule = [&] {
    return update_schedule({at.fabric.topology, at.fabric.lids, Serial{}},
                           {.installed = tables, .routes = wanted, .sm_lid = Lid{40}});
  };
  ASSERT_EQ(schedule().size(), 1U);

  tables[1].perhaps = sent;
  tables[1].uncertain = first_block;

  EXPECT_TRUE(schedule().empty());
}

TEST(Rounds, WhatIsSafeWithBothTablesOfASilentSwitchIsWritten) {
  const Triangle at;
  const Routes old{.rows = {at.row(1), at.row(2), at.row(3)}, .layers = {}};
  const Routes wanted{.rows = {at.row(2), at.row(2), at.row(3)}, .layers = {}};
  const std::vector<std::shared_ptr<const LftRow>> sent{at.row(1)};
  const std::vector<std::uint64_t> first_block{1};
  auto tables = installed(old, kAllKnown);
  tables[1].perhaps = sent;
  tables[1].uncertain = first_block;

  const auto rounds = update_schedule({at.fabric.topology, at.fabric.lids, Serial{}},
                                      {.installed = tables, .routes = wanted, .sm_lid = Lid{40}});

  ASSERT_EQ(rounds.size(), 1U);
  EXPECT_THAT(rounds[0].writes, testing::ElementsAre(BlockWrite{0, 0, 0, 0}));
}

RC_GTEST_PROP(Rounds, AreSafeWhicheverTableASilentSwitchHas, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto whole = fabrics::irregular(seed, *rc::gen::inRange(3U, 10U), *rc::gen::inRange(0U, 12U), 12);
  const auto old_fabric = fabrics::with_lids(whole.input());
  const auto fabric = fabrics::with_lids(fabrics::damaged(whole, seed, *rc::gen::element(5U, 20U)).input());
  const auto old = routed_by("updn", old_fabric);
  const auto first = routed_by("updn", fabric);
  const auto start = oracle::verify(fabric.topology, fabric.lids, old);
  if (start.loops != 0 || start.any_credit_loop) return;
  const auto rounds =
      update_schedule({fabric.topology, fabric.lids, Serial{}},
                      {.installed = installed(old, kAllKnown), .routes = first, .sm_lid = Lid{1}});
  RC_TAG(rounds.empty());
  if (rounds.empty()) return;
  // The switch of the last write of a round does not answer; all other writes so far are acknowledged.
  std::mt19937_64 random(seed);
  const auto stop = random() % rounds.size();
  if (rounds[stop].writes.empty() || rounds[stop].interrupts) return;
  Written tables(old);
  for (std::size_t i = 0; i <= stop; ++i) {
    for (std::size_t w = 0; w < rounds[i].writes.size() - (i == stop ? 1 : 0); ++w)
      tables.write(rounds[i].writes[w], first);
  }
  const auto silent = rounds[stop].writes.back();
  const auto now = tables.routes();
  auto wanted = old;  // back again, say
  wanted.rows[silent.sw] = now.rows[silent.sw];
  auto known = installed(now, kAllKnown);
  Written sent(now);
  sent.write(silent, first);
  const std::vector<std::shared_ptr<const LftRow>> rows{std::make_shared<LftRow>(sent.rows[silent.sw])};
  std::vector<std::uint64_t> block(silent.block / 64 + 1);
  block.back() = std::uint64_t{1} << (silent.block % 64);
  known[silent.sw].perhaps = rows;
  known[silent.sw].uncertain = block;

  Written one(now), other(sent);
  for (const auto& round : update_schedule({fabric.topology, fabric.lids, Serial{}},
                                           {.installed = known, .routes = wanted, .sm_lid = Lid{1}})) {
    for (const auto& write : round.writes) {
      RC_ASSERT(write.sw != silent.sw);
      for (auto* state : {&one, &other}) {
        state->write(write, wanted);
        const auto found = oracle::verify(fabric.topology, fabric.lids, state->routes());
        RC_ASSERT(found.loops == 0U);
        RC_ASSERT(!found.any_credit_loop);
      }
    }
  }
}

TEST(Rounds, AnUnknownBlockDoesNotLeadBackByWhatIsKnown) {
  // As above, but the table of 1 is unknown: its new route leads to 0, whose old one leads to 1.
  Builder b;
  for (unsigned i = 0; i < 3; ++i) b.add_switch(4);
  b.link(0, 1);
  b.link(1, 2);
  b.link(0, 2);
  b.host(2);
  const auto fabric = fabrics::with_lids(b.input());
  const auto lid = fabric.lids.of_end(0).base;
  const auto tables = [&](std::array<unsigned, 3> out) {
    Routes routes;
    for (const auto port : out) {
      LftRow row(64, kNoRoute);
      row[lid.value()] = static_cast<std::uint8_t>(port);
      routes.rows.push_back(std::make_shared<LftRow>(std::move(row)));
    }
    return routes;
  };
  const auto old = tables({1, 2, 3}), wanted = tables({2, 1, 3});
  auto now = installed(old, kAllKnown);
  now[1].known = {};

  const auto rounds = update_schedule({fabric.topology, fabric.lids, Serial{}},
                                      {.installed = now, .routes = wanted, .sm_lid = Lid{40}});

  ASSERT_EQ(rounds.size(), 3U);
  EXPECT_THAT(rounds[0].writes, testing::ElementsAre(BlockWrite{1, 0, 0, std::uint64_t{1} << lid.value()}));
  EXPECT_THAT(rounds[1].writes, testing::ElementsAre(BlockWrite{0, 0, 0, 0}));
  EXPECT_THAT(rounds[2].writes, testing::ElementsAre(BlockWrite{1, 0, 0, 0}));
}

}  // namespace
}  // namespace smd::routing
