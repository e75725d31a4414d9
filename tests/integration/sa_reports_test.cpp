// SPDX-License-Identifier: Apache-2.0
// Reports to subscribers that take their time, in virtual time.
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <set>

#include "mad/sim/drivers/world.h"
#include "mad/wire/mad.h"
#include "smd/sa/reports.h"
#include "tests/support/served.h"

namespace smd {
namespace {

using namespace std::chrono_literals;

struct Sent {
  std::uint64_t tid = 0;
  Lid to;
};

/// Takes all; remembers the transactions.
class Postbox final : public mad::Transport {
 public:
  void on_receive(Sink /*sink*/) override {}
  std::expected<void, mad::TransportError> send(std::span<const std::uint8_t> mad, const mad::Route& route,
                                                std::chrono::milliseconds /*give_up*/) override {
    sent.push_back(wire::decode<wire::MadHeader>(mad)->tid.value());
    unanswered.push_back({.tid = sent.back(), .to = std::get<mad::LidRoute>(route).lid});
    return {};
  }
  std::expected<mad::LocalPort, mad::TransportError> local() const override { return mad::LocalPort{}; }
  std::vector<std::uint64_t> sent;
  std::vector<Sent> unanswered;
};

class SaReports : public testing::Test {
 protected:
  sa::Report report(std::chrono::milliseconds wait) const {
    return {.mad = mad_, .to = {.lid = Lid{7}, .qp = 1}, .subscriber = {Guid{5}, 1}, .wait = wait};
  }
  void add(sa::Report one) {
    sa::ReportBatch batch;
    batch.reports.push_back(std::move(one));
    reports_.add(std::move(batch));
  }
  /// An event that `subscribers` ports are told of, of LIDs 1 and so on.
  void tell(std::uint16_t subscribers) {
    sa::ReportBatch batch;
    for (std::uint16_t lid = 1; lid <= subscribers; ++lid) {
      batch.reports.push_back(
          {.mad = mad_, .to = {.lid = Lid{lid}, .qp = 1}, .subscriber = {Guid{lid}, 1}, .wait = 1000ms});
    }
    reports_.add(std::move(batch));
  }
  /// Goes on for `time`, in which the ports from `first` on answer within a millisecond. How many answers.
  std::size_t answer(Lid first, std::chrono::milliseconds time) {
    std::size_t answers = 0;
    for (; time > 0ms; time -= 1ms) {
      world_.run_for(1ms);
      for (const auto& one : std::exchange(postbox_.unanswered, {})) {
        if (one.to < first) continue;
        reports_.answered(one.tid);
        ++answers;
      }
    }
    return answers;
  }

