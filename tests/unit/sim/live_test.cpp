// SPDX-License-Identifier: Apache-2.0
// Real time: the nodes in a thread of their own.
#include "mad/sim/drivers/live.h"

#include <gtest/gtest.h>

#include "tests/support/sim_lab.h"

namespace smd::test {
namespace {

struct RequestPipeline {
  asio::io_context io;
  std::unique_ptr<sim::Live> live = std::make_unique<sim::Live>(io.get_executor(), two_leaves());
  std::unique_ptr<sim::Transport> transport = live->transport();
  std::vector<mad::Received> inbox;

  RequestPipeline() {
    transport->on_receive([this](std::span<mad::Received> mads) {
      for (auto& mad : mads) inbox.push_back(std::move(mad));
    });
  }
  ~RequestPipeline() {
    transport.reset();
    live.reset();
  }
  void send(const mad::DirectedPath& way) {
    const auto smp = wire::Smp::directed(wire::Method::get, wire::NodeInfo::kAttribute, 0, way);
    EXPECT_TRUE(transport->send(smp.bytes(), way, std::chrono::seconds(1)));
  }
  /// Runs until so many MADs have come, at most 5 s.
  void run(std::size_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (inbox.size() < count && std::chrono::steady_clock::now() < end) {
      io.restart();
      io.run_one_for(std::chrono::milliseconds(50));
    }
  }
};

TEST(Live, NodesAnswerFromTheirOwnThread) {
  RequestPipeline pump;
  for (unsigned i = 0; i < 1000; ++i) pump.send(path({1, 3, 2, 1}));
  pump.run(1000);
  ASSERT_EQ(pump.inbox.size(), 1000U);
  EXPECT_EQ(wire::Smp::from_bytes(pump.inbox[999].bytes)->get<wire::NodeInfo>().node, Guid{0x5000});
  EXPECT_GT(pump.live->cpu_time(), sim::Duration{0});
  EXPECT_EQ(pump.live->dropped(), 0U);
}

TEST(Live, TheFabricCanBeChangedWhileItRuns) {
  RequestPipeline pump;
  EXPECT_TRUE(pump.transport->local()->link_up);
  pump.live->with([](sim::Fabric& fabric) { fabric.faults().link_down({"h0"}); });
  EXPECT_FALSE(pump.transport->local()->link_up);
  pump.send(path({1}));
  EXPECT_EQ(pump.live->with([](sim::Fabric& fabric) { return fabric.state().drops.no_link; }), 1U);
}

TEST(Live, DelaysAreKeptInRealTime) {
  RequestPipeline pump;
  pump.live->with([](sim::Fabric& fabric) { fabric.faults().slow("leaf0", std::chrono::milliseconds(60)); });
  const auto start = std::chrono::steady_clock::now();
  pump.send(path({1}));
  pump.run(1);
  ASSERT_EQ(pump.inbox.size(), 1U);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(60));
}

TEST(Live, WhatIsPostedAfterTheEndFindsNobody) {
  asio::io_context io;
  {
    RequestPipeline pump;
    for (unsigned i = 0; i < 100; ++i) pump.send(path({1}));
  }
  auto live = std::make_unique<sim::Live>(io.get_executor(), two_leaves());
  auto transport = live->transport();
  const auto smp = wire::Smp::directed(wire::Method::get, wire::NodeInfo::kAttribute, 0, path({1}));
  EXPECT_TRUE(transport->send(smp.bytes(), path({1}), std::chrono::seconds(1)));
  transport.reset();
  live.reset();
  io.run();
}

}  // namespace
}  // namespace smd::test
