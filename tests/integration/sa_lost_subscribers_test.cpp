// SPDX-License-Identifier: Apache-2.0
// Subscribers that did not answer for a while and are alive: they are asked to register again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/wire/notice.h"
#include "tests/support/sa_lab.h"
#include "tests/support/served.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

/// h00003 subscribes to everything; what makes reports is that h00005 is cabled and pulled.
class SaLostSubscribers : public testing::Test {
 protected:
  SaLostSubscribers() {
    subscriber_->on_receive([this](std::span<mad::Received> batch) {
      for (const auto& mad : batch) {
        const auto header = *wire::decode<wire::MadHeader>(mad.bytes);
        if (mad.error != 0 || header.method != wire::Method::report) continue;
        ++reports_;
        unanswered_.push_back(mad.bytes);
      }
      if (answers_) answer();
    });
    guid_ = subscriber_->local()->guid;
    subscribe();
    EXPECT_EQ(subscriptions(), 1U);
    served_.asked();
  }

  void subscribe() {
    const wire::InformInfo everything{.gid = {},
                                      .lid_begin = Lid{0xFFFF},
                                      .lid_end = {},
                                      .is_generic = 1,
                                      .subscribe = 1,
                                      .type = 0xFFFF,
                                      .trap = 0xFFFF,
                                      .qp = 1,
                                      .producer = 0xFFFFFF};
    const test::Question set{.method = wire::Method::set, .attribute = wire::InformInfo::kAttribute};
    EXPECT_TRUE(subscriber_->send(set.with(everything), served_.address(), 1000ms));
    world_.run_for(500ms);
  }
  void answer() {
    for (auto& report : std::exchange(unanswered_, {})) {
      auto header = *wire::decode<wire::MadHeader>(report);
      header.method = wire::Method::report_resp;
      wire::encode(header, report);
      EXPECT_TRUE(subscriber_->send(report, served_.address(), 0ms));
    }
  }
  void event() {
    world_.fabric().faults().link_down({"h00005", PortNum{1}});
    world_.run_for(500ms);
    world_.fabric().faults().link_up({"h00005", PortNum{1}});
    world_.run_for(500ms);
  }
  std::size_t subscriptions() { return served_.registry().subscriptions().size(); }
  /// How often the subscriber's port was asked to register again since the last call.
  std::size_t asked() {
    const auto ports = served_.asked();
    return static_cast<std::size_t>(std::ranges::count(ports, guid_));
  }

  base::Fabric fabric_ = test::spec("ft2:4");
  /// A kernel drops answers that come later than the report was open for; emulations hand them on.
  static sim::Options without_kernel() {
    auto options = sim::World::default_options();
    options.kernel = {};
    return options;
  }
  sim::World world_{fabric_, without_kernel()};
  store::MemoryStore store_;
  test::Served served_{world_, &store_, sa::Settings{}};
  std::unique_ptr<sim::Transport> subscriber_ =
      world_.transport(sim::Place{"h00003", PortNum{1}}, sim::Interface::gsi);
  Guid guid_;
  bool answers_ = true;
  std::size_t reports_ = 0;
  std::vector<std::vector<std::uint8_t>> unanswered_;
};

/// A host whose programs stand still while its adapter answers: it is told at once, and sees it when it goes
/// on.
TEST_F(SaLostSubscribers, AHostThatStoodStillIsAskedToRegisterAgain) {
  answers_ = false;
  event();
  world_.run_for(5s);
  ASSERT_EQ(subscriptions(), 0U);
  EXPECT_EQ(asked(), 1U);

  answers_ = true;
  subscribe();
  const auto before = reports_;
  event();
  EXPECT_GT(reports_, before);
  EXPECT_EQ(subscriptions(), 1U);
}

/// No sweep looks at a host whose link is up: that it answers again must be seen without one.
TEST_F(SaLostSubscribers, AHostThatAnsweredNothingIsAskedWhenItAnswersAgain) {
  answers_ = false;
  world_.fabric().faults().silent("h00003");
  event();
  world_.run_for(10s);
  ASSERT_EQ(subscriptions(), 0U);
  EXPECT_EQ(asked(), 0U);

  world_.fabric().faults().silent("h00003", false);
  world_.run_for(20s);
  EXPECT_EQ(asked(), 1U);
}

TEST_F(SaLostSubscribers, ALateAnswerIsASignOfLife) {
  answers_ = false;
  world_.fabric().faults().silent("h00003");
  event();
  world_.run_for(600s);
  ASSERT_EQ(subscriptions(), 0U);

  world_.fabric().faults().silent("h00003", false);
  answer();
  world_.run_for(2s);
  EXPECT_EQ(asked(), 1U);
}

/// A program that subscribes whenever it is asked and answers no report: its host is not asked all the time.
TEST_F(SaLostSubscribers, APortWhoseReportsAreNeverAnsweredIsAskedMoreAndMoreSeldom) {
  answers_ = false;
  std::size_t times = 0;
  for (int minutes = 0; minutes < 60; ++minutes) {
    event();
    world_.run_for(59s);
    const auto now = asked();
    times += now;
    if (now != 0) subscribe();
  }
  EXPECT_GE(times, 3U);
  EXPECT_LE(times, 7U) << "after 1, 2, 4 ... minutes";
}

TEST_F(SaLostSubscribers, OthersAreNotAsked) {
  answers_ = false;
  event();
  world_.run_for(2s);
  served_.asked();  // h00005
  world_.run_for(60s);
  EXPECT_THAT(served_.asked(), ElementsAre(guid_));
}

}  // namespace
}  // namespace smd
