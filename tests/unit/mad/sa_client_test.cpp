// SPDX-License-Identifier: Apache-2.0
#include "mad/gsi/sa_client.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "mad/gsi/dispatcher.h"
#include "mad/task_group.h"
#include "mad/virtual_clock.h"
#include "mad/wire/sa/member_record.h"
#include "tests/support/scripted_transport.h"

namespace smd::mad {
namespace {

using namespace std::chrono_literals;
using SaAnswer = std::expected<SaRecords, SaError>;
using Record = wire::McMemberRecord;

constexpr std::size_t kRecord = 56;

/// An answer with so many records of this size, the n-th with the MLID 0xC000 + n.
std::vector<std::uint8_t> table(std::size_t records, std::size_t bytes = kRecord, std::uint16_t status = 0,
                                std::uint64_t tid = 0) {
  std::vector<std::uint8_t> mad(std::max(wire::kSaDataOffset + records * bytes, wire::kMadBytes));
  if (records * bytes > wire::kSaDataBytes) mad.resize(wire::kSaDataOffset + records * bytes);
  wire::encode_over(wire::MadHeader{.mgmt_class = wire::MgmtClass::sa,
                                    .class_version = 2,
                                    .method = wire::Method::get_table_resp,
                                    .status = status,
                                    .tid = Tid{tid},
                                    .attribute = Record::kRecord},
                    mad);
  wire::encode_over(wire::RmppHeader{.version = 1,
                                     .type = wire::RmppType::data,
                                     .last = true,
                                     .first = true,
                                     .active = true,
                                     .segment = 1,
                                     .length = static_cast<std::uint32_t>(20 + records * bytes)},
                    std::span(mad).subspan(wire::kRmppOffset));
  wire::encode_over(wire::SaHeader{.attribute_offset = static_cast<std::uint16_t>(bytes / 8)},
                    std::span(mad).subspan(wire::kSaOffset));
  for (std::size_t i = 0; i < records && bytes >= Record::kBytes; ++i) {
    wire::encode(Record{.mgid = {}, .port_gid = {}, .mlid = Lid{static_cast<std::uint16_t>(0xC000 + i)}},
                 std::span(mad).subspan(wire::kSaDataOffset + i * bytes));
  }
  return mad;
}

TEST(SaRecords, AreReadByTheOffsetThatTheAnswerNames) {
  for (const std::size_t bytes : {56U, 64U, 120U}) {
    const auto records = parse_sa_records(table(40, bytes), Record::kRecord, Record::kBytes);
    ASSERT_TRUE(records) << to_string(records.error());
    ASSERT_EQ(records->size(), 40U);
    EXPECT_EQ(records->get<Record>(39).mlid, Lid{0xC027});
  }
}

TEST(SaRecords, ShorterOnesThanTheAttributeAreMalformed) {
  const auto records = parse_sa_records(table(10, 48), Record::kRecord, Record::kBytes);
  ASSERT_FALSE(records);
  EXPECT_EQ(to_string(records.error()), "records of 48 bytes, 52 expected at least");
}

TEST(SaRecords, OfOnePacketEndWhereRmppSays) {
  auto mad = table(2);
  EXPECT_EQ(parse_sa_records(mad, Record::kRecord, Record::kBytes)->size(), 2U);
  mad[wire::kRmppOffset + 2] = 0;
  EXPECT_EQ(parse_sa_records(mad, Record::kRecord, Record::kBytes)->size(), 3U) << "200 bytes, without RMPP";
}

TEST(SaRecords, NoneAreAnEmptyTable) {
  EXPECT_EQ(parse_sa_records(table(0, kRecord, wire::kSaNoRecords), Record::kRecord, 52)->size(), 0U);
  EXPECT_EQ(parse_sa_records(table(0, 0), Record::kRecord, 52)->size(), 0U);
}

TEST(SaRecords, ARefusalSaysItsStatus) {
  const auto busy = parse_sa_records(table(0, 0, wire::kStatusBusy), Record::kRecord, 52);
  ASSERT_FALSE(busy);
  EXPECT_EQ(to_string(busy.error()), "status 0x0001: busy");
  const auto denied = parse_sa_records(table(0, 0, wire::kSaDenied), Record::kRecord, 52);
  EXPECT_EQ(to_string(denied.error()), "status 0x0700: denied");
}

TEST(SaRecords, AnotherAttributeOrMethodIsMalformed) {
  EXPECT_EQ(parse_sa_records(table(1), 0x35, 52).error().fault, SaFault::malformed);
  auto mad = table(1);
  mad[3] = 0x81;
  EXPECT_EQ(parse_sa_records(mad, Record::kRecord, 52).error().fault, SaFault::malformed);
  EXPECT_EQ(parse_sa_records({}, Record::kRecord, 52).error().fault, SaFault::malformed);
}

RC_GTEST_PROP(SaRecords, AnyBytesAreRecordsOrAnError, (std::vector<std::uint8_t> noise)) {
  auto mad = table(3);
  for (std::size_t i = 0; i < noise.size() && i < mad.size(); ++i) mad[mad.size() - 1 - i] ^= noise[i];
  mad.resize(*rc::gen::inRange<std::size_t>(0, mad.size() + 1));
  const auto records = parse_sa_records(mad, Record::kRecord, Record::kBytes);
  for (std::size_t i = 0; records && i < records->size(); ++i) static_cast<void>(records->get<Record>(i));
}

/// A client of an SA that is a function of the test.
class SaClientTest : public testing::Test {
 protected:
  ~SaClientTest() override { run(group.stop()); }

