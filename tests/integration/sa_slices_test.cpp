// SPDX-License-Identifier: Apache-2.0
// Questions that take long are answered a slice at a time, behind those that are short.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mad/wire/sa/path_record.h"
#include "mad/wire/sa/records.h"
#include "smd/sa/record_kind.h"
#include "tests/support/fake_gsi.h"
#include "tests/support/sa_session.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Question;
using wire::Method;
using Multi = wire::MultiPathRecord;

config::SubnetConfig config_with_lmc(std::uint8_t lmc) {
  config::SubnetConfig config;
  config.lids.lmc = lmc;
  return config;
}

/// From 255 GIDs to 255, each of them the fabric's adapters in turn.
std::vector<std::uint8_t> all_to_all(const sa::Directory& directory, Multi asked, std::uint64_t mask) {
  asked.sources = asked.destinations = 255;
  mask |= 1U << Multi::kSources | 1U << Multi::kDestinations;
  auto bytes = Question{.method = Method::get_multi, .attribute = Multi::kRecord, .mask = mask}.with(asked);
  bytes.resize(wire::kSaDataOffset + Multi::kGidsAt);
  std::vector<const sa::EndPort*> hosts;
  for (const auto& port : directory.end_ports()) {
    if (!port.node->is_switch()) hosts.push_back(&port);
  }
  for (std::size_t i = 0; i < 510; ++i) {
    const auto gid = directory.gid_of(*hosts[i % hosts.size()]);
    bytes.insert(bytes.end(), gid.bytes.begin(), gid.bytes.end());
  }
  return bytes;
}

TEST(SaSlices, AShortQuestionThatComesLaterIsAnsweredBeforeALongOne) {
  test::SaLab lab("ft2:4", config_with_lmc(5));
  const auto& ports = lab.directory().end_ports();
  const auto greedy = ports.back().lid, modest = ports[ports.size() - 2].lid;
  test::SaDesk desk(lab);
  const auto pieces = desk.compute.works;
  desk.gsi.give({test::from(
      greedy, all_to_all(lab.directory(), Multi{.independence = 1}, 1U << Multi::kIndependence))});
  desk.gsi.give({test::from(
      modest, Question{.method = Method::get, .attribute = wire::NodeRecordId::kRecord, .mask = 1}.with(
                  wire::NodeRecordId{.lid = modest}))});
  lab.world().run_for(60s);

  EXPECT_THAT(desk.gsi.order, testing::ElementsAre(modest, greedy));
  EXPECT_GT(desk.compute.works - pieces, 2U);
}

/// One that takes seconds holds up no other one of some slices.
TEST(SaSlices, LongQuestionsTakeTurns) {
  test::SaLab lab("ft2:4", config_with_lmc(5));
  const auto& ports = lab.directory().end_ports();
  const auto greedy = ports.back().lid, modest = ports[ports.size() - 2].lid;
  test::SaDesk desk(lab);
  // No path has SL 9: all of them are looked at.
  const auto hopeless = all_to_all(lab.directory(), Multi{.sl = Sl{9}}, 1U << Multi::kSl);
  for (int i = 0; i < 20; ++i) desk.gsi.give({test::from(greedy, hopeless)});
  lab.world().run_for(20ms);
  ASSERT_TRUE(desk.gsi.order.empty());
  desk.gsi.give({test::from(
      modest, Question{.method = Method::get_table, .attribute = wire::NodeRecordId::kRecord}.with())});
  const auto pieces = desk.compute.works;
  lab.world().run_for(10ms);

  EXPECT_EQ(desk.gsi.answers[modest], (std::map<std::uint16_t, unsigned>{{0, 1}}));
  EXPECT_LE(desk.compute.works - pieces, 10U);
  EXPECT_FALSE(desk.gsi.answers.contains(greedy));
}

/// What a fabric could ever meet is found long before; who asks for the rest is told to ask for less.
TEST(SaSlices, AQuestionThatNothingMeetsEnds) {
  test::SaLab lab("ft2:4", config_with_lmc(5));
  const auto hopeless = all_to_all(lab.directory(), Multi{.sl = Sl{9}}, 1U << Multi::kSl);
  EXPECT_EQ(test::ask(lab.directory(), hopeless).status, wire::kSaNoResources);
}

