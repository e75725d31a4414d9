// SPDX-License-Identifier: Apache-2.0
// Requests whose tries the caller sends.
#include <cerrno>
#include <set>

#include "tests/support/transactions_fixture.h"

namespace smd::mad {
namespace {

struct Notes final : Pacer {
  void on_answer(std::uint64_t id) override { answered.push_back(id); }
  void on_unanswered(std::uint64_t id) override {
    unanswered.push_back(id);
    ++since;
  }
  void on_settled() override { settled.push_back(std::exchange(since, 0)); }
  std::vector<std::uint64_t> answered, unanswered;
  std::vector<int> settled;
  int since = 0;
};

class TransactionsPaced : public TransactionsTest {
 protected:
  std::uint64_t open() {
    return tx->open_paced(wire::Mad(wire::MgmtClass::sa, 2, wire::Method::report, 2), LidRoute{.lid = Lid{7}},
                          notes);
  }
  void try_once(std::uint64_t id) { EXPECT_TRUE(tx->try_paced(id, 1s, 500ms)); }
  Notes notes;
};

TEST_F(TransactionsPaced, NothingIsSentBeforeTheCallerTries) {
  make();
  const auto id = open();
  run();
  EXPECT_THAT(wire.sent, SizeIs(0));
  try_once(id);
  ASSERT_THAT(wire.sent, SizeIs(1));
  EXPECT_EQ(wire.sent[0].give_up, 500ms);
  EXPECT_EQ(tx->open(), 0U) << "it takes no place of the windows";
}

TEST_F(TransactionsPaced, ItStaysOpenUntilItIsDroppedOrAnswered) {
  make();
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 1500ms)}; };
  const auto id = open();
  try_once(id);
  clock.advance();
  EXPECT_THAT(notes.unanswered, ElementsAre(id));
  try_once(id);
  EXPECT_NE(wire.sent[0].mad.tid(), wire.sent[1].mad.tid());
  run();

  EXPECT_THAT(notes.answered, ElementsAre(id)) << "by the answer to the first try";
  EXPECT_THAT(notes.unanswered, SizeIs(1));
  const auto row = tx->counters().by_attribute.at(0);
  EXPECT_EQ(row.requests, 1U);
  EXPECT_EQ(row.sent, 2U);
  EXPECT_EQ(row.retries, 1U);
  EXPECT_EQ(row.timeouts, 1U);
  EXPECT_EQ(row.answered, 1U);
  EXPECT_EQ(row.duplicate, 1U);
}

TEST_F(TransactionsPaced, ADroppedOneHearsNothing) {
  make();
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 5us)}; };
  const auto id = open();
  try_once(id);
  tx->drop_paced(id);
  tx->drop_paced(id);
  run();
  EXPECT_THAT(notes.answered, SizeIs(0));
  EXPECT_THAT(notes.unanswered, SizeIs(0));
  EXPECT_EQ(tx->counters().by_attribute.at(0).late, 1U);
}

TEST_F(TransactionsPaced, TriesThatAreDueTogetherAreSettledOnce) {
  make();
  for (int i = 0; i < 3; ++i) try_once(open());
  run();
  EXPECT_THAT(notes.settled, ElementsAre(3));
}

TEST_F(TransactionsPaced, ATryThatCannotBeSentIsOneThatIsNotAnswered) {
  make();
  const auto id = open();
  wire.send_error = EIO;
  EXPECT_FALSE(tx->try_paced(id, 1s, 1s));
  run();
  EXPECT_THAT(notes.unanswered, ElementsAre(id));
  EXPECT_EQ(tx->counters().send_failed, 1U);
  EXPECT_EQ(tx->counters().by_attribute.at(0).sent, 0U);
}

TEST_F(TransactionsPaced, AnOwnerMayHandOnTheTransactionAlone) {
  tx.emplace(asio::any_io_executor{}, clock, wire, Policy{}, 1U, Feed::owner);
  EXPECT_FALSE(wire.sink) << "the owner is the sink";
  const auto id = open();
  try_once(id);
  const auto tid = wire.sent.at(0).mad.tid();
  EXPECT_FALSE(tx->answered(Tid{tid.value() + 1})) << "that try was not sent";
  EXPECT_TRUE(tx->answered(Tid{tid.value() | 0xABCD'0000'0000'0000U}));
  EXPECT_FALSE(tx->answered(tid));
  EXPECT_THAT(notes.answered, ElementsAre(id));
}

TEST_F(TransactionsPaced, AsManyCanBeOpenAsWereAskedFor) {
  tx.emplace(io.get_executor(), clock, wire, Policy{}, 1U, Feed::transport, kMostOpen);
  std::set<std::uint64_t> ids;
  const auto room = tx->paced_room();
  EXPECT_EQ(room, kMostOpen);
  for (std::size_t i = 0; i < room; ++i) ids.insert(open());
  EXPECT_EQ(ids.size(), room);
  EXPECT_FALSE(ids.contains(0));
  EXPECT_EQ(tx->paced_room(), 0U);
  EXPECT_EQ(open(), 0U);
  std::set<std::uint64_t> tids;
  for (const auto id : ids) try_once(id);
  for (const auto& sent : wire.sent) tids.insert(sent.mad.tid().value());
  EXPECT_EQ(tids.size(), room);
  tx->drop_paced(*ids.begin());
  EXPECT_EQ(tx->paced_room(), 1U);
}

TEST_F(TransactionsPaced, ItDoesNotHoldUpOthers) {
  make({.max_outstanding = 1});
  for (int i = 0; i < 10; ++i) try_once(open());
  ask(node_info());
  EXPECT_THAT(wire.sent, SizeIs(11));
}

}  // namespace
}  // namespace smd::mad
