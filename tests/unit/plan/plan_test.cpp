// SPDX-License-Identifier: Apache-2.0
// In which order things are planned. Ports are in plan_ports_test.cpp, tables in plan_tables_test.cpp.
#include "smd/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include "tests/unit/plan/support.h"

namespace smd::sm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Plan, IsEmptyForAFabricThatIsAsDecided) {
  PlanCase made(in_service().build());

  const auto plan = made.plan();

  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(plan.sets(), 0U);
  EXPECT_THAT(plan.links_down, IsEmpty());
  EXPECT_EQ(plan.lft_entries_changed, 0U);
}

TEST(Plan, AFabricFreshFromResetIsBroughtUpInTheOrderOfThePhases) {
  auto made = planned_after(reset_all);
  const auto to_set = [&](std::vector<std::pair<std::uint64_t, unsigned>> ports, PortState target) {
    std::vector<PortItem> items;
    for (const auto& [node, port] : ports) items.push_back(item_at(made, node, port, target));
    return items;
  };

  const auto plan = made.plan();

  ASSERT_THAT(phases_of(plan),
              ElementsAre(Phase::switch_lids, Phase::lft, Phase::switch_info, Phase::switch_links,
                          Phase::host_links, Phase::activate_switch_links, Phase::activate_host_links));
  const auto& rounds = plan.rounds;
  const std::vector<std::pair<std::uint64_t, unsigned>> switch_ends{{kNear, kUp}, {kFar, kUp}};
  const std::vector<std::pair<std::uint64_t, unsigned>> host_ends{
      {kNear, 1}, {kFar, 1}, {kSmHost, 1}, {kHost, 1}};
  EXPECT_EQ(rounds[0].ports, to_set({{kNear, 0}, {kFar, 0}}, PortState::no_change));
  EXPECT_THAT(rounds[1].lfts, ElementsAre(LftItem{made.index(kNear), BlockSet::first(1), {}},
                                          LftItem{made.index(kFar), BlockSet::first(1), {}}));
  EXPECT_THAT(rounds[2].switch_infos, ElementsAre(made.index(kNear), made.index(kFar)));
  EXPECT_EQ(rounds[3].ports, to_set(switch_ends, PortState::armed));
  EXPECT_EQ(rounds[4].ports, to_set(host_ends, PortState::armed));
  EXPECT_EQ(rounds[5].ports, to_set(switch_ends, PortState::active));
  EXPECT_EQ(rounds[6].ports, to_set(host_ends, PortState::active));
  EXPECT_EQ(plan.sets(), 2U + 2 + 2 + 2 + 4 + 2 + 4);
  EXPECT_EQ(plan.lft_blocks(), 2U);
  EXPECT_EQ(plan.lft_entries_changed, 0U);  // none was known
}

TEST(Plan, AllKindsOfWritesHaveTheirPlaceInTheOrder) {
  auto made = planned_after([](SubnetBuilder& fabric) {
    reset_all(fabric);
    fabric.port(kHost, 1).held<wire::PKeyTable>() =
        std::make_shared<const HeldBlocks<wire::PKeyTable>>(HeldBlocks<wire::PKeyTable>{{{}}, {}, {}});
    fabric.node(kFar).ar_info = std::make_shared<const wire::ArInfo>(wire::ArInfo{.enabled = true});
  });
  made.config.adopt.adaptive_routing = config::AdoptAdaptive::disable;
  made.pkeys = PKeyPart{.blocks = {{test::place(kHost, 1), 0, {}}}, .no_room = {}};
  routing::McRow row;
  row.set(0, routing::PortMask(2));
  made.groups({{Guid{kNear}, std::make_shared<const routing::McRow>(row)}}, 1);

  EXPECT_THAT(phases_of(made.plan()),
              ElementsAre(Phase::pkeys, Phase::adaptive_routing, Phase::switch_lids, Phase::lft,
                          Phase::switch_info, Phase::mft, Phase::switch_links, Phase::host_links,
                          Phase::activate_switch_links, Phase::activate_host_links));
}

TEST(Plan, NothingIsWrittenToANodeThatIsLeftOut) {
  auto made = planned_after(reset_all);
  const auto all = made.plan().sets();
  const struct {
    std::uint64_t node;
    std::size_t sets;  // that are its own when a fabric is brought up
  } cases[]{{kNear, 1 + 1 + 1 + 2 + 2}, {kFar, 1 + 1 + 1 + 2 + 2}, {kSmHost, 2}, {kHost, 2}};
  for (const auto& at : cases) {
    made.left_out = {Guid{at.node}};

    const auto plan = made.plan();

    EXPECT_EQ(plan.sets(), all - at.sets) << at.node;
    for (const auto& round : plan.rounds) {
      for (const auto& item : round.ports) EXPECT_NE(item.node, made.index(at.node));
    }
  }
}

TEST(Plan, APortThatWaitsForALidIsNotSet) {
  auto made = planned_after([](SubnetBuilder&) {});
  made.lid(test::port_guid(kHost, 1), 2).lid(Guid{kFar}, 9);
  for (const auto guid : {kNear, kFar}) made.row(guid, made.node(guid).lft.row);  // routes stay: LIDs alone

  const auto first = made.plan().rounds.front();

  EXPECT_EQ(first.phase, Phase::switch_lids);
  EXPECT_THAT(first.ports, ElementsAre(item_at(made, kFar, 0, PortState::no_change)));
  for (const auto& round : made.plan().rounds) {
    for (const auto& item : round.ports) EXPECT_NE(item.node, made.index(kHost));
  }
}

TEST(Plan, InARunningFabricALinkThatNoTableLeadsOverComesUpFirst) {
  auto made = planned_after([](SubnetBuilder& fabric) {
    // A second cable, and the tables are to change.
    fabric.link(kNear, 4, kFar, 4, PortState::init);
    fabric.lft(kNear, 4, {{1, 0}, {2, kUp}, {3, 1}, {4, 5}});
  });
  made.links.ports[made.index(kNear)][4] = made.links.ports[made.index(kFar)][4] = LinkSettings{};

  const auto plan = made.plan();

  ASSERT_THAT(phases_of(plan), ElementsAre(Phase::switch_links, Phase::activate_switch_links, Phase::lft));
  EXPECT_THAT(plan.rounds[0].ports, ElementsAre(item_at(made, kNear, 4, PortState::armed),
                                                item_at(made, kFar, 4, PortState::armed)));
  EXPECT_THAT(plan.rounds[1].ports, ElementsAre(item_at(made, kNear, 4, PortState::active),
                                                item_at(made, kFar, 4, PortState::active)));
}

TEST(Plan, LinksThatAreToTrainAnewAreNamedAndInNoRound) {
  auto made = planned_after([](SubnetBuilder&) {});
  made.link(kNear, kUp).retrain = true;

  const auto plan = made.plan();

  EXPECT_TRUE(plan.empty());
  EXPECT_THAT(plan.links_down, ElementsAre(item_at(made, kNear, kUp, PortState::down)));
}

TEST(Plan, EachPhaseHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (unsigned i = 0; i <= static_cast<unsigned>(Phase::activate_host_links); ++i)
    names.insert(to_string(static_cast<Phase>(i)));

  EXPECT_EQ(names.size(), static_cast<std::size_t>(Phase::activate_host_links) + 1);
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace smd::sm
