// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/rebalance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "routing/engines/loads.h"
#include "routing/engines/rank_order.h"
#include "routing/quality/load.h"
#include "routing/quality/quality.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_damage.h"
#include "tests/support/routing_fabrics.h"
#include "tests/support/spec_topology.h"

namespace smd::routing {
namespace {

/// No tables can do better: what the hosts of one leaf send and get shares the leaf's cables.
std::uint64_t bound(const Topology& topology) {
  std::uint64_t hosts = 0, most = 0;
  for (const auto leaf : topology.leaves()) hosts += topology.hosts(leaf);
  for (const auto leaf : topology.leaves()) {
    std::uint64_t cables = 0;
    for (std::size_t g = 0; g < topology.groups(leaf); ++g) cables += topology.group(leaf, g).ports.size();
    const auto own = topology.hosts(leaf);
    if (cables != 0) most = std::max(most, (own * (hosts - own) + cables - 1) / cables);
  }
  return most;
}

TEST(Rebalancer, BringsDamagedTreesNearToWhatTheirLeavesAllow) {
  const auto whole = fabrics::told(fabrics::ft3(8).input());
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto fabric = fabrics::damaged(whole, seed, seed % 30, seed % 4).routable();
    const auto routes = find_engine("dmodc")->run({.context = {fabric.topology, fabric.lids, Serial{}}});
    if (!routes) continue;  // two leaves without an up/down path
    const auto found = verify_routes({fabric.topology, fabric.lids, Serial{}}, *routes);
    EXPECT_TRUE(found.clean()) << "seed " << seed << ": " << describe(found, fabric.topology);

    const auto quality =
        measure({fabric.topology, fabric.lids, Serial{}}, *routes, hosts_in_file_order(fabric.topology));

    const auto least = static_cast<double>(bound(fabric.topology));
    const auto most = static_cast<double>(quality.max_link_paths);
    EXPECT_TRUE(most <= 1.3 * quality.mean_link_paths || most <= 1.25 * least)
        << "seed " << seed << ": " << most << ", mean " << quality.mean_link_paths << ", least " << least;
  }
}

TEST(Rebalancer, CountsWhatTheQualityCounts) {
  const auto whole = fabrics::told(fabrics::ft3(6).input());
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto fabric = fabrics::damaged(whole, seed, seed % 10, seed % 2).routable();
    const auto order = find_tree(fabric.topology);
    const auto routes = find_engine("updn")->run({.context = {fabric.topology, fabric.lids, Serial{}}});
    const auto hosts = hosts_in_file_order(fabric.topology);
    std::vector<Lid> lids;
    for (const auto host : hosts) lids.push_back(fabric.lids.of_end(host).base);
    std::ranges::sort(lids);
    std::vector<const std::uint8_t*> entries;
    for (const auto& row : routes->rows) entries.push_back(row->data());

    const auto loads = count_loads(fabric.topology, order, lids, entries, Threads{2});

    const auto quality = measure({fabric.topology, fabric.lids, Serial{}}, *routes, hosts);
    EXPECT_EQ(std::ranges::max(loads), quality.max_link_paths) << "seed " << seed;
  }
}

/// With more uplinks than hosts the mean load is below that of the routes to one host: to split these would
/// tear up all tables for one missing cable.
TEST(Rebalancer, KeepsTheRoutesToOneHostTogether) {
  for (const auto& [spec, worst] : {std::pair("xgft:2;16,16;1,32;1,1+guids=1+cut=0.2:1", 2U),
                                    std::pair("rails:16:8:4:8+guids=1+cut=0.8:1", 2U),
                                    std::pair("xgft:2;8,14;1,5;1,3+guids=1+cut=5:1", 3U)}) {
    const auto fabric = fabrics::with_lids(fabrics::of_spec(spec).input);
    const RoutingContext context{fabric.topology, fabric.lids, Serial{}};

    const auto routes = find_engine("dmodc")->run({.context = context});

    ASSERT_TRUE(routes) << spec;
    EXPECT_LE(measure_few_shifts(context, *routes, rank_order(context, {})).max, worst) << spec;
  }
}

}  // namespace
}  // namespace smd::routing
