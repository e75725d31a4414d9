// SPDX-License-Identifier: Apache-2.0
// How the fabric goes from one living SM to another, and when it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "mad/wire/trap.h"
#include "tests/support/scripted_sm.h"
#include "tests/support/sim_lab.h"
#include "tests/support/sm_site.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::ScriptedSm;
using test::SmSite;
using testing::ElementsAre;
using testing::HasSubstr;
using wire::SmState;

config::SubnetConfig with_priority(std::uint8_t priority) {
  config::SubnetConfig config;
  config.sm.priority = priority;
  return config;
}

/// All LIDs and forwarding tables, as the fabric has them.
std::vector<std::pair<Guid, std::vector<std::uint8_t>>> tables(const sm::Snapshot& now) {
  std::vector<std::pair<Guid, std::vector<std::uint8_t>>> all;
  for (const auto& node : now.subnet->nodes) {
    std::vector<std::uint8_t> bytes;
    for (const auto& port : node->ports) {
      bytes.push_back(static_cast<std::uint8_t>(port.info.lid.value() >> 8U));
      bytes.push_back(static_cast<std::uint8_t>(port.info.lid.value()));
    }
    all.emplace_back(node->guid(), std::move(bytes));
  }
  return all;
}

TEST(Handover, ANewcomerThatRanksHigherGetsTheFabricAndChangesNothing) {
  SmSite site("ft2:4");
  site.start("h00000", 3);
  const auto before = tables(site["h00000"].last());

  site.start("h00003", 9);
  site.world.run_for(seconds(4));

  EXPECT_THAT(site.masters(), ElementsAre("h00003")) << site.story();
  EXPECT_EQ(site["h00003"].last().summary.state, sm::SweepState::up);
  EXPECT_EQ(tables(site["h00003"].last()), before);
  EXPECT_EQ(site["h00003"].last().summary.lft_entries_changed, 0U);
  EXPECT_EQ(site["h00000"].lines().count("sm.handover "), 1U) << site.story();
  EXPECT_EQ(site["h00000"].last().summary.state, sm::SweepState::standby);
  EXPECT_EQ(site["h00003"].lines().count("sm.control control=HANDOVER"), 1U);
}

TEST(Handover, APriorityThatIsRaisedBringsTheFabricInAHundredMilliseconds) {
  SmSite site("ft2:4");
  site.start("h00000", 3);
  site.start("h00003", 1);
  site.world.run_for(seconds(5));
  const auto gets = [&] {
    return site["h00000"]->counters().total(&mad::AttributeCounters::sent, wire::Method::get);
  };
  const auto before = gets();

  site["h00003"]->set_priority(9);
  site.world.run_for(milliseconds(50));

  EXPECT_EQ(site.state("h00000"), SmState::standby) << site.story();
  EXPECT_LE(gets() - before, 3U);  // SMInfo of the sender, once, and a poll: no sweep
  site.world.run_for(milliseconds(200));
  EXPECT_THAT(site.masters(), ElementsAre("h00003")) << site.story();
  const auto traps = site["h00003"]->counters().total(&mad::AttributeCounters::sent, wire::Method::trap);
  EXPECT_EQ(traps, 1U);  // TrapRepress has come
}

TEST(Handover, APriorityThatIsLoweredGivesTheFabricAway) {
  SmSite site("ft2:4");
  site.start("h00000", 3);
  site.start("h00003", 1);
  site.world.run_for(seconds(5));

  site["h00000"]->set_priority(0);
  site.world.run_for(milliseconds(300));

  EXPECT_THAT(site.masters(), ElementsAre("h00003")) << site.story();
}

