// SPDX-License-Identifier: Apache-2.0
// Which nodes' VL tables of another SM are forgotten.
#include "smd/decide/port_vl_tables.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace smd::sm
