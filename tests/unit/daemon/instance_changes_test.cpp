// SPDX-License-Identifier: Apache-2.0
// Changes that the API gives to an instance, in real time.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "smd/daemon/instance.h"
#include "tests/support/instance_lab.h"

namespace smd::daemon {
namespace {

/// Its thread does not know yet that it has stood still when it takes the change.
TEST_F(AnInstance, AfterAStandstillNothingIsChangedUntilItIsKnownWhoIsMaster) {
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(shows([](const api::SubnetView& view) {
    return view.snapshot && view.snapshot->summary.state == sm::SweepState::up && view.policy_state;
  }));
  const auto make_change = [&] {
    const auto before = instance_->view()->policy_state;
    return instance_->change_policies({.before = before,
                                       .after = std::make_shared<policy::Policies>(*before->policies),
                                       .merged = before->merged,
                                       .what = "put",
                                       .partition = "blue"});
  };
  std::promise<void> begun;
  instance_->ping([&begun] {
    begun.set_value();
    std::this_thread::sleep_for(std::chrono::seconds(1));
  });
  begun.get_future().wait();
  EXPECT_EQ(make_change().get(), api::PolicyVerdict::not_master);
  EXPECT_EQ(device_.count("partition.changed"), 0U);
  EXPECT_GT(device_.count("sm.stood_still"), 0U);

  ASSERT_TRUE(shows([](const api::SubnetView& view) { return !view.sms->state.sets_held; }));
  EXPECT_EQ(make_change().get(), api::PolicyVerdict::done);
  EXPECT_EQ(device_.count("partition.changed"), 1U);
}

/// Its thread is busy: no sweep has followed the order when it is asked for.
TEST_F(AnInstance, APortIsShownAsDisabledFromTheAnswerOn) {
  device_.set([](Device& device) { device.missing.clear(); });
  policy::PortAt port;
  std::shared_ptr<const api::SubnetView> before;
  const auto disable = [&] {
    EXPECT_TRUE(shows([](const api::SubnetView& view) {
      return view.snapshot && view.snapshot->summary.state == sm::SweepState::up && view.policy_state &&
             view.sms && !view.sms->state.sets_held;
    }));
    before = instance_->view();
    const auto& nodes = before->snapshot->subnet->nodes;
    const auto leaf = std::ranges::find_if(nodes, [](const auto& node) { return node->is_switch(); });
    port = {(*leaf)->guid(), PortNum{3}};
    auto after = std::make_shared<policy::Policies>(*before->policy_state->policies);
    after->disabled_ports[port] = {.peer = {}, .by = "root", .since = 1000};
    auto verdict = instance_->change_policies(
        {.before = before->policy_state,
         .after = after,
         .merged = before->policy_state->merged,
         .what = "port.disabled",
         .partition = {},
         .port = api::PolicyChange::PortChange{.at = port, .name = "leaf000", .by = "root"}});
    instance_->ping([] { std::this_thread::sleep_for(std::chrono::seconds(1)); });
    return verdict.get();
  };

  // A busy machine may stand still a moment before it.
  auto verdict = disable();
  for (int i = 0; i < 10 && verdict != api::PolicyVerdict::done; ++i) verdict = disable();

  ASSERT_EQ(verdict, api::PolicyVerdict::done);
  const auto now = instance_->view();
  ASSERT_NE(now->snapshot->disabled, nullptr);
  EXPECT_TRUE(now->snapshot->disabled->contains(port));
  EXPECT_GT(now->epoch, before->epoch);
  EXPECT_FALSE(before->snapshot->disabled->contains(port)) << "what is read stays as it is";
}

TEST_F(AnInstance, UsesOfTokensThatComeTogetherAreAllKept) {
  device_.set([](Device& device) { device.missing.clear(); });
  ASSERT_TRUE(shows([](const api::SubnetView& view) {
    return view.snapshot && view.snapshot->summary.state == sm::SweepState::up && view.policy_state;
  }));
  const auto before = instance_->view()->policy_state;
  auto after = std::make_shared<policy::Policies>(*before->policies);
  after->tokens = {{"a", {.hash = "h"}}, {"b", {.hash = "i"}}, {"c", {.hash = "j"}}};
  const auto made = instance_->change_policies({.before = before,
                                                .after = after,
                                                .merged = before->merged,
                                                .what = "add",
                                                .partition = {},
                                                .token = "a"});
  made.wait();

  for (const auto* token : {"a", "b", "none", "a"}) instance_->token_used(token, 1000);

  const auto last_use = [](const api::SubnetView& view, const char* token) {
    return view.policy_state->policies->tokens.at(token).last_use;
  };
  EXPECT_TRUE(
      shows([&](const auto& view) { return last_use(view, "a") == 1000 && last_use(view, "b") == 1000; }));
  EXPECT_EQ(last_use(*instance_->view(), "c"), 0);
  EXPECT_EQ(device_.count("api.token"), 1U) << "a use is not said";
}

/// A standby may have what is taken back here, and be the next master.
TEST_F(AnInstanceWithAName, AChangeWithWhichTheMastershipMayEndIsNotAnsweredAsUndone) {
  device_.set([](Device& device) { device.missing.clear(); });
  const auto make_change = [&] {
    EXPECT_TRUE(shows([](const api::SubnetView& view) {
      return view.snapshot && view.snapshot->summary.state == sm::SweepState::up && view.policy_state &&
             view.sms && !view.sms->state.sets_held;
    }));
    const auto before = instance_->view()->policy_state;
    auto verdict = instance_->change_policies({.before = before,
                                               .after = std::make_shared<policy::Policies>(*before->policies),
                                               .merged = before->merged,
                                               .what = "put",
                                               .partition = "blue"});
    // Behind the change in the queue of its thread: it goes to the disk meanwhile.
    auto* const instance = instance_.get();
    instance->ping([instance] {
      instance->ping(
          [instance] { instance->ping([] { std::this_thread::sleep_for(std::chrono::seconds(1)); }); });
    });
    return verdict.get();
  };

  // A busy machine may stand still a moment before it or after it.
  auto verdict = make_change();
  for (int i = 0; i < 10 && verdict != api::PolicyVerdict::maybe_lost; ++i) verdict = make_change();

  EXPECT_EQ(verdict, api::PolicyVerdict::maybe_lost);
  EXPECT_TRUE(instance_->view()->policy_state->policies->tokens.contains("mon"));
}

}  // namespace
}  // namespace smd::daemon
