// SPDX-License-Identifier: Apache-2.0
// A standby without a copy of the master's state reads its groups, and keeps them when it takes over.
#include "smd/sa/registry/prior_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/support/sa_session.h"
#include "tests/support/served.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Served;
using Record = wire::McMemberRecord;

const Mgid kPriorGroup = test::mgid("ff12::1:ff00:1234");
const Mgid kOther = test::mgid("ff12::e000:0105");
const Mgid kThird = test::mgid("ff15::e000:0177");

mad::SaRecords records_of(const std::vector<Record>& records) {
  constexpr std::size_t kEach = 56;
  std::vector<std::uint8_t> bytes(records.size() * kEach);
  for (std::size_t i = 0; i < records.size(); ++i)
    wire::encode(records[i], std::span(bytes).subspan(i * kEach));
  return {kEach, bytes};
}

Record record(const Mgid& mgid, std::uint16_t mlid, Guid port = {}) {
  return {.mgid = mgid,
          .port_gid = port == Guid{} ? Gid{} : Gid::of(kDefaultSubnetPrefix, port),
          .qkey = 7,
          .mlid = Lid{mlid},
          .mtu = Mtu::m2048,
          .pkey = PKey{0x7FFF},
          .rate = 3,
          .join_state = static_cast<std::uint8_t>(port == Guid{} ? 0 : wire::kFullMember)};
}

TEST(PriorGroups, OfRecordsAreGroupsWithTheirMembers) {
  const auto prior =
      sa::prior_groups(records_of({record(kPriorGroup, 0xC003, Guid{1}), record(kPriorGroup, 0xC003, Guid{2}),
                                   record(kOther, 0xC001)}),
                       Lid{9});

  EXPECT_EQ(prior.from, Lid{9});
  EXPECT_EQ(prior.members, 2U);
  EXPECT_EQ(prior.ignored, 0U);
  ASSERT_EQ(prior.groups.size(), 2U);
  EXPECT_EQ(prior.groups.at(kPriorGroup).mlid, Lid{0xC003});
  EXPECT_EQ(prior.groups.at(kPriorGroup).terms.pkey, PKey{0xFFFF});
  EXPECT_EQ(prior.groups.at(kPriorGroup).members.size(), 2U);
  EXPECT_TRUE(prior.groups.at(kOther).members.empty());
}

TEST(PriorGroups, WhatCannotBeIsIgnored) {
  auto slow = record(kThird, 0xC004);
  slow.rate = 1;
  auto small = record(kThird, 0xC004);
  small.mtu = Mtu::none;
  auto keyless = record(kThird, 0xC004);
  keyless.pkey = PKey{0x8000};
  const auto prior = sa::prior_groups(
      records_of({record(kPriorGroup, 0xC003), record(kPriorGroup, 0xC004), record(kOther, 0xBFFF),
                  record(kOther, 0xFFFF), record(Mgid{}, 0xC000), slow, small, keyless, Record{}}),
      Lid{9});

  EXPECT_EQ(prior.groups.size(), 1U);
  EXPECT_EQ(prior.ignored, 8U);
  EXPECT_EQ(prior.groups.at(kPriorGroup).mlid, Lid{0xC003}) << "the first word counts";
}

/// A registry at the moment of a takeover.
class Inheriting : public testing::Test {
 protected:
  sa::Inherited inherit(const std::vector<Record>& records) {
    return sa::inherit(writing, sa::prior_groups(records_of(records), Lid{1}));
  }
  Guid port(std::size_t index) const { return lab.directory().end_ports()[index].guid; }

  test::SaLab lab{"ft2:4"};
  sa::Settings settings;
  sa::Registry registry;
  sa::Effects effects;
  sa::Writing writing{lab.directory(), settings, registry, effects, 1};
};

