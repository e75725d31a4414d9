// SPDX-License-Identifier: Apache-2.0
// Two management classes on one GSI: subnet administration serves clients and sends reports while counters
// are read by performance management.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/gsi/performance.h"
#include "mad/wire/notice.h"
#include "tests/support/sa_lab.h"
#include "tests/support/served.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using wire::PortCounters;

asio::awaitable<void> read_again_and_again(mad::Transactions* tx, mad::Clock* clock,
                                           mad::PerformanceTarget target, unsigned* read) {
  for (;;) {
    const auto counters = co_await mad::get_performance(*tx, target, PortCounters{.port = PortNum{1}});
    if (!counters) co_return;
    ++*read;
    const bool slept = co_await clock->sleep(1ms);
    if (!slept) co_return;
  }
}

class SharedGsi : public testing::Test {
 protected:
  SharedGsi() {
    subscriber_->on_receive([this](std::span<mad::Received> batch) {
      for (auto& mad : batch) receive(mad);
    });
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
  void receive(mad::Received& mad) {
    auto header = *wire::decode<wire::MadHeader>(mad.bytes);
    if (mad.error != 0 || header.method != wire::Method::report) return;
    ++reports_;
    if (!answers_) return;
    header.method = wire::Method::report_resp;
    wire::encode(header, mad.bytes);
    EXPECT_TRUE(subscriber_->send(mad.bytes, served_.address(), 0ms));
  }
  void pull_and_cable() {
    world_.fabric().faults().link_down({"h00005", PortNum{1}});
    world_.run_for(500ms);
    world_.fabric().faults().link_up({"h00005", PortNum{1}});
    world_.run_for(500ms);
  }
  /// The agent of a switch.
  mad::PerformanceTarget a_switch() {
    const auto& nodes = served_.last().subnet->nodes;
    const auto found = std::ranges::find_if(nodes, [](const auto& node) { return node->is_switch(); });
    return {.route = {.lid = (*found)->ports[0].info.lid, .qp = 1, .qkey = mad::kQp1QKey},
            .node = (*found)->guid()};
  }
  std::size_t subscriptions() { return served_.registry().subscriptions().size(); }

  base::Fabric fabric_ = test::spec("ft2:4");
  sim::World world_{fabric_};
  test::Served served_{world_, nullptr, sa::Settings{}};
  std::unique_ptr<sim::Transport> subscriber_ =
      world_.transport(sim::Place{"h00003", PortNum{1}}, sim::Interface::gsi);
  mad::Transactions perf_{
      world_.io().get_executor(), world_.clock(), **served_.classes().add(mad::performance_class()), {}, 11};
  bool answers_ = true;
  std::size_t reports_ = 0;
};

TEST_F(SharedGsi, CountersAreReadWhileSubscribersGetTheirReports) {
  unsigned read = 0;
  mad::TaskGroup group(world_.io().get_executor());
  for (int i = 0; i < 4; ++i) group.spawn(read_again_and_again(&perf_, &world_.clock(), a_switch(), &read));
  pull_and_cable();

  EXPECT_GE(reports_, 2U) << "the port went and came";
  EXPECT_EQ(subscriptions(), 1U);
  EXPECT_GT(read, 1000U);
  EXPECT_EQ(perf_.counters().total(&mad::AttributeCounters::unanswered), 0U);
  EXPECT_EQ(served_.classes().dropped(), 0U);
  world_.run(group.stop());
}

TEST_F(SharedGsi, ASubscriberThatDoesNotAnswerCostsCountersNothing) {
  answers_ = false;
  unsigned read = 0;
  mad::TaskGroup group(world_.io().get_executor());
  for (int i = 0; i < 4; ++i) group.spawn(read_again_and_again(&perf_, &world_.clock(), a_switch(), &read));
  pull_and_cable();
  world_.run_for(5s);

  EXPECT_GE(reports_, sa::Reports::kTries);
  EXPECT_EQ(subscriptions(), 0U);
  EXPECT_EQ(perf_.counters().total(&mad::AttributeCounters::retries), 0U);
  EXPECT_GT(read, 1000U);
  world_.run(group.stop());
}

}  // namespace
}  // namespace smd
