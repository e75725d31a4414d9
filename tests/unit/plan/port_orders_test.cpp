// SPDX-License-Identifier: Apache-2.0
// Links that are left out of what is decided, because one of their ends is to be disabled.
#include "smd/plan/port_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/plan/support.h"

namespace smd::sm {
namespace {

using policy::DisabledPorts;
using test::place;

DisabledPorts disabled_at(std::uint64_t node, unsigned port) {
  return {{{Guid{node}, test::port_num(port)}, {.by = "test"}}};
}

TEST(WithoutDisabled, ALinkWithAnotherWayIsLeftOutAtBothEnds) {
  const auto before = table_triangle().build();

  const auto without = without_disabled(before, disabled_at(kRingA, 3));

  ASSERT_TRUE(without);
  EXPECT_EQ(without->nodes.size(), before.nodes.size());
  EXPECT_FALSE(without->find(Guid{kRingA})->ports[3].peer);
  EXPECT_FALSE(without->find(Guid{kRingB})->ports[3].peer);
  EXPECT_TRUE(without->find(Guid{kRingA})->ports[3].linked()) << "as it was read: it is Set";
  EXPECT_EQ(without->find(Guid{kRingA})->ports[1].peer, place(kRingC, 1));
  EXPECT_EQ(before.find(Guid{kRingA})->ports[3].peer, place(kRingB, 3));
}

TEST(WithoutDisabled, NodesBehindItAreNotThere) {
  auto before = in_service().build();
  before.other_sms.push_back({.at = place(kHost, 1), .node_description = {}, .lid = {}, .info = {}});
  before.unresponsive.push_back({.behind = place(kFar, 5), .node = Guid{}, .reason = "silent"});

  const auto host = without_disabled(before, disabled_at(kFar, 1));
  const auto all = without_disabled(before, disabled_at(kNear, kUp));

  ASSERT_TRUE(host && all);
  EXPECT_EQ(host->find(Guid{kHost}), nullptr);
  EXPECT_NE(host->find(Guid{kFar}), nullptr);
  EXPECT_TRUE(host->other_sms.empty());
  EXPECT_EQ(host->unresponsive.size(), 1U);
  EXPECT_EQ(all->nodes.size(), 2U) << "the SM's host and its switch";
  EXPECT_TRUE(all->unresponsive.empty());
}

/// What is to be disabled is told by this very link.
TEST(WithoutDisabled, TheOnlyWayToItsEndStays) {
  const auto before = in_service().build();
  auto both = disabled_at(kHost, 1);
  both.merge(disabled_at(kNear, kUp));

  EXPECT_FALSE(without_disabled(before, disabled_at(kHost, 1)));
  const auto without = without_disabled(before, both);
  ASSERT_TRUE(without);
  EXPECT_EQ(without->find(Guid{kFar}), nullptr) << "the other order holds";
}

TEST(WithoutDisabled, NothingChangesWhereAllIsAsOrdered) {
  auto fabric = in_service();
  EXPECT_FALSE(without_disabled(fabric.build(), {}));
  EXPECT_FALSE(without_disabled(fabric.build(), disabled_at(0x999, 1))) << "not in the fabric";
  EXPECT_FALSE(without_disabled(fabric.build(), disabled_at(kFar, 200)));
  EXPECT_FALSE(without_disabled(fabric.build(), disabled_at(kFar, 5))) << "no link";
}

}  // namespace
}  // namespace smd::sm