/// two_leaves() with smd on h0, and on h1 an SM of the test's.
class Beside : public testing::Test {
 protected:
  Beside() : world_(test::two_leaves()) {}
  void start(config::SubnetConfig config, SmState state, std::uint8_t priority) {
    smd_.emplace(world_, sim::Place{"h0", PortNum{1}}, std::move(config));
    group_.emplace(world_.io().get_executor());
    if (state == SmState::master) add(state, priority);
    group_->spawn((*smd_)->run());
    world_.run_for(seconds(2));
    if (state != SmState::master) add(state, priority);
    world_.run_for(seconds(2));
  }
  void add(SmState state, std::uint8_t priority) {
    const auto port = test::two_leaves().nodes[4].guid.value() + 1;
    other_.emplace(world_, sim::Place{"h1", PortNum{1}});
    other_->says = wire::SmInfo{
        .guid = Guid{port}, .sm_key = key_, .act_count = 1, .priority = priority, .state = state};
    other_->counts = counts_;
  }
  void TearDown() override { world_.run(group_->stop()); }
  std::string story() const { return testing::PrintToString(smd_->lines().all); }
  SmState state() { return (*smd_)->sms()->state.sm; }

  sim::World world_;
  std::uint64_t key_ = 1;
  bool counts_ = false;
  std::optional<test::Managed> smd_;
  std::optional<ScriptedSm> other_;
  std::optional<mad::TaskGroup> group_;
};

TEST_F(Beside, AnSmThatRefusesTheHandoverGetsItOnceAndTheFabricIsTakenBack) {
  start(with_priority(3), SmState::discovering, 9);
  other_->status = wire::kStatusBadField;
  other_->says->state = SmState::standby;

  world_.run_for(minutes(2));

  EXPECT_EQ(state(), SmState::master) << story();
  EXPECT_EQ(smd_->last().summary.state, sm::SweepState::up) << smd_->last().summary.why;
  EXPECT_THAT(other_->controls, ElementsAre(1U));
  EXPECT_EQ(smd_->lines().count("sm.handover_declined"), 1U);
}

/// It has accepted, and does not become master.
TEST_F(Beside, AnSmThatDoesNotUseTheHandoverLosesItAfterSomeTime) {
  start(with_priority(3), SmState::standby, 9);
  ASSERT_EQ(state(), SmState::standby) << story();

  world_.run_for(seconds(8));

  EXPECT_EQ(state(), SmState::master) << story();
  world_.run_for(minutes(2));
  EXPECT_EQ(state(), SmState::master) << story();
  EXPECT_THAT(other_->controls, ElementsAre(1U));
  EXPECT_THAT((*smd_)->sms()->others, testing::SizeIs(1));
}

/// As an smd without a copy, which reads the whole fabric first.
TEST_F(Beside, AnSmThatAcknowledgesTheHandoverIsWaitedForLonger) {
  start(with_priority(3), SmState::standby, 9);
  ASSERT_EQ(state(), SmState::standby) << story();
  constexpr auto kAcknowledge = static_cast<std::uint32_t>(wire::SmControl::acknowledge);
  const auto way = test::path({1, 3, 1, 1});
  auto acknowledge = wire::Smp::directed(wire::Method::set, wire::SmInfo::kAttribute, kAcknowledge, way);
  acknowledge.set_tid(Tid{77});
  acknowledge.put(*other_->says);
  other_->send(acknowledge, way);

  world_.run_for(seconds(30));
  EXPECT_EQ(state(), SmState::standby) << story();
  world_.run_for(seconds(30));
  EXPECT_EQ(state(), SmState::master) << story();
}

TEST_F(Beside, AnSmWithAnotherKeyIsNamedOnceAsAnErrorAndGetsNothing) {
  key_ = 77;
  start(with_priority(3), SmState::standby, 9);
  world_.run_for(minutes(1));

  EXPECT_EQ(state(), SmState::master) << story();
  EXPECT_THAT(other_->controls, testing::IsEmpty());
  EXPECT_EQ(smd_->lines().count("sm.foreign"), 1U) << story();
  EXPECT_THAT(smd_->lines().first("sm.foreign"), HasSubstr("another SM_Key"));
}

TEST_F(Beside, AnSmThatIsNotAllowedIsNamedOnceAsAnErrorAndGetsNothing) {
  auto config = with_priority(3);
  config.sm.allowed_guids = {Guid{0x99}};
  start(config, SmState::standby, 9);
  world_.run_for(minutes(1));

  EXPECT_EQ(state(), SmState::master) << story();
  EXPECT_THAT(other_->controls, testing::IsEmpty());
  EXPECT_EQ(smd_->lines().count("sm.foreign"), 1U) << story();
  EXPECT_THAT((*smd_)->hand_over(std::nullopt).error(),
              testing::AllOf(testing::StartsWith("no standby: there is no SM to hand over to; "),
                             testing::EndsWith("may not have the fabric: never obeyed: not in [sm] "
                                               "allowed_guids")));
}

