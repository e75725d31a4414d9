// SPDX-License-Identifier: Apache-2.0
// Plans without the nodes that did not answer.
#include <gtest/gtest.h>

#include <set>

#include "smd/plan/plan.h"
#include "tests/support/offline.h"

namespace smd::sm {
namespace {

std::set<NodeIndex> written_to(const Plan& plan) {
  std::set<NodeIndex> nodes;
  for (const auto& round : plan.rounds) {
    for (const auto& item : round.ports) nodes.insert(item.node);
    for (const auto& item : round.lfts) nodes.insert(item.node);
    for (const auto& item : round.mfts) nodes.insert(item.node);
    for (const auto& item : round.items<wire::PKeyTable>()) nodes.insert(item.node);
    nodes.insert(round.switch_infos.begin(), round.switch_infos.end());
  }
  return nodes;
}

/// Every table of the fabric, forwarding, as it was before `change` moved some of its entries.
test::Settled with_other_tables(std::string_view spec, std::uint8_t from, std::uint8_t to) {
  auto fabric = test::settle_spec(spec);
  for (auto& node : fabric.subnet.nodes) {
    if (!node->is_switch() || !node->lft.row) continue;
    auto copy = std::make_shared<Node>(*node);
    auto row = std::make_shared<routing::LftRow>(*node->lft.row);
    for (auto& port : *row) {
      if (port == from) port = to;
    }
    copy->lft.row = row;
    node = copy;
  }
  return fabric;
}

TEST(PlanLeftOut, WritesNothingToThoseNodesAndAllTheRestToTheOthers) {
  const routing::Serial serial;
  for (const auto* spec : {"ft2:4", "torus:3x3:2"}) {
    const auto fabric = base::make_fabric(spec);
    ASSERT_TRUE(fabric);
    const auto settled = test::settle(*fabric);
    const auto before = offline_subnet(*fabric);
    const PlanInput whole{.subnet = before, .decided = settled.decided};
    const auto all = written_to(plan(whole, serial));
    for (NodeIndex out = 0; out < before.nodes.size(); ++out) {
      const std::set<Guid> left_out{before.nodes[out]->guid()};
      auto in = whole;
      in.left_out = &left_out;

      const auto made = plan(in, serial);

      auto expected = all;
      EXPECT_EQ(expected.erase(out), 1U);
      EXPECT_EQ(written_to(made), expected) << spec << " without node " << out;
    }
  }
}

TEST(PlanLeftOut, OnARunningFabricTheOthersStillGetTheirTables) {
  const routing::Serial serial;
  const auto fabric = with_other_tables("ft2:4", 3, 4);
  const PlanInput whole{.subnet = fabric.subnet, .decided = fabric.decided};
  const auto all = written_to(plan(whole, serial));
  ASSERT_GT(all.size(), 2U);
  for (const auto out : all) {
    const std::set<Guid> left_out{fabric.subnet.nodes[out]->guid()};
    auto in = whole;
    in.left_out = &left_out;

    const auto made = plan(in, serial);

    EXPECT_FALSE(written_to(made).contains(out));
    EXPECT_FALSE(written_to(made).empty());
  }
}

}  // namespace
}  // namespace smd::sm