  void ask(std::chrono::milliseconds wait = 2s) {
    group.spawn(ask_one({.to = {.lid = Lid{3}, .qp = 1, .qkey = kQp1QKey},
                         .attribute = Record::kRecord,
                         .least = Record::kBytes,
                         .sm_key = 0x1122,
                         .wait = wait}));
    io.poll();
  }
  /// Lets time pass until nothing waits.
  void settle() {
    do {
      io.restart();
      io.poll();
    } while (clock.advance());
    io.restart();
    io.poll();
  }
  void run(asio::awaitable<void> work) {
    bool done = false;
    asio::co_spawn(io, std::move(work), [&done](const std::exception_ptr&) { done = true; });
    while (!done) {
      io.restart();
      io.poll();
      if (!done) clock.advance();
    }
  }
  asio::awaitable<void> ask_one(SaQuery query) {
    auto answer = co_await client.get_table(std::move(query));
    answers.push_back(std::move(answer));
  }
  std::vector<std::uint8_t> answer_to(std::size_t sent, std::size_t records) {
    return table(records, kRecord, 0, gsi.sent.at(sent).mad.tid().value() | std::uint64_t{7} << 32U);
  }

  asio::io_context io;
  VirtualClock clock;
  ScriptedTransport gsi{clock};
  Dispatcher dispatcher{gsi};
  SaClient client{io.get_executor(), clock, dispatcher.asking(wire::MgmtClass::sa), 0xFFFF'FFFF};
  TaskGroup group{io.get_executor()};
  std::vector<SaAnswer> answers;
};

TEST_F(SaClientTest, AsksWithTheKeyAndReadsALongAnswer) {
  ask();
  ASSERT_EQ(gsi.sent.size(), 1U);
  EXPECT_EQ(gsi.sent[0].give_up, 2020ms);
  EXPECT_EQ(std::get<LidRoute>(gsi.sent[0].route).lid, Lid{3});
  const auto sa = *wire::decode<wire::SaHeader>(gsi.sent[0].mad.bytes().subspan(wire::kSaOffset));
  EXPECT_EQ(sa.sm_key, 0x1122U);

  gsi.deliver(answer_to(0, 5000));
  settle();

  ASSERT_EQ(answers.size(), 1U);
  ASSERT_TRUE(answers[0]);
  EXPECT_EQ(answers[0]->size(), 5000U);
}

TEST_F(SaClientTest, SilenceEndsWithTheTimeAndALateAnswerIsDropped) {
  ask(500ms);
  settle();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error().fault, SaFault::no_answer);
  EXPECT_EQ(clock.now().time_since_epoch(), 500ms);

  gsi.deliver(answer_to(0, 1));
  settle();
  EXPECT_EQ(answers.size(), 1U);
}

TEST_F(SaClientTest, AnswersFindTheirQuestions) {
  ask();
  ask();
  gsi.deliver(answer_to(1, 2));
  gsi.deliver(answer_to(1, 7));
  gsi.deliver(answer_to(0, 1));
  settle();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0]->size(), 2U);
  EXPECT_EQ(answers[1]->size(), 1U);
}

TEST_F(SaClientTest, WhatCannotBeSentSaysWhy) {
  gsi.send_error = EIO;
  ask();
  settle();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error().fault, SaFault::not_sent);
  EXPECT_EQ(to_string(answers[0].error()),
            "GetTable SA attribute 0x0038 to LID 3: cannot send: Input/output error");
}

TEST_F(SaClientTest, OneThatIsCancelledIsClosed) {
  ask();
  run(group.stop());
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].error().fault, SaFault::closed);
}

}  // namespace
}  // namespace smd::mad
