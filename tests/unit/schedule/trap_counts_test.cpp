// SPDX-License-Identifier: Apache-2.0
#include "smd/schedule/trap_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "mad/wire/trap.h"

namespace smd::sm {
namespace {

using wire::trap::kBadPKey, wire::trap::kLinkStateChange;

std::uint64_t count_of(const TrapCounts& counts, std::uint16_t trap, Guid node) {
  for (const auto& row : counts.rows()) {
    if (row.trap == trap && row.node == node) return row.count;
  }
  return 0;
}

TEST(TrapCounts, AreByNumberAndNode) {
  const auto counts = std::make_unique<TrapCounts>();
  for (int i = 0; i < 3; ++i) counts->count(kLinkStateChange, Guid{0x10});
  counts->count(kLinkStateChange, Guid{0x20});
  counts->count(kBadPKey, Guid{0x10});
  counts->count(kBadPKey, Guid{});
  EXPECT_EQ(counts->rows().size(), 4U);
  EXPECT_EQ(count_of(*counts, kLinkStateChange, Guid{0x10}), 3U);
  EXPECT_EQ(count_of(*counts, kLinkStateChange, Guid{0x20}), 1U);
  EXPECT_EQ(count_of(*counts, kBadPKey, Guid{0x10}), 1U);
  EXPECT_EQ(count_of(*counts, kBadPKey, Guid{}), 1U);
}

TEST(TrapCounts, OfUnknownNumbersAreOneRow) {
  const auto counts = std::make_unique<TrapCounts>();
  for (std::uint16_t trap = 1'000; trap < 9'000; ++trap) counts->count(trap, Guid{0x10});
  ASSERT_EQ(counts->rows().size(), 1U);
  EXPECT_EQ(count_of(*counts, TrapCounts::kOtherTrap, Guid{0x10}), 8'000U);
}

TEST(TrapCounts, OfMoreNodesThanThereIsRoomForAreTogether) {
  const auto counts = std::make_unique<TrapCounts>();
  for (std::uint64_t node = 1; node <= 3 * TrapCounts::kMost; ++node)
    counts->count(kLinkStateChange, Guid{node});
  counts->count(kLinkStateChange, Guid{1});
  const auto rows = counts->rows();
  EXPECT_EQ(rows.size(), TrapCounts::kMost + 1);
  EXPECT_EQ(count_of(*counts, kLinkStateChange, Guid{}), 2 * TrapCounts::kMost);
  EXPECT_EQ(count_of(*counts, kLinkStateChange, Guid{1}), 2U) << "rows that are there go on";
  EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &TrapCounts::Row::node));
}

}  // namespace
}  // namespace smd::sm
