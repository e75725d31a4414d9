// SPDX-License-Identifier: Apache-2.0
// Sender and receiver without a network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <variant>

#include "smd/replica/journal.h"
#include "smd/replica/receiver.h"

namespace smd::replica {
namespace {

using testing::ElementsAre;

constexpr Guid kMaster{0xA};

Frame frame_of(const BytesPtr& bytes) {
  FrameReader reader;
  reader.add(*bytes);
  return *std::move(*reader.next());
}

Kept with_lids(std::uint16_t from, std::uint16_t count) {
  auto stored = std::make_shared<sm::Stored>();
  for (std::uint16_t i = 0; i < count; ++i) {
    const auto lid = static_cast<std::uint16_t>(from + i);
    stored->lids[Guid{lid}] = {.base = Lid{lid}};
  }
  auto kept = store::nothing_kept();
  std::get<sm::StoredPtr>(kept) = stored;
  return kept;
}

/// A master and the stream of one standby.
struct Pair {
  Journal journal;
  Kept state = store::nothing_kept();
  Sender sender{journal};
  Receiver receiver{store::nothing_kept()};
  std::size_t chunks = 0, transactions = 0;

  void begin(std::uint64_t epoch, const Kept& now) {
    state = now;
    journal.begin({epoch, 0}, kMaster);
  }
  void commit(const Kept& now) { journal.add(difference(std::exchange(state, now), now)); }
  /// Until nothing is left, or `most` frames have come.
  std::string run(std::size_t most = 1'000'000) {
    for (; most > 0; --most) {
      const auto next = sender.next();
      if (next.needs_snapshot) {
        journal.set_snapshot(make_snapshot(state, journal.latest(), kMaster));
        continue;
      }
      if (!next.frame) return "";
      auto frame = frame_of(next.frame);
      std::expected<Receiver::Took, std::string> took = Receiver::Took::nothing;
      if (auto* chunk = std::get_if<SnapshotChunk>(&frame)) {
        ++chunks;
        took = receiver.take(std::move(*chunk));
      } else {
        ++transactions;
        took = receiver.take(std::get<Transaction>(frame));
      }
      if (!took) return took.error();
      if (*took == Receiver::Took::refused) return "refused";
    }
    return "";
  }
  void expect_equal() {
    EXPECT_EQ(receiver.image(), image_of(state));
    EXPECT_EQ(receiver.position(), journal.latest());
  }
};

TEST(ReplicaStream, BeginsWithASnapshotAndGoesOnWithChanges) {
  Pair pair;
  pair.begin(1, with_lids(1, 100));
  pair.sender.resume(pair.receiver.resume());
  EXPECT_EQ(pair.run(), "");
  pair.expect_equal();

  pair.commit(with_lids(50, 100));
  pair.commit(with_lids(60, 10));
  EXPECT_EQ(pair.run(), "");

  pair.expect_equal();
  EXPECT_EQ(pair.chunks, 1U);
  EXPECT_EQ(pair.transactions, 2U);
}

TEST(ReplicaStream, ASnapshotGoesOnWhereItWasCut) {
  Pair pair;
  pair.begin(1, with_lids(1, 20'000));
  pair.sender.resume(pair.receiver.resume());
  EXPECT_EQ(pair.run(6), "");
  const auto cut = pair.receiver.resume();
  EXPECT_EQ(cut.chunk, 5U);
  pair.commit(with_lids(1, 19'999));

  pair.sender.resume(cut);
  EXPECT_EQ(pair.run(), "");

  pair.expect_equal();
  EXPECT_EQ(pair.chunks, pair.journal.snapshot()->chunks.size());  // none came twice
}

TEST(ReplicaStream, AStandbyThatHasMostOfItGetsTheRestOnly) {
  Pair pair;
  pair.begin(1, with_lids(1, 10));
  pair.sender.resume(pair.receiver.resume());
  EXPECT_EQ(pair.run(), "");
  pair.commit(with_lids(1, 11));
  Sender again(pair.journal);
  again.resume(pair.receiver.resume());

  const auto next = again.next();

  ASSERT_TRUE(next.frame);
  EXPECT_EQ(std::get<Transaction>(frame_of(next.frame)).at.number, 1U);
}

/// Both SMs of a fabric that was cut in two have begun the same epoch.
TEST(ReplicaStream, APositionOfAnotherSmAcknowledgesNothing) {
  Pair pair;
  pair.begin(2, with_lids(1, 10));
  pair.commit(with_lids(1, 11));
  pair.sender.resume({.have = {2, 1}, .source = Guid{0xB}, .snapshot = {}, .chunk = 0});

  EXPECT_FALSE(pair.sender.acknowledged({2, 1}));
  EXPECT_FALSE(pair.sender.is_current());
  EXPECT_EQ(pair.sender.acked(), Position{});

  EXPECT_EQ(pair.run(), "");
  EXPECT_FALSE(pair.sender.acknowledged({2, 7}));
  EXPECT_TRUE(pair.sender.acknowledged({2, 1}));
  EXPECT_TRUE(pair.sender.is_current());
}

/// The disk of the master is an older one.
TEST(ReplicaStream, WhatTheMasterHasLostAcknowledgesNothing) {
  Pair pair;
  pair.begin(2, with_lids(1, 10));
  pair.sender.resume({.have = {2, 5}, .source = kMaster, .snapshot = {}, .chunk = 0});

  EXPECT_FALSE(pair.sender.acknowledged({2, 5}));
  EXPECT_EQ(pair.sender.acked(), Position{});
}

TEST(ReplicaStream, ALowerEpochIsRefusedAndAHigherOneTaken) {
  Pair pair;
  pair.begin(5, with_lids(1, 10));
  pair.sender.resume(pair.receiver.resume());
  EXPECT_EQ(pair.run(), "");

  pair.begin(4, with_lids(1, 3));
  EXPECT_EQ(pair.run(), "refused");
  EXPECT_EQ(pair.receiver.image(), image_of(with_lids(1, 10)));

  pair.begin(6, with_lids(1, 3));
  EXPECT_EQ(pair.run(), "");
  pair.expect_equal();
}

TEST(ReplicaStream, AGapIsAnErrorAndAnotherRowIsFoundByTheDigests) {
  Pair pair;
  pair.begin(1, with_lids(1, 10));
  pair.sender.resume(pair.receiver.resume());
  EXPECT_EQ(pair.run(), "");

  EXPECT_FALSE(pair.receiver.take(Transaction{.at = {1, 2}, .source = kMaster, .changes = {}}));
  EXPECT_THAT(pair.receiver.compare({.at = {1, 0}, .digests = digests(pair.state)}), ElementsAre());
  EXPECT_THAT(pair.receiver.compare({.at = {1, 0}, .digests = digests(with_lids(2, 10))}),
              ElementsAre("lids"));
  EXPECT_EQ(pair.receiver.position(), Position{});  // copied anew
}

SnapshotChunk chunk_of(const Kept& kept, std::uint32_t index, std::uint32_t count) {
  return {.of = {7, 0},
          .source = kMaster,
          .index = index,
          .count = count,
          .rows = difference(store::nothing_kept(), kept)};
}

/// None of them changes the copy, and the stream begins anew where it has to.
TEST(ReplicaStream, ChunksThatDoNotFitAreErrorsAndChangeNothing) {
  Receiver receiver(store::nothing_kept());
  ASSERT_TRUE(receiver.take(chunk_of(with_lids(1, 10), 0, 1)));
  const auto good = receiver.image();
  const auto expect_wrong = [&](SnapshotChunk chunk, std::string_view why, std::uint32_t next) {
    const auto took = receiver.take(std::move(chunk));
    ASSERT_FALSE(took);
    EXPECT_EQ(took.error(), why);
    EXPECT_EQ(receiver.image(), good);
    EXPECT_EQ(receiver.position(), (Position{7, 0}));
    EXPECT_EQ(receiver.resume().chunk, next);
  };

  expect_wrong(chunk_of(with_lids(20, 5), 1, 3), "chunk 1 of a snapshot after 0", 0);
  ASSERT_EQ(receiver.take(chunk_of(with_lids(20, 5), 0, 3)), Receiver::Took::part);
  expect_wrong(chunk_of(with_lids(20, 5), 2, 3), "chunk 2 of a snapshot after 1", 1);
  ASSERT_EQ(receiver.take(chunk_of(with_lids(25, 5), 1, 3)), Receiver::Took::part);
  expect_wrong(chunk_of(with_lids(30, 5), 2, 4), "a snapshot of 3 chunks, and of 4", 0);
  ASSERT_EQ(receiver.take(chunk_of(with_lids(20, 5), 0, 3)), Receiver::Took::part);
  auto other = chunk_of(with_lids(30, 5), 1, 3);
  other.source = Guid{0xB};
  expect_wrong(other, "chunk 1 of a snapshot after 0", 0);

  ASSERT_EQ(receiver.take(chunk_of(with_lids(20, 5), 0, 2)), Receiver::Took::part);
  EXPECT_EQ(receiver.take(chunk_of(with_lids(25, 5), 1, 2)), Receiver::Took::changed);
  EXPECT_EQ(receiver.image(), image_of(with_lids(20, 10)));
}

/// A kind of a later smd goes from one that does not know it to the next that does not, and to its disk.
TEST(ReplicaStream, KindsThatAreNotKnownAreCarriedAlong) {
  const Changes invented{
      {.kind = "of_tomorrow",
       .changes = {{.key = {std::string("0x5")}, .value = Cells{std::int64_t{77}, std::string("x")}}}}};
  Receiver first(store::nothing_kept());
  ASSERT_TRUE(
      first.take(SnapshotChunk{.of = {1, 0}, .source = kMaster, .index = 0, .count = 1, .rows = invented}));
  const auto kept = state_of(first.image(), first.take_changed(), store::nothing_kept());
  ASSERT_TRUE(kept) << kept.error();
  EXPECT_EQ(std::get<store::ReplicaStatePtr>(*kept)->carried.size(), 1U);

  Pair next;
  next.begin(2, *kept);
  next.sender.resume(next.receiver.resume());
  EXPECT_EQ(next.run(), "");

  EXPECT_EQ(next.receiver.image().at("of_tomorrow"), first.image().at("of_tomorrow"));
  EXPECT_EQ(digests(next.receiver.image()), digests(*kept));
}

TEST(ReplicaStream, ARowThatMakesNoSenseIsNamedAndChangesNothing) {
  const Changes wrong{{.kind = "lids", .changes = {{.key = {std::string("no GUID")}, .value = Cells{}}}}};
  Image image;
  apply_changes(wrong, image);

  const auto state = state_of(image, wrong, store::nothing_kept());

  ASSERT_FALSE(state);
  EXPECT_EQ(state.error(), "a row of lids makes no sense");
}

}  // namespace
}  // namespace smd::replica
