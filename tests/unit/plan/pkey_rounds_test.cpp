// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/pkey_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plan/support.h"

namespace smd::sm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Keys = std::vector<PKey>;
using Write = std::tuple<Phase, std::uint64_t, Keys>;

constexpr PKey kNone{}, kA{0x8001}, kB{0x8002}, kC{0x8003};

/// kHost (port 1 in service) and the port of kFar before it.
class PKeyOrder : public testing::Test {
 protected:
  static std::shared_ptr<const HeldBlocks<wire::PKeyTable>> held(const Keys& keys) {
    HeldBlocks<wire::PKeyTable> table;
    table.row.resize((keys.size() + 31) / 32);
    for (std::size_t i = 0; i < keys.size(); ++i) table.row[i / 32].keys[i % 32] = keys[i];
    table.known = BlockSet::first(table.row.size());
    return std::make_shared<const HeldBlocks<wire::PKeyTable>>(std::move(table));
  }
  void decide(std::uint64_t node, const Keys& keys) {
    const auto table = held(keys);
    for (std::size_t block = 0; block < table->row.size(); ++block)
      made_->pkeys->blocks.push_back({test::place(node, 1), block, table->row[block]});
  }
  /// The tables change from `was` to `is`: writes in their order, without the free entries at the end.
  std::vector<Write> writes(const Keys& host_was, const Keys& host_is, const Keys& switch_was,
                            const Keys& switch_is, PortState state = PortState::active) {
    made_.emplace(planned_after([&](SubnetBuilder& fabric) {
      fabric.port(kHost, 1).held<wire::PKeyTable>() = held(host_was);
      fabric.port(kFar, 1).held<wire::PKeyTable>() = held(switch_was);
      fabric.node(kFar).switch_info->partition_enforcement_cap = 32;
      fabric.state(kHost, 1, state).state(kFar, 1, state);
    }));
    made_->pkeys.emplace();
    decide(kHost, host_is);
    decide(kFar, switch_is);
    std::vector<Write> found;
    for (const auto& round : made_->plan().rounds) {
      for (const auto& item : round.items<wire::PKeyTable>()) {
        Keys keys(item.content.keys.begin(), item.content.keys.end());
        while (!keys.empty() && keys.back() == kNone) keys.pop_back();
        found.emplace_back(round.phase, made_->subnet.nodes[item.node]->guid().value(), keys);
      }
    }
    return found;
  }
  std::optional<PlanCase> made_;
};

constexpr auto kAdd = Phase::pkeys, kRemove = Phase::pkeys_removed;

TEST_F(PKeyOrder, ANewKeyGoesToTheSwitchFirst) {
  EXPECT_THAT(writes({kA}, {kA, kB}, {kA}, {kA, kB}),
              ElementsAre(Write(kAdd, kFar, {kA, kB}), Write(kAdd, kHost, {kA, kB})));
}

TEST_F(PKeyOrder, AKeyIsTakenFromTheSwitchLast) {
  EXPECT_THAT(writes({kA, kB}, {kA}, {kA, kB}, {kA}),
              ElementsAre(Write(kRemove, kHost, {kA}), Write(kRemove, kFar, {kA})));
}

TEST_F(PKeyOrder, ATableIsNotCompactedBeforeTheKeyIsGoneFromTheEndPort) {
  EXPECT_THAT(writes({kA, kB}, {kNone, kB}, {kA, kB}, {kB}),
              ElementsAre(Write(kRemove, kHost, {kNone, kB}), Write(kRemove, kFar, {kB})));
}

TEST_F(PKeyOrder, AnotherMembershipIsOneSetEach) {
  const PKey limited{1};
  EXPECT_THAT(writes({limited}, {kA}, {limited}, {kA}),
              ElementsAre(Write(kAdd, kFar, {kA}), Write(kAdd, kHost, {kA})));
  EXPECT_THAT(writes({kA}, {limited}, {kA}, {limited}),
              ElementsAre(Write(kRemove, kHost, {limited}), Write(kRemove, kFar, {limited})));
}

TEST_F(PKeyOrder, NewKeysAreThereBeforeOldOnesGo) {
  EXPECT_THAT(writes({kA, kB}, {kA, kNone, kC}, {kA, kB}, {kA, kC}),
              ElementsAre(Write(kAdd, kFar, {kA, kC, kB}), Write(kAdd, kHost, {kA, kB, kC}),
                          Write(kRemove, kHost, {kA, kNone, kC}), Write(kRemove, kFar, {kA, kC})));
}

TEST_F(PKeyOrder, APortThatIsNotInServiceTakesOneSet) {
  EXPECT_THAT(writes({kDefaultPKey}, {PKey{0x7fff}, kC}, {kDefaultPKey}, {PKey{0x7fff}, kC}, PortState::init),
              ElementsAre(Write(kAdd, kFar, {PKey{0x7fff}, kC}), Write(kAdd, kHost, {PKey{0x7fff}, kC})));
}

TEST_F(PKeyOrder, Index0ChangesInOneSet) {
  EXPECT_THAT(writes({kA, kB}, {kB, kA}, {kA, kB}, {kA, kB}), ElementsAre(Write(kAdd, kHost, {kB, kA})));
}

TEST_F(PKeyOrder, WhatIsAsDecidedIsNotWritten) { EXPECT_THAT(writes({kA}, {kA}, {kA}, {kA}), IsEmpty()); }

TEST_F(PKeyOrder, OnlyNodesThatMayDifferAreCompared) {
  writes({kA}, {kA, kB}, {kA}, {kA, kB});
  const auto written = [&](ComparedPKeys compared) {
    made_->compared_pkeys = std::make_shared<const ComparedPKeys>(std::move(compared));
    std::size_t tables = 0;
    for (const auto& round : made_->plan().rounds) tables += round.items<wire::PKeyTable>().size();
    return tables;
  };
  const auto& nodes = made_->subnet.nodes;
  EXPECT_EQ(written({nodes, {}}), 0U) << "as they were when nothing differed";
  EXPECT_EQ(written({nodes, {Guid{kHost}}}), 1U);
  EXPECT_EQ(written({nodes, {Guid{kHost}, Guid{kFar}, Guid{kFar}}}), 2U);
  auto before = nodes;
  auto& far = before[made_->index(kFar)];
  far = std::make_shared<const Node>(*far);
  EXPECT_EQ(written({before, {}}), 1U) << "another object: it may hold something else";
  before.pop_back();
  EXPECT_EQ(written({before, {}}), 2U) << "other nodes";
}

TEST_F(PKeyOrder, BlocksThatKeysMoveBetweenFollowOneAnother) {
  Keys was, is;
  for (std::uint16_t i = 0; i < 33; ++i) was.push_back(PKey{static_cast<std::uint16_t>(0x8001 + i)});
  is.assign(was.begin() + 1, was.end());
  is.resize(33);
  made_.emplace(planned_after([&](SubnetBuilder& fabric) {
    fabric.port(kFar, 1).held<wire::PKeyTable>() = held(was);
    fabric.node(kFar).switch_info->partition_enforcement_cap = 64;
  }));
  made_->pkeys.emplace();
  decide(kFar, is);
  std::vector<std::size_t> order;
  for (const auto& round : pkey_rounds(made_->in()).narrow) {
    ASSERT_EQ(round.items<wire::PKeyTable>().size(), 1U);
    order.push_back(round.items<wire::PKeyTable>()[0].block);
  }
  EXPECT_THAT(order, ElementsAre(0U, 1U)) << "the last key is in block 0 before it leaves block 1";
}

}  // namespace
}  // namespace smd::sm
