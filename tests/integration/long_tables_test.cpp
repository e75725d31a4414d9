// SPDX-License-Identifier: Apache-2.0
// Long forwarding tables, which a standby and a new master read whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "smd/sweep/heavy_sweep.h"
#include "tests/support/managed_world.h"
#include "tests/support/sim_lab.h"

namespace smd {
namespace {

asio::awaitable<void> read_all(mad::Transactions* tx, mad::Clock* clock, std::optional<sm::Subnet>* read) {
  auto found = co_await sm::heavy_sweep(tx, clock, nullptr, {});
  if (found) *read = std::move(*found);
}

TEST(LongTables, AreReadByAFewRequestsAtATime) {
  constexpr std::uint16_t kTop = 0xbfff;
  constexpr std::size_t kBlocks = (kTop + 1) / 64;
  sim::World world(test::two_leaves());
  test::Asker asker(world);
  test::bring_up_two_leaves(asker);
  for (const auto& way : {test::path({1}), test::path({1, 3}), test::path({1, 3, 2})})
    asker.change<wire::SwitchInfo>(way, 0, [](wire::SwitchInfo& info) { info.linear_fdb_top = kTop; });
  const auto transport = world.transport(sim::Place{"h1", PortNum{1}});
  mad::Transactions tx(world.io().get_executor(), world.clock(), *transport, {}, 3);
  std::optional<sm::Subnet> subnet;
  mad::TaskGroup group(world.io().get_executor());

  group.spawn(read_all(&tx, &world.clock(), &subnet));
  std::size_t most = 0;
  for (int step = 0; step < 20000 && !subnet; ++step) {
    world.run_for(std::chrono::microseconds(100));
    most = std::max(most, tx.open() + tx.waiting());
  }
  world.run(group.stop());

  ASSERT_TRUE(subnet);
  std::size_t read = 0;
  for (const auto& node : subnet->nodes) read += node->lft.known.count();
  EXPECT_EQ(read, 3 * kBlocks);
  EXPECT_LE(most, 3U * 16 + 32) << "blocks that wait for their turn take memory";
}

}  // namespace
}  // namespace smd
