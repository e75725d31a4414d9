// SPDX-License-Identifier: Apache-2.0
#include "smd/store/latest_searches.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace smd::store {
namespace {

using events::EventId;

TEST(LatestSearches, AreForgottenWhenTheyHoldMore) {
  LatestSearches searches;
  const auto event = std::make_shared<events::Event>();
  for (std::uint64_t i = 1; i <= 101; ++i)
    searches.keep(std::to_string(i), 10, {.end = EventId{1, i}, .events = {event}});
  EXPECT_FALSE(searches.of("1", 10));
  EXPECT_FALSE(searches.of("2", 9)) << "another limit";
  ASSERT_TRUE(searches.of("2", 10));
  EXPECT_EQ(searches.of("2", 10)->end, (EventId{1, 2}));

  searches.keep("big", 10'000, {.end = EventId{2, 1}, .events = {9'990, event}});
  EXPECT_TRUE(searches.of("2", 10)) << "used last";
  EXPECT_FALSE(searches.of("3", 10));
  searches.keep("bigger", 20'000, {.end = EventId{2, 1}, .events = {10'001, event}});
  EXPECT_FALSE(searches.of("bigger", 20'000));
  searches.keep("", 10, {});
  EXPECT_FALSE(searches.of("", 10));
}

}  // namespace
}  // namespace smd::store
