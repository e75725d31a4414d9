// SPDX-License-Identifier: Apache-2.0
// A fabric that changes all day: what it costs does not grow.
#include <gtest/gtest.h>
#include <malloc.h>

#include <random>

#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

std::size_t bytes_in_use() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

TEST(Soak, AThousandSweepsWithChurnKeepMemoryFlat) {
  sim::World world(test::spec("ft2:8"));
  std::uint64_t sweeps = 0;
  Managed manager(world);
  manager.on_sweep([&](const sm::Snapshot&) { ++sweeps; });
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(manager->run());
  world.run_for(5s);
  std::mt19937 random(5);
  std::size_t early = 0, most_later = 0;
  for (unsigned round = 0; sweeps < 1000; ++round) {
    ASSERT_LT(round, 4000U);
    const sim::Place leaf{"leaf00" + std::to_string(1 + random() % 7),
                          PortNum{static_cast<std::uint8_t>(1 + random() % 8)}};
    const auto host = "h000" + std::to_string(10 + random() % 20);
    auto faults = world.fabric().faults();
    faults.link_down(leaf);
    if (round % 4 == 0) faults.reboot(host);
    world.run_for(1s);
    faults.link_up(leaf);
    world.run_for(9s);
    if (sweeps < 200) continue;
    const auto now = bytes_in_use();
    if (early == 0) early = now;
    most_later = std::max(most_later, now);
  }
  world.run_for(60s);
  EXPECT_EQ(manager.last().summary.state, sm::SweepState::up);
  world.run(group.stop());

  // The lines of the log are kept by the test: some 300 bytes a sweep.
  std::size_t lines = 0;
  for (const auto& line : manager.lines().all) lines += line.capacity() + sizeof(line);
  if (early == 0) GTEST_SKIP() << "this allocator does not say what it holds";
  EXPECT_LT(most_later, early + 2 * lines + 200'000) << early << " bytes after 200 sweeps";
}

}  // namespace
}  // namespace smd
