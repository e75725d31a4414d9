// SPDX-License-Identifier: Apache-2.0
// Routes follow the cabling: GUIDs and the order of the file change nothing.
#include "routing/ranking/structural_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include "routing/engines/engine.h"
#include "routing/engines/leaf_order.h"
#include "routing/quality/quality.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_trees.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

std::vector<EndIndex> hosts_by_rank(const RoutingContext& in) {
  std::vector<EndIndex> hosts;
  for (const auto leaf : leaves_in_order(in, find_tree(in.topology))) {
    auto e = in.topology.first_end(leaf);
    for (const auto& end : in.topology.end_ports_of(leaf)) {
      if (end.kind != EndKind::aggregation) hosts.push_back(e);
      ++e;
    }
  }
  return hosts;
}

/// Figures of dmodc, with shifts in rank order. Nothing if it refuses the fabric.
std::optional<Quality> figures(const TopologyInput& input) {
  const auto fabric = fabrics::with_lids(input);
  const Serial serial;
  const RoutingContext context{fabric.topology, fabric.lids, serial};
  const auto routes = find_engine("dmodc")->run({.context = context});
  if (!routes) return std::nullopt;
  EXPECT_TRUE(verify_routes(context, *routes).clean());
  return measure(context, *routes, hosts_by_rank(context));
}

void expect_equal_figures(const TopologyInput& input, int names, const std::string& what) {
  const auto wanted = figures(input);
  for (int seed = 1; seed <= names; ++seed) {
    const auto found = figures(fabrics::renamed(input, static_cast<std::uint64_t>(seed)));
    ASSERT_EQ(found.has_value(), wanted.has_value()) << what;
    if (!wanted) return;
    EXPECT_EQ(found->max_link_paths, wanted->max_link_paths) << what << ", names " << seed;
    EXPECT_EQ(found->shift_max, wanted->shift_max) << what << ", names " << seed;
    EXPECT_DOUBLE_EQ(found->shift_mean, wanted->shift_mean) << what << ", names " << seed;
    EXPECT_NEAR(found->ebb, wanted->ebb, 1e-9) << what << ", names " << seed;
  }
}

/// As many as the issue asks for with SMD_LONG, a tenth without.
int trees() { return std::getenv("SMD_LONG") != nullptr ? 200 : 20; }

TEST(StructuralOrder, GuidsDoNotChangeTheFiguresOfWholeTrees) {
  for (int seed = 0; seed < trees(); ++seed) {
    const auto tree = fabrics::random_tree(static_cast<std::uint64_t>(seed));
    expect_equal_figures(tree.input(), trees() > 20 ? 5 : 2, fmt::format("{} {}", tree.name(), seed));
  }
}

TEST(StructuralOrder, GuidsDoNotChangeTheFiguresOfDamagedTrees) {
  for (int seed = 0; seed < trees(); ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const auto percent = std::array{1U, 5U, 10U}[number % 3];
    const auto tree = fabrics::damaged(fabrics::random_tree(number), number + 1, percent);
    expect_equal_figures(tree.input(), trees() > 20 ? 5 : 2,
                         fmt::format("{} {} without {} %", tree.name(), seed, percent));
  }
}

TEST(StructuralOrder, GuidsDoNotChangeTheFiguresOfTreesOfRails) {
  for (const auto* const spec : {"rails:8:4:8:4", "rails:16:8:8:8", "rails:6:5:4:3", "rails:12:4:6:2"}) {
    const auto wanted = figures(fabrics::of_spec(spec).input);
    ASSERT_TRUE(wanted) << spec;
    for (int seed = 1; seed <= (trees() > 20 ? 50 : 5); ++seed) {
      const auto found = figures(fabrics::of_spec(fmt::format("{}+guids={}", spec, seed)).input);
      ASSERT_TRUE(found) << spec;
      EXPECT_EQ(found->max_link_paths, wanted->max_link_paths) << spec << ", names " << seed;
      EXPECT_EQ(found->shift_max, wanted->shift_max) << spec << ", names " << seed;
      EXPECT_NEAR(found->ebb, wanted->ebb, 0.015 * wanted->ebb) << spec << ", names " << seed;
    }
  }
}

/// The closed form is at its best: as with GUIDs in the order of the tree.
TEST(StructuralOrder, WholeTreesHaveNoCollisionsInShiftsWhateverTheGuids) {
  const std::array<fabrics::TreeLevel, 3> kary{{{4, 4, 1}, {4, 4, 1}, {4, 4, 1}}};
  for (const auto& tree : {fabrics::ft3(8), fabrics::pgft(4, kary), fabrics::ft2(8, 4, 8, 2)}) {
    const auto found = figures(fabrics::renamed(tree.input(), 1));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->shift_max, 1U) << tree.name();
  }
}

/// A core has as many ways down to a leaf as the pod has middle switches. Round robin must use all of them.
TEST(StructuralOrder, SeveralWaysDownAreBalanced) {
  const auto found = figures(fabrics::renamed(fabrics::full_core(4, 4, 4, 4, 4).input(), 1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->max_link_paths, 60U);  // of 4 hosts to 60 over 4 cables: the bound of the leaf
  EXPECT_EQ(found->shift_max, 1U);

  // 8 hosts of each of 8 edge switches, half of the 2,048 pairs of a half and the other half over 4 x 4
  // cables
  const auto boards = figures(fabrics::renamed(fabrics::director(8, 8, 8, 4, 2).input(), 1));
  ASSERT_TRUE(boards);
  EXPECT_LE(boards->max_link_paths, 56U);
}

TEST(StructuralOrder, KeepsAnOrderThatFollowsTheCabling) {
  const Topology topology(fabrics::ft3(8).input()), other(fabrics::renamed(fabrics::ft3(8).input(), 1));
  const auto ordered = [](const Topology& of) {
    const auto ranking = find_tree(of);
    return is_ordered(of, ranking, structural_order(of, ranking, find_tree_template(of, ranking)));
  };

  EXPECT_TRUE(ordered(topology));
  EXPECT_FALSE(ordered(other));
}

}  // namespace
}  // namespace smd::routing
