// SPDX-License-Identifier: Apache-2.0
// Requests of classes other than subnet management.
#include "mad/gsi/performance.h"
#include "mad/wire/sa/sa_mad.h"
#include "tests/support/transactions_fixture.h"

namespace smd::mad {
namespace {

using wire::Method;
using wire::MgmtClass;

/// An attribute number that three classes have: PortCounters, SwitchInfo, PortInfoRecord.
constexpr std::uint16_t kShared = 0x12;

Request of_class(MgmtClass mgmt_class, Method method = Method::get) {
  return {.mad = wire::Mad(mgmt_class, mgmt_class == MgmtClass::sa ? 2 : 1, method, kShared),
          .route = LidRoute{.lid = Lid{9}, .qp = 1, .qkey = kQp1QKey},
          .node = Guid{5}};
}

TEST_F(TransactionsTest, AMadOfAnyClassIsAskedAndAnswered) {
  make();
  wire.script = [](const Sent& sent) { return std::vector{ScriptedTransport::answer(sent, 5us)}; };
  const std::vector classes{MgmtClass::sa,
                            MgmtClass::perf,
                            MgmtClass::bm,
                            MgmtClass::vendor_mlnx,
                            static_cast<MgmtClass>(0x09),
                            static_cast<MgmtClass>(0x30)};
  for (const auto mgmt_class : classes) ask(of_class(mgmt_class));
  run();

  for (std::size_t i = 0; i < classes.size(); ++i) {
    ASSERT_TRUE(answers[i] && answers[i]->has_value()) << i;
    EXPECT_EQ((*answers[i])->mgmt_class(), classes[i]);
  }
}

TEST_F(TransactionsTest, ARequestByLidHasItsPKeyQKeySlAndGrh) {
  make();
  auto request = of_class(MgmtClass::perf);
  const LidRoute to{.lid = Lid{9},
                    .sl = Sl{4},
                    .qp = 1,
                    .qkey = kQp1QKey,
                    .pkey_index = 3,
                    .grh = GlobalRoute{.sgid_index = 1, .hop_limit = 64, .traffic_class = 2}};
  request.route = to;
  ask(std::move(request));
  EXPECT_EQ(std::get<LidRoute>(wire.sent.at(0).route), to);
  EXPECT_EQ(wire.sent[0].mad.mgmt_class(), MgmtClass::perf);
  EXPECT_EQ(wire.sent[0].mad.hop_count(), 0) << "no path is written into it";
}

TEST_F(TransactionsTest, OnlySmpsHaveDirectedRoutes) {
  make();
  auto request = of_class(MgmtClass::perf);
  request.route = path({1, 2});
  ask(std::move(request));
  run();
  EXPECT_EQ(answers[0]->error().fault, Fault::unroutable);
  EXPECT_THAT(wire.sent, SizeIs(0));
}

TEST_F(TransactionsTest, AttributesOfOneNumberAreCountedByClass) {
  make({.retries = 1});
  wire.script = [](const Sent& sent) {
    return sent.mad.mgmt_class() == MgmtClass::sa ? std::vector<Reply>{}
                                                  : std::vector{ScriptedTransport::answer(sent, 5us)};
  };
  ask(of_class(MgmtClass::perf));
  ask(of_class(MgmtClass::sa));
  ask({.mad = wire::Smp::lid_routed(Method::get, kShared, 0), .route = path({1}), .node = Guid{6}});
  ask({.mad = wire::Smp::lid_routed(Method::get, kShared, 0),
       .route = LidRoute{.lid = Lid{3}},
       .node = Guid{6}});
  run();

  const auto rows = tx->counters().by_attribute;
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[0].mgmt_class, MgmtClass::sm_lid);
  EXPECT_EQ(rows[0].answered, 2U) << "by directed route and by LID";
  EXPECT_EQ(rows[1].mgmt_class, MgmtClass::sa);
  EXPECT_EQ(rows[1].unanswered, 1U);
  EXPECT_EQ(rows[2].mgmt_class, MgmtClass::perf);
  EXPECT_EQ(rows[2].answered, 1U);
}

/// Within a round a node is not asked again what it left unanswered; that says nothing about other classes.
TEST_F(TransactionsTest, WhatANodeLeavesUnansweredIsOfOneClass) {
  make({.retries = 0});
  wire.script = [](const Sent& sent) {
    return sent.mad.mgmt_class() == MgmtClass::sa ? std::vector<Reply>{}
                                                  : std::vector{ScriptedTransport::answer(sent, 5us)};
  };
  tx->begin_round();
  ask(of_class(MgmtClass::sa));
  auto other = of_class(MgmtClass::perf);
  other.mad.set_attribute(0x1D);
  ask(std::move(other));
  run();
  ask(of_class(MgmtClass::perf));
  ask(of_class(MgmtClass::sa));
  run();

  EXPECT_FALSE(answers[0]->has_value());
  EXPECT_TRUE(answers[2]->has_value());
  EXPECT_FALSE(answers[3]->has_value());
  EXPECT_THAT(wire.sent, SizeIs(3)) << "the last was not sent";
}

TEST_F(TransactionsTest, AnErrorNamesClassAndAttribute) {
  make({.retries = 0});
  ask(of_class(MgmtClass::perf));
  run();
  EXPECT_EQ(to_string(answers[0]->error()),
            "Get Perf attribute 0x0012 to LID 9: no answer to 1 try in 200 ms");
}

TEST_F(TransactionsTest, ATypedRequestHasItsAttributeInTheDataOfTheClass) {
  const auto request =
      performance_request(Method::get, {.route = {.lid = Lid{4}}}, wire::PortCounters{.port = PortNum{7}});
  EXPECT_EQ(request.mad.attribute(), wire::PortCounters::kAttribute);
  EXPECT_EQ(request.mad.bytes()[wire::kPerformanceData + 1], 7);
  EXPECT_EQ(request.mad.class_version(), 1);
}

}  // namespace
}  // namespace smd::mad