  base::Fabric fabric_ = test::spec("ft2:4");
  sim::World world_{fabric_};
  std::shared_ptr<const std::vector<std::uint8_t>> mad_ = std::make_shared<std::vector<std::uint8_t>>(
      sa::report_of({.notice = {.is_generic = true, .trap = 64}, .issuer = {}}));
  Postbox postbox_;
  std::vector<sa::Addressee> gone_;
  sa::Reports reports_{
      postbox_, world_.clock(), {}, [this](const sa::Addressee& one) { gone_.push_back(one); }};
};

TEST_F(SaReports, ASubscriberHasTheTimeThatItAskedFor) {
  EXPECT_EQ(sa::report_wait(0), 1000ms);
  EXPECT_EQ(sa::report_wait(20), 4294ms);
  EXPECT_EQ(sa::report_wait(31), 10'000ms);
  EXPECT_EQ(sa::report_wait(255), 10'000ms);
  add(report(sa::report_wait(20)));
  world_.run_for(4s);
  EXPECT_EQ(postbox_.sent.size(), 1U);
  reports_.answered(postbox_.sent.front());
  world_.run_for(60s);
  EXPECT_EQ(postbox_.sent.size(), 1U);
  EXPECT_TRUE(gone_.empty());
}

TEST_F(SaReports, AnAnswerToAnEarlierTryIsAnAnswer) {
  add(report(1000ms));
  world_.run_for(1500ms);
  ASSERT_EQ(postbox_.sent.size(), 2U);
  reports_.answered(postbox_.sent.front());
  world_.run_for(60s);
  EXPECT_EQ(postbox_.sent.size(), 2U);
  EXPECT_TRUE(gone_.empty());
}

TEST_F(SaReports, WhoNeverAnswersIsGoneAfterFourTries) {
  add(report(1000ms));
  world_.run_for(60s);
  EXPECT_EQ(postbox_.sent.size(), sa::Reports::kTries);
  EXPECT_EQ(std::set(postbox_.sent.begin(), postbox_.sent.end()).size(), sa::Reports::kTries)
      << "the kernel refuses a transaction while it waits for the answer to an earlier one";
  EXPECT_EQ(gone_, (std::vector<sa::Addressee>{{Guid{5}, 1}}));
}

TEST_F(SaReports, RoomShrinksByWhatWaits) {
  const auto before = reports_.room();
  for (std::size_t i = 0; i < sa::Reports::kFirst + 10; ++i) add(report(1000ms));
  EXPECT_EQ(reports_.room(), before - 10);
}

/// 40 events, and 33 subscribers of which one is alive.
TEST_F(SaReports, ALiveSubscriberDoesNotWaitForDeadOnes) {
  for (int events = 0; events < 40; ++events) tell(33);

  EXPECT_EQ(answer(Lid{33}, 900ms), 40U) << "before anything is sent again";
  world_.run_for(60s);
  EXPECT_EQ(gone_.size(), 32U);
}

/// A part of a large fabric loses its power: its ports are subscribers until they have missed four reports.
TEST_F(SaReports, ThousandsOfDeadSubscribersDelayLiveOnesBySomeMilliseconds) {
  constexpr std::uint16_t kAll = 10'000, kLive = 5;
  tell(kAll);
  ASSERT_EQ(answer(Lid{1}, 2s), kAll);

  tell(kAll);
  EXPECT_EQ(answer(Lid{kAll - kLive + 1}, 900ms), kLive) << "before anything is sent again";
  for (int events = 0; events < 20; ++events) tell(kAll);
  EXPECT_EQ(answer(Lid{kAll - kLive + 1}, 50ms), 20 * kLive) << "those that answer come first";
}

TEST_F(SaReports, ASubscriberThatDoesNotAnswerGetsOneReportAtATime) {
  for (int events = 0; events < 100; ++events) tell(1);
  ASSERT_EQ(answer(Lid{1}, 100ms), 100U);
  for (int events = 0; events < 100; ++events) tell(1);

  EXPECT_EQ(answer(Lid{2}, 10s), 0U);
  EXPECT_EQ(postbox_.sent.size(), 100U + sa::Reports::kWindow + sa::Reports::kTries - 1);
  EXPECT_EQ(gone_, (std::vector<sa::Addressee>{{Guid{1}, 1}}));
}

TEST_F(SaReports, ReportsThatWaitForTheSilentTakeNoRoom) {
  const auto before = reports_.room();
  for (int events = 0; events < 100; ++events) tell(1);
  EXPECT_LT(reports_.room(), before);
  world_.run_for(1500ms);
  EXPECT_EQ(reports_.room(), before);
}

/// A kernel with flow control, through Transport: 14 reports at once, each until its answer or its time-out;
/// an answer that comes later is dropped.
class Window final : public mad::Transport {
 public:
  explicit Window(mad::Clock& clock) : clock_(clock) {}
  void on_receive(Sink /*sink*/) override {}
  std::expected<void, mad::TransportError> send(std::span<const std::uint8_t> mad, const mad::Route& route,
                                                std::chrono::milliseconds give_up) override {
    if (room() == 0) {
      ++refused;
      return std::unexpected(mad::TransportError{EAGAIN, "too much on the way"});
    }
    ++sent;
    const auto tid = wire::decode<wire::MadHeader>(mad)->tid.value();
    open_[tid] = {clock_.now() + give_up, clock_.now(), std::get<mad::LidRoute>(route).lid};
    return {};
  }
  std::expected<mad::LocalPort, mad::TransportError> local() const override { return mad::LocalPort{}; }
  std::size_t places() const override { return mad::kGsiPlaces; }
  std::size_t room() const override {
    std::erase_if(open_, [this](const auto& row) { return row.second.until <= clock_.now(); });
    return places() - std::min(places(), open_.size());
  }
  /// Answers that arrive now, of those from `first` on; they take a millisecond.
  std::vector<std::uint64_t> answers(Lid first) {
    std::vector<std::uint64_t> tids;
    for (const auto& [tid, one] : open_) {
      if (one.to >= first && one.sent < clock_.now() && one.until > clock_.now()) tids.push_back(tid);
    }
    for (const auto tid : tids) open_.erase(tid);
    return tids;
  }
  std::size_t sent = 0, refused = 0;

 private:
  struct Open {
    mad::TimePoint until{}, sent{};
    Lid to;
  };
  mad::Clock& clock_;
  mutable std::map<std::uint64_t, Open> open_;
};

class SaReportsInAWindow : public testing::Test {
 protected:
  static constexpr std::uint16_t kAll = 200;

  void tell() {
    sa::ReportBatch batch;
    for (std::uint16_t lid = 1; lid <= kAll; ++lid) {
      batch.reports.push_back(
          {.mad = mad_, .to = {.lid = Lid{lid}, .qp = 1}, .subscriber = {Guid{lid}, 1}, .wait = 1000ms});
    }
    reports_.add(std::move(batch));
  }
  /// The ports from `first` on answer. How many answers.
  std::size_t answer(Lid first, std::chrono::milliseconds time) {
    std::size_t answers = 0;
    for (; time > 0ms; time -= 1ms) {
      world_.run_for(1ms);
      for (const auto tid : window_.answers(first)) {
        reports_.answered(tid);
        ++answers;
      }
    }
    return answers;
  }

  base::Fabric fabric_ = test::spec("ft2:4");
  sim::World world_{fabric_};
  std::shared_ptr<const std::vector<std::uint8_t>> mad_ = std::make_shared<std::vector<std::uint8_t>>(
      sa::report_of({.notice = {.is_generic = true, .trap = 64}, .issuer = {}}));
  Window window_{world_.clock()};
  std::vector<sa::Addressee> gone_;
  sa::Reports reports_{
      window_, world_.clock(), {}, [this](const sa::Addressee& one) { gone_.push_back(one); }};
};

TEST_F(SaReportsInAWindow, EachSubscriberIsToldOnceAndNoneIsGone) {
  tell();
  EXPECT_EQ(answer(Lid{1}, 100ms), kAll);
  tell();
  EXPECT_EQ(answer(Lid{1}, 100ms), kAll);
  world_.run_for(60s);

  EXPECT_EQ(window_.sent, 2U * kAll);
  EXPECT_EQ(window_.refused, 0U);
  EXPECT_TRUE(gone_.empty());
}

TEST_F(SaReportsInAWindow, DeadSubscribersHoldAQuarterOfIt) {
  constexpr std::uint16_t kDead = 60;
  tell();
  ASSERT_EQ(answer(Lid{1}, 100ms), kAll);

  tell();
  EXPECT_EQ(answer(Lid{kDead + 1}, 500ms), kAll - kDead) << "before anything is sent again";
  for (int events = 0; events < 20; ++events) {
    tell();
    EXPECT_EQ(answer(Lid{kDead + 1}, 200ms), kAll - kDead);
  }
  for (int minutes = 0; minutes < 3; ++minutes) answer(Lid{kDead + 1}, 60s);
  EXPECT_EQ(gone_.size(), kDead);
  EXPECT_EQ(window_.refused, 0U);
}

}  // namespace
}  // namespace smd
