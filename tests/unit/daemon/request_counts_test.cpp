// SPDX-License-Identifier: Apache-2.0
#include "smd/registry/request_counts.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <set>
#include <string>

#include "mad/wire/sa/path_record.h"
#include "mad/wire/sa/sa_mad.h"

namespace smd::sa {
namespace {

using namespace std::chrono_literals;

TEST(RequestCounts, OfBothThreadsAreTogether) {
  const auto counts = std::make_unique<SaCounts>();
  const auto path = wire::PathRecord::kRecord;
  counts->at_receiver.answered(path, wire::Method::get, wire::kStatusOk, 2us);
  counts->at_server.answered(path, wire::Method::get, wire::kStatusOk, 3ms);
  counts->at_server.answered(path, wire::Method::get_table, wire::kSaNoRecords, 70us);
  counts->at_server.unanswered(path, wire::Method::get);
  const auto rows = counts->rows();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].attribute, "PathRecord");
  EXPECT_EQ(rows[0].method, "Get");
  EXPECT_EQ(rows[0].status, "ok");
  EXPECT_EQ(rows[0].count, 2U);
  EXPECT_EQ(rows[1].status, "unanswered");
  EXPECT_EQ(rows[2].method, "GetTable");
  EXPECT_EQ(rows[2].status, "no_records");
  const auto times = counts->times();
  EXPECT_EQ(times.took[0], 1U) << "at most 10 us";
  EXPECT_EQ(times.took[2], 1U) << "at most 100 us";
  EXPECT_EQ(times.took[5], 1U) << "at most 5 ms";
  EXPECT_EQ(std::accumulate(times.took.begin(), times.took.end(), std::uint64_t{0}), 3U);
  EXPECT_NEAR(times.seconds, 0.003072, 1e-9);
}

/// Clients choose the numbers: what becomes a label is of a fixed set.
TEST(RequestCounts, OfAnyNumbersAreOfAFixedSetOfRows) {
  const auto counts = std::make_unique<SaCounts>();
  std::uint64_t asked = 0;
  for (unsigned attribute = 0; attribute <= 0xFFFF; attribute += 3) {
    for (unsigned method = 0; method <= 0xFF; method += 5, ++asked)
      counts->at_server.answered(static_cast<std::uint16_t>(attribute), static_cast<wire::Method>(method),
                                 static_cast<std::uint16_t>(attribute * method), 1s);
  }
  std::set<std::string> words;
  std::uint64_t counted = 0;
  for (const auto& row : counts->rows()) {
    counted += row.count;
    for (const auto word : {row.attribute, row.method, row.status}) words.emplace(word);
  }
  EXPECT_EQ(counted, asked);
  EXPECT_LE(words.size(), RequestCounts::kAttributes + RequestCounts::kMethods + RequestCounts::kStatuses);
  EXPECT_TRUE(words.contains("other"));
}

TEST(RequestCounts, ATimeAtABoundIsWithinIt) {
  const auto counts = std::make_unique<SaCounts>();
  counts->at_server.answered(1, wire::Method::get, 0, 10us);
  counts->at_server.answered(1, wire::Method::get, 0, 10us + 1ns);
  counts->at_server.answered(1, wire::Method::get, 0, 20s);
  const auto times = counts->times();
  EXPECT_EQ(times.took[0], 1U);
  EXPECT_EQ(times.took[1], 1U);
  EXPECT_EQ(times.took.back(), 1U);
}

}  // namespace
}  // namespace smd::sa
