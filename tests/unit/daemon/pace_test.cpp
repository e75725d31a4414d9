// SPDX-License-Identifier: Apache-2.0
// How soon a node that reports again and again is looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/base/damping.h"
#include "smd/schedule/trap_gap.h"

namespace smd::sm {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr Guid kNode{0x10}, kOther{0x20};

mad::TimePoint at(mad::Duration time) { return mad::TimePoint(1h) + time; }

TEST(Damping, ABurstIsFollowedAtOnceAndWhatGoesOnMoreAndMoreSeldom) {
  Damping pace(100ms, 5s, 3);
  auto now = at(0ms);
  std::vector<std::int64_t> waits;
  for (unsigned look = 0; look < 10; ++look) {
    pace.looked(kNode, now);
    waits.push_back((pace.due(kNode) - now) / 1ms);
    now = pace.due(kNode);
  }
  EXPECT_THAT(waits, testing::ElementsAre(100, 100, 100, 200, 400, 800, 1600, 3200, 5000, 5000));
}

TEST(Damping, AfterQuietABurstIsABurstAgain) {
  Damping pace(100ms, 5s, 2);
  for (const auto time : {0ms, 100ms, 200ms}) pace.looked(kNode, at(time));
  ASSERT_EQ(pace.due(kNode), at(400ms));

  pace.looked(kNode, at(10s));
  EXPECT_EQ(pace.due(kNode), at(10s + 100ms));
  pace.looked(kNode, at(10s + 100ms));
  EXPECT_EQ(pace.due(kNode), at(10s + 200ms));
}

TEST(TrapGap, WhoHasReportedIsAskedUntilItMayReportAgain) {
  TrapGap gap;
  EXPECT_FALSE(gap.next());
  gap.reported(kNode, at(0ms), 18);  // 4.096 us * 2^18 = 1.07 s
  gap.reported(kOther, at(100ms), 10);
  ASSERT_EQ(gap.next(), at(150ms));

  EXPECT_THAT(gap.take(at(150ms)), UnorderedElementsAre(kNode, kOther));
  gap.asked(at(151ms), 1ms);
  EXPECT_EQ(gap.next(), at(301ms));
  EXPECT_THAT(gap.take(at(301ms)), UnorderedElementsAre(kNode));
  gap.asked(at(302ms), 40ms);
  EXPECT_EQ(gap.next(), at(302ms + 360ms)) << "a tenth of the time at most";
  EXPECT_THAT(gap.take(at(1300ms)), IsEmpty());
  gap.asked(at(1300ms), 0ms);
  EXPECT_FALSE(gap.next());
}

TEST(TrapGap, ATimeoutWithoutEndIsNotWaitedFor) {
  TrapGap gap;
  gap.reported(kNode, at(0ms), 31);  // 2.4 hours
  EXPECT_THAT(gap.take(at(6s)), IsEmpty());
}

}  // namespace
}  // namespace smd::sm
