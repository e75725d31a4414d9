// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "routing/cabling/health.h"
#include "tests/support/health.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using fabrics::Builder;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<CablingFault> kinds(const Health& health) {
  std::vector<CablingFault> result;
  for (const auto& finding : health.findings) result.push_back(finding.kind);
  return result;
}

/// Leaves 0 to 7, one a rail, in two groups; hosts with an adapter on each leaf of their group.
Builder rails() {
  Builder b("rails");
  for (unsigned i = 0; i < 12; ++i) b.add_switch(32);
  for (unsigned host = 0; host < 16; ++host) {
    for (unsigned rail = 0; rail < 4; ++rail) {
      const auto leaf = host / 8 * 4 + rail;
      b.host(leaf);
      b.input().end_ports.back().system_image = Guid{0x700000U + host};
    }
  }
  for (unsigned leaf = 0; leaf < 8; ++leaf) {
    for (unsigned spine = 8; spine < 12; ++spine) b.link(leaf, spine);
  }
  return b;
}

TEST(Health, FindsNothingInWholeTrees) {
  for (const auto& builder : {fabrics::ft2(8, 4, 4), fabrics::ft2(6, 3, 4, 2), fabrics::ft3(4),
                              fabrics::ft3(8), fabrics::ft2(2, 2, 3), rails()}) {
    const auto health = examined(builder.input());

    EXPECT_TRUE(health.tree);
    EXPECT_THAT(health.findings, testing::IsEmpty()) << builder.name();
    for (const auto& level : health.levels) EXPECT_EQ(level.cables, level.wanted);
  }
}

TEST(Health, NamesBothEndsOfEveryMissingCable) {
  // Of the second one's 254 ports most are free: those of the other switches say which.
  for (const auto& whole : {fabrics::ft3(8).input(), fabrics::ft2(8, 4, 16, 2).input()}) {
    for (std::size_t gone = 0; gone < whole.links.size(); gone += 5) {
      auto input = whole;
      const auto link = input.links[gone];
      input.links.erase(input.links.begin() + static_cast<std::ptrdiff_t>(gone));

      const auto health = examined(input);

      ASSERT_THAT(kinds(health), testing::ElementsAre(CablingFault::missing)) << gone;
      EXPECT_THAT(health.findings[0].ports,
                  testing::ElementsAre(PortName{input.switches[link.a].guid, link.a_port},
                                       PortName{input.switches[link.b].guid, link.b_port}));
      EXPECT_THAT(health.findings[0].text, HasSubstr(fmt::format("port {}", link.a_port)));
    }
  }
}

TEST(Health, SaysWhichCablesAreSwapped) {
  const auto whole = fabrics::ft3(8).input();
  std::mt19937_64 random(7);
  for (int round = 0; round < 30; ++round) {
    auto input = whole;
    auto& one = input.links[random() % input.links.size()];
    auto& other = input.links[random() % input.links.size()];
    const bool same_switches = one.b == other.b || one.a == other.a;
    // Below the same pod or group an exchange changes nothing but names of ports.
    std::swap(one.b, other.b);
    std::swap(one.b_port, other.b_port);

    const auto health = examined(input);

    if (same_switches) {
      EXPECT_THAT(health.findings, SizeIs(0));
      continue;
    }
    EXPECT_THAT(health.findings, testing::Not(testing::IsEmpty())) << round;
    bool named = false;
    for (const auto& finding : health.findings) {
      EXPECT_EQ(finding.kind, CablingFault::swapped) << finding.text;
      for (const auto& port : finding.ports) named = named || port.node == input.switches[one.a].guid;
    }
    EXPECT_TRUE(named);
  }
}

TEST(Health, SeesCablesThatAreTooMany) {
  auto builder = fabrics::ft3(8);
  for (auto& spec : builder.input().switches) spec.ports = 10;
  builder.input().links.push_back({0, PortNum{9}, 1, PortNum{9}});
  builder.input().links.push_back({5, PortNum{9}, 64, PortNum{9}});

  const auto health = examined(builder.input());

  EXPECT_THAT(kinds(health), testing::ElementsAre(CablingFault::extra, CablingFault::extra));
  EXPECT_THAT(health.findings[0].text,
              HasSubstr("N1000 port 9 and N1001 port 9 joins two switches of one level"));
}

