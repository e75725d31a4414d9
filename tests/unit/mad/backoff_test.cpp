// SPDX-License-Identifier: Apache-2.0
#include "mad/backoff.h"

#include <gtest/gtest.h>

namespace smd::mad {
namespace {

using std::chrono::milliseconds;

TEST(Backoff, DoublesUpToTheLongest) {
  Backoff pause(milliseconds(100), milliseconds(500));

  EXPECT_EQ(pause.value(), Duration::zero());
  for (const auto expected : {100, 200, 400, 500, 500}) {
    EXPECT_EQ(pause.next(), milliseconds(expected));
    EXPECT_EQ(pause.value(), milliseconds(expected));
  }
}

TEST(Backoff, BeginsAnewAfterAGoodTry) {
  Backoff pause(milliseconds(100), milliseconds(500));
  pause.next();
  pause.next();

  pause.reset();

  EXPECT_EQ(pause.value(), Duration::zero());
  EXPECT_EQ(pause.next(), milliseconds(100));
}

TEST(Backoff, IsNeverShorterThanTheFirst) {
  Backoff pause(milliseconds(100), milliseconds(10));

  EXPECT_EQ(pause.next(), milliseconds(100));
  EXPECT_EQ(pause.next(), milliseconds(100));
}

}  // namespace
}  // namespace smd::mad
