// SPDX-License-Identifier: Apache-2.0
// Links that are cut while smd deals with others: their switches have sent their trap, and repeat it late.
#include <gtest/gtest.h>

#include <chrono>

#include "mad/sim/reach.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

TEST(PortStateChange, OfALinkThatIsCutWhileTablesAreWrittenIsNotCleared) {
  sim::World world(test::spec("ft2:8"));
  Managed smd(world);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(smd->run());
  world.run_for(5s);
  ASSERT_TRUE(sim::reach(world.fabric().state()).all());
  bool writes = false;
  world.fabric().watch_packets([&](const sim::SentPacket& packet) {
    const auto header = wire::decode<wire::MadHeader>(packet.mad);
    const bool is_table = header && header->method == wire::Method::set &&
                          header->attribute == wire::LinearForwardingTable::kAttribute;
    if (!is_table || std::exchange(writes, true)) return;
    world.at(world.now(), [](sim::Fabric& now) { now.faults().link_down({"leaf000", PortNum{6}}); });
  });

  world.fabric().faults().link_down({"leaf000", PortNum{5}});
  world.run_for(500ms);

  EXPECT_TRUE(writes);
  const auto found = sim::reach(world.fabric().state());
  EXPECT_TRUE(found.all()) << found.delivered << " of " << found.pairs
                           << testing::PrintToString(smd.lines().all);
  world.run(group.stop());
}

}  // namespace
}  // namespace smd
