// SPDX-License-Identifier: Apache-2.0
// What comes in that is no answer, or an answer to nothing.
#include <cerrno>
#include <random>

#include "tests/support/transactions_fixture.h"

namespace smd::mad {
namespace {

TEST_F(TransactionsTest, WhatIsNoAnswerToAnythingIsCountedAndNeverHurts) {
  make();
  std::vector<std::vector<std::uint8_t>> garbage{{},
                                                 {1},
                                                 std::vector<std::uint8_t>(23, 0xFF),
                                                 std::vector<std::uint8_t>(255, 0x81),
                                                 std::vector<std::uint8_t>(256, 0xFF),
                                                 std::vector<std::uint8_t>(4096, 0x81)};
  ask(node_info());
  for (const auto& bytes : garbage) wire.deliver(bytes);

  EXPECT_EQ(tx->counters().malformed, 4U);
  EXPECT_EQ(tx->counters().unknown + tx->counters().mismatched, 2U);
  EXPECT_FALSE(answers[0]);
}

TEST_F(TransactionsTest, AnAnswerWithTheRightTransactionAndTheWrongAttributeClassOrMethodIsNone) {
  make({.retries = 0});
  wire.script = [](const Sent& sent) {
    auto attribute = sent.mad.response(), mgmt_class = sent.mad.response(), method = sent.mad.response();
    attribute.set_attribute(0x12);
    mgmt_class.set_mgmt_class(wire::MgmtClass::sm_lid);
    method.set_method(wire::Method::report_resp);
    std::vector<Reply> replies;
    for (const auto& bad : {attribute, mgmt_class, method}) {
      replies.push_back({.after = 1us, .bytes = {bad.bytes().begin(), bad.bytes().end()}});
    }
    return replies;
  };

  ask(node_info());
  run();

  EXPECT_EQ(answers[0]->error().fault, Fault::timeout);
  EXPECT_EQ(tx->counters().mismatched, 3U);
}

TEST_F(TransactionsTest, ATryThatWasNotSentYetCannotBeAnswered) {
  make();
  ask(node_info());
  auto forged = wire.sent.at(0).mad.response();
  forged.set_tid(Tid{forged.tid().value() + 1});

  wire.deliver({forged.bytes().begin(), forged.bytes().end()});

  EXPECT_EQ(tx->counters().mismatched, 1U);
  EXPECT_FALSE(answers[0]);
}

TEST_F(TransactionsTest, TheKernelsHalfOfTheTransactionIsIgnored) {
  make();
  wire.script = [](const Sent& sent) {
    auto reply = sent.mad.response();
    reply.set_tid(Tid{reply.tid().value() | 0xABCD'0000'0000'0000U});
    return std::vector{Reply{.after = 1us, .bytes = {reply.bytes().begin(), reply.bytes().end()}}};
  };

  ask(node_info());
  run();

  EXPECT_TRUE(answers[0]->has_value());
}

TEST_F(TransactionsTest, RandomBytesNeverHurt) {
  make({.unsolicited_rate = 1, .unsolicited_burst = 50});
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) ask(node_info(Guid{static_cast<std::uint64_t>(i)}));
  int heard = 0;
  tx->on_unsolicited([&](Received&&) { ++heard; });
  for (int i = 0; i < 100'000; ++i) {
    std::vector<std::uint8_t> bytes(random() % 3 == 0 ? random() % 600 : 256);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    if (bytes.size() > 20 && random() % 2 == 0) {  // near what was asked, so that more of it gets further
      const auto& near = wire.sent[random() % wire.sent.size()].mad.bytes();
      std::copy_n(near.begin(), std::min<std::size_t>(random() % 24, bytes.size()), bytes.begin());
    }
    wire.deliver(std::move(bytes));
  }
  run();

  EXPECT_LE(heard, 50);
  for (const auto& answer : answers) EXPECT_TRUE(answer);
}

TEST_F(TransactionsTest, MadsThatNobodyAskedForAreHandedOnUpToARate) {
  make({.unsolicited_rate = 100, .unsolicited_burst = 10});
  std::vector<Received> heard;
  auto trap = wire::Smp::lid_routed(wire::Method::trap, 0x02, 0);
  const std::vector<std::uint8_t> bytes{trap.bytes().begin(), trap.bytes().end()};
  wire.deliver(bytes);
  tx->on_unsolicited([&](Received&& received) { heard.push_back(std::move(received)); });

  for (int i = 0; i < 50; ++i) wire.deliver(bytes);
  EXPECT_THAT(heard, SizeIs(10));
  clock.call_at(TimePoint{50ms}, [] {});
  clock.advance();
  for (int i = 0; i < 50; ++i) wire.deliver(bytes);

  EXPECT_THAT(heard, SizeIs(15));
  EXPECT_EQ(heard[0].bytes, bytes);
  EXPECT_EQ(tx->counters().unsolicited_dropped, 86U);
}

TEST_F(TransactionsTest, AReplyGoesBackTheWayTheRequestCame) {
  make();
  auto request = wire::Smp::directed(wire::Method::get, 0x20, 0, path({3, 4}));
  request.set_tid(Tid{0x1234567800000042});
  const LidRoute from{.lid = Lid{9}};

  EXPECT_TRUE(tx->respond(request.response(), from));
  request.set_mgmt_class(wire::MgmtClass::sm_lid);
  EXPECT_TRUE(tx->respond(request.response(), from));

  EXPECT_EQ(wire.sent[0].mad.tid(), Tid{0x1234567800000042});
  EXPECT_TRUE(wire.sent[0].mad.returning());
  EXPECT_TRUE(std::holds_alternative<DirectedPath>(wire.sent[0].route));
  EXPECT_EQ(std::get<LidRoute>(wire.sent[1].route), from);
  EXPECT_EQ(wire.sent[1].give_up, 0ms);
}

}  // namespace
}  // namespace smd::mad