/// The port of an SM is that on which it answers, whatever it says.
TEST_F(Beside, AnSmThatSaysAnAllowedGuidGetsNothingOnAnotherPort) {
  auto config = with_priority(3);
  config.sm.allowed_guids = {Guid{0x99}};
  start(config, SmState::discovering, 9);
  other_->says->guid = Guid{0x99};
  other_->says->sm_key = 0;
  other_->says->state = SmState::standby;
  world_.run_for(minutes(1));

  EXPECT_EQ(state(), SmState::master) << story();
  EXPECT_THAT(other_->controls, testing::IsEmpty());
  EXPECT_THAT((*smd_)->hand_over(std::nullopt).error(), testing::StartsWith("no standby"));
}

/// smd is standby of the SM on h1, and h2 says that it is that.
class Impostor : public Beside {
 protected:
  void start_standby(config::SubnetConfig config) {
    {
      test::Asker asker(world_);
      test::bring_up_two_leaves(asker);
    }
    start(std::move(config), SmState::master, 9);
    world_.run_for(seconds(5));
    ASSERT_EQ(state(), SmState::standby) << story();
  }
  /// HANDOVER is obeyed from the one and not from the other.
  void expect_one_obeyed(const wire::SmInfo& info) {
    constexpr auto kHandover = static_cast<std::uint32_t>(wire::SmControl::handover);
    const auto way = test::path({1, 3, 1, 1});
    test::Asker stranger(world_, {"h2", PortNum{1}});
    EXPECT_FALSE(stranger.set<wire::SmInfo>(way, info, kHandover).good());
    EXPECT_EQ(state(), SmState::standby) << story();
    EXPECT_EQ(smd_->lines().count("sm.control_refused"), 1U) << story();

    auto handover = wire::Smp::directed(wire::Method::set, wire::SmInfo::kAttribute, kHandover, way);
    handover.set_tid(Tid{77});
    handover.put(info);
    other_->send(handover, way);
    world_.run_for(milliseconds(500));
    EXPECT_EQ(smd_->lines().count("sm.control control=HANDOVER"), 1U) << story();
  }
};

/// OpenSM before 3.3.21 shows none to a standby. The GUID of the master is known to every host.
TEST_F(Impostor, WithoutTheKeyIsNotObeyed) {
  start_standby(with_priority(3));
  auto info = *other_->says;
  info.sm_key = 0;
  expect_one_obeyed(info);
}

/// The key that every installation has.
TEST_F(Impostor, OfAnAllowedSmIsNotObeyed) {
  auto config = with_priority(3);
  config.sm.allowed_guids = {Guid{test::two_leaves().nodes[4].guid.value() + 1}};
  start_standby(config);
  expect_one_obeyed(*other_->says);
}

TEST_F(Beside, AMasterThatIsOutrankedIsToldFiveTimesAndNoMore) {
  {
    test::Asker asker(world_);
    test::bring_up_two_leaves(asker);
  }
  start(with_priority(9), SmState::master, 3);
  world_.run_for(seconds(20));
  ASSERT_EQ(state(), SmState::standby) << story();
  const auto of_rank = [&] {
    return std::ranges::count_if(other_->traps, [](const wire::Notice& notice) {
      const auto details = wire::details<wire::LocalChangeDetails>(notice);
      return details && details->sm_priority_change;
    });
  };

  EXPECT_EQ(smd_->lines().count("sm.outranks_master"), 1U) << story();
  EXPECT_EQ(of_rank(), 5);
}

