// SPDX-License-Identifier: Apache-2.0
// The largest fabric that LIDs allow fits into a gigabyte, tables included.
#include <gtest/gtest.h>

#include "mad/base/fabric_spec.h"
#include "mad/sim/fabric/fabric.h"
#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

TEST(FabricSize, TheFullUnicastLidSpaceTakesLessThanAGigabyte) {
  auto description = base::make_fabric("ft3:56");
  ASSERT_TRUE(description) << description.error();
  sim::Fabric fabric(*description);
  ASSERT_EQ(fabric.state().nodes.size(), 43'904U + 3'920U);
  const auto bare = fabric.bytes();

  // As an SM leaves it: every switch knows every LID and the broadcast group. All switches are alike, so one
  // that is filled stands for the others.
  const auto client = fabric.attach(*fabric.find({"edge00-00"}), sim::Interface::smi);
  wire::LinearForwardingTable lft;
  auto smp = wire::Smp::directed(wire::Method::set, wire::LinearForwardingTable::kAttribute, 747, path({}));
  smp.put(lft);
  fabric.send(client, {.bytes = {smp.bytes().begin(), smp.bytes().end()}, .route = path({})}, {});
  smp = wire::Smp::directed(wire::Method::set, wire::MulticastForwardingTable::kAttribute, 0, path({}));
  fabric.send(client, {.bytes = {smp.bytes().begin(), smp.bytes().end()}, .route = path({})}, {});
  ASSERT_EQ(fabric.take(client).size(), 2U);
  const auto a_switch = fabric.bytes() - bare;

  EXPECT_LT(bare, 120'000'000U);
  EXPECT_LT(bare + a_switch * 3'920, 400'000'000U);
  RecordProperty("bare", std::to_string(bare));
  RecordProperty("whole", std::to_string(bare + a_switch * 3'920));
}

}  // namespace
}  // namespace smd::test
