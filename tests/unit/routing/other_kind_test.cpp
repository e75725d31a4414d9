// SPDX-License-Identifier: Apache-2.0
// A management leaf with cables to every other spine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "routing/cabling/health.h"
#include "tests/support/health.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

constexpr unsigned kLeaves = 8, kHosts = 6;

/// The last switch is cabled to every other spine: spine i at port first + i * step.
TopologyInput with_management_leaf(unsigned spines, unsigned step) {
  auto builder = fabrics::ft2(kLeaves, spines, kHosts);
  const auto leaf = builder.add_switch(36);
  for (unsigned i = 0; i < kHosts; ++i) builder.host(leaf);
  auto& input = builder.input();
  for (unsigned i = 0; i * 2 < spines; ++i) {
    const PortNum port{static_cast<std::uint8_t>(kHosts + 1 + i * step)};
    input.links.push_back({leaf, port, kLeaves + i * 2, PortNum{kLeaves + 1}});
  }
  return input;
}

std::vector<CablingFault> faults(const TopologyInput& input, LinkSpeed of_its_hosts) {
  std::map<PortName, PortRate> rates;
  for (unsigned port = 1; port <= kHosts; ++port)
    rates[{input.switches.back().guid, PortNum{static_cast<std::uint8_t>(port)}}] = {LinkWidth::x4,
                                                                                     of_its_hosts};
  std::vector<CablingFault> kinds;
  for (const auto& finding : examined(input, rates).findings) {
    if (is_fault(finding)) kinds.push_back(finding.kind);
  }
  return kinds;
}

TEST(OtherKind, OfLeafHasHostsOfAnotherSpeed) {
  for (const unsigned spines : {2U, 4U, 5U, 6U})
    EXPECT_THAT(faults(with_management_leaf(spines, 2), LinkSpeed::edr), testing::IsEmpty()) << spines;
}

TEST(OtherKind, OfLeafIsCabledInARowWhereOthersHaveACableToEachSpine) {
  for (const unsigned spines : {3U, 4U, 5U, 6U})
    EXPECT_THAT(faults(with_management_leaf(spines, 1), LinkSpeed::hdr), testing::IsEmpty()) << spines;
}

TEST(OtherKind, OfLeafIsNoneWithHolesAmongItsCables) {
  for (const unsigned spines : {2U, 4U}) {
    EXPECT_THAT(faults(with_management_leaf(spines, 2), LinkSpeed::hdr),
                testing::AllOf(testing::SizeIs(spines / 2), testing::Each(CablingFault::missing)));
  }
}

/// A row at other ports than those of the others may have lost a cable at its end.
TEST(OtherKind, OfLeafIsNoneWhereACableHasGoneFromTheEndOfARow) {
  auto builder = fabrics::ft2(kLeaves, 3, kHosts);
  const auto leaf = builder.add_switch(36);
  for (unsigned i = 0; i < kHosts; ++i) builder.host(leaf);
  auto& input = builder.input();
  for (unsigned i = 0; i < 2; ++i) {
    const PortNum port{static_cast<std::uint8_t>(kHosts + 2 + i)};
    input.links.push_back({leaf, port, kLeaves + i, PortNum{kLeaves + 1}});
  }

  EXPECT_THAT(faults(input, LinkSpeed::hdr), testing::ElementsAre(CablingFault::missing));
}

TEST(OtherKind, LacksItsSingleCableAllTheSame) {
  auto input = with_management_leaf(4, 2);
  const auto leaf = static_cast<SwitchIndex>(input.switches.size() - 1);
  const auto spine = [](unsigned i) { return SwitchIndex{kLeaves + i}; };
  input.links.push_back({leaf, PortNum{kHosts + 2}, spine(1), PortNum{kLeaves + 1}});  // one of four lacks

  EXPECT_THAT(faults(input, LinkSpeed::edr), testing::ElementsAre(CablingFault::missing));
}

}  // namespace
}  // namespace smd::routing
