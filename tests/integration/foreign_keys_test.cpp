// SPDX-License-Identifier: Apache-2.0
// While partitions are managed: keys of another SM over a reboot, and rails over a cable that fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mad/sim/state/tables.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;
using testing::AllOf;
using testing::HasSubstr;

class KeptKeys : public testing::Test {
 protected:
  void start(std::string_view fabric, std::vector<config::ConfiguredPartition> partitions) {
    world_.emplace(test::spec(fabric));
    group_.emplace(world_->io().get_executor());
    smd_.emplace(*world_, test::with_partitions(std::move(partitions)));
  }
  void run() {
    group_->spawn((*smd_)->run());
    world_->run_for(5s);
    ASSERT_EQ(smd_->last().summary.state, sm::SweepState::up);
  }
  ~KeptKeys() override {
    if (group_) world_->run(group_->stop());
  }
  sim::Faults faults() { return world_->fabric().faults(); }
  /// The keys that port 1 holds, without free entries.
  std::vector<PKey> keys(std::string_view node) {
    std::vector<PKey> found;
    const auto& state = world_->fabric().state();
    const auto port = state.index(state.nodes[*sim::find_node(state, node)], 1);
    for (unsigned i = 0; i < 32; ++i) {
      if (const auto key = sim::p_key(state, port, i); key != PKey{}) found.push_back(key);
    }
    return found;
  }

  std::optional<sim::World> world_;
  std::optional<mad::TaskGroup> group_;
  std::optional<Managed> smd_;
};

TEST_F(KeptKeys, ComeBackAfterAReboot) {
  start("ft2:4", {test::partition("blue", 0x12, {"h00001"})});
  ASSERT_TRUE(faults().set_p_key({"h00005", PortNum{1}}, 1, PKey{0x8055}));
  run();
  faults().reboot("h00005", 3s);
  world_->run_for(20s);

  EXPECT_THAT(keys("h00005"), testing::Contains(PKey{0x8055}));
  EXPECT_THAT(smd_->lines().first("partition.restored"),
              AllOf(HasSubstr("h00005"), HasSubstr("pkeys=0x8055")));
  EXPECT_EQ(smd_->lines().count("partition.restored"), 1U);
}

/// Another rail is another tenant.
TEST_F(KeptKeys, ACableThatFailsMovesNoAdapterToAnotherRail) {
  start("rails:4:2:4:4+guids=5",
        {test::partition("r1", 0x11, {"rail:1"}), test::partition("r2", 0x12, {"rail:2"}),
         test::partition("r3", 0x13, {"rail:3"}), test::partition("r4", 0x14, {"rail:4"})});
  run();
  const std::vector<std::string> adapters{"h0002-r0", "h0002-r1", "h0002-r2", "h0002-r3"};
  std::map<std::string, std::vector<PKey>> before;
  for (const auto& one : adapters) before[one] = keys(one);
  for (const auto& lost : adapters) {
    faults().link_down({lost, PortNum{1}});
    world_->run_for(10s);
    for (const auto& one : adapters) {
      if (one != lost) EXPECT_EQ(keys(one), before[one]) << one << " without " << lost;
    }
    faults().link_up({lost, PortNum{1}});
    world_->run_for(10s);
    EXPECT_EQ(keys(lost), before[lost]);
  }
}

}  // namespace
}  // namespace smd
