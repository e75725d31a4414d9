// SPDX-License-Identifier: Apache-2.0
// Clients that hold the SL of a path which has another one now are asked to register again, and no others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "smd/sa/moved_sls.h"
#include "tests/support/partition_config.h"
#include "tests/support/sa_lab.h"
#include "tests/support/served.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// Two hosts are in a partition whose SL is this one.
config::SubnetConfig with_sl_of_blue(std::uint8_t sl) {
  config::SubnetConfig config;
  config.qos.enabled = true;
  config.partition = {test::partition("Default", 0x7fff, {"ALL"}),
                      test::partition("blue", 0x21, {"h00001", "h00002"}),
                      test::partition("lonely", 0x22, {"h00003"})};
  config.partition[1].sl = sl;
  config.partition[2].sl = sl;
  return config;
}

Guid port_of_host(const sm::Subnet& subnet, const std::string& name) {
  for (const auto& node : subnet.nodes) {
    if (node->description == name) return node->ports[1].guid;
  }
  return {};
}

TEST(SaMovedSls, AreThoseOfPathsInThePartition) {
  const test::SaLab before("ft2:4", with_sl_of_blue(3)), now("ft2:4", with_sl_of_blue(5));

  EXPECT_THAT(sa::ports_of_moved_sls(before.directory(), now.directory()),
              UnorderedElementsAre(port_of_host(now.directory().subnet(), "h00001"),
                                   port_of_host(now.directory().subnet(), "h00002")))
      << "h00003 is alone in its partition";
  EXPECT_THAT(sa::ports_of_moved_sls(now.directory(), now.directory()), IsEmpty());
}

/// Another layer for one pair of switches: the hosts at these two have such paths.
TEST(SaMovedSls, AreThoseOfPairsOfSwitchesWithAnotherLayer) {
  config::SubnetConfig config;
  config.routing.engines = {"dfsssp"};
  config.routing.path_sl = config::PathSl::asked;
  const test::SaLab lab("torus:4x4:2+guids=7", config);
  const auto& then = *lab.snapshot().decided.routes;
  ASSERT_GT(then.layers.count, 1U);

  auto routes = std::make_shared<sm::RoutePart>(then);
  constexpr routing::SwitchIndex kOne = 3, kOther = 9;
  auto& layers = routes->layers.by_pair;
  layers.set(kOne, kOther, (layers.at(kOne, kOther) + 1) % then.layers.count);
  auto snapshot = std::make_shared<sm::Snapshot>(lab.snapshot());
  snapshot->decided.routes = routes;
  const sa::Directory now(snapshot);

  std::vector<Guid> expected;
  for (const auto& port : now.end_ports()) {
    const auto& peer = port.info().peer;
    if (port.node->is_switch() || !peer) continue;
    if (peer->node == then.topology->guid(kOne) || peer->node == then.topology->guid(kOther))
      expected.push_back(port.guid);
  }
  ASSERT_EQ(expected.size(), 4U);
  EXPECT_EQ(sa::ports_of_moved_sls(lab.directory(), now), expected);
}

TEST(SaMovedSls, ClientsAreAskedToRegisterAgainOnce) {
  const auto fabric = test::spec("ft2:4");
  sim::World world(fabric);
  store::MemoryStore store;
  test::Served served(world, &store, sa::Settings{.sm_key = 1}, with_sl_of_blue(3));
  const auto all = served.asked().size();
  ASSERT_GE(all, 8U);

  served.manager().requests().reload(with_sl_of_blue(5));
  world.run_for(10s);

  const auto& subnet = *served.last().subnet;
  EXPECT_THAT(served.asked(),
              UnorderedElementsAre(port_of_host(subnet, "h00001"), port_of_host(subnet, "h00002")));
  EXPECT_THAT(served.sa_lines().first("sa.sls_changed"), HasSubstr("ports=2"));
  EXPECT_EQ(served.registry().clients().size(), all);

  served.manager().requests().resweep(sm::Resweep::heavy, "test");
  world.run_for(10s);
  EXPECT_THAT(served.asked(), IsEmpty()) << "once";
}

}  // namespace
}  // namespace smd
