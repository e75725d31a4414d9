// SPDX-License-Identifier: Apache-2.0
// How long a request lasts: timeout * (retries + 1), in every mode; slow_timeout where the node is slow.
#include <cerrno>
#include <random>
#include <stdexcept>

#include "tests/support/transactions_fixture.h"

namespace smd::mad {
namespace {

constexpr Duration kLife = 800ms, kTick = 2ms, kKernel = 25ms;

class TransactionsTime : public TransactionsTest {
 protected:
  /// The node answers quickly, as often.
  void warm(Guid node, int times = 1) {
    wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 10us)}; };
    for (int i = 0; i < times; ++i) ask(node_info(node));
    run();
    wire.script = nullptr;
    wire.sent.clear();
  }
  /// Asks and waits; how long it took.
  Duration took(Request request) {
    const auto start = clock.now();
    const auto index = answers.size();
    TimePoint end;
    answers.emplace_back();
    tx->submit(std::move(request), [&, index](Answer answer) {
      answers[index] = std::move(answer);
      end = clock.now();
    });
    run();
    return end - start;
  }
  void wait(Duration time) {
    clock.call_at(clock.now() + time, [] {});
    run();
  }
  void lose_much() {
    std::mt19937 random(9);
    wire.script = [random](const Sent& sent) mutable {
      return random() % 100 < 60 ? std::vector<Reply>{} : std::vector{ScriptedTransport::answer(sent, 20us)};
    };
    for (std::uint64_t i = 0; i < 300; ++i) ask(node_info(Guid{i % 50 + 100}));
    run();
    wire.sent.clear();
    answers.clear();
  }
};

TEST_F(TransactionsTime, OfARequestIsTheSameWhateverIsKnownOfTheNode) {
  make();
  warm(Guid{2}, 20);

  for (const auto node : {Guid{}, Guid{1}, Guid{2}}) {
    const auto time = took(node_info(node));
    EXPECT_GE(time, kLife) << node.value();
    EXPECT_LE(time, kLife + kTick) << node.value();
    EXPECT_EQ(answers.back()->error().tries, 4U) << node.value();
  }
}

TEST_F(TransactionsTime, OfARequestIsTheSameWhereMuchIsLostAndTriesAreMore) {
  make();
  lose_much();
  wire.script = nullptr;

  for (const auto node : {Guid{}, Guid{1}, Guid{100}}) {
    const auto time = took(node_info(node));
    EXPECT_GE(time, kLife);
    EXPECT_LE(time, kLife + kTick);
    EXPECT_GE(answers.back()->error().tries, 20U);
  }
}

TEST_F(TransactionsTime, OfARequestIsWhatTheConfigurationSays) {
  for (const auto& [timeout, retries] :
       {std::pair<Duration, unsigned>{10ms, 0}, {50ms, 1}, {200ms, 12}, {1s, 20}, {3s, 2}}) {
    make({.timeout = timeout, .retries = retries});
    const auto time = took(node_info(Guid{1}));
    EXPECT_GE(time, timeout * (retries + 1));
    EXPECT_LE(time, timeout * (retries + 1) + kTick);
    EXPECT_EQ(answers.back()->error().tries, retries + 1);
    tx.reset();
  }
}

TEST_F(TransactionsTime, OfANodeThatStaysBusyIsNoLonger) {
  make({.retries = 20});
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 1ms, 1)}; };

  EXPECT_LE(took(node_info(Guid{7})), 21 * 200ms);
  EXPECT_EQ(answers.back()->error().fault, Fault::refused);
}

TEST_F(TransactionsTime, OfTheKernelEndsWithTheRequest) {
  make();
  warm(Guid{2}, 20);
  const auto ends = [this](std::size_t try_) { return wire.sent.at(try_).at + wire.sent[try_].give_up; };
  for (const auto node : {Guid{1}, Guid{2}}) {
    wire.sent.clear();
    const auto start = clock.now();
    took(node_info(node));
    for (std::size_t i = 0; i < wire.sent.size(); ++i) {
      EXPECT_GE(ends(i), start + kLife) << "not before us";
      const bool finds_slow_nodes = node == Guid{1} && i == 0;
      EXPECT_LE(ends(i), start + (finds_slow_nodes ? 2s : kLife) + kKernel) << node.value() << ' ' << i;
    }
  }
}

