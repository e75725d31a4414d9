// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/counted_routes.h"

#include <gtest/gtest.h>

#include <string>

#include "routing/engines/rank_order.h"
#include "routing/quality/quality.h"
#include "routing/verify/verify.h"
#include "tests/support/routing_fabrics.h"
#include "tests/support/routing_trees.h"

namespace smd::routing {
namespace {

/// Pods of leaves and middle switches; the uplinks of a leaf go to the middle switches in turns, and those of
/// the middle switches of a pod to the cores.
struct TurnsOfUplinks {
  SwitchIndex pods = 0, leaves = 0, hosts = 0, leaf_uplinks = 0, middles = 0, uplinks = 0, cores = 0;

  std::string name() const {
    return std::to_string(pods) + ' ' + std::to_string(leaves) + ' ' + std::to_string(hosts) + ' ' +
           std::to_string(leaf_uplinks) + ' ' + std::to_string(middles) + ' ' + std::to_string(uplinks) +
           ' ' + std::to_string(cores);
  }

  fabrics::Routable routable(std::uint64_t guids) const {
    fabrics::Builder builder(name());
    const auto pod = leaves + middles;
    for (SwitchIndex i = 0; i < pods * pod + cores; ++i) builder.add_switch(36);
    for (SwitchIndex p = 0; p < pods; ++p) {
      const auto middle = p * pod + leaves;
      for (SwitchIndex leaf = p * pod; leaf < middle; ++leaf) {
        for (SwitchIndex h = 0; h < hosts; ++h) builder.host(leaf);
        for (SwitchIndex u = 0; u < leaf_uplinks; ++u) builder.link(leaf, middle + u % middles);
      }
      for (SwitchIndex u = 0; u < middles * uplinks; ++u)
        builder.link(middle + u / uplinks, pods * pod + u % cores);
    }
    return fabrics::with_lids(fabrics::renamed(builder.input(), guids));
  }
};

struct BestKnown {
  TurnsOfUplinks tree;
  std::uint64_t max_link_paths = 0;
  std::uint32_t shift_max = 0;
};

/// Of opensm 3.3.23's ftree with a root file, which is the best known, in 40 trees of this kind.
TEST(CountedRoutes, AreAsEvenAsTheBestKnown) {
  for (const auto& [tree, paths, shift] : {BestKnown{{2, 2, 7, 7, 4, 6, 16}, 21, 1},
                                           {{2, 4, 5, 8, 5, 2, 7}, 40, 2},
                                           {{2, 3, 8, 9, 5, 6, 19}, 40, 1},
                                           {{3, 3, 3, 3, 2, 6, 10}, 24, 1},
                                           {{4, 4, 4, 5, 4, 4, 13}, 60, 1},
                                           {{2, 4, 3, 7, 4, 6, 21}, 21, 1},
                                           {{5, 3, 5, 6, 3, 6, 9}, 70, 2}}) {
    for (std::uint64_t guids = 0; guids < 4; ++guids) {
      const auto fabric = tree.routable(guids);
      const RoutingContext context{fabric.topology, fabric.lids, Serial{}};

      const auto routes = find_engine("ftree")->run({.context = context});

      ASSERT_TRUE(routes) << tree.name();
      EXPECT_TRUE(verify_routes(context, *routes).clean()) << tree.name();
      const auto quality = measure(context, *routes, rank_order(context, {}));
      EXPECT_LE(quality.max_link_paths, paths) << tree.name() << ", GUIDs " << guids;
      EXPECT_LE(quality.shift_max, shift) << tree.name() << ", GUIDs " << guids;
    }
  }
}

}  // namespace
}  // namespace smd::routing
