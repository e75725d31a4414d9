// SPDX-License-Identifier: Apache-2.0
// Reports to subscribers that take their time, in virtual time.
#include <gtest/gtest.h>

#include <set>

#include "mad/sim/world.h"
#include "mad/wire/mad.h"
#include "smd/sa/reports.h"
#include "tests/support/served.h"

namespace smd {
namespace {

using namespace std::chrono_literals;

/// Takes all; remembers the transactions.
class Postbox final : public mad::Transport {
 public:
  void on_receive(Sink /*sink*/) override {}
  std::expected<void, mad::TransportError> send(std::span<const std::uint8_t> mad,
                                                const mad::Route& /*route*/,
                                                std::chrono::milliseconds /*give_up*/) override {
    sent.push_back(wire::decode<wire::MadHeader>(mad)->tid.value());
    return {};
  }
  std::expected<mad::LocalPort, mad::TransportError> local() const override { return mad::LocalPort{}; }
  std::vector<std::uint64_t> sent;
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
  ~SaReports() override { world_.run(reports_.stop()); }

  base::Fabric fabric_ = test::spec("ft2:4");
  sim::World world_{fabric_};
  std::shared_ptr<const std::vector<std::uint8_t>> mad_ = std::make_shared<std::vector<std::uint8_t>>(
      sa::report_of({.notice = {.is_generic = true, .trap = 64}, .issuer = {}}));
  Postbox postbox_;
  std::vector<sa::Addressee> gone_;
  sa::Reports reports_{
      world_.io().get_executor(), postbox_, world_.clock(), {}, [this](const sa::Addressee& one) {
        gone_.push_back(one);
      }};
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
  EXPECT_EQ(std::set(postbox_.sent.begin(), postbox_.sent.end()).size(), 1U);
  EXPECT_EQ(postbox_.sent.size(), sa::Reports::kTries);
  EXPECT_EQ(gone_, (std::vector<sa::Addressee>{{Guid{5}, 1}}));
}

TEST_F(SaReports, RoomShrinksByWhatWaits) {
  const auto before = reports_.room();
  for (std::size_t i = 0; i < sa::Reports::kOpen + 10; ++i) add(report(1000ms));
  EXPECT_EQ(reports_.room(), before - 10);
}

}  // namespace
}  // namespace smd
