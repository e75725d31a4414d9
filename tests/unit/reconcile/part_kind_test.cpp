// SPDX-License-Identifier: Apache-2.0
#include "smd/reconcile/part_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string_view>

#include "tests/unit/plan/support.h"

namespace smd::sm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const GuidRequests kAsked{{{Guid{kHost + 1}, std::uint8_t{0}}, {Guid{kHost + 1}, Guid{0xA}}}};
constexpr std::pair<Guid, std::uint8_t> kKey{Guid{kHost + 1}, std::uint8_t{0}};

Subnet subnet_with_room() {
  auto fabric = in_service();
  fabric.port(kHost, 1).info.guid_cap = 8;
  return fabric.build();
}

/// What is left of kAsked, changed meanwhile to `now`, after a Set that was answered or not.
GuidRequests left_of(const GuidRequests& now, const Subnet& subnet, bool answered) {
  const auto part = decide_guids(subnet, kAsked);
  TableAnswers<wire::GuidInfo> answers;
  for (const auto& block : part.blocks) {
    answers.push_back({.node = static_cast<NodeIndex>(*subnet.index_of(block.at.node)),
                       .port = block.at.port,
                       .block = block.block,
                       .held = answered ? std::optional(block.content) : std::nullopt});
  }
  return remaining(now, kAsked, part, subnet, answers);
}

TEST(GuidRequests, AnAcknowledgedOneIsDone) {
  EXPECT_THAT(left_of(kAsked, subnet_with_room(), true), IsEmpty());
  EXPECT_EQ(left_of(kAsked, subnet_with_room(), false), kAsked);
}

TEST(GuidRequests, OneThatChangedMeanwhileStays) {
  auto changed = kAsked;
  changed[kKey][1] = Guid{0xB};

  EXPECT_EQ(left_of(changed, subnet_with_room(), true), changed);
}

TEST(GuidRequests, OneThatWasMadeMeanwhileStays) {
  auto more = kAsked;
  more[{Guid{kSmHost + 1}, std::uint8_t{0}}] = {};

  EXPECT_EQ(left_of(more, subnet_with_room(), true).size(), 1);
}

TEST(GuidRequests, OneWhosePortIsGoneIsDropped) {
  test::SubnetBuilder fabric;
  fabric.add_switch(kNear).host(kSmHost, kNear, 1).sm(kSmHost, 1, 3);

  EXPECT_THAT(left_of(kAsked, fabric.build(), false), IsEmpty());
}

TEST(PartKind, EachPartPlansOnlyWhatBelongsToIt) {
  // Everything differs: links are in Init, nothing has a LID or a table.
  auto made = planned_after(reset_all);
  PartRequests requests;
  requests.clients = {Guid{kHost + 1}};
  requests.links_down = {item_at(made, kNear, kUp, PortState::down)};
  const routing::Serial serial;
  const auto phases = [&](Part part) {
    return phases_of(part_kind(part).plan(made.in(), requests, serial, {}));
  };

  EXPECT_EQ(phases(Part::fabric), phases_of(made.plan()));
  EXPECT_THAT(phases(Part::multicast), IsEmpty());
  EXPECT_THAT(phases(Part::guids), IsEmpty());
  EXPECT_THAT(phases(Part::clients), ElementsAre(Phase::client_reregister));
  EXPECT_THAT(phases(Part::retraining), ElementsAre(Phase::retrain));
}

TEST(PartKind, APortThatIsToBeDisabledIsSetBeforeAllElse) {
  auto made = planned_after(reset_all);
  PartRequests requests;
  requests.ports.disabled = std::make_shared<const policy::DisabledPorts>(
      policy::DisabledPorts{{{Guid{kFar}, test::port_num(1)}, {.by = "test"}}});
  requests.ports.train = {{Guid{kNear}, test::port_num(kUp)}};

  const auto plan = part_kind(Part::fabric).plan(made.in(), requests, routing::Serial(), {});

  ASSERT_GT(plan.rounds.size(), 1U);
  EXPECT_EQ(plan.rounds[0].phase, Phase::port_orders);
  ASSERT_THAT(plan.rounds[0].ports, SizeIs(1)) << "others are trained between two sweeps";
  EXPECT_EQ(plan.rounds[0].ports[0].node, made.index(kFar));
  EXPECT_EQ(plan.rounds[0].ports[0].physical, PhysState::disabled);
}

TEST(PartKind, TrainingOfAPortWaitsForItsNode) {
  const auto subnet = in_service().build();
  const policy::PortAt there{Guid{kNear}, test::port_num(kUp)}, absent{Guid{0xABC}, test::port_num(1)};
  PartRequests requests;
  requests.ports.train = {there, absent};
  requests.clients = {Guid{kHost + 1}};

  part_kind(Part::ports).take(requests, subnet);

  EXPECT_THAT(requests.ports.train, ElementsAre(absent));
  EXPECT_THAT(requests.clients, SizeIs(1)) << "they belong to another part";
  part_kind(Part::clients).take(requests, subnet);
  EXPECT_THAT(requests.clients, IsEmpty());
}

TEST(PartKind, OnlyTheWholeFabricBindsLaterDecisions) {
  for (const auto part : {Part::fabric, Part::multicast, Part::guids, Part::clients, Part::retraining}) {
    EXPECT_EQ(part_kind(part).part, part);
    EXPECT_EQ(part_kind(part).whole, part == Part::fabric) << part_kind(part).name;
  }
}

}  // namespace
}  // namespace smd::sm
