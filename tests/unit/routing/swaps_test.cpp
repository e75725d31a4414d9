// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "routing/cabling/health.h"
#include "tests/support/health.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using fabrics::Builder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Pods of so many leaves; each of their middle switches has cores of its own plane above it.
struct Planes {
  unsigned pods = 4, leaves = 4, planes = 3, cores = 2;
  SwitchIndex middle(unsigned pod, unsigned plane) const { return pods * leaves + pod * planes + plane; }
  std::string name() const { return fmt::format("{} pods, {} planes of {}", pods, planes, cores); }
};

Builder planes(const Planes& spec) {
  Builder b("planes");
  const auto cores = spec.middle(spec.pods, 0);
  for (unsigned i = 0; i < cores + spec.planes * spec.cores; ++i) b.add_switch(32);
  for (unsigned leaf = 0; leaf < spec.pods * spec.leaves; ++leaf) {
    for (unsigned h = 0; h < 6; ++h) b.host(leaf);
    for (unsigned p = 0; p < spec.planes; ++p) b.link(leaf, spec.middle(leaf / spec.leaves, p));
  }
  for (unsigned i = 0; i < spec.pods * spec.planes; ++i) {
    for (unsigned c = 0; c < spec.cores; ++c)
      b.link(spec.middle(0, 0) + i, cores + i % spec.planes * spec.cores + c);
  }
  return b;
}

void exchange(LinkSpec& one, LinkSpec& other) {
  std::swap(one.b, other.b);
  std::swap(one.b_port, other.b_port);
}

PortName lower_end(const TopologyInput& input, const LinkSpec& link) {
  return {input.switches[link.a].guid, link.a_port};
}

/// The cable of a switch at a port.
LinkSpec& cable(TopologyInput& input, SwitchIndex s, unsigned port) {
  for (auto& link : input.links) {
    if (link.a == s && link.a_port.value() == port) return link;
  }
  ADD_FAILURE() << s << " port " << port;
  return input.links.front();
}

TEST(Swaps, OfMiddleSwitchesWithTwoCoresTheRightTwoCablesAreNamed) {
  for (const auto& spec : {Planes{4, 4, 3, 2}, Planes{4, 4, 4, 2}, Planes{8, 8, 4, 2}, Planes{3, 2, 2, 2}}) {
    const auto whole = planes(spec).input();
    EXPECT_THAT(examined(whole).findings, testing::IsEmpty()) << spec.name();
    std::vector<std::size_t> upper;
    for (std::size_t i = 0; i < whole.links.size(); ++i) {
      if (whole.links[i].a >= spec.middle(0, 0)) upper.push_back(i);
    }
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      std::mt19937_64 random(seed);
      auto input = whole;
      auto& one = input.links[upper[random() % upper.size()]];
      auto& other = input.links[upper[random() % upper.size()]];
      if (one.a == other.a || one.b == other.b) continue;
      exchange(one, other);

      const auto health = examined(input);

      const auto what = fmt::format("{}, seed {}: {} and {}", spec.name(), seed, one.a, other.a);
      ASSERT_THAT(health.findings, testing::SizeIs(1)) << what;
      EXPECT_EQ(health.findings[0].kind, CablingFault::swapped) << what;
      EXPECT_THAT(health.findings[0].ports,
                  testing::UnorderedElementsAre(lower_end(input, one), lower_end(input, other)))
          << what << ": " << health.findings[0].text;
      EXPECT_THAT(health.findings[0].text, Not(HasSubstr("or else"))) << what;
    }
  }
}

TEST(Swaps, FourCablesThatLeaveEverySwitchLikeOthersAreFoundByWhatCoresHaveToEachPod) {
  const Planes spec;
  auto input = planes(spec).input();
  const auto a = spec.middle(1, 0), b = spec.middle(3, 2);
  for (const unsigned port : {5U, 6U}) exchange(cable(input, a, port), cable(input, b, port));

  const auto health = examined(input);

  ASSERT_THAT(health.findings, testing::SizeIs(2));
  for (const auto& finding : health.findings) {
    EXPECT_EQ(finding.kind, CablingFault::swapped);
    EXPECT_THAT(finding.ports, ElementsAre(testing::Field(&PortName::node, input.switches[a].guid),
                                           testing::Field(&PortName::node, input.switches[b].guid)))
        << finding.text;
  }
}

/// With one cable to each of two leaves they would be alike, but they were not built so.
TEST(Swaps, AreNotSoughtAtSwitchesThatHangBelowALeaf) {
  for (const unsigned leaves : {10U, 14U}) {
    for (const unsigned spines : {3U, 8U}) {
      auto builder = fabrics::ft2(leaves, spines, 8);
      for (const SwitchIndex leaf : {0U, 1U}) {
        const auto small = builder.add_switch(16);
        for (int i = 0; i < 4; ++i) builder.host(small);
        for (int i = 0; i < 2; ++i) builder.link(small, leaf);
      }

      const auto health = examined(builder.input());

      for (const auto& finding : health.findings) EXPECT_FALSE(is_fault(finding)) << finding.text;
    }
  }
}

TEST(Swaps, OfCablesToOneSwitchThePortTellsWhichIsWrong) {
  auto input = fabrics::ft2(6, 3, 4, 2).input();
  auto &one = cable(input, 1, 5), &other = cable(input, 3, 9);  // the first to a spine, the first to another
  exchange(one, other);

  const auto health = examined(input);

  ASSERT_THAT(health.findings, testing::SizeIs(1));
  EXPECT_THAT(health.findings[0].ports, ElementsAre(lower_end(input, one), lower_end(input, other)))
      << health.findings[0].text;
}

TEST(Swaps, SayNothingOfTheRateThatTheCableHasFromItsRightPlace) {
  constexpr SwitchIndex kEdges = 6, kSlow = kEdges + 2;  // spines below that have EDR
  auto input = fabrics::ft2(kEdges, 4, 4).input();
  const auto to = [&](SwitchIndex leaf, SwitchIndex spine) -> LinkSpec& {
    for (auto& link : input.links) {
      if (link.a == leaf && link.b == spine) return link;
    }
    return input.links.front();
  };
  std::map<PortName, PortRate> rates;
  for (const auto& link : input.links) {
    const PortRate rate{LinkWidth::x4, link.b < kSlow ? LinkSpeed::edr : LinkSpeed::hdr};
    rates[lower_end(input, link)] = rates[{input.switches[link.b].guid, link.b_port}] = rate;
  }
  ASSERT_THAT(examined(input, rates).findings, testing::IsEmpty());
  auto &one = to(0, kEdges), &other = to(1, kSlow);
  exchange(one, other);
  for (const auto* link : {&one, &other})
    rates[{input.switches[link->b].guid, link->b_port}] = rates[lower_end(input, *link)];

  const auto health = examined(input, rates);

  ASSERT_THAT(health.findings, testing::SizeIs(1)) << health.findings.back().text;
  EXPECT_EQ(health.findings[0].kind, CablingFault::swapped);
}

TEST(Swaps, ThatNothingTellsApartAreBothNamed) {
  Planes spec{4, 3, 2, 2};
  auto input = planes(spec).input();
  exchange(cable(input, 0, 8), cable(input, 5, 8));  // leaves of two pods, the last of two uplinks each

  const auto health = examined(input);

  ASSERT_THAT(health.findings, testing::SizeIs(1));
  EXPECT_THAT(health.findings[0].text, HasSubstr("N1000 port 8 and N1005 port 8"));
  EXPECT_THAT(health.findings[0].text, HasSubstr("; or else those at N1000 port 7 and N1005 port 7"));
}

}  // namespace
}  // namespace smd::routing
