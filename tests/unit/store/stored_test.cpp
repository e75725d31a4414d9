// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/stored.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smd::sm {
namespace {

constexpr Guid kSwitch{0x10}, kHost{0x20};

NodePtr a_switch(Lid lid, std::vector<NotKept> notes = {}) {
  auto node = std::make_shared<Node>();
  node->info.node = kSwitch;
  node->info.type = NodeType::switch_;
  node->ports.resize(3);
  node->ports[0].known = true;
  node->ports[0].info.lid = lid;
  node->not_kept = std::move(notes);
  return node;
}

Subnet subnet_of(std::vector<NodePtr> nodes) {
  Subnet subnet;
  subnet.nodes = std::move(nodes);
  return subnet;
}

Decided with(std::vector<LidPart::Entry> entries) {
  LidPart part;
  part.entries = std::move(entries);
  Decided decided;
  decided.lids = std::make_shared<const LidPart>(std::move(part));
  return decided;
}

const NotKept kMtu{.attribute = 0x15, .port = PortNum{2}, .field = "NeighborMTU", .desired = 4};

StoredPtr nothing() { return std::make_shared<const Stored>(); }

TEST(Stored, ASecondTimeIsTheSamePointer) {
  const auto subnet = subnet_of({a_switch(Lid{5}, {kMtu})});
  const auto decided = with({{kSwitch, Lid{5}, 0}});

  const auto once = remember(nothing(), subnet, decided);

  EXPECT_NE(*once, Stored{});
  EXPECT_EQ(remember(once, subnet, decided), once);
}

TEST(Stored, NotesComeBackToANodeThatHasItsLid) {
  const auto stored =
      remember(nothing(), subnet_of({a_switch(Lid{5}, {kMtu})}), with({{kSwitch, Lid{5}, 0}}));

  const auto same = recall(subnet_of({a_switch(Lid{5})}), nullptr, *stored);
  const auto restarted = recall(subnet_of({a_switch(Lid{})}), nullptr, *stored);
  const auto before = subnet_of({a_switch(Lid{5})});
  const auto known = recall(subnet_of({a_switch(Lid{5})}), &before, *stored);

  EXPECT_THAT(same.nodes[0]->not_kept, testing::ElementsAre(kMtu));
  EXPECT_THAT(restarted.nodes[0]->not_kept, testing::IsEmpty());
  EXPECT_THAT(known.nodes[0]->not_kept, testing::IsEmpty()) << "what a sweep says of a node it knew stands";
}

TEST(Stored, NotesOfARestartedNodeGo) {
  const auto decided = with({{kSwitch, Lid{5}, 0}});
  const auto stored = remember(nothing(), subnet_of({a_switch(Lid{5}, {kMtu})}), decided);

  EXPECT_TRUE(remember(stored, subnet_of({a_switch(Lid{})}), decided)->not_kept.empty());
  EXPECT_EQ(remember(stored, subnet_of({}), decided)->not_kept.size(), 1U) << "it is only away";
}

TEST(Stored, ALidThatWasGivenToAnotherIsNoLongerThatOfTheOneGone) {
  auto stored = remember(nothing(), subnet_of({}), with({{kSwitch, Lid{8}, 0}, {kHost, Lid{16}, 2}}));

  stored = remember(stored, subnet_of({}), with({{Guid{0x30}, Lid{18}, 0}}));

  EXPECT_EQ(stored->lids.count(kHost), 0U);
  EXPECT_EQ(stored->lids.count(kSwitch), 1U);
  EXPECT_EQ(stored->lids.at(Guid{0x30}), (Stored::LidRange{Lid{18}, 0}));
}

TEST(Stored, TakesRangesThatAPortCanHave) {
  const base::GuidLids lids{{Guid{1}, {Lid{8}, Lid{11}}},
                            {Guid{2}, {Lid{13}, Lid{14}}},
                            {Guid{3}, {Lid{20}, Lid{22}}},
                            {Guid{4}, {Lid{7}, Lid{7}}},
                            {Guid{5}, {Lid{256}, Lid{511}}}};

  const auto stored = with_lids({}, lids);

  EXPECT_THAT(stored.lids, testing::ElementsAre(testing::Pair(Guid{1}, Stored::LidRange{Lid{8}, 2}),
                                                testing::Pair(Guid{4}, Stored::LidRange{Lid{7}, 0})));
}

}  // namespace
}  // namespace smd::sm
