// SPDX-License-Identifier: Apache-2.0
#include "mad/base/id.h"

#include <gtest/gtest.h>

namespace smd {
namespace {

TEST(PKey, NamesAPartitionAndAMembership) {
  EXPECT_EQ(PKey{0x8001}.partition(), 1);
  EXPECT_EQ(PKey{0x0001}.partition(), 1);
  EXPECT_EQ(PKey{0x8000}.partition(), 0);
  EXPECT_TRUE(PKey{0x8001}.full_member());
  EXPECT_FALSE(PKey{0x7FFF}.full_member());
  EXPECT_EQ(PKey{0x7FFF}.full(), kDefaultPKey);
  EXPECT_EQ(kDefaultPKey.full(), kDefaultPKey);
}

TEST(PKey, MatchesWithinItsPartitionWhereOneSideIsAFullMember) {
  const PKey full{0x8001}, limited{0x0001}, other{0x8002}, none{}, full_of_none{0x8000};
  EXPECT_TRUE(full.matches(full));
  EXPECT_TRUE(full.matches(limited));
  EXPECT_TRUE(limited.matches(full));
  EXPECT_FALSE(limited.matches(limited));
  EXPECT_TRUE(limited.same_partition(limited));
  EXPECT_FALSE(full.matches(other));
  EXPECT_FALSE(full.same_partition(other));
  EXPECT_FALSE(full_of_none.matches(none));
  EXPECT_FALSE(none.same_partition(full_of_none));
}

}  // namespace
}  // namespace smd