TEST(SaSlices, ALongRequestIsDroppedWithOneLine) {
  test::SaLab lab("ft2:4");
  const auto& ports = lab.directory().end_ports();
  const auto lines = std::make_shared<std::vector<std::string>>();
  test::SaDesk desk(lab, {}, nullptr, 1ms,
                    log::Log(
                        {}, [lines](const log::Record&, std::string_view line) { lines->emplace_back(line); },
                        log::real_times()));
  auto bytes = all_to_all(lab.directory(), Multi{}, 0);
  for (const std::size_t size : {65'536U, 65'537U, 1'000'000U}) {
    bytes.resize(size);
    desk.gsi.give({test::from(ports.back().lid, bytes)});
    lab.world().run_for(1s);
  }
  EXPECT_EQ(desk.gsi.order.size(), 1U);
  EXPECT_EQ(
      std::ranges::count_if(*lines, [](const auto& line) { return line.contains("sa.request_too_long"); }),
      1);
}

TEST(SaSlices, WhatTheKernelHasNoRoomForIsAnsweredBusy) {
  test::SaLab lab("ft2:4");
  const auto& ports = lab.directory().end_ports();
  test::SaDesk desk(lab);
  desk.gsi.room = 1;
  const auto table = Question{.attribute = wire::NodeRecordId::kRecord}.with();
  desk.gsi.give({test::from(ports[0].lid, table), test::from(ports[1].lid, table)});
  lab.world().run_for(1s);

  ASSERT_EQ(desk.gsi.order.size(), 2U);
  const auto reply = test::reply_of(desk.gsi.last);
  EXPECT_EQ(reply.status, wire::kStatusBusy);
  EXPECT_EQ(reply.method, wire::Method::get_table_resp);
  EXPECT_EQ(reply.attribute, wire::NodeRecordId::kRecord);
  EXPECT_EQ(desk.gsi.last.size(), wire::kMadBytes);
  EXPECT_EQ(wire::decode<wire::MadHeader>(desk.gsi.last)->tid, Tid{0x1234});
}

/// All questions of a lab that take more than one lookup.
std::vector<std::vector<std::uint8_t>> many_questions(const sa::Directory& directory) {
  std::vector<std::vector<std::uint8_t>> all;
  for (const auto& kind : sa::record_kinds()) {
    for (const auto method : {Method::get, Method::get_table}) {
      all.push_back(Question{.method = method, .attribute = kind.attribute, .sm_key = 1}.with());
    }
    const auto lid = directory.end_ports().front().lid;
    all.push_back(
        Question{.attribute = kind.attribute, .mask = 1, .sm_key = 1}.with(wire::NodeRecordId{.lid = lid}));
  }
  const wire::PathRecord from{.dgid = {}, .sgid = directory.gid_of(directory.end_ports().back())};
  const auto sgid = std::uint64_t{1} << wire::PathRecord::kSgid;
  all.push_back(Question{.attribute = wire::PathRecord::kRecord, .mask = sgid}.with(from));
  all.push_back(Question{.attribute = wire::PathRecord::kRecord}.with());
  all.push_back(Question{.method = Method::get, .attribute = wire::PathRecord::kRecord}.with());
  all.push_back(all_to_all(directory, Multi{.independence = 1}, 1U << Multi::kIndependence));
  all.push_back(all_to_all(directory, Multi{}, 0));
  return all;
}

TEST(SaSlices, AnAnswerIsTheSameHoweverItIsCut) {
  test::SaLab lab("ft2:4", config_with_lmc(2));
  test::SaSession session(lab);
  const auto& ports = lab.directory().end_ports();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].node->is_switch()) continue;
    session.join(ports[i], test::mgid("ff12:401b:ffff::ffff:ffff"));
    session.join(ports[i], test::mgid(fmt::format("ff12:401b:ffff::{:x}", i + 1)));
  }
  const sa::Settings settings{.sm_key = 1};
  std::size_t cut = 0;
  for (const auto& bytes : many_questions(lab.directory())) {
    const auto whole = sa::answer(&lab.directory(), session.registry(), settings, bytes);
    ASSERT_TRUE(whole);
    const auto request = *sa::Request::parse(bytes);
    sa::TableCache tables;
    auto begun = sa::search_for({&lab.directory(), session.registry(), settings, tables}, request, {});
    auto* search = std::get_if<std::unique_ptr<sa::Search>>(&begun);
    if (search == nullptr) continue;
    for (;;) {
      sa::Slice slice(1);
      if ((*search)->go_on(slice)) break;
      ++cut;
    }
    const auto found = (*search)->take();
    std::vector<std::uint8_t> out;
    sa::reply(request, found.status, found.record_bytes, found.records(), out);
    EXPECT_EQ(out, *whole) << fmt::format("attribute 0x{:04x}", request.mad.attribute);
  }
  EXPECT_GT(cut, 1000U);
}

}  // namespace
}  // namespace smd
