// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/smp.h"

#include <gtest/gtest.h>

#include <vector>

#include "mad/transport.h"
#include "mad/wire/node.h"
#include "mad/wire/port_info.h"
#include "mad/wire/switch.h"

namespace smd::wire {
namespace {

TEST(Smp, ADirectedRequestCarriesItsPathFromHopOneOn) {
  const auto path = *mad::DirectedPath{}.then(PortNum{1})->then(PortNum{12});

  const auto smp = Smp::directed(Method::get, NodeInfo::kAttribute, 7, path);

  EXPECT_EQ(smp.mgmt_class(), MgmtClass::sm_directed);
  EXPECT_EQ(smp.base_version(), 1);
  EXPECT_EQ(smp.class_version(), 1);
  EXPECT_EQ(smp.method(), Method::get);
  EXPECT_EQ(smp.attribute(), NodeInfo::kAttribute);
  EXPECT_EQ(smp.modifier(), 7U);
  EXPECT_EQ(smp.hop_count(), 2);
  EXPECT_EQ(smp.hop_pointer(), 0);
  EXPECT_EQ(smp.initial_path(0), PortNum{0});
  EXPECT_EQ(smp.initial_path(1), PortNum{1});
  EXPECT_EQ(smp.initial_path(2), PortNum{12});
  EXPECT_EQ(smp.dr_slid(), kPermissiveLid);
  EXPECT_EQ(smp.dr_dlid(), kPermissiveLid);
  EXPECT_FALSE(smp.returning());
  EXPECT_EQ(smp, Smp::directed(Method::get, NodeInfo::kAttribute, 7, std::vector{PortNum{1}, PortNum{12}}));
}

TEST(Smp, APathIsCutOffAfter63Hops) {
  const std::vector<PortNum> path(100, PortNum{5});
  const auto smp = Smp::directed(Method::get, 0x11, 0, path);
  EXPECT_EQ(smp.hop_count(), 63);
  EXPECT_EQ(smp.initial_path(63), PortNum{5});
  EXPECT_EQ(smp.return_path(1), PortNum{0});
}

TEST(Smp, HopsBeyondThePathAreNeitherReadNorWritten) {
  Smp smp;
  smp.set_initial_path(64, PortNum{9});
  smp.set_return_path(300, PortNum{9});
  EXPECT_EQ(smp, Smp{});
  EXPECT_EQ(smp.initial_path(64), PortNum{0});
  EXPECT_EQ(smp.return_path(1000), PortNum{0});
}

TEST(Smp, TheDirectionIsNoPartOfADirectedStatus) {
  auto smp = Smp::directed(Method::get, 0x15, 0, std::vector<PortNum>{});
  smp.set_returning(true);
  smp.set_status(kStatusBadField);
  EXPECT_TRUE(smp.returning());
  EXPECT_EQ(smp.status(), kStatusBadField);
  EXPECT_EQ(smp.header().status, 0x801C);
  smp.set_returning(false);
  EXPECT_FALSE(smp.returning());
  EXPECT_EQ(smp.status(), kStatusBadField);
  smp.set_status(0xFFFF);
  EXPECT_FALSE(smp.returning());
}

TEST(Smp, ALidRoutedStatusHas16Bits) {
  auto smp = Smp::lid_routed(Method::set, 0x20, 1);
  smp.set_status(0x8001);
  EXPECT_EQ(smp.status(), 0x8001);
  EXPECT_FALSE(smp.returning());
}

TEST(Smp, TheAnswerTurnsRoundAndKeepsTheRest) {
  auto request = Smp::directed(Method::set, PortInfo::kAttribute, 3, std::vector{PortNum{1}});
  request.set_tid(Tid{0x1122334455667788});
  request.set_m_key(42);
  request.put(PortInfo{.lid = Lid{9}});

  const auto answer = request.response(kStatusBusy);

  EXPECT_EQ(answer.method(), Method::get_resp);
  EXPECT_EQ(answer.status(), kStatusBusy);
  EXPECT_TRUE(answer.returning());
  EXPECT_EQ(answer.tid(), request.tid());
  EXPECT_EQ(answer.m_key(), 42U);
  EXPECT_EQ(answer.get<PortInfo>().lid, Lid{9});
}

TEST(Smp, ATrapIsAnsweredByTrapRepress) {
  EXPECT_EQ(Smp::lid_routed(Method::trap, 0x02, 0).response().method(), Method::trap_repress);
}

TEST(Smp, AnAttributeFillsTheDataAndClearsTheRest) {
  Smp smp;
  for (auto& byte : smp.data()) byte = 0xFF;
  smp.put(SwitchInfo{.linear_fdb_cap = 0x1234});
  EXPECT_EQ(smp.get<SwitchInfo>(), SwitchInfo{.linear_fdb_cap = 0x1234});
  EXPECT_EQ(smp.data()[63], 0);
}

TEST(Smp, FewerThan256BytesAreNone) {
  std::vector<std::uint8_t> bytes(255, 1);
  EXPECT_EQ(Smp::from_bytes(bytes), std::nullopt);
  bytes.resize(300, 2);
  const auto smp = Smp::from_bytes(bytes);
  ASSERT_TRUE(smp);
  EXPECT_EQ(smp->return_path(63), PortNum{2});
}

TEST(Smp, EachFieldIsItsOwn) {
  Smp smp;
  smp.set_base_version(1);
  smp.set_mgmt_class(MgmtClass::sm_directed);
  smp.set_class_version(2);
  smp.set_method(Method::trap);
  smp.set_hop_pointer(3);
  smp.set_hop_count(4);
  smp.set_attribute(0x5678);
  smp.set_modifier(0x9abcdef0);
  smp.set_dr_slid(Lid{0x1111});
  smp.set_dr_dlid(Lid{0x2222});
  smp.set_return_path(1, PortNum{6});
  EXPECT_EQ(smp.class_version(), 2);
  EXPECT_EQ(smp.method(), Method::trap);
  EXPECT_EQ(smp.hop_pointer(), 3);
  EXPECT_EQ(smp.hop_count(), 4);
  EXPECT_EQ(smp.attribute(), 0x5678);
  EXPECT_EQ(smp.modifier(), 0x9abcdef0);
  EXPECT_EQ(smp.dr_slid(), Lid{0x1111});
  EXPECT_EQ(smp.dr_dlid(), Lid{0x2222});
  EXPECT_EQ(smp.return_path(1), PortNum{6});
  const auto header = smp.header();
  EXPECT_EQ(header.class_specific, 0x0304);
  EXPECT_EQ(header.attribute, 0x5678);
}

}  // namespace
}  // namespace smd::wire
