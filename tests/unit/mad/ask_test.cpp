// SPDX-License-Identifier: Apache-2.0
#include "mad/transactions/ask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "mad/task_group.h"
#include "mad/virtual_clock.h"
#include "mad/wire/attributes.h"
#include "tests/support/scripted_transport.h"

namespace smd::mad {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class AskTest : public ::testing::Test {
 protected:
  void run() {
    do {
      io.restart();
      io.poll();
    } while (clock.advance());
  }
  template <class T>
  T run(asio::awaitable<T> question) {
    std::optional<T> result;
    asio::co_spawn(io, std::move(question), [&](const std::exception_ptr& thrown, T value) {
      result.emplace(thrown ? T{} : std::move(value));
    });
    run();
    return std::move(result).value();
  }

  asio::io_context io;
  VirtualClock clock;
  ScriptedTransport far{clock};
  Transactions tx{io.get_executor(), clock, far, Policy{}, 1};
  Target target{.route = DirectedPath{}, .node = Guid{5}, .m_key = 0x1122334455667788};
};

TEST_F(AskTest, GetReturnsTheAttributeOfTheAnswer) {
  wire::NodeInfo info;
  info.node = Guid{0xAB};
  info.num_ports = 36;
  far.script = [&](const Sent& sent) {
    auto reply = sent.mad.response();
    reply.put(info);
    return std::vector{Reply{.after = 1us, .bytes = {reply.bytes().begin(), reply.bytes().end()}}};
  };

  const auto answer = run(get<wire::NodeInfo>(tx, target));

  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, info);
  const auto& sent = far.sent.at(0).mad;
  EXPECT_EQ(sent.method(), wire::Method::get);
  EXPECT_EQ(sent.attribute(), wire::NodeInfo::kAttribute);
  EXPECT_EQ(sent.m_key(), target.m_key);
}

TEST_F(AskTest, SetSendsTheValueAndReturnsWhatTheNodeHasThen) {
  wire::SwitchInfo desired;
  desired.linear_fdb_top = 100;
  far.script = [](const Sent& sent) {
    auto reply = sent.mad.response();
    auto kept = reply.get<wire::SwitchInfo>();
    kept.life_time = 18;
    reply.put(kept);
    return std::vector{Reply{.after = 1us, .bytes = {reply.bytes().begin(), reply.bytes().end()}}};
  };

  const auto answer = run(set(tx, target, desired, 7));

  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->linear_fdb_top, 100);
  EXPECT_EQ(answer->life_time, 18);
  EXPECT_EQ(far.sent.at(0).mad.method(), wire::Method::set);
  EXPECT_EQ(far.sent.at(0).mad.modifier(), 7U);
}

std::vector<std::uint32_t> modifiers(const ScriptedTransport& far) {
  std::vector<std::uint32_t> all;
  for (const auto& sent : far.sent) all.push_back(sent.mad.modifier());
  return all;
}

TEST_F(AskTest, PortInfoGoesWithBit31) {
  far.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 1us)}; };

  const auto asked = run(get_port_info(&tx, target, PortNum{3}, ExtendedSpeeds::answered));

  EXPECT_TRUE(asked.info);
  EXPECT_FALSE(asked.refuses);
  EXPECT_THAT(modifiers(far), ElementsAre(0x80000003U));
}

TEST_F(AskTest, ANodeThatRefusesBit31IsAskedOnceWithoutAndThatIsLearnt) {
  far.script = [](const Sent& sent) {
    return std::vector{ScriptedTransport::answer(sent, 1us, sent.mad.modifier() >> 31U != 0 ? 0x1C : 0)};
  };

  const auto first = run(get_port_info(&tx, target, PortNum{3}, ExtendedSpeeds::answered));
  const auto second = run(set_port_info(&tx, target, wire::PortInfo{}, PortNum{4},
                                        first.refuses ? ExtendedSpeeds::refused : ExtendedSpeeds::answered));

  EXPECT_TRUE(first.info && second.info);
  EXPECT_TRUE(first.refuses && second.refuses);
  EXPECT_THAT(modifiers(far), ElementsAre(0x80000003U, 3U, 4U));
}

TEST_F(AskTest, ARefusalWithAndWithoutBit31TeachesNothing) {
  far.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 1us, 0x1C)}; };

  const auto asked = run(get_port_info(&tx, target, PortNum{200}, ExtendedSpeeds::answered));

  EXPECT_FALSE(asked.info);
  EXPECT_FALSE(asked.refuses);
}

asio::awaitable<void> note(Transactions* tx, Target target, std::vector<Fault>* faults) {
  const auto first = co_await get<wire::NodeInfo>(*tx, target);
  faults->push_back(first ? Fault::refused : first.error().fault);
  const auto second = co_await get<wire::NodeInfo>(*tx, target);
  faults->push_back(second ? Fault::refused : second.error().fault);
}

asio::awaitable<void> stop(TaskGroup* group) { co_await group->stop(); }

TEST_F(AskTest, AGroupThatStopsEndsItsQuestionsAsClosedAndAsksNoMore) {
  std::vector<Fault> faults;
  TaskGroup group(io.get_executor());
  group.spawn(note(&tx, target, &faults));
  io.poll();
  EXPECT_EQ(tx.open(), 1U);
  asio::co_spawn(io, stop(&group), [](const std::exception_ptr&) {});
  io.restart();
  io.poll();

  EXPECT_THAT(faults, ElementsAre(Fault::closed, Fault::closed));
  EXPECT_EQ(group.count(), 0U);
  EXPECT_EQ(tx.open(), 0U);
  EXPECT_THAT(far.sent, SizeIs(1));
  EXPECT_EQ(clock.now(), TimePoint{0s});
}

}  // namespace
}  // namespace smd::mad
