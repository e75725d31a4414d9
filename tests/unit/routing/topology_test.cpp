// SPDX-License-Identifier: Apache-2.0
#include "routing/topology/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "routing/topology/lids.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using testing::ElementsAre;

constexpr PortNum port(unsigned number) { return PortNum{static_cast<std::uint8_t>(number)}; }

TEST(Topology, SwitchesStandByGuidAndParallelCablesTogether) {
  TopologyInput input;
  input.switches = {{Guid{30}, 8}, {Guid{10}, 8}, {Guid{20}, 8}};
  input.links = {{0, port(3), 1, port(1)}, {0, port(2), 2, port(1)}, {1, port(2), 0, port(1)}};

  const Topology topology(input);

  EXPECT_EQ(topology.guid(0), Guid{10});
  EXPECT_EQ(topology.input_of(0), 1U);
  EXPECT_EQ(topology.from_input(0), 2U);
  EXPECT_EQ(topology.find(Guid{30}), 2U);
  EXPECT_EQ(topology.find(Guid{31}), kNoSwitch);
  ASSERT_EQ(topology.groups(2), 2U);
  EXPECT_EQ(topology.group(2, 0).peer, 0U);
  EXPECT_THAT(topology.group(2, 0).ports, ElementsAre(port(1), port(3)));
  EXPECT_EQ(topology.peer(2, port(1)).port, port(2));
  EXPECT_EQ(topology.peer(2, port(200)).sw, kNoSwitch);
  EXPECT_EQ(topology.cables(), 3U);
  EXPECT_EQ(topology.components(), 1U);
}

TEST(Topology, LeavesOutWhatCannotBe) {
  TopologyInput input;
  input.switches = {{Guid{1}, 4}, {Guid{2}, 4}};
  input.links = {{0, port(1), 1, port(1)}, {1, port(1), 0, port(1)},  // the same cable, listed twice
                 {0, port(1), 1, port(2)},                            // a port that is taken
                 {0, port(0), 1, port(3)}, {0, port(5), 1, port(3)},  // ports that are none
                 {0, port(3), 7, port(3)}};                           // a switch that is none
  input.end_ports = {{Guid{5}, 0, port(1), EndKind::compute, {}, {}},
                     {Guid{6}, 0, port(4), EndKind::compute, {}, {}}};

  const Topology topology(input);

  EXPECT_EQ(topology.cables(), 1U);
  EXPECT_EQ(topology.dropped(), 5U);
  ASSERT_EQ(topology.end_ports().size(), 1U);
  EXPECT_EQ(topology.end_ports()[0].guid, Guid{6});
}

TEST(Topology, ACableToItselfIsNoNeighbour) {
  TopologyInput input;
  input.switches = {{Guid{1}, 4}};
  input.links = {{0, port(1), 0, port(2)}, {0, port(3), 0, port(3)}};

  const Topology topology(input);

  EXPECT_EQ(topology.groups(0), 0U);
  EXPECT_EQ(topology.peer(0, port(1)).sw, 0U);
  EXPECT_EQ(topology.peer(0, port(1)).port, port(2));
  EXPECT_EQ(topology.peer(0, port(3)).sw, 0U);  // a loopback plug
  EXPECT_EQ(topology.cables(), 0U);
}

TEST(Topology, SwitchesOf254PortsAndPartsOfAFabric) {
  fabrics::Builder b;
  for (unsigned i = 0; i < 3; ++i) b.add_switch(254);
  for (unsigned i = 0; i < 254; ++i) b.link(0, 1);

  const Topology topology(b.input());

  EXPECT_EQ(topology.group(0, 0).ports.size(), 254U);
  EXPECT_EQ(topology.components(), 2U);
  EXPECT_NE(topology.component(0), topology.component(2));
}

TEST(Topology, HostsAreNumberedAsInTheFile) {
  TopologyInput input;
  input.switches = {{Guid{20}, 4}, {Guid{10}, 4}};
  const auto end = [](unsigned guid, SwitchIndex sw, unsigned at, EndKind kind = EndKind::compute) {
    return EndPortSpec{Guid{guid}, sw, port(at), kind, Guid{guid}, Guid{guid}};
  };
  input.end_ports = {end(1, 1, 1), end(2, 0, 3), end(3, 0, 1), end(4, 0, 2, EndKind::aggregation)};

  const Topology topology(input);

  std::vector<std::uint64_t> guids;
  for (const auto e : hosts_in_file_order(topology)) guids.push_back(topology.end_ports()[e].guid.value());
  EXPECT_THAT(guids, ElementsAre(3, 2, 1));
  EXPECT_EQ(topology.hosts(topology.from_input(0)), 2U);
}

TEST(LidMap, KnowsWhoseLidItIs) {
  fabrics::Builder b;
  b.add_switch(4);
  b.host(0);
  b.host(0);
  const Topology topology(b.input());

  const LidMap lids(topology, std::vector<LidRange>{{Lid{9}, 0}},
                    std::vector<LidRange>{{Lid{4}, 2}, {Lid{7}, 0}});

  EXPECT_EQ(lids.destination(Lid{9}).port, PortNum{0});
  EXPECT_EQ(lids.destination(Lid{6}).offset, 2U);
  EXPECT_EQ(lids.destination(Lid{7}).end, 0U);  // taken already
  EXPECT_EQ(lids.destination(Lid{8}).sw, kNoSwitch);
  EXPECT_EQ(lids.destination(kPermissiveLid).sw, kNoSwitch);
  EXPECT_EQ(lids.top(), Lid{9});
  EXPECT_EQ(lids.size(), 5U);
  EXPECT_EQ(lids.row_size(), 64U);
}

TEST(LidMap, StopsAtTheLastUnicastLid) {
  fabrics::Builder b;
  b.add_switch(4);
  b.host(0);
  const Topology topology(b.input());

  const LidMap lids(topology, {}, std::vector<LidRange>{{Lid{0xBFFE}, 3}});

  EXPECT_EQ(lids.top(), kLastUnicastLid);
  EXPECT_EQ(lids.row_size(), 49152U);
}

}  // namespace
}  // namespace smd::routing
