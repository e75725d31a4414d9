// SPDX-License-Identifier: Apache-2.0
// Which nodes' VL tables of another SM are forgotten.
#include "smd/decide/port_vl_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/drop_vl.h"
#include "smd/report/vl_tables.h"
#include "tests/unit/decide/support.h"

namespace smd::sm {
namespace {

TEST(PortVlTables, OfNodesThatAreLostForAMonthAreForgotten) {
  constexpr UnixTime kDay = 24 * 3600, kNow = 100 * kDay;
  Stored stored;
  for (const std::uint64_t guid : {1U, 2U, 3U})
    stored.vl_tables[Guid{guid}].push_back({.port = PortNum{1}, .sl_to_vl = nullptr, .arbitration = nullptr});
  Inventory inventory;
  inventory.put(Guid{1}, {.type = NodeType::ca, .name = "a", .lost_at = kNow - 31 * kDay});
  inventory.put(Guid{2}, {.type = NodeType::ca, .name = "b", .lost_at = kNow - 29 * kDay});
  std::set<Guid> noted;
  EXPECT_FALSE(note_vl_tables(stored, {}, noted, kNow)) << "before the first stock";

  stored.inventory = std::make_shared<const Inventory>(std::move(inventory));
  EXPECT_TRUE(note_vl_tables(stored, {}, noted, kNow));
  EXPECT_EQ(stored.vl_tables.size(), 1U) << "the loss of the third one was accepted";
  EXPECT_TRUE(stored.vl_tables.contains(Guid{2}));
  EXPECT_FALSE(note_vl_tables(stored, {}, noted, kNow));
}

/// A switch with hosts at ports 1 and 2; nothing is at port 3.
TEST(PortVlTables, PortsThatDropAnSlAreFound) {
  SubnetBuilder fabric;
  fabric.add_switch(kSwitch).host(kHost, kSwitch, 1).host(kOther, kSwitch, 2);
  const auto drops = [&](std::uint64_t node, unsigned port, std::size_t in, std::size_t rows) {
    HeldBlocks<wire::SlToVl> held;
    held.row.resize(rows);
    held.known = held.asked = BlockSet::first(rows);
    held.row[in].vls[0] = wire::kDropVl;
    fabric.port(node, port).held<wire::SlToVl>() =
        std::make_shared<const HeldBlocks<wire::SlToVl>>(std::move(held));
  };
  EXPECT_TRUE(ports_that_drop(fabric.build(), Sl{0}).empty());
  drops(kHost, 1, 0, 1);
  drops(kSwitch, 2, 1, 4);
  EXPECT_THAT(ports_that_drop(fabric.build(), Sl{0}),
              testing::UnorderedElementsAre(test::place(kHost, 1), test::place(kSwitch, 2)));
  EXPECT_TRUE(ports_that_drop(fabric.build(), Sl{1}).empty());
  drops(kSwitch, 2, 2, 4);
  drops(kSwitch, 1, 3, 4);
  EXPECT_THAT(ports_that_drop(fabric.build(), Sl{0}), testing::ElementsAre(test::place(kHost, 1)))
      << "no packet goes back, or comes in by a free port";
}

}  // namespace
}  // namespace smd::sm
