// SPDX-License-Identifier: Apache-2.0
#include "mad/base/m_key_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace smd::base {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TEST(MKeyFile, IsGuid2mkeyOfOpenSm) {
  const auto keys =
      read_m_keys("0x0002c90300001234 0x00000000cafe0001\n\n# comment\n0x7 18446744073709551615\n", "f");
  ASSERT_TRUE(keys);
  EXPECT_THAT(*keys,
              ElementsAre(Pair(Guid{7}, ~std::uint64_t{0}), Pair(Guid{0x0002c90300001234}, 0xcafe0001U)));
}

TEST(MKeyFile, NamesWrongLinesAndNoKey) {
  const auto keys =
      read_m_keys("1 2 3\n0x7 0xcafebabe\n0x7 0xcafebabe\n0x8 0xcafebabeZ\nx 0xcafebabe\n", "f");
  ASSERT_FALSE(keys);
  ASSERT_EQ(keys.error().size(), 4U);
  EXPECT_THAT(to_string(keys.error()[1]), HasSubstr("GUID 0x0000000000000007 has a line already"));
  EXPECT_THAT(to_string(keys.error()[2]), HasSubstr("f:4: 'GUID M_KEY' is needed"));
  for (const auto& error : keys.error()) EXPECT_THAT(to_string(error), Not(HasSubstr("cafebabe")));
}

TEST(MKeyFile, HasToBeThere) { EXPECT_FALSE(load_m_keys("/nonexistent/guid2mkey")); }

}  // namespace
}  // namespace smd::base