TEST_F(Inheriting, GroupsAndMembersAreThoseOfTheMasterBefore) {
  registry.put_group(kOther, Lid{0xC003}, {.pkey = kDefaultPKey}, false);
  registry.put_member({kOther, port(0)}, {.join_state = 1});
  registry.put_group(kPriorGroup, Lid{0xC007}, {.pkey = kDefaultPKey}, false);
  registry.put_member({kPriorGroup, port(1)}, {.join_state = 1});

  const auto inherited = inherit({record(kPriorGroup, 0xC003, port(2)), record(kThird, 0xC003, port(3))});

  EXPECT_FALSE(registry.groups().contains(kOther)) << "the master before did not have it";
  EXPECT_EQ(registry.groups().find(kPriorGroup)->mlid, Lid{0xC003});
  EXPECT_EQ(registry.groups().find(kPriorGroup)->terms.qkey, 7U);
  EXPECT_EQ(registry.groups().find(kThird)->mlid, Lid{0xC003}) << "one that is shared stays so";
  EXPECT_EQ(registry.members().size(), 2U);
  EXPECT_EQ(inherited.members.size(), 2U);
  EXPECT_EQ(inherited.groups.size(), 2U);
}

TEST_F(Inheriting, MembersThatAreNotShownStayUntilTheGraceIsOver) {
  registry.put_group(kPriorGroup, Lid{0xC007}, {.pkey = kDefaultPKey}, false);
  registry.put_member({kPriorGroup, port(1)}, {.join_state = 1});

  const auto inherited = inherit({record(kPriorGroup, 0xC003)});
  EXPECT_EQ(registry.members().size(), 1U);

  sa::end_inherited(writing, inherited);
  EXPECT_TRUE(registry.groups().empty());
  EXPECT_TRUE(registry.members().empty());
}

TEST_F(Inheriting, WhoHasJoinedAgainStays) {
  auto inherited = inherit({record(kPriorGroup, 0xC003, port(1)), record(kPriorGroup, 0xC003, port(2))});

  sa::confirm(inherited, {kPriorGroup, port(2)});
  sa::end_inherited(writing, inherited);

  EXPECT_EQ(registry.groups().find(kPriorGroup)->members, 1U);
  EXPECT_TRUE(registry.members().contains({kPriorGroup, port(2)}));
}

TEST_F(Inheriting, AMulticastLidThatTheSwitchesHaveNoRoomForIsLeftOut) {
  const auto room = static_cast<std::uint16_t>(0xC000 + lab.directory().multicast_lids());
  const auto inherited =
      inherit({record(kPriorGroup, 0xFFFE), record(kThird, static_cast<std::uint16_t>(room - 1))});
  EXPECT_EQ(inherited.groups.contains(kPriorGroup), room > 0xFFFE);
  EXPECT_TRUE(inherited.groups.contains(kThird));
}

/// A master on h00000, a standby on h00001, and three members of groups. Nothing is copied between the two.
class ForeignMaster : public testing::Test {
 protected:
  static constexpr auto kMembers = {"h00003", "h00004", "h00005"};