TEST(Health, SeesSlowAndNarrowCables) {
  const auto input = fabrics::ft2(4, 2, 3).input();

  const auto health = examined(input, {{{Guid{0x1000}, PortNum{4}}, {LinkWidth::x4, LinkSpeed::edr}},
                                       {{Guid{0x1002}, PortNum{1}}, {LinkWidth::x1, LinkSpeed::hdr}}});

  EXPECT_THAT(kinds(health), testing::UnorderedElementsAre(CablingFault::slow, CablingFault::width));
  for (const auto& finding : health.findings) {
    EXPECT_THAT(finding.text,
                testing::AnyOf(HasSubstr("N1000 port 4 and N1004 port 1"), HasSubstr("N1002 port 1")));
  }
}

TEST(Health, NamesTheHostOfASlowCableAmongThePorts) {
  const auto input = fabrics::ft2(4, 2, 3).input();
  const auto& host = input.end_ports.front();
  const PortName port{input.switches[host.sw].guid, host.port};

  const auto health = examined(input, {{port, {LinkWidth::x4, LinkSpeed::edr}}});

  ASSERT_EQ(health.findings.size(), 1U);
  EXPECT_THAT(health.findings[0].ports, testing::ElementsAre(port, PortName{host.node, PortNum{}}));
}

TEST(Health, SeesAdaptersOnTheWrongRail) {
  auto builder = rails();
  auto& ends = builder.input().end_ports;
  std::swap(ends[4].sw, ends[5].sw);
  std::swap(ends[4].port, ends[5].port);
  ends.erase(ends.begin() + 10);

  const auto health = examined(builder.input());

  EXPECT_THAT(kinds(health),
              testing::ElementsAre(CablingFault::rail, CablingFault::rail, CablingFault::rail));
  EXPECT_THAT(health.findings[2].text, HasSubstr("no adapter on rail 3 of 4"));
}

/// An adapter's cable at the place of another machine's.
void exchange(EndPortSpec& one, EndPortSpec& other) {
  std::swap(one.sw, other.sw);
  std::swap(one.port, other.port);
}

TEST(Health, SeesAdaptersInAWrongUnit) {
  auto builder = rails();
  auto& ends = builder.input().end_ports;
  exchange(ends[1 * 4 + 2], ends[9 * 4 + 2]);  // rail 3 of a machine of the first unit and one of the second

  const auto health = examined(builder.input());

  ASSERT_THAT(kinds(health), testing::ElementsAre(CablingFault::rail, CablingFault::rail));
  EXPECT_THAT(health.findings[0].text, HasSubstr("N1006 port 2 leads to adapter 3 of N800006"));
  EXPECT_THAT(health.findings[0].text, HasSubstr("should lead to N1002"));
  EXPECT_THAT(health.findings[1].text, HasSubstr("N1002 port 2 leads to adapter 3 of N800026"));
  EXPECT_THAT(health.findings[1].text, HasSubstr("should lead to N1006"));
}

TEST(Health, SeesAnAdapterAtAFreePortOfAnotherUnit) {
  auto builder = rails();
  auto& end = builder.input().end_ports[3 * 4 + 1];
  end.sw = 5;
  end.port = PortNum{30};

  const auto health = examined(builder.input());

  ASSERT_THAT(kinds(health), testing::ElementsAre(CablingFault::rail));
  EXPECT_THAT(health.findings[0].ports, testing::ElementsAre(PortName{Guid{0x1005}, PortNum{30}}));
  EXPECT_THAT(health.findings[0].text, HasSubstr("should lead to N1001"));
}

TEST(Health, OfTwoAdaptersInTwoUnitsNamesBoth) {
  auto builder = rails();
  auto& ends = builder.input().end_ports;
  std::erase_if(ends, [](const EndPortSpec& end) { return end.sw % 4 > 1; });
  exchange(ends[1 * 2], ends[9 * 2]);

  const auto health = examined(builder.input());

  ASSERT_THAT(kinds(health), testing::ElementsAre(CablingFault::rail, CablingFault::rail));
  EXPECT_THAT(health.findings[0].text,
              HasSubstr("either the first should lead to N1000 or the second to N1005"));
}

/// One fault of a random kind at a random place; the nodes that a finding must name, and its possible kinds.
struct MisCabling {
  TopologyInput input;
  std::map<PortName, PortRate> rates;
  std::vector<CablingFault> kinds;
  std::vector<Guid> ends;  ///< one of them must be named
};

