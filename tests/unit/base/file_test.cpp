// SPDX-License-Identifier: Apache-2.0
#include "mad/base/file.h"

#include <gtest/gtest.h>

namespace smd::base {
namespace {

TEST(FileNameOf, AnyTextIsOnePartOfAPath) {
  EXPECT_EQ(file_name_of("ft3:8-2"), "ft3:8-2");
  EXPECT_EQ(file_name_of("a/b"), "a%2fb");
  EXPECT_EQ(file_name_of(".."), "%2e.");
  EXPECT_EQ(file_name_of("a\nb"), "a%0ab");
  EXPECT_EQ(file_name_of("Fabrik Süd"), "Fabrik Süd");
}

TEST(FileNameOf, NoTwoAreAlike) {
  EXPECT_NE(file_name_of("a/b"), file_name_of("a_b"));
  EXPECT_NE(file_name_of("a/b"), file_name_of("a%2fb"));
}

}  // namespace
}  // namespace smd::base
