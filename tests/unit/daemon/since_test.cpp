// SPDX-License-Identifier: Apache-2.0
#include "smd/api/since.h"

#include <gtest/gtest.h>

namespace smd::api {
namespace {

using std::chrono::sys_days;
using std::chrono::system_clock;
using namespace std::chrono_literals;

TEST(Since, IsATimeOfUtcOrALengthOfTime) {
  const system_clock::time_point day = sys_days{2026y / 11 / 29}, now = day + 2h;
  EXPECT_EQ(parse_since("2026-11-29", now), day);
  EXPECT_EQ(parse_since("2026-11-29T01:30", now), day + 90min);
  EXPECT_EQ(parse_since("2026-11-29 01:30:05", now), day + 90min + 5s);
  EXPECT_EQ(parse_since("2026-11-29T01:30:05.250Z", now), day + 90min + 5s + 250ms) << "as events have it";
  EXPECT_EQ(parse_since("1h30m", now), day + 30min);
  EXPECT_EQ(parse_since("2d", now), now - 48h);
}

TEST(Since, OtherTextsAreRefused) {
  const auto now = system_clock::now();
  for (const auto* text : {"",
                           "now",
                           "90",
                           "1x",
                           "2026",
                           "2026-13-01",
                           "2026-02-29",
                           "26-11-29",
                           "2026-11-29T",
                           "2026-11-29T24:00",
                           "2026-11-29T01",
                           "2026-11-29T01:30:05+01:00",
                           "2026-11-29T01:30Zx",
                           "2026-11-29T01:30.5",
                           "2026-11-29T01:30:05.",
                           "2026-11-29T01:30:05.1e9",
                           "2026-11-29T01:30:05.-1",
                           "2026-11-29T",
                           "2026-11-29T01:30:05 ",
                           "1969-12-31",
                           "9999-01-01",
                           "-1h"})
    EXPECT_FALSE(parse_since(text, now)) << text;
  EXPECT_FALSE(parse_since(std::string_view("2026-11-29\0x", 12), now));
}

}  // namespace
}  // namespace smd::api
