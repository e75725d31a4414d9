// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "routing/cabling/health.h"
#include "tests/support/health.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using fabrics::Builder;

/// Pods of four leaves and two middle switches, of which each has two cores of its group above it.
Builder pods_of_two(unsigned pods, unsigned cables) {
  Builder b(fmt::format("{} pods, {} cables", pods, cables));
  for (unsigned i = 0; i < pods * 6 + 4; ++i) b.add_switch(32);
  for (unsigned pod = 0; pod < pods; ++pod) {
    for (unsigned leaf = pod * 4; leaf < pod * 4 + 4; ++leaf) {
      for (unsigned h = 0; h < 4; ++h) b.host(leaf);
      for (unsigned c = 0; c < cables * 2; ++c) b.link(leaf, pods * 4 + pod * 2 + c % 2);
    }
  }
  for (unsigned pod = 0; pod < pods; ++pod) {
    for (unsigned i = 0; i < 4; ++i) b.link(pods * 4 + pod * 2 + i / 2, pods * 6 + i);
  }
  return b;
}

std::vector<Builder> with_two_uplinks() {
  return {fabrics::ft2(6, 2, 4), fabrics::ft2(4, 2, 2), fabrics::ft2(6, 2, 4, 2), fabrics::ft3(4),
          pods_of_two(4, 1),     pods_of_two(3, 1),     pods_of_two(4, 2)};
}

/// All are of one kind, and every one of these nodes is named.
void expect_named(const Health& health, CablingFault kind, const std::vector<Guid>& nodes,
                  const std::string& what) {
  EXPECT_TRUE(health.tree) << what;
  EXPECT_THAT(health.findings, testing::Not(testing::IsEmpty())) << what;
  std::string text;
  for (const auto& finding : health.findings) {
    EXPECT_EQ(finding.kind, kind) << what << ": " << finding.text;
    text += finding.text + "\n";
    std::ranges::replace(text, ',', ' ');
    std::ranges::replace(text, '\n', ' ');
  }
  for (const auto node : nodes) {
    EXPECT_THAT(text, testing::HasSubstr(fmt::format("N{:x} ", node.value()))) << what;
  }
}

/// On the same two levels, with four different ends.
bool comparable(const SwitchRanking& order, const LinkSpec& one, const LinkSpec& other) {
  return order.rank[one.a] == order.rank[other.a] && order.rank[one.b] == order.rank[other.b] &&
         one.a != other.a && one.b != other.b;
}

/// Pods of two leaves with so many middle switches, each with a core of its own kind above it.
Builder pods_of_two_leaves(unsigned pods, unsigned middles, unsigned cables) {
  Builder b(fmt::format("{} pods of two leaves, {} middle switches, {} cables", pods, middles, cables));
  for (unsigned i = 0; i < pods * (2 + middles) + middles; ++i) b.add_switch(64);
  for (unsigned leaf = 0; leaf < pods * 2; ++leaf) {
    for (unsigned h = 0; h < 4; ++h) b.host(leaf);
    for (unsigned c = 0; c < cables * middles; ++c) b.link(leaf, pods * 2 + leaf / 2 * middles + c % middles);
  }
  for (unsigned m = 0; m < pods * middles; ++m) b.link(pods * 2 + m, pods * (2 + middles) + m % middles);
  return b;
}

TEST(MisplacedCables, AreNotFoundInWholeTrees) {
  for (const auto& builder : with_two_uplinks()) {
    EXPECT_THAT(examined(builder.input()).findings, testing::IsEmpty()) << builder.name();
  }
}

TEST(MisplacedCables, SwappedCablesOfSwitchesWithTwoUplinksAreNamed) {
  for (const auto& builder : with_two_uplinks()) {
    const auto order = find_tree(Topology(builder.input()));
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      std::mt19937_64 random(seed);
      auto input = builder.input();
      auto& one = input.links[random() % input.links.size()];
      auto& other = input.links[random() % input.links.size()];
      if (!comparable(order, one, other)) continue;
      std::swap(one.b, other.b);
      std::swap(one.b_port, other.b_port);

      // By the other cables of the two it can be put right as well.
      expect_named(examined(input), CablingFault::swapped,
                   {input.switches[one.a].guid, input.switches[other.a].guid},
                   fmt::format("{}, seed {}", builder.name(), seed));
    }
  }
}