MisCabling mis_cabling(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto builder = seed % 6 == 3 ? rails() : fabrics::ft3(8);
  for (auto& spec : builder.input().switches) spec.ports = std::max(spec.ports, 10U);
  MisCabling fault{builder.input(), {}, {}, {}};
  auto& input = fault.input;
  auto& link = input.links[random() % input.links.size()];
  const auto guid = [&](SwitchIndex s) { return input.switches[s].guid; };
  fault.ends = {guid(link.a), guid(link.b)};
  switch (seed % 6) {
    case 0: {  // two cables of different pods change their upper ends
      const auto other = std::ranges::find_if(input.links, [&](const LinkSpec& l) {
        return l.a / 4 != link.a / 4 && l.b != link.b && (l.a < 32) == (link.a < 32);
      });
      std::swap(link.b, other->b);
      std::swap(link.b_port, other->b_port);
      fault.kinds = {CablingFault::swapped};
      break;
    }
    case 1:
      fault.kinds = {CablingFault::missing};
      input.links.erase(input.links.begin() + (&link - input.links.data()));
      break;
    case 2: {
      const auto a = static_cast<SwitchIndex>(random() % 32), b = (a + 1) % 32;
      input.links.push_back({a, PortNum{9}, b, PortNum{10}});
      fault.kinds = {CablingFault::extra};
      fault.ends = {guid(a), guid(b)};
      break;
    }
    case 3: {  // two adapters of a machine on each other's rails
      const auto host = random() % 16 * 4;
      auto &one = input.end_ports[host], &other = input.end_ports[host + 1];
      std::swap(one.sw, other.sw);
      std::swap(one.port, other.port);
      fault.kinds = {CablingFault::rail};
      fault.ends = {guid(one.sw), guid(other.sw)};
      break;
    }
    case 4:
      fault.rates[{guid(link.a), link.a_port}] =
          fault.rates[{guid(link.b), link.b_port}] = {LinkWidth::x4, LinkSpeed::edr};
      fault.kinds = {CablingFault::slow};
      break;
    default:
      fault.rates[{guid(link.a), link.a_port}] =
          fault.rates[{guid(link.b), link.b_port}] = {LinkWidth::x2, LinkSpeed::hdr};
      fault.kinds = {CablingFault::width};
  }
  return fault;
}

TEST(Health, FindsAndNamesEachOfManyMisCablings) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto fault = mis_cabling(seed);

    const auto health = examined(fault.input, fault.rates);

    EXPECT_THAT(health.findings, testing::Not(testing::IsEmpty())) << "seed " << seed;
    for (const auto& finding : health.findings) {
      EXPECT_THAT(fault.kinds, testing::Contains(finding.kind)) << "seed " << seed << ": " << finding.text;
      bool named = false;
      for (const auto end : fault.ends) {
        for (const auto& port : finding.ports) named = named || port.node == end;
      }
      EXPECT_TRUE(named) << "seed " << seed << ": " << finding.text;
    }
  }
}

TEST(Health, SeesAPodWithFewerSwitchesAbove) {
  auto input = fabrics::ft3(8).input();
  std::erase_if(input.links, [](const LinkSpec& link) { return link.a == 32 || link.b == 32; });

  const auto health = examined(input);

  EXPECT_THAT(kinds(health), testing::Contains(CablingFault::uneven));
}

/// Four of twenty leaves have 8 of the 12 spines.
TEST(Health, TakesAFewOlderLeavesForADesign) {
  Builder builder("older");
  for (int i = 0; i < 20 + 12; ++i) builder.add_switch(36);
  for (SwitchIndex leaf = 0; leaf < 20; ++leaf) {
    for (int h = 0; h < 8; ++h) builder.host(leaf);
    for (SwitchIndex spine = 0; spine < (leaf % 5 == 1 ? 8U : 12U); ++spine) builder.link(leaf, 20 + spine);
  }

  EXPECT_THAT(kinds(examined(builder.input())), testing::Each(CablingFault::differs));
}

