// SPDX-License-Identifier: Apache-2.0
#include "mad/umad/port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace smd::umad {
namespace {

PortEntry up(std::string device, int port, std::uint64_t guid) {
  return {.device = std::move(device),
          .port = PortNum{static_cast<std::uint8_t>(port)},
          .guid = Guid{guid},
          .lid = Lid{7},
          .state = PortState::init,
          .phys_state = PhysState::link_up};
}
PortEntry down(PortEntry entry) {
  entry.state = PortState::down;
  entry.phys_state = PhysState::polling;
  return entry;
}
PortEntry ethernet(PortEntry entry) {
  entry.infiniband = false;
  return entry;
}
PortEntry virtual_function(PortEntry entry) {
  entry.virtual_function = true;
  return entry;
}

TEST(ChoosePort, TakesTheFirstThatIsInfiniBandWithALinkAndNoVirtualFunction) {
  const std::vector ports{ethernet(up("mlx5_0", 1, 1)), virtual_function(up("mlx5_1", 1, 2)),
                          down(up("mlx5_2", 1, 3)), up("mlx5_2", 2, 4), up("mlx5_3", 1, 5)};

  const auto port = choose_port(ports, AnyPort{});

  ASSERT_TRUE(port);
  EXPECT_EQ(port->device, "mlx5_2");
  EXPECT_EQ(port->port, PortNum{2});
  EXPECT_EQ(port->guid, Guid{4});
  EXPECT_EQ(port->lid, Lid{7});
  EXPECT_TRUE(port->link_up);
}

TEST(ChoosePort, AllThatAreUsableAreTriedInOrder) {
  const std::vector ports{up("mlx5_0", 1, 1), down(up("mlx5_1", 1, 2)), up("mlx5_2", 1, 3)};
  const auto usable = usable_ports(ports, AnyPort{});
  ASSERT_TRUE(usable);
  ASSERT_EQ(usable->size(), 2U);
  EXPECT_EQ((*usable)[1].device, "mlx5_2");
}

TEST(ChoosePort, TheGsiOfAPlanarizedAdapterHasThePortGuidOfItsSmi) {
  const std::vector ports{up("mlx5_0", 1, 1), up("smi1", 1, 1), up("mlx5_2", 1, 3),
                          ethernet(up("mlx5_3", 1, 1))};
  const auto gsi = gsi_ports_of({.device = "smi1", .port = PortNum{1}, .guid = Guid{1}}, ports);
  ASSERT_EQ(gsi.size(), 1U);
  EXPECT_EQ(gsi[0].device, "mlx5_0");
}

PortEntry smi_disabled(PortEntry entry) {
  entry.smi_disabled = true;
  return entry;
}

/// As libibumad pairs them (umad_get_smi_gsi_pairs).
TEST(ChoosePort, OfAPlanarizedAdapterTheDeviceWithTheSmiComesFirst) {
  const std::vector ports{smi_disabled(up("mlx5_0", 1, 1)), up("mlx5_1", 1, 1), up("mlx5_2", 1, 1)};
  const auto usable = usable_ports(ports, AnyPort{});
  ASSERT_TRUE(usable);
  ASSERT_EQ(usable->size(), 3U);
  EXPECT_EQ(usable->front().device, "mlx5_1");
  EXPECT_EQ(usable->back().device, "mlx5_0");
  EXPECT_EQ(choose_port(ports, Guid{1})->device, "mlx5_1");

  const auto gsi = gsi_ports_of(usable->front(), ports);
  ASSERT_EQ(gsi.size(), 2U);
  EXPECT_EQ(gsi[0].device, "mlx5_0");
}

TEST(ChoosePort, TakesTheNamedOneOrTheOneWithTheGuid) {
  const std::vector ports{up("mlx5_0", 1, 1), down(up("mlx5_1", 1, 2)), up("mlx5_1", 2, 3)};

  EXPECT_EQ(choose_port(ports, NamedPort{"mlx5_1", PortNum{2}})->guid, Guid{3});
  EXPECT_EQ(choose_port(ports, NamedPort{"mlx5_1", {}})->guid, Guid{3});
  EXPECT_EQ(choose_port(ports, Guid{1})->device, "mlx5_0");
}

TEST(ChoosePort, SaysInOneLineWhyThereIsNone) {
  const std::vector ports{ethernet(up("mlx5_0", 1, 1)), down(up("mlx5_1", 1, 2)),
                          virtual_function(up("mlx5_2", 1, 3))};

  EXPECT_EQ(choose_port({}, AnyPort{}).error(),
            (PortProblem{PortFault::no_device, "no InfiniBand device on this machine (ibstat lists none)"}));
  EXPECT_EQ(choose_port(ports, AnyPort{}).error(),
            (PortProblem{PortFault::link_down, "port mlx5_1:1 has no link (state Down, physical state 2)"}));
  EXPECT_EQ(choose_port(ports, NamedPort{"mlx5_0", PortNum{1}}).error().text,
            "port mlx5_0:1 is Ethernet (RoCE), not InfiniBand");
  EXPECT_EQ(choose_port(ports, NamedPort{"mlx5_2", {}}).error().text,
            "port mlx5_2:1 is a virtual function, which cannot send SMPs");
  EXPECT_EQ(choose_port(ports, NamedPort{"mlx5_1", PortNum{2}}).error().text,
            "no port mlx5_1:2; ports here: mlx5_0:1 (Ethernet), mlx5_1:1 (InfiniBand, Down), "
            "mlx5_2:1 (InfiniBand, virtual function, Init)");
  EXPECT_EQ(choose_port(ports, Guid{9}).error().fault, PortFault::no_such_port);
}

TEST(ParsePort, ReadsADeviceWithOrWithoutAPort) {
  EXPECT_EQ(parse_port("mlx5_0"), (NamedPort{"mlx5_0", {}}));
  EXPECT_EQ(parse_port("mlx5_0:2"), (NamedPort{"mlx5_0", PortNum{2}}));
  EXPECT_EQ(parse_port("sw:0"), (NamedPort{"sw", PortNum{0}}));
  for (const auto* bad : {"", ":1", "mlx5_0:", "mlx5_0:x", "mlx5_0:1x", "mlx5_0:255", "mlx5_0:-1", "../x"}) {
    EXPECT_FALSE(parse_port(bad)) << bad;
  }
}

TEST(ParsePort, IsPrintedAsItWasWritten) {
  EXPECT_EQ(to_string(PortSelection{AnyPort{}}), "any port");
  EXPECT_EQ(to_string(PortSelection{NamedPort{"mlx5_0", PortNum{2}}}), "mlx5_0:2");
  EXPECT_EQ(to_string(PortSelection{Guid{0x0002c90000000001}}), "0x0002c90000000001");
}

}  // namespace
}  // namespace smd::umad
