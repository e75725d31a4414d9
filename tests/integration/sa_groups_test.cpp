// SPDX-License-Identifier: Apache-2.0
// Multicast groups as clients make them, join them and leave them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "mad/base/rate.h"
#include "mad/wire/capability.h"
#include "tests/support/sa_session.h"

namespace smd {
namespace {

using test::mgid;
using test::Question;
using wire::Method;
using Record = wire::McMemberRecord;

const Mgid kBroadcast = mgid("ff12:401b:ffff::ffff:ffff");
const Mgid kIpGroup = mgid("ff12:401b:ffff::1");
const Mgid kOwnGroup = mgid("ff12::a1");  // not of IPoIB

Record record_of(const test::Reply& reply) { return reply.get<Record>(0); }

class SaGroups : public testing::Test {
 protected:
  test::SaLab lab_{"ft2:4"};
  test::SaSession session_{lab_};
  const std::vector<sa::EndPort>& ports() const { return lab_.directory().end_ports(); }
  const sa::EndPort& host(std::size_t index) const { return ports()[ports().size() - 1 - index]; }
};

TEST_F(SaGroups, TheBroadcastGroupIsThereAndAsFastAsItsPorts) {
  const auto reply = session_.ask(Question{.attribute = Record::kRecord}.with());

  ASSERT_EQ(reply.records.size(), 1U);
  const auto group = record_of(reply);
  EXPECT_EQ(group.mgid, kBroadcast);
  EXPECT_EQ(group.mlid, Lid{0xC000});
  EXPECT_EQ(group.pkey, PKey{0xFFFF});
  EXPECT_EQ(group.qkey, 0x0b1bU);
  const auto& info = host(0).info().info;
  EXPECT_EQ(group.mtu, info.neighbor_mtu);
  EXPECT_EQ(rate_mbps(group.rate), static_rate(wire::link_width(info), wire::link_speed(info, {})).mbps);
  EXPECT_EQ(group.port_gid, Gid{});
}

TEST_F(SaGroups, AJoinOfThreeComponentsFindsTheBroadcastGroup) {
  auto joining = session_.joining(host(0), kBroadcast);
  joining.mask = 0;
  joining.with(Record::kMgid).with(Record::kPortGid).with(Record::kJoinState);

  const auto reply = session_.join(host(0), joining);

  ASSERT_EQ(reply.status, 0);
  EXPECT_EQ(reply.method, Method::get_resp);
  EXPECT_EQ(record_of(reply).join_state, wire::kFullMember);
  EXPECT_EQ(record_of(reply).port_gid, lab_.directory().gid_of(host(0)));
  EXPECT_EQ(record_of(reply).mtu_selector, wire::Selector::exactly);
}

TEST_F(SaGroups, AGroupIsMadeByWhoSaysEnoughAndEndsWithItsLastFullMember) {
  auto poor = session_.joining(host(0), kIpGroup);
  poor.mask &= ~(std::uint64_t{1} << Record::kQKey);
  EXPECT_EQ(session_.join(host(0), poor).status, wire::kSaInsufficientComponents);
  EXPECT_EQ(session_.last_refusal().component, "Q_Key");
  EXPECT_EQ(session_.join(host(0), kIpGroup, wire::kNonMember).status, wire::kSaRequestInvalid);

  EXPECT_EQ(session_.join(host(0), kIpGroup).status, 0);
  EXPECT_EQ(session_.join(host(1), kIpGroup, wire::kNonMember).status, 0);
  EXPECT_EQ(session_.join(host(2), kIpGroup, wire::kSendOnlyNonMember).status, 0);
  EXPECT_EQ(session_.join(host(3), kIpGroup, wire::kSendOnlyFullMember).status, 0);
  EXPECT_EQ(session_.leave(host(0), kIpGroup).status, 0);
  ASSERT_TRUE(session_.registry().groups().contains(kIpGroup));  // a send-only full member keeps it
  EXPECT_EQ(session_.leave(host(3), kIpGroup, wire::kSendOnlyFullMember).status, 0);

  EXPECT_FALSE(session_.registry().groups().contains(kIpGroup));
  EXPECT_TRUE(session_.registry().members().empty());
  EXPECT_EQ(session_.leave(host(1), kIpGroup, wire::kNonMember).status, wire::kSaRequestInvalid);
  ASSERT_EQ(session_.effects().groups.size(), 3U);  // broadcast, made, gone
  EXPECT_FALSE(session_.effects().groups.back().created);
}

TEST_F(SaGroups, JoinStatesAddUpAndGoBitByBit) {
  session_.join(host(0), kIpGroup, wire::kFullMember);
  const auto more = session_.join(host(0), kIpGroup, wire::kSendOnlyFullMember);
  EXPECT_EQ(record_of(more).join_state, 0x9);

  const auto less = session_.leave(host(0), kIpGroup, wire::kFullMember);
  EXPECT_EQ(less.method, Method::remove_resp);
  EXPECT_EQ(record_of(less).join_state, 0x8);
  EXPECT_EQ(session_.leave(host(0), kIpGroup, wire::kFullMember).status, wire::kSaRequestInvalid);
  EXPECT_EQ(session_.leave(host(0), kIpGroup, 0xF).status, wire::kSaRequestInvalid);
  EXPECT_EQ(record_of(session_.leave(host(0), kIpGroup, 0x8)).join_state, 0);
  EXPECT_FALSE(session_.registry().groups().contains(kIpGroup));
}

TEST_F(SaGroups, ElevenHundredCyclesOfEveryMixOfJoinStatesLeakNothing) {
  const auto before = session_.registry();
  for (unsigned cycle = 0; cycle < 1100; ++cycle) {
    const auto states = static_cast<std::uint8_t>(1 + cycle % 15);
    const auto name = mgid(fmt::format("ff12:401b:ffff::2:{:x}", cycle));
    const bool makes = (states & (wire::kFullMember | wire::kSendOnlyFullMember)) != 0;
    if (!makes) {
      ASSERT_EQ(session_.join(host(1), name).status, 0);
    }
    ASSERT_EQ(session_.join(host(0), name, states).status, 0) << cycle;
    for (unsigned bit = 0; bit < 4; ++bit) {  // those that keep the group last
      const auto state = static_cast<std::uint8_t>(1U << (bit + 1) % 4);
      const bool there = session_.registry().groups().contains(name);
      if ((states & state) == 0 || !there) continue;
      ASSERT_EQ(session_.leave(host(0), name, state).status, 0) << cycle;
    }
    if (!makes) {
      ASSERT_EQ(session_.leave(host(1), name).status, 0);
    }
    ASSERT_FALSE(session_.registry().groups().contains(name)) << cycle;
  }
  EXPECT_TRUE(session_.registry() == before);
  EXPECT_EQ(session_.registry().mlids().size(), 1U);  // the broadcast group's
  EXPECT_EQ(session_.registry().uses(host(0).guid), sa::Uses{});
}

TEST_F(SaGroups, OtherTermsThanTheGroupsAreRefusedByComponent) {
  session_.join(host(0), kIpGroup);
  const auto refused = [&](Record::Component component, auto change) {
    auto joining = session_.joining(host(1), kIpGroup);
    joining.with(component);
    change(joining.record);
    const auto status = session_.join(host(1), joining).status;
    return status == wire::kSaRequestInvalid ? session_.last_refusal().component : std::string_view{};
  };
  EXPECT_EQ(refused(Record::kQKey, [](Record& r) { r.qkey = 5; }), "Q_Key");
  EXPECT_EQ(refused(Record::kPKey, [](Record& r) { r.pkey = PKey{0x8001}; }), "P_Key");
  EXPECT_EQ(refused(Record::kSl, [](Record& r) { r.sl = Sl{3}; }), "SL");
  EXPECT_EQ(refused(Record::kFlowLabel, [](Record& r) { r.flow_label = 3; }), "FlowLabel");
  EXPECT_EQ(refused(Record::kTrafficClass, [](Record& r) { r.traffic_class = 3; }), "TClass");
  EXPECT_EQ(refused(Record::kMtu, [](Record& r) { r.mtu = Mtu::m256; }), "MTU");
  EXPECT_EQ(refused(Record::kRate, [](Record& r) { r.rate = 2; }), "Rate");
  EXPECT_EQ(refused(Record::kLife, [](Record& r) { r.life = 1; }), "PacketLifeTime");
  EXPECT_EQ(refused(Record::kMlid, [](Record& r) { r.mlid = Lid{0xC100}; }), "MLID");
  EXPECT_EQ(session_.registry().members().size(), 1U);
  EXPECT_EQ(refused(Record::kScope, [](Record& r) { r.scope = 5; }), "") << "the MGID has the scope";
  EXPECT_EQ(session_.registry().members().size(), 2U);
}

TEST_F(SaGroups, NoneIsMadeWithAPKeyOfNoPartition) {
  for (const std::uint16_t pkey : {std::uint16_t{0}, std::uint16_t{0x8000}}) {
    for (const auto* name : {"ff12:4321::1", "::"}) {
      auto joining = session_.joining(host(0), mgid(name));
      joining.record.pkey = PKey{pkey};
      EXPECT_EQ(session_.join(host(0), joining).status, wire::kSaRequestInvalid) << pkey << ' ' << name;
      EXPECT_EQ(session_.last_refusal().component, "P_Key");
    }
  }
  EXPECT_EQ(session_.registry().members().size(), 0U);
}

TEST_F(SaGroups, WhereSlsAreLayersNoneIsMadeOnAnother) {
  config::SubnetConfig config;
  config.routing.path_sl = config::PathSl::asked;
  const test::SaLab lab("ft2:4", config);
  test::SaSession session(lab);
  const auto& asker = lab.directory().end_ports().back();
  auto other = session.joining(asker, kIpGroup);
  other.record.sl = Sl{3};

  EXPECT_EQ(session.join(asker, other).status, wire::kSaRequestInvalid);
  EXPECT_EQ(session.last_refusal().component, "SL");
  EXPECT_EQ(session.last_refusal().has, "0");
  EXPECT_EQ(session.join(asker, kIpGroup).status, 0);
}

TEST_F(SaGroups, APortThatCannotCarryTheGroupIsRefusedInOneLine) {
  session_.settings().broadcast_rate = 25;
  session_.refresh();

  EXPECT_EQ(session_.join(host(0), kBroadcast).status, wire::kSaRequestInvalid);

  const auto& refused = session_.effects().refused.back();
  EXPECT_EQ(refused.port, host(0).guid);
  EXPECT_EQ(refused.name, host(0).node->description);
  EXPECT_EQ(refused.about, "ff12:401b:ffff::ffff:ffff");
  EXPECT_EQ(refused.refusal.component, "Rate");
  EXPECT_EQ(refused.refusal.wanted, "1600000 Mb/s");
  EXPECT_EQ(refused.refusal.has, "200000 Mb/s");
}

TEST_F(SaGroups, SelectorsChooseWithinWhatThePortCan) {
  auto joining = session_.joining(host(0), kOwnGroup);
  joining.with(Record::kMtu).with(Record::kMtuSelector).with(Record::kRate).with(Record::kRateSelector);
  joining.record.mtu_selector = wire::Selector::less;
  joining.record.mtu = Mtu::m1024;
  joining.record.rate_selector = wire::Selector::largest;
  const auto reply = session_.join(host(0), joining);
  ASSERT_EQ(reply.status, 0);
  EXPECT_EQ(record_of(reply).mtu, Mtu::m512);

  joining.record.mgid = mgid("ff12::a2");
  joining.record.mtu_selector = wire::Selector::greater;
  joining.record.mtu = Mtu::m4096;
  EXPECT_EQ(session_.join(host(0), joining).status, wire::kSaRequestInvalid);
}

TEST_F(SaGroups, NamesThatNoClientMayUseAreRefused) {
  for (const auto* text :
       {"fe80::1", "ff72:401b:ffff::1", "ff10:401b:ffff::1", "ff12:a01b::1", "ff12:401b:8001::1"}) {
    auto joining = session_.joining(host(0), kIpGroup);
    joining.record.mgid.bytes = base::parse_gid(text)->bytes;
    EXPECT_EQ(session_.join(host(0), joining).status, wire::kSaRequestInvalid) << text;
    EXPECT_EQ(session_.last_refusal().component, "MGID") << text;
  }
}

/// As OpenSM has it by default (ipoib_mcgroup_creation_validation).
TEST_F(SaGroups, GroupsOfIpoibHaveTheTermsOfTheirBroadcastGroup) {
  auto joining = session_.joining(host(0), kIpGroup);
  joining.record.qkey = 0x77;
  EXPECT_EQ(session_.join(host(0), joining).status, wire::kSaRequestInvalid);
  EXPECT_EQ(session_.last_refusal().component, "Q_Key");
  joining.record.mgid = mgid("ff12:601b:ffff::1");
  EXPECT_EQ(session_.join(host(0), joining).status, wire::kSaRequestInvalid);
  joining.record.mgid = kOwnGroup;
  EXPECT_EQ(session_.join(host(0), joining).status, 0);
  EXPECT_EQ(session_.join(host(0), mgid("ff15:401b:ffff::1")).status, wire::kSaRequestInvalid);
  EXPECT_EQ(session_.last_refusal().has, "ff15:401b:ffff::ffff:ffff") << "which is not there";
  EXPECT_EQ(session_.join(host(0), mgid("ff15:401b:ffff::ffff:ffff")).status, 0);
  EXPECT_EQ(session_.join(host(0), mgid("ff15:401b:ffff::1")).status, 0);
}

TEST_F(SaGroups, APortGidOfAnotherSubnetIsNoGidHere) {
  auto joining = session_.joining(host(0), kIpGroup);
  joining.record.port_gid.bytes[1] = 0xc0;
  EXPECT_EQ(session_.join(host(0), joining).status, wire::kSaInvalidGid);
  joining = session_.joining(host(0), kIpGroup);
  joining.record.port_gid.bytes[15] ^= 0x55;
  EXPECT_EQ(session_.join(host(0), joining).status, wire::kSaRequestInvalid);
}

/// As OpenSM has it, and osmtest's flow m asks for.
TEST_F(SaGroups, NamesOfOtherSubnetsAndEveryScopeButZeroAreTaken) {
  for (const auto* text : {"ff15:a01b:fe80::1", "ff1e:a01b:fe80::1", "ff1f::1"}) {
    EXPECT_EQ(session_.join(host(0), mgid(text)).status, 0) << text;
  }
  auto joining = session_.joining(host(0), Mgid{});
  joining.with(Record::kScope);
  for (const unsigned scope : {1U, 5U, 14U, 15U}) {
    joining.record.scope = static_cast<std::uint8_t>(scope);
    const auto reply = session_.join(host(0), joining);
    ASSERT_EQ(reply.status, 0) << scope;
    EXPECT_EQ(record_of(reply).mgid.bytes[1], 0x10U | scope);
  }
  joining.record.scope = 0;
  EXPECT_EQ(session_.join(host(0), joining).status, wire::kSaRequestInvalid);
  EXPECT_EQ(session_.last_refusal().component, "Scope");
}

TEST_F(SaGroups, TheSmNamesAGroupForWhoAsks) {
  const auto first = session_.join(host(0), Mgid{}), second = session_.join(host(0), Mgid{});
  ASSERT_EQ(first.status, 0);
  ASSERT_EQ(second.status, 0);
  EXPECT_NE(record_of(first).mgid, record_of(second).mgid);
  EXPECT_EQ(to_string(record_of(first).mgid).substr(0, 9), "ff12:a01b");
  // Others join it by that name.
  EXPECT_EQ(session_.join(host(1), record_of(first).mgid).status, 0);
}

TEST_F(SaGroups, NobodyElseEndsAMembership) {
  session_.join(host(0), kIpGroup);
  EXPECT_EQ(session_.leave(host(1), session_.joining(host(0), kIpGroup)).status, wire::kSaRequestInvalid);
  EXPECT_TRUE(session_.registry().groups().contains(kIpGroup));
  // One that another port of the partition has made is ended by either.
  const auto proxy = session_.join(host(1), session_.joining(host(2), kIpGroup));
  ASSERT_EQ(proxy.status, 0);
  EXPECT_TRUE(record_of(proxy).proxy_join);
  EXPECT_EQ(session_.leave(host(3), session_.joining(host(2), kIpGroup)).status, 0);
  // Who shows the SM_Key may.
  const auto leaving = session_.joining(host(0), kIpGroup);
  const Question trusted{
      .method = Method::remove, .attribute = Record::kRecord, .mask = leaving.mask, .sm_key = 1};
  EXPECT_EQ(session_.write(host(1), trusted.with(leaving.record)).status, 0);
}

TEST_F(SaGroups, MembersAreShownToWhoKnowsTheKey) {
  session_.join(host(0), kIpGroup);
  session_.join(host(1), kIpGroup, wire::kNonMember);

  const auto all = session_.ask(Question{.attribute = Record::kRecord}.with());
  EXPECT_EQ(all.records.size(), 2U);
  for (std::size_t i = 0; i < all.records.size(); ++i) {
    EXPECT_EQ(all.get<Record>(i).port_gid, Gid{});
    EXPECT_EQ(all.get<Record>(i).join_state, 0);
  }
  const auto trusted = session_.ask(Question{.attribute = Record::kRecord, .sm_key = 1}.with());
  EXPECT_EQ(trusted.records.size(), 3U);  // two members, and the group that has none

  Record one;
  one.port_gid = lab_.directory().gid_of(host(1));
  const Question by_port{.attribute = Record::kRecord, .mask = 1U << Record::kPortGid, .sm_key = 1};
  const auto found = session_.ask(by_port.with(one));
  ASSERT_EQ(found.records.size(), 1U);
  EXPECT_EQ(found.get<Record>(0).join_state, wire::kNonMember);
  // By the default prefix too; another one is of a port elsewhere, with a key or without.
  const Question by_anybody{.attribute = Record::kRecord, .mask = 1U << Record::kPortGid};
  EXPECT_EQ(session_.ask(by_anybody.with(one)).records.size(), 1U);
  one.port_gid = Gid::of(0xfec0000000000000, host(1).guid);
  EXPECT_EQ(session_.ask(by_port.with(one)).records.size(), 0U);
  EXPECT_EQ(session_.ask(by_anybody.with(one)).records.size(), 0U);
  one = {};
  one.mgid = kIpGroup;
  const Question get{.method = Method::get, .attribute = Record::kRecord, .mask = 1U << Record::kMgid};
  EXPECT_EQ(session_.ask(get.with(one)).status, 0);
}

TEST_F(SaGroups, APathLeadsToAGroup) {
  session_.join(host(0), kIpGroup);
  using Path = wire::PathRecord;
  Path asked;
  asked.dgid.bytes = kIpGroup.bytes;
  asked.sgid = lab_.directory().gid_of(host(1));
  const Question question{
      .method = Method::get, .attribute = Path::kRecord, .mask = 1U << Path::kDgid | 1U << Path::kSgid};
  const auto reply = session_.ask(question.with(asked));
  ASSERT_EQ(reply.status, 0);
  const auto path = reply.get<Path>(0);
  const auto& group = *session_.registry().groups().find(kIpGroup);
  EXPECT_EQ(path.dlid, group.mlid);
  EXPECT_EQ(path.slid, host(1).lid);
  EXPECT_EQ(path.mtu, group.terms.mtu);
  EXPECT_EQ(path.rate, group.terms.rate);
  EXPECT_FALSE(path.reversible);
  Question without = question;
  without.mask = 1U << Path::kDgid;
  const auto own = session_.ask(without.with(asked), host(2).lid);
  ASSERT_EQ(own.status, 0) << "who asks is who sends";
  EXPECT_EQ(own.get<Path>(0).slid, host(2).lid);
  EXPECT_EQ(session_.ask(without.with(asked)).status, wire::kSaNoRecords) << "nobody knows who asks";
  asked.dgid.bytes[15] ^= 0x55;
  EXPECT_EQ(session_.ask(question.with(asked)).status, wire::kSaNoRecords);
}

TEST_F(SaGroups, APathToAGroupHasWhatPacketsOfTheGroupCarry) {
  using Path = wire::PathRecord;
  const auto far = mgid("ff15::a1");
  for (const auto& name : {kOwnGroup, far}) {
    auto joining = session_.joining(host(0), name);
    joining.with(Record::kHopLimit);
    joining.record.flow_label = 0x12345;
    joining.record.traffic_class = 7;
    joining.record.hop_limit = 3;
    ASSERT_EQ(session_.join(host(0), joining).status, 0);
  }
  const auto as_it_is = [](Path&) {};
  const auto ask = [&](const Mgid& name, Method method, unsigned component, auto change) {
    Path asked;
    asked.dgid.bytes = name.bytes;
    asked.sgid = lab_.directory().gid_of(host(1));
    change(asked);
    const auto mask = 1U << Path::kDgid | 1U << Path::kSgid | 1U << component;
    return session_.ask(Question{.method = method, .attribute = Path::kRecord, .mask = mask}.with(asked));
  };

  const auto path = ask(kOwnGroup, Method::get, Path::kDgid, as_it_is).get<Path>(0);
  EXPECT_EQ(path.flow_label, 0x12345U);
  EXPECT_EQ(path.traffic_class, 7);
  EXPECT_EQ(path.hop_limit, 3);
  EXPECT_EQ(path.paths, 1);
  EXPECT_EQ(ask(far, Method::get, Path::kDgid, as_it_is).get<Path>(0).hop_limit, 255);

  const auto found = [&](unsigned component, auto change) {
    return ask(kOwnGroup, Method::get, component, change).status == 0;
  };
  EXPECT_TRUE(found(Path::kFlowLabel, [](Path& p) { p.flow_label = 0x12345; }));
  EXPECT_FALSE(found(Path::kFlowLabel, as_it_is));
  EXPECT_TRUE(found(Path::kTrafficClass, [](Path& p) { p.traffic_class = 7; }));
  EXPECT_FALSE(found(Path::kTrafficClass, as_it_is));
  EXPECT_TRUE(found(Path::kHopLimit, [](Path& p) { p.hop_limit = 3; }));
  EXPECT_FALSE(found(Path::kHopLimit, [](Path& p) { p.hop_limit = 255; }));
  EXPECT_TRUE(found(Path::kPaths, as_it_is)) << "a Get means one path";
  EXPECT_EQ(ask(kOwnGroup, Method::get_table, Path::kPaths, as_it_is).records.size(), 0U);
}

TEST(SaSettings, PacketsLiveAsLongAsTheSubnetsTimeout) {
  config::SubnetConfig config;
  config.links.subnet_timeout = 20;
  const test::SaLab lab("ft2:4", config);
  test::SaSession session(lab, sa::settings_of(config));
  const auto& ports = lab.directory().end_ports();
  ASSERT_EQ(session.join(ports.back(), kOwnGroup).status, 0);
  EXPECT_EQ(session.registry().groups().find(kOwnGroup)->terms.life, 20);
  EXPECT_EQ(session.registry().groups().find(kBroadcast)->terms.life, 20);

  using Path = wire::PathRecord;
  const Question question{
      .method = Method::get, .attribute = Path::kRecord, .mask = 1U << Path::kDgid | 1U << Path::kSgid};
  const auto reply = session.ask(question.with(Path{.dgid = lab.directory().gid_of(ports.back()),
                                                    .sgid = lab.directory().gid_of(*(ports.end() - 2))}));
  EXPECT_EQ(reply.get<Path>(0).life, 20);
}

TEST_F(SaGroups, APortHasAQuota) {
  session_.settings().groups_per_port = 2;
  EXPECT_EQ(session_.join(host(0), mgid("ff12:401b:ffff::1")).status, 0);
  EXPECT_EQ(session_.join(host(0), mgid("ff12:401b:ffff::2")).status, 0);
  EXPECT_EQ(session_.join(host(0), mgid("ff12:401b:ffff::3")).status, wire::kSaNoResources);
  EXPECT_EQ(session_.join(host(0), mgid("ff12:401b:ffff::1")).status, 0);  // again, no more than before
  EXPECT_EQ(session_.join(host(1), mgid("ff12:401b:ffff::3")).status, 0);
}

TEST_F(SaGroups, WhoJoinsForOthersTakesItsOwnShare) {
  session_.settings().groups_per_port = 2;
  EXPECT_EQ(session_.join(host(0), session_.joining(host(1), mgid("ff12:401b:ffff::1"))).status, 0);
  EXPECT_EQ(session_.join(host(0), session_.joining(host(1), mgid("ff12:401b:ffff::2"))).status, 0);
  EXPECT_EQ(session_.join(host(0), session_.joining(host(2), mgid("ff12:401b:ffff::2"))).status,
            wire::kSaNoResources);
  EXPECT_EQ(session_.registry().uses(host(0).guid).groups, 2U);
  EXPECT_EQ(session_.join(host(1), mgid("ff12:401b:ffff::3")).status, 0);
  EXPECT_EQ(session_.join(host(1), mgid("ff12:401b:ffff::2")).status, 0);  // now for itself
  EXPECT_EQ(session_.registry().uses(host(0).guid).groups, 1U);
  EXPECT_EQ(session_.registry().uses(host(1).guid).groups, 2U);
}

/// OpenSM leaks a multicast LID each time that a member joins with 0x9 and leaves with 0x1.
TEST_F(SaGroups, ManyJoinsAndLeavesLeakNothing) {
  for (unsigned cycle = 0; cycle < 1100; ++cycle) {
    const auto state = static_cast<std::uint8_t>(1 + cycle % 15);
    const auto first = static_cast<std::uint8_t>((state & 9) != 0 ? state : state | 1);
    const auto name = mgid(fmt::format("ff12:401b:ffff::{:x}", cycle + 1));
    ASSERT_EQ(session_.join(host(0), name, first).status, 0) << cycle;
    ASSERT_EQ(session_.join(host(1), name, state).status, 0) << cycle;
    for (std::uint8_t bit = 1; bit < 16; bit = static_cast<std::uint8_t>(bit << 1)) {
      session_.leave(host(1), name, bit);
      session_.leave(host(0), name, bit);
    }
  }
  EXPECT_EQ(session_.registry().groups().size(), 1U);
  EXPECT_TRUE(session_.registry().members().empty());
  EXPECT_EQ(session_.registry().mlids().size(), 1U);
  EXPECT_EQ(session_.registry().uses(host(0).guid), sa::Uses{});
}

TEST_F(SaGroups, MembersWhosePortIsGoneLeave) {
  session_.join(host(0), kIpGroup);
  session_.join(host(1), kBroadcast);
  const auto terms = session_.registry().groups().find(kBroadcast)->terms;
  auto snapshot = std::make_shared<sm::Snapshot>(lab_.snapshot());
  auto subnet = std::make_shared<sm::Subnet>(*snapshot->subnet);
  std::erase_if(subnet->nodes, [&](const sm::NodePtr& node) { return node->guid() == host(0).node->guid(); });
  subnet->places = nullptr;
  snapshot->subnet = subnet;

  session_.settings().broadcast_mtu = Mtu::m256;
  session_.refresh(sa::Directory(snapshot));

  EXPECT_FALSE(session_.registry().groups().contains(kIpGroup));
  EXPECT_EQ(session_.registry().members().size(), 1U);
  // The broadcast group has a member: its terms stay.
  EXPECT_EQ(session_.registry().groups().find(kBroadcast)->terms, terms);
  session_.leave(host(1), kBroadcast);
  session_.refresh();
  EXPECT_EQ(session_.registry().groups().find(kBroadcast)->terms.mtu, Mtu::m256);
}

}  // namespace
}  // namespace smd
