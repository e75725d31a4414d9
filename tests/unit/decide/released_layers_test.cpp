// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/released_layers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

namespace smd::sm {
namespace {

using namespace std::chrono_literals;

/// Switches 1 and 2 with hosts 11, 12 and 21, and switch 3 without any, which leads to both.
class ReleasedLayers : public ::testing::Test {
 protected:
  ReleasedLayers() {
    for (const std::uint64_t guid : {1U, 2U, 3U})
      known_.put(Guid{guid}, {.type = NodeType::switch_, .name = ""});
    for (const std::uint64_t guid : {11U, 12U, 21U})
      known_.put(Guid{guid}, {.type = NodeType::ca, .name = ""});
    link(1, 1, 11, 0), link(1, 2, 12, 0), link(2, 1, 21, 0), link(3, 1, 1, 0), link(3, 2, 2, 0);
    routing::GuidLayers home{.switches = {Guid{1}, Guid{2}, Guid{3}}, .layers = routing::PairLayers(3)};
    home.layers.set(0, 1, 1);
    home.layers.set(0, 2, 2);
    home.layers.set(1, 2, 3);
    stored_.layers_home = std::make_shared<const routing::GuidLayers>(home);
    home.layers.set(0, 2, 7);
    home.layers.set(1, 2, 7);
    stored_.layers_now = std::make_shared<const routing::GuidLayers>(home);
  }
  void link(std::uint64_t node, std::uint8_t port, std::uint64_t peer, UnixTime lost_at) {
    known_.put({Guid{node}, PortNum{port}},
               {.peer = {Guid{peer}, PortNum{node == 3 ? std::uint8_t{9} : std::uint8_t{1}}},
                .rate = {},
                .up_since = 1,
                .lost_at = lost_at});
  }
  std::vector<Guid> kept(UnixTime now, std::chrono::seconds keep = 1h) {
    stored_.inventory = std::make_shared<const Inventory>(known_);
    auto stored = stored_;
    const auto count = release_layers(stored, keep, now);
    EXPECT_EQ(count, 3 - stored.layers_home->switches.size());
    after_ = *stored.layers_home;
    return after_.switches;
  }

  Inventory known_;
  Stored stored_;
  routing::GuidLayers after_;
};

TEST_F(ReleasedLayers, StayWhileOneHostIsThere) {
  link(1, 1, 11, 100);
  EXPECT_EQ(kept(1'000'000), (std::vector{Guid{1}, Guid{2}, Guid{3}}));
}

/// It has had no route, and nothing to come back to.
TEST_F(ReleasedLayers, OfAPairWithoutAFirstLayerAreNotWaitedFor) {
  auto home = *stored_.layers_home;
  home.layers.set(0, 2, routing::kNoLayer);
  stored_.layers_home = std::make_shared<const routing::GuidLayers>(home);
  link(1, 1, 11, 100), link(1, 2, 12, 200);
  EXPECT_EQ(kept(1'000'000), (std::vector{Guid{1}, Guid{2}, Guid{3}}));
}

TEST_F(ReleasedLayers, EndWhenTheLastHostIsAwayForLonger) {
  link(1, 1, 11, 100), link(1, 2, 12, 200);
  EXPECT_EQ(kept(200 + 3600), (std::vector{Guid{1}, Guid{2}, Guid{3}}));
  EXPECT_EQ(kept(201 + 3600), (std::vector{Guid{2}, Guid{3}}));
  EXPECT_EQ(after_.layers.at(0, 1), 3U) << "of switches 2 and 3";
}

TEST_F(ReleasedLayers, OfASwitchWithoutHostsEndWithItsLinks) {
  link(3, 1, 1, 100);
  EXPECT_EQ(kept(1'000'000).size(), 3U);
  link(3, 2, 2, 100);
  EXPECT_EQ(kept(1'000'000), (std::vector{Guid{1}, Guid{2}}));
}

TEST_F(ReleasedLayers, EndWithASwitchThatBelongsToTheFabricNoMore) {
  known_.forget(Guid{2});
  EXPECT_EQ(kept(5), (std::vector{Guid{1}, Guid{3}}));
}

TEST_F(ReleasedLayers, StayWhereTheyAreThoseInForce) {
  link(1, 1, 11, 100), link(1, 2, 12, 200), link(2, 1, 21, 100);
  stored_.layers_now = stored_.layers_home;
  EXPECT_EQ(kept(1'000'000).size(), 3U);
}

TEST_F(ReleasedLayers, OfNoLayersNothing) {
  Stored none;
  EXPECT_EQ(release_layers(none, 1h, 1'000'000), 0U);
}

}  // namespace
}  // namespace smd::sm
