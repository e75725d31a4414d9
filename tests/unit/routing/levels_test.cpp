// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "routing/engines/engine.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {
namespace {

using fabrics::Builder;

struct Pods {
  unsigned pods, leaves, middles, cores,
      hosts;  ///< leaves, middle switches of a pod; cores of a middle switch
  SwitchIndex middle(unsigned pod, unsigned i) const { return pods * leaves + pod * middles + i; }
  SwitchIndex core(unsigned i) const { return pods * (leaves + middles) + i; }
};

Builder built(const Pods& p) {
  Builder b("pods");
  for (unsigned i = 0; i < p.pods * (p.leaves + p.middles) + p.middles * p.cores; ++i) b.add_switch(64);
  for (unsigned pod = 0; pod < p.pods; ++pod) {
    for (unsigned leaf = 0; leaf < p.leaves; ++leaf) {
      for (unsigned h = 0; h < p.hosts; ++h) b.host(pod * p.leaves + leaf);
      for (unsigned m = 0; m < p.middles; ++m) b.link(pod * p.leaves + leaf, p.middle(pod, m));
    }
    for (unsigned m = 0; m < p.middles; ++m) {
      for (unsigned c = 0; c < p.cores; ++c) b.link(p.middle(pod, m), p.core(m * p.cores + c));
    }
  }
  return b;
}

TEST(Levels, StayWhereCoresHaveAsManyHostsAsLeavesHave) {
  struct Case {
    Pods pods;
    unsigned cores, hosts;  ///< cores with hosts, and how many
  };
  for (const auto& [pods, cores, hosts] :
       {Case{{2, 4, 1, 1, 1}, 1, 1}, Case{{2, 4, 1, 1, 2}, 1, 2}, Case{{2, 8, 4, 4, 2}, 16, 1},
        Case{{2, 8, 4, 4, 3}, 16, 1}, Case{{2, 8, 4, 4, 4}, 16, 1}, Case{{5, 5, 2, 1, 1}, 2, 1},
        Case{{4, 4, 1, 3, 1}, 3, 1}, Case{{3, 4, 1, 2, 1}, 2, 1}, Case{{5, 3, 1, 4, 4}, 4, 4}}) {
    const auto bare = find_tree(Topology(built(pods).input()));
    auto builder = built(pods);
    for (unsigned i = 0; i < cores; ++i) {
      for (unsigned h = 0; h < hosts; ++h) builder.host(pods.core(i));
    }

    const auto found = find_tree(Topology(builder.input()));

    EXPECT_TRUE(found.tree);
    EXPECT_EQ(found.rank, bare.rank) << pods.pods << " pods, " << pods.hosts << " hosts a leaf, " << cores
                                     << " cores with " << hosts;
  }
}

TEST(Levels, DmodcRoutesWhatHasWaysUpAndDownThroughACoreWithAHost) {
  const Pods pods{2, 4, 1, 1, 1};
  auto builder = built(pods);
  builder.host(pods.core(0));
  const auto fabric = fabrics::with_lids(builder.input());
  for (const auto* const engine : {"dmodc", "ftree"}) {
    const auto routes = find_engine(engine)->run({.context = {fabric.topology, fabric.lids, Serial{}}});

    EXPECT_TRUE(routes) << to_string(routes.error());
  }
}

/// A spine with as many hosts as all of its leaves, one of which has lost its cable.
TEST(Levels, StayWhereALeafIsCutOff) {
  auto builder = fabrics::ft2(3, 1, 2);
  for (unsigned h = 0; h < 4; ++h) builder.host(3);
  builder.input().links.pop_back();

  const auto found = find_tree(Topology(builder.input()));

  EXPECT_TRUE(found.tree);
  EXPECT_LT(found.rank[3], found.rank[0]);
  EXPECT_EQ(found.rank[0], found.rank[1]);
}

/// The leaves of a pod with two middle switches, of which cables are missing, may stand between each other.
TEST(Levels, OfLeavesThatHaveLostCablesDoNotRise) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Pods pods{3, 4, 2, 2, 2};
    const auto found = find_tree(Topology(fabrics::damaged(built(pods), seed, 10).input()));
    for (SwitchIndex leaf = 1; leaf < pods.pods * pods.leaves; ++leaf) {
      EXPECT_EQ(found.rank[leaf], found.rank[0]) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace smd::routing