/// It answers, and its ActCount does not grow any more.
TEST_F(Beside, AMasterThatAnswersAndDoesNothingIsReplaced) {
  counts_ = true;
  start(with_priority(0), SmState::master, 3);
  world_.run_for(seconds(30));
  ASSERT_EQ(state(), SmState::standby) << story();

  other_->counts = false;
  world_.run_for(seconds(4));

  EXPECT_EQ(state(), SmState::master) << story();
  EXPECT_EQ(smd_->lines().count("sm.stuck"), 1U);
  world_.run_for(minutes(1));
  EXPECT_EQ(smd_->last().summary.state, sm::SweepState::up) << smd_->last().summary.why;
  other_->counts = true;
  world_.run_for(seconds(15));
  EXPECT_THAT(other_->controls, ElementsAre(1U)) << story();  // two masters: HANDOVER to the higher one
}

TEST_F(Beside, AMasterThatCountsRequestsOnlyIsNotReplaced) {
  start(with_priority(0), SmState::master, 3);

  world_.run_for(minutes(3));

  EXPECT_EQ(state(), SmState::standby) << story();
  EXPECT_EQ(smd_->lines().count("sm.master_gone"), 0U);
}

config::SubnetConfig quiet_for(std::uint8_t priority, config::Duration quiet) {
  auto config = with_priority(priority);
  config.ha.quiet = quiet;
  return config;
}

TEST(Quiet, AnSmThatReturnsGetsTheFabricWhenItsQuietTimeIsOver) {
  SmSite site("ft2:4");
  site.start("h00000", 3);
  site.start("h00003", quiet_for(9, minutes(10)));
  site.world.run_for(minutes(9));

  EXPECT_THAT(site.masters(), ElementsAre("h00000")) << site.story();
  const auto view = site["h00003"]->sms();
  EXPECT_EQ(view->shown.rank.priority, 0U);
  EXPECT_THAT(sm::outlook(*view, view->quiet_until - 45), HasSubstr("asks for the fabric in 45 s"));

  site.world.run_for(minutes(1));
  EXPECT_THAT(site.masters(), ElementsAre("h00003")) << site.story();
}

TEST(Quiet, AnSmThatIsQuietTakesTheFabricWhenTheMasterFails) {
  SmSite site("ft2:4");
  site.start("h00000", 3);
  site.start("h00003", quiet_for(9, minutes(10)));
  site.world.run_for(seconds(5));

  site.kill("h00000");
  site.world.run_for(seconds(3));

  EXPECT_THAT(site.masters(), ElementsAre("h00003")) << site.story();
  EXPECT_EQ(site["h00003"]->sms()->shown.rank.priority, 9U);
}

/// Even priority 0 would outrank the master.
TEST(Quiet, AnSmWithTheLowerGuidShowsNotActive) {
  SmSite site("ft2:4");
  site.start("h00003", 0);
  site.start("h00000", quiet_for(9, minutes(1)));
  site.world.run_for(seconds(20));

  EXPECT_EQ(site["h00000"]->sms()->shown.state, SmState::not_active);
  EXPECT_THAT(site.masters(), ElementsAre("h00003")) << site.story();
  site.world.run_for(minutes(1));
  EXPECT_THAT(site.masters(), ElementsAre("h00000")) << site.story();
}

TEST(Quiet, WithAHigherMasterPriorityTheFabricStaysWhereItIs) {
  SmSite site("ft2:4");
  auto config = with_priority(3);
  config.sm.master_priority = 12;
  site.start("h00000", config);
  site.start("h00003", 9);
  site.world.run_for(minutes(1));

  EXPECT_THAT(site.masters(), ElementsAre("h00000")) << site.story();
  site.kill("h00000");
  site.world.run_for(seconds(3));
  site.start("h00000", config);
  site.world.run_for(seconds(30));
  EXPECT_THAT(site.masters(), ElementsAre("h00003")) << site.story();
}

TEST(Quiet, IsTenMinutesWhereTheSmsOfTheSubnetAreNamed) {
  config::SubnetConfig config;
  EXPECT_EQ(config.quiet(), seconds(0));
  config.sm.allowed_guids = {Guid{1}};
  EXPECT_EQ(config.quiet(), minutes(10));
  config.ha.quiet = seconds(0);
  EXPECT_EQ(config.quiet(), seconds(0));
}

