// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/retraining.h"

#include <gtest/gtest.h>

#include <vector>

namespace smd::sm {
namespace {

using namespace std::chrono_literals;

constexpr mad::TimePoint kStart{1000s};

LinkEnd end_at(std::uint64_t node, unsigned port) {
  return {Guid{node}, PortNum{static_cast<std::uint8_t>(port)}};
}
Retraining::Link training(const LinkEnd& end, const LinkEnd& peer) {
  return {.end = end, .peer = peer, .enabled = {}, .peer_enabled = {}};
}
std::vector<Retraining::Link> two_trainings() {
  return {training(end_at(0x10, 1), end_at(0x20, 1)), training(end_at(0x40, 2), end_at(0x30, 2))};
}

TEST(Retraining, AStepIsOverWhenAllItsLinksAreUp) {
  Retraining retraining;
  retraining.begin(two_trainings(), kStart);
  EXPECT_FALSE(retraining.over(kStart));

  retraining.links()[0].up = true;
  EXPECT_FALSE(retraining.over(kStart + 1s));

  retraining.links()[1].up = true;  // within its limits or not
  EXPECT_TRUE(retraining.over(kStart + 1s));
}

TEST(Retraining, AStepIsOverAtItsTimeLimit) {
  Retraining retraining;
  retraining.begin(two_trainings(), kStart);

  EXPECT_FALSE(retraining.over(kStart + Retraining::kLimit - 1ms));
  EXPECT_TRUE(retraining.over(kStart + Retraining::kLimit));
}

TEST(Retraining, EachStepHasATimeLimitOfItsOwn) {
  Retraining retraining;
  retraining.begin(two_trainings(), kStart);
  retraining.end();
  retraining.begin(two_trainings(), kStart + 50s);

  EXPECT_FALSE(retraining.over(kStart + Retraining::kLimit));
  EXPECT_TRUE(retraining.over(kStart + 50s + Retraining::kLimit));
}

TEST(Retraining, LinksAreLookedAtWhileAStepIsUnderWay) {
  Retraining retraining;
  EXPECT_FALSE(retraining.next_look());

  retraining.begin(two_trainings(), kStart);
  EXPECT_EQ(retraining.next_look(), kStart + Retraining::kLook);
  retraining.looked(kStart + 3s);
  EXPECT_EQ(retraining.next_look(), kStart + 3s + Retraining::kLook);

  retraining.end();
  EXPECT_FALSE(retraining.next_look());
}

TEST(Retraining, AStepIsPendingUntilASweepHasSeenItsEnd) {
  Retraining retraining;
  EXPECT_FALSE(retraining.pending());
  EXPECT_FALSE(retraining.under_way());

  retraining.begin(two_trainings(), kStart);
  EXPECT_TRUE(retraining.under_way());
  retraining.swept();
  EXPECT_TRUE(retraining.pending());  // a sweep of the middle of a step says nothing

  retraining.end();
  EXPECT_FALSE(retraining.under_way());
  EXPECT_TRUE(retraining.pending());
  retraining.swept();
  EXPECT_FALSE(retraining.pending());
}

TEST(Retraining, TheEndOfAStepGivesItsLinksBack) {
  Retraining retraining;
  retraining.begin(two_trainings(), kStart);
  retraining.links()[1].up = retraining.links()[1].within = true;

  const auto links = retraining.end();

  ASSERT_EQ(links.size(), 2U);
  EXPECT_EQ(links[0].end, end_at(0x10, 1));
  EXPECT_FALSE(links[0].up);
  EXPECT_EQ(links[1].peer, end_at(0x30, 2));
  EXPECT_TRUE(links[1].up && links[1].within);
}

TEST(Retraining, TriesAreCountedByLinkWhicheverEndIsNamedFirst) {
  const auto a = end_at(0x40, 2), b = end_at(0x30, 2), other = end_at(0x50, 1);
  Retraining retraining;
  EXPECT_EQ(retraining.tries(a, b), 0U);

  retraining.begin({training(a, b)}, kStart);
  EXPECT_EQ(retraining.tries(a, b), 1U);
  retraining.end();
  retraining.begin({training(b, a)}, kStart + 1s);  // by its other end: it is the nearer one now
  retraining.end();

  EXPECT_EQ(retraining.tries(a, b), Retraining::kTries);
  EXPECT_EQ(retraining.tries(b, a), Retraining::kTries);
  EXPECT_EQ(retraining.tries(a, other), 0U);
}

TEST(Retraining, StaysStoppedUntilItIsReset) {
  Retraining retraining;
  EXPECT_FALSE(retraining.stopped());
  retraining.begin(two_trainings(), kStart);
  retraining.end();
  retraining.stop();
  retraining.swept();
  EXPECT_TRUE(retraining.stopped());

  retraining.reset();

  EXPECT_FALSE(retraining.stopped());
  EXPECT_FALSE(retraining.pending());
  EXPECT_EQ(retraining.tries(end_at(0x10, 1), end_at(0x20, 1)), 0U);
}

// Hardware trains for 5 to 30 s; an SM that waits for less takes a link down that is about to come up.
TEST(Retraining, TheTimeLimitIsLongerThanHardwareTrains) { EXPECT_GT(Retraining::kLimit, 30s); }

}  // namespace
}  // namespace smd::sm
