// SPDX-License-Identifier: Apache-2.0
// How long failed Sets and silent nodes wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <vector>

#include "smd/schedule/repair_wait.h"
#include "smd/schedule/silent_search.h"

namespace smd::sm {
namespace {

using namespace std::chrono_literals;

constexpr Guid kA{1}, kB{2};
constexpr mad::TimePoint kNow{1h};

struct RepairCase {
  std::string_view name;
  std::set<Guid> failed;  ///< empty: no Set is left
  mad::Duration took;
  std::optional<mad::Duration> wait;
};

TEST(RepairWait, IsShortForNodesThatFailAnewAndLongerForTheSameOnes) {
  const std::vector<RepairCase> sweeps{
      {"the first time", {kA, kB}, 10ms, 50ms}, {"the same again", {kA, kB}, 10ms, 100ms},
      {"some of them", {kA}, 10ms, 200ms},      {"a sweep that took long", {kA}, 3s, 3s},
      {"another one", {kA, kB}, 10ms, 50ms},    {"nothing is left", {}, 10ms, {}},
      {"after success", {kA}, 3s, 50ms},        {"no longer than five minutes", {kA}, 1h, 5min},
  };
  RepairWait repairs;
  for (const auto& sweep : sweeps) {
    SCOPED_TRACE(sweep.name);
    repairs.begun();
    if (sweep.failed.empty()) repairs.succeeded();
    if (!sweep.failed.empty()) repairs.failed(sweep.failed, kNow, sweep.took);

    EXPECT_EQ(repairs.next(), sweep.wait ? std::optional(kNow + *sweep.wait) : std::nullopt);
    EXPECT_EQ(repairs.nodes(), sweep.failed);
  }
}

TEST(RepairWait, CoversNodesThatHaveAllFailedBefore) {
  RepairWait repairs;
  repairs.failed({kA}, kNow, 1ms);
  EXPECT_TRUE(repairs.covers({}));
  EXPECT_TRUE(repairs.covers({kA}));
  EXPECT_FALSE(repairs.covers({kA, kB}));
}

TEST(SilentSearch, IsSoonAndThenAsSeldomAsLightSweeps) {
  SilentSearch search;
  EXPECT_EQ(search.swept({kA}), 100ms);
  EXPECT_EQ(search.swept({kA}), std::nullopt) << "it was silent before";
  EXPECT_EQ(search.looked(1s), 200ms);
  EXPECT_EQ(search.looked(1s), 400ms);
  EXPECT_EQ(search.swept({kA, kB}), 100ms) << "another one is silent";
  for (const auto wait : {200ms, 400ms, 800ms, 1600ms}) EXPECT_EQ(search.looked(1s), wait);
  EXPECT_EQ(search.looked(1s), std::nullopt) << "the next light sweep comes sooner";
}

}  // namespace
}  // namespace smd::sm
