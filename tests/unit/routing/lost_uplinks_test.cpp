// SPDX-License-Identifier: Apache-2.0
// Middle switches that have lost all their cables upwards.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "routing/cabling/health.h"
#include "tests/support/routing_fabrics.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

/// Cables of middle switches upwards, by the names that specs give to them.
bool leads_up(const fabrics::SpecFabric& fabric, const LinkSpec& link) {
  const auto& name = fabric.names.at(fabric.input.switches[link.a].guid);
  const auto& far = fabric.names.at(fabric.input.switches[link.b].guid);
  return name.starts_with("s2-") && far.starts_with("s3-");
}

TEST(LostUplinks, OfAMiddleSwitchWithOneAreNamedWithTheFarPort) {
  for (const std::string spec : {"xgft:3;8,2,5;1,3,1;1,1,1", "xgft:3;4,3,12;1,1,1;1,1,1"}) {
    for (const auto* const suffix : {"", "+guids=3"}) {
      const auto whole = fabrics::of_spec(spec + suffix);
      for (std::size_t i = 0; i < whole.input.links.size(); ++i) {
        const auto link = whole.input.links[i];
        if (!leads_up(whole, link)) continue;
        auto fabric = whole;
        fabric.input.links.erase(fabric.input.links.begin() + static_cast<std::ptrdiff_t>(i));
        const auto guid = [&](SwitchIndex s) { return fabric.input.switches[s].guid; };

        const auto health = fabrics::examined(fabric);

        ASSERT_THAT(health.findings, testing::SizeIs(1)) << spec << suffix << ", cable " << i;
        EXPECT_EQ(health.findings[0].kind, CablingFault::missing) << health.findings[0].text;
        EXPECT_THAT(health.findings[0].ports, testing::IsSupersetOf({PortName{guid(link.a), link.a_port},
                                                                     PortName{guid(link.b), link.b_port}}))
            << health.findings[0].text;
      }
    }
  }
}

TEST(LostUplinks, AreNoneWhereEachPodHasASwitchWithout) {
  auto builder = fabrics::ft3(8);
  for (unsigned pod = 0; pod < 8; ++pod) {
    const auto local = builder.add_switch(8);
    for (unsigned i = 0; i < 4; ++i) {
      auto& input = builder.input();
      ++input.switches[pod * 4 + i].ports;
      input.links.push_back({pod * 4 + i, PortNum{9}, local, PortNum{static_cast<std::uint8_t>(i + 1)}});
    }
  }
  const Topology topology(builder.input());

  const auto health = check_cabling({.topology = topology,
                                     .rate = [](PortName) { return PortRate{LinkWidth::x4, LinkSpeed::hdr}; },
                                     .name = [](Guid guid) { return fmt::format("{}", guid); }});

  for (const auto& finding : health.findings) EXPECT_FALSE(is_fault(finding)) << finding.text;
}

}  // namespace
}  // namespace smd::routing
