// SPDX-License-Identifier: Apache-2.0
// Many requests: windows, rooms, loss.
#include <cerrno>
#include <map>
#include <random>

#include "tests/support/transactions_fixture.h"

namespace smd::mad {
namespace {

TEST_F(TransactionsTest, ANodeGetsNoMoreThanItsWindowAtATime) {
  make({.max_outstanding = 64, .per_node = 4});
  std::map<int, int> outstanding;
  int most = 0;
  wire.script = [&](const Sent& sent) {
    const int node = sent.mad.initial_path(1).value();
    most = std::max(most, ++outstanding[node]);
    clock.call_at(clock.now() + 10us, [&, node] { --outstanding[node]; });
    return std::vector{ScriptedTransport::answer(sent, 10us)};
  };

  for (int i = 0; i < 30; ++i) {
    ask(node_info(Guid{1}, path({1})));
    ask(node_info(Guid{2}, path({2})));
  }
  EXPECT_EQ(tx->open(), 8U);
  EXPECT_EQ(tx->waiting(), 52U);
  run();

  EXPECT_EQ(most, 4);
  for (const auto& answer : answers) EXPECT_TRUE(answer && answer->has_value());
}

TEST_F(TransactionsTest, AllTogetherGetNoMoreThanTheGlobalWindow) {
  make({.max_outstanding = 10});
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 10us)}; };

  for (std::uint64_t i = 1; i <= 100; ++i) ask(node_info(Guid{i}));
  EXPECT_EQ(tx->open(), 10U);
  run();

  for (const auto& answer : answers) EXPECT_TRUE(answer && answer->has_value());
}

TEST_F(TransactionsTest, ATransportWithoutRoomMakesNewRequestsWaitForAnswers) {
  make();
  wire.free_room = 0;
  ask(node_info());
  EXPECT_TRUE(wire.sent.empty());

  clock.advance();
  EXPECT_TRUE(wire.sent.empty());
  wire.free_room = 1;
  wire.script = [this](const Sent& sent) {
    wire.free_room = 0;
    clock.call_at(clock.now() + 1us, [this] { wire.free_room = 1; });
    return std::vector{ScriptedTransport::answer(sent, 1us)};
  };
  run();
  wire.free_room = 1;
  ask(node_info());
  ask(node_info());
  EXPECT_EQ(tx->open(), 1U);
  run();

  EXPECT_THAT(wire.sent, SizeIs(3));
  for (const auto& answer : answers) EXPECT_TRUE(answer && answer->has_value());
}

TEST_F(TransactionsTest, SilentNodesDoNotHoldUpTheOthers) {
  make({.max_outstanding = 32});
  wire.script = [](const Sent& sent) {
    return sent.mad.initial_path(1).value() == 1 ? std::vector<Reply>{}
                                                 : std::vector{ScriptedTransport::answer(sent, 10us)};
  };

  for (std::uint64_t i = 1; i <= 100; ++i) ask(node_info(Guid{i}, path({1})));
  for (std::uint64_t i = 1; i <= 1000; ++i) ask(node_info(Guid{1000 + i}, path({2})));
  clock.call_at(TimePoint{700ms}, [] {});
  while (clock.now() < TimePoint{700ms} && clock.advance()) {
    io.restart();
    io.poll();
  }

  for (std::size_t i = 100; i < answers.size(); ++i) EXPECT_TRUE(answers[i] && answers[i]->has_value());
  EXPECT_EQ(tx->open(), 100U) << "the silent ones, all at the same time";
  run();
  EXPECT_LE(clock.now(), TimePoint{1500ms});
}

TEST_F(TransactionsTest, LossMakesTheNodesWindowSmallerAndAnswersMakeItGrowAgain) {
  make({.max_outstanding = 64, .per_node = 16});
  bool lose = true;
  int outstanding = 0, most = 0;
  wire.script = [&](const Sent& sent) {
    if (lose) return std::vector<Reply>{};
    most = std::max(most, ++outstanding);
    clock.call_at(clock.now() + 10us, [&] { --outstanding; });
    return std::vector{ScriptedTransport::answer(sent, 10us)};
  };
  for (int i = 0; i < 16; ++i) ask(node_info(Guid{1}));
  run();
  lose = false;

  for (int i = 0; i < 40; ++i) ask(node_info(Guid{1}));
  EXPECT_LE(most, 4);
  for (int i = 0; i < 400; ++i) ask(node_info(Guid{1}));
  run();

  EXPECT_EQ(most, 16);
}

TEST_F(TransactionsTest, WithFortyPercentLossBothWaysNearlyAllIsAnsweredAndTheSameSeedSendsTheSame) {
  const auto trace = [this](std::uint32_t seed) {
    tx.reset();
    answers.clear();
    wire.sent.clear();
    make({.retries = 12});
    std::mt19937 random(seed);
    wire.script = [&random](const Sent& sent) {
      return random() % 100 < 64 ? std::vector<Reply>{} : std::vector{ScriptedTransport::answer(sent, 20us)};
    };
    const auto start = clock.now();
    for (std::uint64_t i = 0; i < 500; ++i) ask(node_info(Guid{i % 50 + 1}));
    run();
    std::vector<std::pair<Duration, std::uint64_t>> sent;
    for (const auto& one : wire.sent) sent.emplace_back(one.at - start, one.mad.tid().value());
    return sent;
  };
  const auto first = trace(5);
  std::size_t good = 0;
  for (const auto& answer : answers) good += answer->has_value() ? 1U : 0U;

  EXPECT_GE(good, 490U);
  // A whole number of ticks later, so that resend times round alike.
  clock.call_at(TimePoint{(clock.now().time_since_epoch() / 1s + 1) * 1s}, [] {});
  clock.advance();
  const auto second = trace(5);
  clock.call_at(TimePoint{(clock.now().time_since_epoch() / 1s + 1) * 1s}, [] {});
  clock.advance();
  EXPECT_EQ(second, trace(5));
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace smd::mad
