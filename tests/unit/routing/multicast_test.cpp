// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "routing/multicast/check.h"
#include "routing/multicast/tree.h"
#include "routing/multicast/tree_update.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

/// A group whose members come and go.
class Group {
 public:
  Group(const Topology& topology, std::uint64_t seed) : topology_(topology), random_(seed) {}

  void change() {
    std::erase_if(members_, [this](const McMember&) { return random_() % 3 == 0; });
    const auto ends = topology_.end_ports();
    for (auto count = random_() % 8; count-- > 0 && !ends.empty();) {
      const auto& end = ends[random_() % ends.size()];
      if (end.sw != kNoSwitch) add({end.sw, end.port, random_() % 4 != 0});
    }
    if (random_() % 4 == 0)
      add({static_cast<SwitchIndex>(random_() % topology_.switches()), PortNum{0}, true});
  }
  void add(const McMember& member) {
    const auto same = [&](const McMember& m) { return m.sw == member.sw && m.port == member.port; };
    if (std::ranges::none_of(members_, same)) members_.push_back(member);
  }
  const std::vector<McMember>& members() const { return members_; }

 private:
  const Topology& topology_;
  std::mt19937_64 random_;
  std::vector<McMember> members_;
};

void expect_whole(const Topology& topology, const McTree& tree, const std::vector<McMember>& members) {
  for (const auto& sender : members) {
    const auto got = deliver(topology, tree, members, sender);
    ASSERT_TRUE(got.whole()) << got.twice.size() << " twice, " << got.missed.size() << " missed, loop "
                             << got.loop;
    ASSERT_EQ(got.strays, 0U);
  }
}

/// Every mixture of two states, switch by switch, as writes that overtake one another leave it.
McTree mixture(const Topology& topology, const McTree& one, const McTree& other, std::mt19937_64& random) {
  McTree mixed;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    const auto& from = random() % 2 == 0 ? one : other;
    const auto found = std::ranges::find(from, s, &McMask::sw);
    if (found != from.end()) mixed.push_back(*found);
  }
  return mixed;
}

void expect_sound(const Topology& topology, const McTree& tree, const std::vector<McMember>& members) {
  for (const auto& sender : members) ASSERT_TRUE(deliver(topology, tree, members, sender).sound());
}

void expect_safe_step(const Topology& topology, const McTree& from, const McTree& to,
                      const std::vector<McMember>& members, std::mt19937_64& random) {
  const auto between = intermediate_tree(topology, from, to);
  for (int i = 0; i < 3; ++i) {
    if (!between) return expect_sound(topology, mixture(topology, from, to, random), members);
    expect_sound(topology, mixture(topology, from, *between, random), members);
    expect_sound(topology, mixture(topology, *between, to, random), members);
  }
}

TEST(Multicast, EachMemberGetsEachPacketOnceWhoeverComesAndGoes) {
  const std::vector<fabrics::Builder> builders{
      fabrics::ft2(6, 3, 4, 2),         fabrics::ft3(4),
      fabrics::torus(4, 4, 2),          fabrics::irregular(7, 20, 14, 3),
      fabrics::irregular(8, 40, 20, 1), fabrics::damaged(fabrics::torus(5, 5, 1), 3, 20)};
  for (const auto& builder : builders) {
    const auto fabric = fabrics::with_lids(builder.input());
    const auto order = find_tree(fabric.topology);
    std::mt19937_64 random(5);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Group group(fabric.topology, seed);
      McTree tree;
      for (int step = 0; step < 12; ++step) {
        group.change();
        McLoads loads(fabric.topology);
        auto next = grow_tree(fabric.topology, order, tree, group.members(), loads);
        expect_whole(fabric.topology, next, group.members());
        expect_safe_step(fabric.topology, tree, next, group.members(), random);
        tree = std::move(next);
      }
    }
  }
}

