// SPDX-License-Identifier: Apache-2.0
// A client asks a standby for a change: the master makes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/replica_site.h"

namespace smd {
namespace {

using replica::Call;
using replica::CallAnswer;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::SizeIs;

constexpr auto* kMasterHost = "h00000";
constexpr auto* kStandbyHost = "h00003";
using Result = std::expected<CallAnswer, std::string>;

config::SubnetConfig priority_of(std::uint8_t priority) {
  config::SubnetConfig config;
  config.sm.priority = priority;
  return config;
}

/// Puts one service into the master's registry.
void serve(test::ReplicaSm& master, std::uint64_t id) {
  master.does = [&master, id](const Call& call) {
    master.register_later([id](sa::Registry& registry) {
      const auto gid = Gid::of(0xfe80000000000000, Guid{7});
      registry.put_service({.id = id, .gid = gid, .pkey = kDefaultPKey},
                           {.record = {.id = id, .gid = gid}, .owner = Guid{7}, .ends = 0});
    });
    return CallAnswer{.status = 201, .headers = {{"ETag", "t"}}, .body = call.body + "!"};
  };
}

class Calls : public testing::Test {
 protected:
  test::ReplicaSite site_{"ft2:4"};
  void start_pair() {
    site_.start(kMasterHost, priority_of(5), {kStandbyHost});
    site_.start(kStandbyHost, priority_of(3), {kMasterHost});
    site_.world.run_for(seconds(3));
    ASSERT_TRUE(site_[kMasterHost].is_master());
    ASSERT_FALSE(site_[kStandbyHost].is_master());
  }
  /// Asks `host`; the result is there when the master has answered.
  std::shared_ptr<std::optional<Result>> ask(const std::string& host, std::string body = "new") {
    auto result = std::make_shared<std::optional<Result>>();
    site_[host].store().call(
        {.caller = "client", .role = "operator", .method = "POST", .body = std::move(body)},
        [result](Result made) { *result = std::move(made); });
    EXPECT_FALSE(*result) << "not within the call";
    return result;
  }
  std::string reason(const std::shared_ptr<std::optional<Result>>& result) {
    if (!*result) return "no answer";
    return **result ? "status " + std::to_string((**result)->status) : (*result)->error();
  }
};

TEST_F(Calls, AnAnswerComesWhenTheChangeIsOnTheStandbysDisk) {
  start_pair();
  serve(site_[kMasterHost], 0x77);
  site_.network.delay = milliseconds(20);

  const auto result = ask(kStandbyHost);
  for (unsigned i = 0; i < 200 && !*result; ++i) site_.world.run_for(milliseconds(1));

  ASSERT_TRUE(*result && **result) << reason(result);
  EXPECT_EQ((**result)->status, 201U);
  EXPECT_EQ((**result)->body, "new!");
  EXPECT_THAT((**result)->headers, SizeIs(1));
  EXPECT_EQ(site_.disks[kStandbyHost].registry()->services().size(), 1U) << "before the client is told";
}

/// Nothing that was answered goes with the master.
TEST_F(Calls, WhatWasAnsweredSurvivesTheMaster) {
  start_pair();
  serve(site_[kMasterHost], 0x77);
  const auto result = ask(kStandbyHost);
  while (!*result) site_.world.run_for(milliseconds(1));
  site_.kill(kMasterHost);
  site_.world.run_for(seconds(5));
  ASSERT_TRUE(site_[kStandbyHost].is_master());
  EXPECT_EQ(site_[kStandbyHost].registry().services().size(), 1U);
  const auto own = ask(kStandbyHost);
  site_.world.run_for(seconds(1));
  EXPECT_THAT(reason(own), HasSubstr("has just become master"));
}

/// As an OpenSM is: it can never make the change.
TEST_F(Calls, AMasterThatIsNoPeerIsNotAsked) {
  start_pair();
  EXPECT_TRUE(site_[kStandbyHost].store().view()->forwards);
  site_.start("h00001", priority_of(14), {});
  site_.world.run_for(seconds(20));
  ASSERT_TRUE(site_["h00001"].is_master());
  EXPECT_FALSE(site_[kStandbyHost].store().view()->forwards);
  EXPECT_FALSE(site_[kMasterHost].store().view()->forwards);
}

/// The second peer never runs, and is tried again as well.
TEST_F(Calls, TheReasonIsThatOfThePeerWhichIsMaster) {
  site_.start(kMasterHost, priority_of(5), {kStandbyHost});
  site_.start(kStandbyHost, priority_of(3), {kMasterHost, "h00001"});
  site_.world.run_for(seconds(3));
  ASSERT_EQ(site_[kStandbyHost].store().view()->role, replica::ReplicaView::Role::current);
  site_.network.cut = true;
  site_.network.break_all();
  for (unsigned i = 0; i < 60; ++i) {
    site_.world.run_for(milliseconds(200));
    const auto none = ask(kStandbyHost);
    site_.world.run_for(milliseconds(10));
    ASSERT_THAT(reason(none), HasSubstr(std::string(kMasterHost) + ": "));
  }
}

TEST_F(Calls, ADeadOrSlowMasterIsSaidAndNothingWaitsForEver) {
  start_pair();
  site_[kMasterHost].takes = seconds(2);
  const auto lost = ask(kStandbyHost);
  site_.world.run_for(seconds(1));
  site_.network.cut = true;
  site_.network.break_all();
  site_.world.run_for(milliseconds(100));
  EXPECT_THAT(reason(lost), HasSubstr("the connection to the master was lost"));
  EXPECT_THAT(reason(lost), HasSubstr("not known"));
  const auto none = ask(kStandbyHost);
  site_.world.run_for(milliseconds(10));
  EXPECT_THAT(reason(none), HasSubstr("no connection to the master"));
  EXPECT_THAT(reason(none), HasSubstr("no route to host"));

  site_.network.cut = false;
  site_.world.run_for(seconds(12));
  site_[kMasterHost].takes = seconds(60);
  const auto slow = ask(kStandbyHost);
  site_.world.run_for(milliseconds(4900));
  EXPECT_EQ(reason(slow), "no answer");
  site_.world.run_for(milliseconds(200));
  EXPECT_THAT(reason(slow), HasSubstr("has not answered in 5 s"));
}

/// A machine that hangs breaks no connection: who has asked learns of it when this SM is master.
TEST_F(Calls, ACallToAMasterThatHangsEndsWithItsMastership) {
  start_pair();
  site_[kMasterHost].takes = seconds(60);
  const auto hung = ask(kStandbyHost);
  site_.world.run_for(milliseconds(100));
  site_.world.fabric().faults().link_down({kMasterHost, PortNum{1}});
  for (unsigned i = 0; i < 40 && !site_[kStandbyHost].is_master(); ++i)
    site_.world.run_for(milliseconds(100));
  ASSERT_TRUE(site_[kStandbyHost].is_master());
  site_.world.run_for(milliseconds(300));

  EXPECT_THAT(reason(hung), HasSubstr("this SM is master now"));
}

TEST_F(Calls, AsManyAsFitWait) {
  start_pair();
  site_[kMasterHost].takes = milliseconds(500);
  std::vector<std::shared_ptr<std::optional<Result>>> all;
  for (std::size_t i = 0; i < replica::kMostCalls + 3; ++i) all.push_back(ask(kStandbyHost));
  site_.world.run_for(seconds(2));
  std::size_t done = 0;
  for (const auto& one : all) done += reason(one) == "status 204" ? 1 : 0;
  EXPECT_EQ(done, replica::kMostCalls);
  EXPECT_THAT(reason(all.back()), HasSubstr("16 changes wait"));
  const auto next = ask(kStandbyHost);
  site_.world.run_for(seconds(1));
  EXPECT_EQ(reason(next), "status 204");
}

/// What no caller waits for fails no change of a client, and is sent once.
TEST_F(Calls, WhatTheMasterIsToldTakesNoPlaceOfAChange) {
  start_pair();
  std::size_t heard = 0;
  site_[kMasterHost].takes = milliseconds(500);
  site_[kMasterHost].does = [&heard](const Call& call) {
    if (call.caller == "told") ++heard;
    return CallAnswer{.status = 204};
  };
  const auto tell = [&](const std::string& host) {
    return site_[host].store().tell({.caller = "told", .role = "viewer", .method = "USE"});
  };
  for (std::size_t i = 0; i < replica::kMostTold; ++i) EXPECT_TRUE(tell(kStandbyHost));
  EXPECT_FALSE(tell(kStandbyHost)) << "too many in a second";
  std::vector<std::shared_ptr<std::optional<Result>>> all;
  for (std::size_t i = 0; i < replica::kMostCalls; ++i) all.push_back(ask(kStandbyHost));
  site_.world.run_for(seconds(2));
  for (const auto& one : all) EXPECT_EQ(reason(one), "status 204");
  EXPECT_EQ(heard, replica::kMostTold);

  EXPECT_FALSE(tell(kMasterHost));
  site_.network.cut = true;
  site_.network.break_all();
  site_.world.run_for(milliseconds(100));
  EXPECT_FALSE(tell(kStandbyHost)) << "no connection";
}

/// Sends what it is told to, and says nothing more.
asio::awaitable<void> say_frames(replica::ByteStream* stream, std::vector<replica::Frame> frames) {
  for (const auto& frame : frames)
    co_await stream->write(std::make_shared<const replica::Bytes>(replica::encode(frame)));
}
asio::awaitable<void> hear_frames(replica::ByteStream* stream, std::vector<replica::Frame>* heard) {
  replica::FrameReader reader;
  for (;;) {
    const auto bytes = co_await stream->read();
    if (bytes.empty()) co_return;
    reader.add(bytes);
    for (auto frame = reader.next(); frame && *frame; frame = reader.next()) heard->push_back(**frame);
  }
}
asio::awaitable<void> take_stream(replica::Network* network, replica::ByteStreamPtr* into) {
  auto stream = co_await network->accept();
  if (stream) *into = std::move(*stream);
}

/// The master's smd knows nothing of calls, and would end the connection.
TEST_F(Calls, AMasterOfAnEarlierVersionIsSentNone) {
  site_.start(kMasterHost, priority_of(5), {});
  const auto old = site_.network.at("old");
  replica::ByteStreamPtr end;
  mad::TaskGroup tasks(site_.world.io().get_executor());
  tasks.spawn(take_stream(old.get(), &end));
  site_.start(kStandbyHost, priority_of(3), {"old"});
  ASSERT_TRUE(end);
  const auto master = site_[kMasterHost].manager().sms()->state.self.guid;
  std::vector<replica::Frame> heard;
  tasks.spawn(say_frames(end.get(),
                         {replica::Hello{.version = 2, .subnet = "test", .port = master, .program = "smd 1"},
                          replica::Role{.master = true, .port = master, .latest = {1, 0}}}));
  tasks.spawn(hear_frames(end.get(), &heard));
  site_.world.run_for(seconds(1));

  EXPECT_FALSE(site_[kStandbyHost].store().view()->forwards);
  const auto result = ask(kStandbyHost);
  site_.world.run_for(seconds(1));
  EXPECT_THAT(reason(result), HasSubstr("too old"));
  for (const auto& frame : heard) EXPECT_FALSE(std::holds_alternative<Call>(frame));
  site_.world.run(tasks.stop());
}

/// A peer that is no standby of ours, or that asks without reading.
TEST_F(Calls, AWrongPeerIsShutOut) {
  site_.start(kMasterHost, priority_of(5), {});
  const auto peer = site_.network.at("peer");
  mad::TaskGroup tasks(site_.world.io().get_executor());
  for (const bool greets : {false, true}) {
    auto made = site_.world.run(peer->connect(kMasterHost));
    ASSERT_TRUE(made);
    std::vector<replica::Frame> frames;
    if (greets) frames.emplace_back(replica::Hello{.subnet = "test", .port = Guid{5}, .program = "smd"});
    for (unsigned i = 0; i < 3; ++i) frames.emplace_back(Call{.id = i, .method = "POST"});
    std::vector<replica::Frame> heard;
    tasks.spawn(say_frames(made->get(), frames));
    tasks.spawn(hear_frames(made->get(), &heard));
    site_.world.run_for(seconds(1));
    std::size_t answers = 0;
    for (const auto& frame : heard) answers += std::holds_alternative<CallAnswer>(frame) ? 1 : 0;
    EXPECT_EQ(answers, greets ? 3U : 0U);
    (*made)->close();
    site_.world.run_for(milliseconds(10));
  }
  site_.world.run(tasks.stop());
}

}  // namespace
}  // namespace smd