TEST(MisplacedCables, SwappedCablesOfLeavesInPodsOfTwoAreNamedAndNothingElse) {
  for (const auto& builder :
       {pods_of_two_leaves(4, 2, 1), pods_of_two_leaves(4, 3, 1), pods_of_two_leaves(4, 4, 1),
        pods_of_two_leaves(3, 8, 1), pods_of_two_leaves(4, 2, 2), pods_of_two_leaves(4, 4, 2)}) {
    const auto order = find_tree(Topology(builder.input()));
    EXPECT_THAT(examined(builder.input()).findings, testing::IsEmpty()) << builder.name();
    const auto leaves = builder.input().end_ports.size() / 4;
    const auto leaf_cables =
        std::ranges::count_if(builder.input().links, [&](const LinkSpec& link) { return link.a < leaves; });
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      std::mt19937_64 random(seed);
      auto input = builder.input();
      auto& one = input.links[random() % static_cast<std::size_t>(leaf_cables)];
      auto& other = input.links[random() % static_cast<std::size_t>(leaf_cables)];
      if (!comparable(order, one, other)) continue;
      std::swap(one.b, other.b);
      std::swap(one.b_port, other.b_port);

      const auto health = examined(input);

      const auto what = fmt::format("{}, seed {}: {} and {}", builder.name(), seed, one.a, other.a);
      expect_named(health, CablingFault::swapped, {input.switches[one.a].guid, input.switches[other.a].guid},
                   what);
      EXPECT_THAT(health.findings, testing::SizeIs(1)) << what;
    }
  }
}

TEST(MisplacedCables, ACableToAWrongSwitchIsNamed) {
  const auto whole = pods_of_two(4, 1).input();
  for (std::size_t i = 0; i < 32; ++i) {  // of a leaf, to the middle switch of another pod
    auto input = whole;
    auto& link = input.links[i];
    link.b = 16 + (link.b - 16 + 2) % 8;
    link.b_port = PortNum{30};

    expect_named(examined(input), CablingFault::swapped,
                 {input.switches[link.a].guid, input.switches[link.b].guid}, fmt::format("cable {}", i));
  }
}

TEST(MisplacedCables, ACableTooManyIsNotMissingElsewhere) {
  for (const auto& builder : with_two_uplinks()) {
    const auto order = find_tree(Topology(builder.input()));
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      std::mt19937_64 random(seed);
      auto input = builder.input();
      for (auto& spec : input.switches) spec.ports = 254;
      const auto n = static_cast<SwitchIndex>(input.switches.size());
      const auto a = static_cast<SwitchIndex>(random() % n), b = static_cast<SwitchIndex>(random() % n);
      if (a == b) continue;
      input.links.push_back({a, PortNum{250}, b, PortNum{251}});

      expect_named(examined(input), CablingFault::extra, {input.switches[a].guid, input.switches[b].guid},
                   fmt::format("{}, seed {}: {} to {}, ranks {} and {}", builder.name(), seed, a, b,
                               order.rank[a], order.rank[b]));
    }
  }
}

TEST(MisplacedCables, NoMoreThanOneFaultIsToldForAMissingCable) {
  for (const auto& builder : with_two_uplinks()) {
    for (std::size_t gone = 0; gone < builder.input().links.size(); ++gone) {
      auto input = builder.input();
      const auto link = input.links[gone];
      input.links.erase(input.links.begin() + static_cast<std::ptrdiff_t>(gone));

      const auto health = examined(input);

      expect_named(health, CablingFault::missing, {input.switches[link.a].guid, input.switches[link.b].guid},
                   fmt::format("{}, {}", builder.name(), gone));
      EXPECT_THAT(health.findings, testing::SizeIs(1)) << builder.name() << ", " << gone;
    }
  }
}

TEST(MisplacedCables, ALeafThatLostItsOnlyCableIsNamed) {
  auto input = fabrics::ft2(6, 1, 4).input();
  std::erase_if(input.links, [](const LinkSpec& link) { return link.a == 2; });

  expect_named(examined(input), CablingFault::uneven, {input.switches[2].guid}, "ft2");
}

}  // namespace
}  // namespace smd::routing