TEST(Multicast, DamageLeavesWhatIsWholeAndJoinsTheRest) {
  const auto whole = fabrics::told(fabrics::ft3(8).input());
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto before = fabrics::damaged(whole, 1, 0, 0).routable();
    Group group(before.topology, seed);
    for (int i = 0; i < 4; ++i) group.change();
    const auto tree =
        grow_tree(before.topology, find_tree(before.topology), {}, group.members(), McLoads(before.topology));
    const auto after = fabrics::damaged(whole, seed, seed % 20, 0).routable();
    ASSERT_EQ(after.topology.switches(), before.topology.switches());

    const auto next =
        grow_tree(after.topology, find_tree(after.topology), tree, group.members(), McLoads(after.topology));

    expect_whole(after.topology, next, group.members());
  }
}

TEST(Multicast, OneMoreMemberLeavesTheOthersTreeAsItIs) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(8).input());
  const auto order = find_tree(fabric.topology);
  const McLoads none(fabric.topology);
  std::vector<McMember> members;
  McTree tree;
  for (std::size_t i = 0; i < fabric.topology.end_ports().size(); i += 7) {
    const auto& end = fabric.topology.end_ports()[i];
    members.push_back({end.sw, end.port, true});
    const auto next = grow_tree(fabric.topology, order, tree, members, none);
    for (const auto& mask : tree) {
      const auto found = std::ranges::find(next, mask.sw, &McMask::sw);
      ASSERT_NE(found, next.end());
      EXPECT_TRUE((mask.ports & ~found->ports).none());
    }
    tree = next;
  }
}

TEST(Multicast, PacketsGoUpAndThenDownOnATree) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(8).input());
  const auto order = find_tree(fabric.topology);
  std::vector<McMember> members;
  for (const auto& end : fabric.topology.end_ports()) members.push_back({end.sw, end.port, true});

  const auto tree = grow_tree(fabric.topology, order, {}, members, McLoads(fabric.topology));

  for (const auto& mask : tree) {
    int up = 0;
    for (unsigned p = 1; p <= fabric.topology.ports(mask.sw); ++p) {
      const auto far = fabric.topology.peer(mask.sw, PortNum{static_cast<std::uint8_t>(p)});
      up += static_cast<int>(mask.ports[p] && far.sw != kNoSwitch && order.up(mask.sw, far.sw));
    }
    EXPECT_LE(up, 1) << "at most one uplink from each switch";
  }
  EXPECT_EQ(tree.size(), 32U + 8U + 1U) << "all leaves, one switch a pod, one core";
}

TEST(Multicast, TreesAreSpreadOverRootsAndCables) {
  const auto fabric = fabrics::with_lids(fabrics::ft3(8).input());
  const auto& topology = fabric.topology;
  const auto order = find_tree(topology);
  std::vector<McMember> members;
  for (const auto& end : topology.end_ports()) members.push_back({end.sw, end.port, true});
  McLoads loads(topology);
  for (int group = 0; group < 32; ++group) loads.add(grow_tree(topology, order, {}, members, loads));

  std::uint32_t most = 0, cores = 0;
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (topology.hosts(s) == 0 && topology.guid(s).value() != 0) most = std::max(most, loads.on(s));
    for (std::size_t g = 0; g < topology.groups(s); ++g) {
      for (const auto port : topology.group(s, g).ports)
        if (topology.hosts(s) != 0) cores = std::max(cores, loads.cable(s, port));
    }
  }
  EXPECT_LE(most, 10U) << "32 trees, 16 cores, 4 switches a pod: 8 each where it is even";
  EXPECT_LE(cores, 10U) << "4 cables a leaf";
}

TEST(Multicast, TowardsSendersOnlyNothingIsSent) {
  const auto fabric = fabrics::with_lids(fabrics::ft2(8, 4, 4).input());
  const auto ends = fabric.topology.end_ports();
  const std::vector<McMember> members{{ends[0].sw, ends[0].port, true}, {ends[31].sw, ends[31].port, false}};

  const auto tree =
      grow_tree(fabric.topology, find_tree(fabric.topology), {}, members, McLoads(fabric.topology));

  EXPECT_TRUE(deliver(fabric.topology, tree, members, members[1]).whole());
  EXPECT_EQ(deliver(fabric.topology, tree, members, members[0]).hops, 0U);
}

}  // namespace
}  // namespace smd::routing
