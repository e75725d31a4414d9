// SPDX-License-Identifier: Apache-2.0
#include "smd/replica/frames.h"

#include <gtest/gtest.h>

#include "smd/replica/cells_text.h"

namespace smd::replica {
namespace {

Changes some_changes() {
  return {{.kind = "lids",
           .changes = {{.key = {std::string("0x1")}, .value = Cells{std::int64_t{5}, std::int64_t{-1}}},
                       {.key = {std::string("0x2")}, .value = std::nullopt}}},
          {.kind = "not known", .changes = {{.key = {}, .value = Cells{}}}}};
}

std::vector<Frame> all_frames() {
  return {Hello{.subnet = "rail0", .port = Guid{7}, .program = "smd 1"},
          Resume{.have = {3, 4}, .source = Guid{1}, .snapshot = {3, 9}, .chunk = 2},
          replica::Role{.master = true, .port = Guid{8}, .latest = {1, 2}},
          SnapshotChunk{.of = {1, 2}, .source = Guid{8}, .index = 0, .count = 3, .rows = some_changes()},
          Transaction{.at = {1, 3}, .source = Guid{8}, .changes = some_changes()},
          Ack{{1, 3}},
          Refuse{.epoch = 9, .port = Guid{2}},
          DigestsAt{.at = {1, 3}, .digests = {{"lids", 17}}},
          Call{.id = 5,
               .has_token = true,
               .caller = "ib-kubernetes",
               .role = "operator",
               .address = "10.0.0.1",
               .method = "POST",
               .target = "/v1/subnets/p/partitions/blue/members",
               .headers = {{"If-Match", "\"1-2\""}, {"Idempotency-Key", "k"}},
               .body = "[]"},
          CallAnswer{.id = 5, .status = 201, .at = {1, 4}, .headers = {{"ETag", "x"}}, .body = "{}"}};
}

Bytes stream_of(const std::vector<Frame>& frames) {
  Bytes all;
  for (const auto& frame : frames) {
    const auto bytes = encode(frame);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

TEST(ReplicaFrames, ComeBackAsTheyWereByteForByteHoweverTheyArrive) {
  const auto bytes = stream_of(all_frames());
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    FrameReader reader;
    std::vector<Frame> seen;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      reader.add(std::span(bytes).subspan(at, std::min(step, bytes.size() - at)));
      for (;;) {
        auto frame = reader.next();
        ASSERT_TRUE(frame) << frame.error();
        if (!*frame) break;
        seen.push_back(std::move(**frame));
      }
    }
    EXPECT_EQ(stream_of(seen), bytes) << step;
  }
}

TEST(ReplicaFrames, WhatIsNoFrameIsRefusedAndTakesNoMemory) {
  for (const Bytes& wrong : {Bytes{0xFF, 0xFF, 0xFF, 0xFF, 1}, Bytes{0, 0, 0, 0, 1}, Bytes{0, 0, 0, 1, 99},
                             Bytes{0, 0, 0, 2, 6, 0}, Bytes{'G', 'E', 'T', ' ', '/'}}) {
    FrameReader reader;
    reader.add(wrong);
    EXPECT_FALSE(reader.next());
  }
}

TEST(ReplicaFrames, ACallIsNoLargerThanTheApiTakesOfAClient) {
  for (const auto size : {kLargestCall, kLargestCall + 70'000}) {
    const auto bytes = encode(Call{.id = 1, .body = std::string(size, 'x')});
    FrameReader reader;
    reader.add(std::span(bytes).first(5));  // its length says enough
    EXPECT_EQ(reader.next().has_value(), size == kLargestCall) << size;
    reader.add(std::span(bytes).subspan(5));
    if (size != kLargestCall) continue;
    const auto frame = reader.next();
    ASSERT_TRUE(frame && *frame);
    EXPECT_EQ(std::get<Call>(**frame).body.size(), size);
  }
}

/// The mastership after it would be of epoch 0.
TEST(ReplicaFrames, AnEpochThatIsTooLargeIsRefused) {
  for (const Frame& frame :
       {Frame(Refuse{.epoch = kLargestEpoch + 1, .port = Guid{2}}),
        Frame(Transaction{.at = {~std::uint64_t{0}, 3}, .source = Guid{8}, .changes = {}})}) {
    FrameReader reader;
    reader.add(encode(frame));
    EXPECT_FALSE(reader.next());
  }
  FrameReader reader;
  reader.add(encode(Refuse{.epoch = kLargestEpoch, .port = Guid{2}}));
  EXPECT_TRUE(reader.next());
}

TEST(ReplicaFrames, EveryChangedByteIsReadOrRefused) {
  const auto good = stream_of(all_frames());
  for (std::size_t at = 0; at < good.size(); ++at) {
    auto bytes = good;
    bytes[at] ^= 0x81;
    FrameReader reader;
    reader.add(bytes);
    unsigned frames = 0;
    for (auto frame = reader.next(); frame && *frame; frame = reader.next()) ++frames;
    EXPECT_LE(frames, all_frames().size());
  }
}

TEST(CellsText, ComesBackAsItWas) {
  const Cells cells{std::int64_t{-5}, std::string("a,b:c"), std::string(), std::int64_t{0}};
  EXPECT_EQ(cells_of(cells_text(cells)), cells);
  EXPECT_EQ(cells_of(""), Cells{});
  for (const auto* wrong : {"x", "i", "i5", "t5:ab,", "t:,", "t1:ab,", "i1,t"})
    EXPECT_FALSE(cells_of(wrong)) << wrong;
}

}  // namespace
}  // namespace smd::replica