/// Two leaves with two cables to each of four spines, two with one, and one with one to half of the spines.
Builder leaves_of_three_kinds() {
  Builder builder("kinds");
  for (int i = 0; i < 9; ++i) builder.add_switch(36);
  for (SwitchIndex leaf = 0; leaf < 5; ++leaf) {
    for (int h = 0; h < 8; ++h) builder.host(leaf);
    for (SwitchIndex spine = 5; spine < 9; ++spine) {
      if (leaf == 4 && spine % 2 == 0) continue;
      for (int c = 0; c < (leaf < 2 ? 2 : 1); ++c) builder.link(leaf, spine);
    }
  }
  return builder;
}

TEST(Health, TakesCablesThatTwoLeavesHaveAloneForADesign) {
  EXPECT_THAT(kinds(examined(leaves_of_three_kinds().input())), testing::Each(CablingFault::differs));
}

/// Leaves 0 to 4 with spines 5 and 6, leaves 7 to 11 with spines 12 to 14; two spines of each are joined.
Builder islands() {
  Builder builder("islands");
  for (int i = 0; i < 15; ++i) builder.add_switch(36);
  for (const SwitchIndex first : {0U, 7U}) {
    for (SwitchIndex leaf = first; leaf < first + 5; ++leaf) {
      for (int h = 0; h < 4; ++h) builder.host(leaf);
      for (SwitchIndex spine = first + 5; spine < (first == 0 ? 7U : 15U); ++spine) builder.link(leaf, spine);
    }
  }
  builder.link(5, 12);
  builder.link(6, 13);
  return builder;
}

TEST(Health, TakesTheOnlyTwoCablesBetweenTwoTreesForADesign) {
  EXPECT_THAT(kinds(examined(islands().input())), testing::Each(CablingFault::differs));
}

TEST(Health, FindsTheCableThatIsMissingBesideThoseBetweenTwoTrees) {
  auto input = islands().input();
  const auto cut = std::ranges::find_if(input.links, [](const auto& l) { return l.a == 8 && l.b == 12; });
  const auto leaf = input.switches[cut->a].guid;
  input.links.erase(cut);

  const auto health = examined(input);

  ASSERT_EQ(std::ranges::count_if(health.findings, is_fault), 1);
  EXPECT_EQ(health.findings[0].kind, CablingFault::missing);
  EXPECT_EQ(health.findings[0].ports[0].node, leaf);
}

/// Four pods of four leaves and four middle switches; leaves 48 and 49 have eight cables to cores.
TEST(Health, TakesLeavesCabledToCoresForADesign) {
  Builder builder("two heights");
  for (int i = 0; i < 32 + 16 + 2; ++i) builder.add_switch(36);
  for (SwitchIndex i = 0; i < 16; ++i) {
    const auto pod = i / 4 * 4;
    for (int h = 0; h < 4; ++h) builder.host(i);
    for (SwitchIndex m = 0; m < 4; ++m) builder.link(i, 16 + pod + m);
    for (SwitchIndex c = 0; c < 4; ++c) builder.link(16 + i, 32 + i % 4 * 4 + c);
  }
  for (const SwitchIndex leaf : {48U, 49U}) {
    for (int h = 0; h < 4; ++h) builder.host(leaf);
    for (SwitchIndex c = 0; c < 8; ++c) builder.link(leaf, 32 + (leaf - 48) * 8 + c);
  }

  EXPECT_THAT(kinds(examined(builder.input())), testing::Each(CablingFault::differs));
}

/// A pod with so many middle switches, each with cores of its own above it, as if more pods were to come.
Builder one_pod(unsigned half) {
  Builder b(fmt::format("one pod of {}", half));
  for (unsigned i = 0; i < half * 2 + half * half; ++i) b.add_switch(32);
  for (unsigned leaf = 0; leaf < half; ++leaf) {
    for (unsigned h = 0; h < half; ++h) b.host(leaf);
    for (unsigned m = 0; m < half; ++m) b.link(leaf, half + m);
  }
  for (unsigned core = 0; core < half * half; ++core) b.link(half + core / half, half * 2 + core);
  return b;
}

TEST(Health, FindsNothingWhereCoresHaveOneCableBecauseThereIsOnePod) {
  for (const unsigned half : {2U, 3U, 4U, 6U}) {
    const auto health = examined(one_pod(half).input());

    EXPECT_TRUE(health.tree) << half;
    EXPECT_THAT(health.findings, testing::IsEmpty()) << half << ": " << health.findings[0].text;
  }
}

