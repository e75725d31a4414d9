// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/proof.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "routing/verify/trace_all.h"
#include "tests/support/routing_engines.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

/// Switches of any size, so that port numbers take one word, two or four, or do not fit.
TopologyInput any_fabric() {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  auto builder = *rc::gen::element(0, 1, 2) == 0
                     ? fabrics::irregular(seed, *rc::gen::inRange(1U, 16U), *rc::gen::inRange(0U, 16U),
                                          *rc::gen::inRange(0U, 40U))
                     : fabrics::damaged(fabrics::ft3(*rc::gen::element(4U, 6U)), seed,
                                        *rc::gen::element(0U, 0U, 5U, 30U));
  const auto most = *rc::gen::element(0U, 61U, 62U, 63U, 64U, 125U, 126U, 200U, 253U, 254U);
  for (auto& sw : builder.input().switches) {
    if (most != 0 && *rc::gen::inRange(0, 3) != 0) sw.ports = most;
  }
  return builder.input();
}

/// Some entries taken away: everywhere but at the LID's own switch, or at one switch; others any byte.
Routes spoiled(Routes routes, const LidMap& lids, std::uint64_t seed, unsigned withdrawn, unsigned changed) {
  std::mt19937_64 random(seed);
  std::vector<std::shared_ptr<LftRow>> rows;
  for (const auto& row : routes.rows) rows.push_back(std::make_shared<LftRow>(*row));
  const auto any_lid = [&] { return Lid{static_cast<std::uint16_t>(random() % lids.row_size())}; };
  for (unsigned i = 0; i < withdrawn && !rows.empty(); ++i) {
    const auto lid = any_lid();
    const bool everywhere = random() % 2 == 0;
    const auto at = static_cast<SwitchIndex>(random() % rows.size());
    for (SwitchIndex s = 0; s < rows.size(); ++s) {
      if (everywhere ? lids.destination(lid).sw != s : at == s) (*rows[s])[lid.value()] = kNoRoute;
    }
  }
  for (unsigned i = 0; i < changed && !rows.empty(); ++i) {
    (*rows[random() % rows.size()])[any_lid().value()] = static_cast<std::uint8_t>(random());
  }
  if (!rows.empty() && random() % 8 == 0) rows[random() % rows.size()]->resize(random() % lids.row_size());
  routes.rows.assign(rows.begin(), rows.end());
  if (!rows.empty() && random() % 8 == 0) routes.rows[random() % rows.size()] = nullptr;
  if (!rows.empty() && random() % 16 == 0) routes.rows.pop_back();
  return routes;
}

void expect_same(const Verification& followed, const Verification& proven) {
  RC_ASSERT(proven.unrouted_by_rule == followed.unrouted_by_rule);
  RC_ASSERT(proven.unreachable_switch_pairs == followed.unreachable_switch_pairs);
  RC_ASSERT(proven.vls == followed.vls);
  RC_ASSERT(*proven.order == *followed.order);
  RC_ASSERT(*proven.waits == *followed.waits);
}

RC_GTEST_PROP(Proof, IsThereWhereFollowingEveryPacketFindsNoFaultAndSaysTheSame, ()) {
  const auto fabric = fabrics::with_lids(any_fabric(), static_cast<std::uint8_t>(*rc::gen::inRange(0, 3)),
                                         *rc::gen::element(0U, 0U, 11U, 70U));
  const auto engine = general_engines()[*rc::gen::inRange<std::size_t>(0, 2)];
  const auto routes = spoiled(routed_by(engine, fabric), fabric.lids, *rc::gen::arbitrary<std::uint64_t>(),
                              *rc::gen::element(0U, 0U, 1U, 30U), *rc::gen::element(0U, 0U, 0U, 1U, 5U));

  const auto proven = prove({fabric.topology, fabric.lids, Threads{2}}, routes);

  const auto followed = trace_all({fabric.topology, fabric.lids, Serial{}}, routes);
  const bool faults = followed.host_pairs_unreachable + followed.loops + followed.dead_ends +
                          followed.credit_loops + followed.management_credit_loops !=
                      0;
  RC_TAG(proven ? "proven" : faults ? "faults" : "left to following");
  RC_ASSERT(!(proven && faults));
  if (proven) expect_same(followed, *proven);
}

TEST(Proof, HoldsForTablesOfEverySizeOfSwitch) {
  for (const unsigned ports : {0U, 61U, 62U, 64U, 125U, 126U, 253U}) {
    auto input = fabrics::damaged(fabrics::ft3(8), 3, 5).input();
    if (ports != 0) input.switches.back().ports = ports;
    const auto fabric = fabrics::with_lids(input);
    const auto routes = routed_by(*find_engine("updn"), fabric);

    const auto proven = prove({fabric.topology, fabric.lids, Serial{}}, routes);

    if (!proven) {
      ADD_FAILURE() << ports;
      continue;
    }
    const auto followed = trace_all({fabric.topology, fabric.lids, Serial{}}, routes);
    EXPECT_EQ(proven->unrouted_by_rule, followed.unrouted_by_rule);
    EXPECT_EQ(*proven->waits, *followed.waits);
    EXPECT_EQ(*proven->order, *followed.order);
  }
}

TEST(Proof, IsNotGivenForAPortThatDoesNotExist) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(4).input());
  const auto good = routed_by(*find_engine("updn"), fabric);
  for (unsigned entry = 0; entry < 256; ++entry) {
    auto routes = good;
    auto row = std::make_shared<LftRow>(*routes.rows[0]);
    const auto lid = fabric.switch_lids.back().base;
    if ((*row)[lid.value()] == entry) continue;
    (*row)[lid.value()] = static_cast<std::uint8_t>(entry);
    routes.rows[0] = row;

    const auto proven = prove({fabric.topology, fabric.lids, Serial{}}, routes);

    const auto followed = trace_all({fabric.topology, fabric.lids, Serial{}}, routes);
    EXPECT_EQ(proven.has_value(), followed.loops + followed.dead_ends == 0 && followed.order != nullptr)
        << entry;
  }
}

}  // namespace
}  // namespace smd::routing