  void begin(std::uint64_t key_of_standby = 1) {
    master_.emplace(world_, &disk_of_master_, sa::Settings{.sm_key = 1}, config::SubnetConfig{},
                    sim::Place{"h00000", PortNum{1}});
    standby_.emplace(world_, &disk_of_standby_, sa::Settings{.sm_key = key_of_standby},
                     config::SubnetConfig{}, sim::Place{"h00001", PortNum{1}});
    ASSERT_EQ(standby_->last().state, wire::SmState::standby);
  }
  void kill_master() {
    master_.reset();
    world_.run_for(20s);
    ASSERT_EQ(standby_->last().state, wire::SmState::master) << testing::PrintToString(standby_->lines().all);
  }
  std::vector<std::uint8_t> ask(const std::string& host, std::span<const std::uint8_t> mad,
                                mad::LidRoute to) {
    auto transport = world_.transport(sim::Place{host, PortNum{1}}, sim::Interface::gsi);
    std::vector<std::uint8_t> came;
    transport->on_receive([&](std::span<mad::Received> batch) {
      for (auto& one : batch) came = one.bytes;
    });
    EXPECT_TRUE(transport->send(mad, to, 1000ms));
    world_.run_for(200ms);
    transport->on_receive(nullptr);
    return came;
  }
  Gid gid_of(const std::string& host) {
    auto transport = world_.transport(sim::Place{host, PortNum{1}}, sim::Interface::gsi);
    return Gid::of(kDefaultSubnetPrefix, transport->local()->guid);
  }
  /// With all that a group is made by; the multicast LID that the SA gives.
  Lid create(const std::string& host, const Mgid& mgid, mad::LidRoute to) {
    Record asked{.mgid = mgid, .port_gid = gid_of(host), .qkey = 0x77, .pkey = kDefaultPKey};
    asked.join_state = wire::kFullMember;
    std::uint64_t mask = 0;
    for (const auto component : {Record::kMgid, Record::kPortGid, Record::kJoinState, Record::kQKey,
                                 Record::kPKey, Record::kTrafficClass, Record::kFlowLabel, Record::kSl})
      mask |= std::uint64_t{1} << component;
    const auto mad =
        test::Question{.method = wire::Method::set, .attribute = Record::kRecord, .mask = mask}.with(asked);
    return mlid_in(ask(host, mad, to), host);
  }
  /// With no more than the group's name.
  Lid join(const std::string& host, const Mgid& mgid, mad::LidRoute to) {
    return mlid_in(ask(host, test::membership(wire::Method::set, mgid, gid_of(host)), to), host);
  }
  void leave(const std::string& host, const Mgid& mgid, mad::LidRoute to) {
    ask(host, test::membership(wire::Method::remove, mgid, gid_of(host)), to);
  }
  /// Three groups are made by h00003, and one of them ends: the others have LIDs that a new SM would not
  /// give.
  std::map<Mgid, Lid> make_groups() {
    const auto to = master_->address();
    std::map<Mgid, Lid> given;
    create("h00003", kOther, to);
    for (const auto& mgid : {kPriorGroup, kThird}) given[mgid] = create("h00003", mgid, to);
    leave("h00003", kOther, to);
    for (const auto* host : {"h00004", "h00005"}) join(host, kPriorGroup, to);
    return given;
  }
  std::size_t reached(const std::string& from, Lid mlid) {
    return world_.fabric().spread({from}, mlid).reached.size();
  }
  static Lid mlid_in(std::span<const std::uint8_t> bytes, const std::string& host) {
    if (bytes.empty()) {
      ADD_FAILURE() << host << " gets no answer";
      return {};
    }
    const auto reply = test::reply_of(bytes);
    EXPECT_EQ(reply.status, 0U) << host;
    return reply.status == 0 ? reply.get<Record>(0).mlid : Lid{};
  }

  sim::World world_{test::spec("ft2:4")};
  store::MemoryStore disk_of_master_, disk_of_standby_;
  std::optional<Served> master_, standby_;
};

TEST_F(ForeignMaster, GroupsKeepTheirMulticastLidsAndPacketsReachMembersThroughoutATakeover) {
  begin();
  const auto given = make_groups();
  world_.run_for(70s);
  EXPECT_THAT(standby_->sa_lines().first("ha.groups_read"), testing::HasSubstr("groups="));
  const auto shown = standby_->groups_read();
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->from, master_->address().lid);
  EXPECT_EQ(shown->groups, master_->registry().groups().size());
  EXPECT_EQ(shown->members, master_->registry().members().size());
  EXPECT_EQ(shown->ignored, 0U);
  EXPECT_GT(shown->at, 5);
  world_.run_for(61s);
  EXPECT_GE(standby_->groups_read()->at, shown->at + 60) << "the same, asked again";
  EXPECT_FALSE(master_->groups_read());

  kill_master();

  EXPECT_EQ(standby_->sa_lines().count("ha.groups_inherited"), 1U);
  const auto asked = standby_->asked();
  EXPECT_EQ(asked.size(), 14U) << "eight hosts and six switches";
  EXPECT_EQ(std::set(asked.begin(), asked.end()).size(), asked.size()) << "each is asked once";
  for (const auto* host : kMembers)
    EXPECT_EQ(reached(host, given.at(kPriorGroup)), 2U) << "none has joined again";
  const auto to = standby_->address();
  EXPECT_EQ(join("h00004", kPriorGroup, to), given.at(kPriorGroup)) << "by its name alone";
  for (const auto* host : kMembers) EXPECT_EQ(reached(host, given.at(kPriorGroup)), 2U) << "one has";
  EXPECT_EQ(create("h00003", kPriorGroup, to), given.at(kPriorGroup));

  world_.run_for(6min);
  EXPECT_EQ(standby_->asked().size(), 0U);
  EXPECT_EQ(reached("h00003", given.at(kPriorGroup)), 1U) << "h00005 has not joined again";
  EXPECT_FALSE(standby_->registry().groups().contains(kThird)) << "no member has joined it again";
  EXPECT_EQ(standby_->registry().groups().find(kPriorGroup)->members, 2U);
  EXPECT_THAT(standby_->sa_lines().first("ha.groups_not_joined"), testing::HasSubstr("members="));
}