TEST(Health, FindsTheCableThatIsMissingInOnePod) {
  auto input = one_pod(4).input();
  const auto link = input.links[5];
  input.links.erase(input.links.begin() + 5);

  const auto health = examined(input);

  ASSERT_THAT(kinds(health), testing::ElementsAre(CablingFault::missing));
  EXPECT_EQ(health.findings[0].ports[0], (PortName{input.switches[link.a].guid, link.a_port}));
  EXPECT_EQ(health.findings[0].ports[1], (PortName{input.switches[link.b].guid, link.b_port}));
}

TEST(Health, SaysNothingOfTheCablesBetweenGroupsOfLeavesAndSpines) {
  Builder b("dragonfly+");
  for (unsigned i = 0; i < 4 * 4; ++i) b.add_switch(32);
  for (unsigned group = 0; group < 4; ++group) {
    for (unsigned i = 0; i < 4; ++i) {
      b.host(group * 4 + i / 2);
      b.link(group * 4 + i / 2, group * 4 + 2 + i % 2);
    }
    for (unsigned other = 0; other < group; ++other) {
      for (unsigned i = 2; i < 4; ++i) b.link(group * 4 + i, other * 4 + i);
    }
  }

  const auto health = examined(b.input());

  EXPECT_FALSE(health.tree);
  EXPECT_THAT(health.findings, testing::IsEmpty());
}

TEST(Health, NamesACableBetweenTwoPortsOfOneSwitch) {
  auto input = fabrics::ft2(4, 2, 2).input();
  input.links.push_back({3, PortNum{30}, 3, PortNum{31}});
  input.links.push_back({2, PortNum{30}, 2, PortNum{30}});

  const auto health = examined(input);

  ASSERT_THAT(kinds(health), testing::ElementsAre(CablingFault::extra, CablingFault::extra));
  const auto two = input.switches[2].guid, three = input.switches[3].guid;
  EXPECT_THAT(health.findings[0].ports, testing::ElementsAre(PortName{two, PortNum{30}}));
  EXPECT_THAT(health.findings[0].text, HasSubstr("port 30 is cabled to itself"));
  EXPECT_THAT(health.findings[1].ports,
              testing::ElementsAre(PortName{three, PortNum{30}}, PortName{three, PortNum{31}}));
}

/// Two trees of 4 leaves and 3 spines: one cable between them may be a mistake, more are not.
TEST(Health, TreesMayBeJoinedAtTheirTops) {
  const auto joined = [](std::initializer_list<SwitchIndex> spines) {
    Builder builder("islands");
    for (int i = 0; i < 14; ++i) builder.add_switch(36);
    for (SwitchIndex leaf = 0; leaf < 8; ++leaf) {
      for (int h = 0; h < 4; ++h) builder.host(leaf);
      for (SwitchIndex spine = 0; spine < 3; ++spine) builder.link(leaf, 8 + leaf / 4 * 3 + spine);
    }
    for (const auto spine : spines) builder.link(8 + spine, 11 + spine);
    return examined(builder.input());
  };

  EXPECT_THAT(joined({0, 1, 2}).findings, testing::IsEmpty());
  EXPECT_THAT(joined({1, 1}).findings, testing::IsEmpty());
  EXPECT_THAT(kinds(joined({1})), testing::ElementsAre(CablingFault::extra));
}

TEST(Health, NamesLeavesThatNothingJoinsToTheOthers) {
  auto input = fabrics::ft2(4, 2, 2).input();
  input.links.clear();

  const auto health = examined(input);

  ASSERT_THAT(kinds(health), testing::ElementsAre(CablingFault::uneven, CablingFault::uneven,
                                                  CablingFault::uneven, CablingFault::uneven));
  EXPECT_EQ(health.findings[0].ports[0].node, input.switches[0].guid);
}

/// Two hosts may be cabled to each other.
TEST(Health, SaysThatNoSwitchHasHosts) {
  Builder builder("no hosts");
  for (int i = 0; i < 2; ++i) builder.add_switch(8);
  builder.link(0, 1);

  EXPECT_THAT(examined(builder.input()).left_out, HasSubstr("no switch has hosts"));
}

TEST(Health, SaysNothingOfTheCablesOfATorus) {
  const auto health = examined(fabrics::torus(4, 4, 2).input());

  EXPECT_FALSE(health.tree);
  EXPECT_THAT(health.findings, testing::IsEmpty());
}

}  // namespace
}  // namespace smd::routing
