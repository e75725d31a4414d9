// SPDX-License-Identifier: Apache-2.0
#include "smd/etcd/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace smd::etcd {
namespace {

bool holds(const Span& span, const std::string& key) { return span.key <= key && key < span.end; }

Bytes frame_of(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  return bytes;
}

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

TEST(EtcdLayout, WordsComeBackAsTheyWere) {
  const Term term{.epoch = 17, .port = Guid{0x2c903000e0b73}};
  EXPECT_EQ(to_text(term), "0000000000000011 0002c903000e0b73");
  EXPECT_EQ(term_of(to_text(term)), term);
  EXPECT_FALSE(term_of("ffffffffffffffff 0002c903000e0b73"));
  const Head head{.latest = {3, 17}, .source = Guid{8}, .snapshot = {3, 4}, .chunks = 9};
  EXPECT_EQ(head_of(to_text(head)), head);
  EXPECT_EQ(position_of("3 4"), (Position{3, 4}));
  for (const auto* wrong :
       {"", " ", "1", "1 ", "1 2 3", "x 1", "1  2", "-1 2", "1 99999999999999999999999"}) {
    EXPECT_FALSE(position_of(wrong)) << wrong;
    EXPECT_FALSE(head_of(wrong)) << wrong;
  }
  EXPECT_FALSE(head_of("3 1 1 1 1 1 1 2"));  // its version is below what it asks of readers
  EXPECT_FALSE(head_of("70000 1 1 1 1 1 1 70000"));
}

TEST(EtcdLayout, ASnapshotMakesWhatIsBeforeItSuperfluousAndNothingElse) {
  const Layout layout("/smd", "rail0");
  const Position old{3, 5}, now{3, 9};
  const auto erased = [&](const std::string& key) {
    const auto spans = layout.before(now);
    return std::ranges::any_of(spans, [&](const Span& span) { return holds(span, key); });
  };
  const auto log_key = [&](const Position& at) { return layout.log_rows(at, "x").front().key; };
  EXPECT_TRUE(erased(layout.chunk_rows(old, 0, "x").front().key));
  EXPECT_TRUE(erased(layout.chunk_rows({4, 1}, 0, "x").front().key));
  EXPECT_FALSE(erased(layout.chunk_rows(now, 0, "x").front().key));
  EXPECT_FALSE(erased(layout.chunk_rows(now, 70'000, "x").front().key));
  EXPECT_TRUE(erased(log_key({3, 9})));
  EXPECT_TRUE(erased(log_key({2, 999})));
  EXPECT_FALSE(erased(log_key({3, 10})));
  for (const auto& key :
       {layout.epoch(), layout.alive(), layout.head(), layout.digests(), layout.standby(Guid{1})}) {
    EXPECT_FALSE(erased(key)) << key;
  }
}

TEST(EtcdLayout, SpansHaveTheirKeysAndNoOthers) {
  const Layout layout("/smd", "rail0"), other("/smd", "rail00");
  for (const auto& key : {layout.epoch(), layout.alive(), layout.head(), layout.digests()})
    EXPECT_TRUE(holds(layout.live(), key));
  EXPECT_FALSE(holds(layout.live(), other.head()));
  EXPECT_FALSE(holds(layout.live(), layout.standby(Guid{1})));
  EXPECT_TRUE(holds(layout.standbys(), layout.standby(Guid{~std::uint64_t{0}})));
  EXPECT_EQ(layout.standby_of(layout.standby(Guid{0x17})), Guid{0x17});
  EXPECT_FALSE(layout.standby_of(layout.head()));
  const auto mark = layout.left_mark(Guid{0x17});
  EXPECT_TRUE(holds(layout.standbys(), mark));
  EXPECT_FALSE(layout.standby_of(mark));
  EXPECT_EQ(layout.left_mark_of(mark), Guid{0x17});
  EXPECT_FALSE(layout.left_mark_of(layout.standby(Guid{0x17})));
  EXPECT_TRUE(holds(layout.left(Guid{0x17}), layout.left_rows(Guid{0x17}, 3, "x").front().key));
  EXPECT_FALSE(holds(layout.left(Guid{0x17}), layout.left_rows(Guid{0x18}, 0, "x").front().key));
  const auto log = layout.log(3, 5, 7);
  EXPECT_FALSE(holds(log, layout.log_rows({3, 4}, "x").front().key));
  EXPECT_TRUE(holds(log, layout.log_rows({3, 5}, "x").front().key));
  EXPECT_TRUE(holds(log, layout.log_rows({3, 6}, text_of(frame_of(2 * kPiece))).back().key));
  EXPECT_FALSE(holds(log, layout.log_rows({3, 7}, "x").front().key));
  const auto rest = layout.snapshot({3, 5}, 2);
  EXPECT_FALSE(holds(rest, layout.chunk_rows({3, 5}, 1, "x").front().key));
  EXPECT_TRUE(holds(rest, layout.chunk_rows({3, 5}, 2, "x").front().key));
}

TEST(EtcdLayout, FramesComeBackFromTheirPieces) {
  const Layout layout("/smd", "");
  Joiner joiner(6);
  for (const std::size_t size : {std::size_t{1}, kPiece, kPiece + 1, 3 * kPiece - 5}) {
    const auto frame = text_of(frame_of(size));
    const auto rows = layout.log_rows({3, joiner.next()}, frame);
    EXPECT_EQ(rows.size(), (size + kPiece - 1) / kPiece);
    for (const auto& row : rows) {
      EXPECT_LE(row.value.size(), kPiece);
      const auto got = joiner.add(row);
      ASSERT_TRUE(got) << got.error();
      EXPECT_EQ(got->has_value(), &row == &rows.back());
      if (*got) {
        EXPECT_EQ(**got, frame);
      }
    }
  }
  EXPECT_TRUE(joiner.between());
  EXPECT_EQ(joiner.next(), 10U);
}

TEST(EtcdLayout, APieceThatIsMissingIsSeen) {
  const Layout layout("/smd", "rail0");
  const auto rows = layout.log_rows({3, 6}, text_of(frame_of(3 * kPiece)));
  EXPECT_FALSE(Joiner(5).add(rows[0]));
  EXPECT_FALSE(Joiner(6).add(rows[1]));
  Joiner joiner(6);
  ASSERT_TRUE(joiner.add(rows[0]));
  EXPECT_FALSE(joiner.between());
  EXPECT_FALSE(joiner.add(rows[2]));
  for (const auto* key :
       {"", "x", "0000000000000006/0000-00010", "000000000000000g/0000-0001", "0000000000000006/0000-0000"})
    EXPECT_FALSE(Joiner(6).add({.key = key, .value = "x"})) << key;
}

TEST(EtcdLayout, FramesAreLookedAtWithoutTheirRows) {
  const auto chunk = open_frame(replica::encode(
      replica::SnapshotChunk{.of = {3, 4}, .source = Guid{8}, .index = 2, .count = 5, .rows = {}}));
  EXPECT_EQ(chunk.kind, Opened::Kind::chunk);
  EXPECT_EQ(chunk.at, (Position{3, 4}));
  EXPECT_EQ(chunk.index, 2U);
  EXPECT_EQ(chunk.count, 5U);
  const auto transaction =
      open_frame(replica::encode(replica::Transaction{.at = {3, 5}, .source = Guid{8}, .changes = {}}));
  EXPECT_EQ(transaction.kind, Opened::Kind::transaction);
  EXPECT_EQ(transaction.at, (Position{3, 5}));
  EXPECT_EQ(open_frame(replica::encode(replica::DigestsAt{.at = {3, 5}, .digests = {}})).kind,
            Opened::Kind::digests);
  EXPECT_EQ(open_frame(replica::encode(replica::Ack{})).kind, Opened::Kind::other);
  EXPECT_EQ(open_frame({}).kind, Opened::Kind::other);
}

}  // namespace
}  // namespace smd::etcd