TEST_F(TransactionsTime, FewTriesAreHeldByTheKernelToFindSlowNodes) {
  make({.max_outstanding = 384});
  for (std::uint64_t i = 1; i <= 200; ++i) ask(node_info(Guid{i}));
  const auto longer = std::ranges::count_if(wire.sent, [](const Sent& sent) { return sent.give_up > 900ms; });
  EXPECT_EQ(longer, 32);
  run();

  wait(3s);
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 10us)}; };
  for (std::uint64_t i = 1; i <= 200; ++i) ask(node_info(Guid{i + 1000}));
  run();
  wire.sent.clear();
  wire.script = nullptr;
  ask(node_info(Guid{5000}));
  EXPECT_GE(wire.sent[0].give_up, 2s) << "those that were answered hold nothing";
  run();
}

TEST_F(TransactionsTime, OfALateAnswerMarksTheNodeAsSlow) {
  make();
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 1500ms)}; };

  EXPECT_LE(took(node_info(Guid{7})), kLife + kTick);
  EXPECT_EQ(answers[0]->error().fault, Fault::timeout);
  EXPECT_EQ(tx->counters().total(&AttributeCounters::late), 4U);
  for (int i = 1; i < 5; ++i) {
    took(node_info(Guid{7}));
    EXPECT_TRUE(answers.back()->has_value()) << i;
  }
}

TEST_F(TransactionsTime, OfASlowNodeIsSlowTimeoutAtMostAndOnceMore) {
  make();
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 1500ms)}; };
  took(node_info(Guid{7}));
  wire.script = nullptr;
  wait(1s);

  const auto time = took(node_info(Guid{7}));
  EXPECT_GE(time, 2s);
  EXPECT_LE(time, 2s + kTick);
  EXPECT_GE(answers.back()->error().tries, 2U);
  EXPECT_LE(took(node_info(Guid{7})), kLife + kTick) << "it is dead, not slow";
}

TEST_F(TransactionsTime, OfANodeThatIsFastAgainIsThatOfTheOthers) {
  make();
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 1500ms)}; };
  took(node_info(Guid{7}));
  warm(Guid{7}, 30);

  EXPECT_LE(took(node_info(Guid{7})), kLife + kTick);
}

TEST_F(TransactionsTime, OfARequestMayBeItsOwn) {
  make();
  warm(Guid{2}, 20);
  auto request = node_info(Guid{2});
  request.life = tx->soon(Guid{2});
  EXPECT_EQ(request.life, 100ms);

  EXPECT_LE(took(request), 100ms + kTick);
  EXPECT_EQ(answers.back()->error().tries, 2U) << "at 0 and 50 ms";
  EXPECT_EQ(tx->soon(Guid{3}), 100ms);
}

TEST_F(TransactionsTime, OfASlowPlaceIsLongerBeforeItIsKnownWhoIsThere) {
  make();
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 1500ms)}; };
  auto request = node_info();
  request.place = 77;

  took(request);
  EXPECT_FALSE(answers[0]->has_value());
  took(request);
  EXPECT_TRUE(answers[1]->has_value());
  request.place = 78;
  took(request);
  EXPECT_FALSE(answers[2]->has_value()) << "another place";
}

/// Real time goes on while its reader works: each reading is later than the one before.
class MovingClock final : public Clock {
 public:
  MovingClock(Clock& clock, Duration step) : clock_(clock), step_(step) {}
  TimePoint now() const override {
    if (++readings_ > kMost) throw std::runtime_error("the time is asked for ever again");
    return clock_.now() + step_ * readings_;
  }
  TimerId call_at(TimePoint at, std::move_only_function<void()> fire) override {
    return clock_.call_at(at - step_ * readings_, std::move(fire));
  }
  void cancel(TimerId id) override { clock_.cancel(id); }

 private:
  static constexpr int kMost = 100'000;
  Clock& clock_;
  Duration step_;
  mutable int readings_ = 0;
};

// The thread of the subnet was busy for ever with a poll of another SM whose time ended within such a
// reading.
TEST_F(TransactionsTime, ThatEndsWhileOthersAreLookedAtEndsInTheNextRound) {
  MovingClock moving(clock, 3ms);
  ScriptedTransport silent(moving);
  Transactions requests(io.get_executor(), moving, silent, Policy{}, 1);
  int ended = 0;
  for (int i = 0; i < 50; ++i) {
    auto request = node_info(Guid{2});
    request.single_try = 100ms + i * 700us;
    requests.submit(std::move(request), [&ended](const Answer& answer) {
      EXPECT_EQ(answer.error().fault, Fault::timeout);
      ++ended;
    });
  }

  run();

  EXPECT_EQ(ended, 50);
}

}  // namespace
}  // namespace smd::mad