/// The master hands over before the newcomer has been a standby for a second.
TEST_F(ForeignMaster, ANewcomerThatOutranksTheMasterHasReadItsGroupsBeforeItsStart) {
  master_.emplace(world_, &disk_of_master_, sa::Settings{.sm_key = 1}, config::SubnetConfig{},
                  sim::Place{"h00000", PortNum{1}});
  const auto given = make_groups();
  config::SubnetConfig higher;
  higher.sm.priority = 9;
  standby_.emplace(world_, &disk_of_standby_, sa::Settings{.sm_key = 1}, higher,
                   sim::Place{"h00001", PortNum{1}}, master_->address());
  world_.run_for(5s);

  ASSERT_EQ(standby_->last().state, wire::SmState::master) << testing::PrintToString(standby_->lines().all);
  EXPECT_EQ(standby_->sa_lines().count("ha.groups_inherited"), 1U);
  EXPECT_EQ(join("h00004", kPriorGroup, standby_->address()), given.at(kPriorGroup)) << "by its name alone";
  for (const auto* host : kMembers) EXPECT_EQ(reached(host, given.at(kPriorGroup)), 2U);
}

TEST_F(ForeignMaster, AnSmThatIsGoneKeepsTheStartWaitingForTwoSecondsOnly) {
  const auto began = world_.now();
  standby_.emplace(world_, &disk_of_standby_, sa::Settings{.sm_key = 1}, config::SubnetConfig{},
                   sim::Place{"h00001", PortNum{1}},
                   mad::LidRoute{.lid = Lid{77}, .qp = 1, .qkey = mad::kQp1QKey});

  EXPECT_EQ(standby_->last().state, wire::SmState::master);
  EXPECT_LT(world_.now() - began, 5s) << "2 s of them until it is up";
  EXPECT_FALSE(standby_->groups_read());
}

TEST_F(ForeignMaster, AnSaThatTakesTheKeyForAWrongOneShowsGroupsWithoutMembers) {
  begin(2);
  const auto given = make_groups();
  world_.run_for(2min);
  EXPECT_THAT(standby_->sa_lines().first("ha.groups_read"), testing::HasSubstr("members=0"));

  kill_master();

  const auto to = standby_->address();
  for (const auto* host : {"h00003", "h00005"}) EXPECT_EQ(join(host, kPriorGroup, to), given.at(kPriorGroup));
  EXPECT_EQ(reached("h00003", given.at(kPriorGroup)), 1U);
}

TEST_F(ForeignMaster, AnSaThatDoesNotAnswerCostsAWarning) {
  begin();
  make_groups();
  master_->classes().of(wire::MgmtClass::sa).on_receive([](std::span<mad::Received>) {});
  world_.run_for(3min);
  EXPECT_THAT(standby_->sa_lines().first("ha.groups_not_read"), testing::HasSubstr("no answer"));

  kill_master();
  EXPECT_EQ(standby_->last().summary.state, sm::SweepState::up);
}

TEST_F(ForeignMaster, AnSaThatAnswersNonsenseCostsAWarning) {
  begin();
  make_groups();
  auto& sa = master_->classes().of(wire::MgmtClass::sa);
  sa.on_receive([&sa](std::span<mad::Received> batch) {
    for (const auto& one : batch) {
      auto answer = one.bytes;
      answer[3] = 0x92;                 // GetTableResp
      answer[wire::kSaOffset + 9] = 3;  // records of 24 bytes
      static_cast<void>(sa.send(answer, mad::Route{one.from}, {}));
    }
  });
  world_.run_for(3min);
  EXPECT_THAT(standby_->sa_lines().first("ha.groups_not_read"), testing::HasSubstr("24 bytes"));

  kill_master();
  EXPECT_EQ(standby_->last().summary.state, sm::SweepState::up);
}

}  // namespace
}  // namespace smd
