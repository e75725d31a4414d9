// SPDX-License-Identifier: Apache-2.0
#include "smd/base/base64.h"

#include <gtest/gtest.h>

namespace smd::sm {
namespace {

TEST(Base64, StandsForBytesBothWays) {
  for (const std::string bytes : {"", "a", "ab", "abc", "abcd"}) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(from_base64(to_base64(all)), all);
  EXPECT_EQ(to_base64("hello"), "aGVsbG8=");
  for (const auto* wrong : {"a", "aGVsbG8", "aGV=bG8=", " aGVsbG8", "====", "aGVs\nbG8="})
    EXPECT_FALSE(from_base64(wrong)) << wrong;
}

}  // namespace
}  // namespace smd::sm
