// SPDX-License-Identifier: Apache-2.0
// Adapters that show LID 0, 0xFFFF or their old LID after a reset.
#include <gtest/gtest.h>

#include <chrono>

#include "mad/sim/packets/reach.h"
#include "smd/store/store.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

sim::Options showing(sim::LidAfterReset lid) {
  auto options = sim::World::default_options();
  options.lid_after_reset = lid;
  return options;
}

class FirstLid : public testing::TestWithParam<sim::LidAfterReset> {
 protected:
  Lid lid_of(std::string_view host) { return world_.fabric().port_info({std::string(host)})->lid; }

  sim::World world_{test::spec("ft2:8"), showing(GetParam())};
};

TEST_P(FirstLid, IsReplacedWhenTheFabricComesUpAndAfterEachReset) {
  Managed smd(world_);
  mad::TaskGroup group(world_.io().get_executor());
  group.spawn(smd->run());
  world_.run_for(5s);
  EXPECT_EQ(smd.last().summary.state, sm::SweepState::up);
  EXPECT_TRUE(sim::reach(world_.fabric().state()).all());
  EXPECT_EQ(smd.last().summary.lids_changed, 0U);
  const auto lid = lid_of("h00003");
  EXPECT_TRUE(lid.unicast());

  world_.fabric().faults().reboot("h00003", 3s);
  world_.run_for(10s);

  EXPECT_EQ(smd.last().summary.state, sm::SweepState::up);
  EXPECT_TRUE(sim::reach(world_.fabric().state()).all());
  EXPECT_EQ(lid_of("h00003"), lid);
  const bool seen = GetParam() != sim::LidAfterReset::kept;
  EXPECT_EQ(smd.lines().count("node.rebooted"), seen ? 1U : 0U) << testing::PrintToString(smd.lines().all);
  world_.run(group.stop());
}

TEST_P(FirstLid, OfAnAdapterWithNotesIsNotStored) {
  world_.fabric().faults().forgets("h00003", wire::PortInfo::kAttribute, "SubnetTimeOut");
  store::MemoryStore store;
  Managed smd(world_, {}, {}, &store);
  mad::TaskGroup group(world_.io().get_executor());
  group.spawn(smd->run());
  world_.run_for(5s);
  EXPECT_EQ(smd.lines().count("field.not_kept"), 1U);

  world_.fabric().faults().reboot("h00003", 3s);
  world_.run_for(10s);
  world_.fabric().faults().remove("h00003");
  world_.run_for(10s);
  world_.fabric().faults().restore("h00003");
  world_.run_for(10s);

  EXPECT_EQ(smd.last().summary.state, sm::SweepState::up);
  world_.run(group.stop());
}

INSTANTIATE_TEST_SUITE_P(Firmware, FirstLid,
                         testing::Values(sim::LidAfterReset::zero, sim::LidAfterReset::permissive,
                                         sim::LidAfterReset::kept),
                         [](const auto& info) {
                           switch (info.param) {
                             case sim::LidAfterReset::zero:
                               return "Zero";
                             case sim::LidAfterReset::permissive:
                               return "Permissive";
                             default:
                               return "Kept";
                           }
                         });

}  // namespace
}  // namespace smd