TEST(Operator, HandsOverToALowerSmAndBack) {
  SmSite site("ft2:4");
  site.start("h00000", 9);
  site.start("h00003", 3);
  site.world.run_for(seconds(5));

  ASSERT_TRUE(site["h00000"]->hand_over(std::nullopt));
  site.world.run_for(minutes(2));
  EXPECT_THAT(site.masters(), ElementsAre("h00003")) << site.story();
  EXPECT_THAT(sm::outlook(*site["h00000"]->sms(), 0), HasSubstr("has handed over"));

  ASSERT_TRUE(site["h00003"]->hand_over(std::nullopt));
  site.world.run_for(seconds(5));
  EXPECT_THAT(site.masters(), ElementsAre("h00000")) << site.story();
}

TEST(Operator, AnSmThatHasHandedOverTakesTheFabricWithItsPriority) {
  SmSite site("ft2:4");
  site.start("h00000", 9);
  site.start("h00003", 3);
  site.world.run_for(seconds(5));
  ASSERT_TRUE(site["h00000"]->hand_over(std::nullopt));
  site.world.run_for(seconds(10));

  site["h00000"]->set_priority(9);
  site.world.run_for(seconds(2));

  EXPECT_THAT(site.masters(), ElementsAre("h00000")) << site.story();
}

TEST(Operator, OnlyAMasterHandsOverAndOnlyToAStandby) {
  SmSite site("ft2:4");
  site.start("h00000", 9);
  EXPECT_EQ(site["h00000"]->hand_over(std::nullopt).error(), "no standby: there is no SM to hand over to");
  site.start("h00003", 3);
  site.world.run_for(seconds(5));

  EXPECT_EQ(site["h00003"]->hand_over(std::nullopt).error(),
            "this SM is standby: only the master hands over");
  EXPECT_EQ(site["h00000"]->hand_over(Guid{0x77}).error(),
            "no SM has the port GUID 0x0000000000000077: smd sms lists them");
}

TEST(Leaving, AMasterThatEndsHandsOverFirst) {
  SmSite site("ft2:4");
  site.start("h00000", 9);
  site.start("h00003", 3);
  site.world.run_for(seconds(5));
  const auto began = site.world.now();

  site.leave("h00000");
  EXPECT_LE(site.world.now() - began, milliseconds(200));
  site.world.run_for(milliseconds(100));

  EXPECT_THAT(site.masters(), ElementsAre("h00003")) << site.story();
  EXPECT_EQ(site["h00003"].lines().count("sm.master_gone"), 0U);
}

TEST(Leaving, AMasterWithoutAStandbyEndsAtOnce) {
  SmSite site("ft2:4");
  site.start("h00000", 9);
  const auto began = site.world.now();

  site.leave("h00000");

  EXPECT_LE(site.world.now() - began, milliseconds(20));
}

/// One of the ways of the polls is cut: the other one still has an answer.
TEST(Detection, OneDeadLinkIsNoDeadMaster) {
  SmSite site("ft2:4");
  site.start("h00000", 9);
  site.start("h00005", 3);
  site.world.run_for(seconds(5));
  for (const unsigned port : {3U, 4U}) {
    const sim::Place up{"leaf000", PortNum{static_cast<std::uint8_t>(port)}};
    ASSERT_TRUE(site.world.fabric().faults().link_down(up));
    site.world.run_for(seconds(6));
    ASSERT_TRUE(site.world.fabric().faults().link_up(up));
    site.world.run_for(seconds(6));
  }

  EXPECT_THAT(site.masters(), ElementsAre("h00000")) << site.story();
  EXPECT_EQ(site["h00005"].lines().count("sm.master_gone"), 0U) << site.story();
}

TEST(Detection, TheFastProfileMissesAMasterInAFifthOfASecond) {
  config::SubnetConfig fast;
  fast.ha.profile = config::HaProfile::fast;
  SmSite site("ft2:4");
  site.start("h00000", fast);
  site.start("h00005", fast);
  site.world.run_for(seconds(5));

  site.kill("h00000");
  site.world.run_for(milliseconds(250));

  EXPECT_THAT(site.masters(), ElementsAre("h00005")) << site.story();
}

}  // namespace
}  // namespace smd
