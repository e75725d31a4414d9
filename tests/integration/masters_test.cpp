// SPDX-License-Identifier: Apache-2.0
// Never two masters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <memory>
#include <sstream>

#include "smd/cli/ask_text.h"
#include "tests/support/managed_world.h"
#include "tests/support/scripted_sm.h"
#include "tests/support/sim_lab.h"

namespace smd {
namespace {

using test::Managed;
using test::ScriptedSm;
using wire::SmState;

sm::SubnetManager* of(Managed& managed) { return &*managed; }

TEST(Masters, OfTwoThatStartTogetherTheHigherPriorityIsMaster) {
  sim::World world(test::spec("ft2:4"));
  config::SubnetConfig low, high;
  high.sm.priority = 5;
  Managed one(world, "h00000", low), other(world, "h00003", high);

  test::run_for(world, {of(one), of(other)}, std::chrono::seconds(20));

  EXPECT_EQ(other.last().state, SmState::master);
  EXPECT_GE(one.lines().count("sm.other_master"), 1U);
  EXPECT_EQ(one.last().decided.routes, nullptr);
}

TEST(Masters, ANewcomerNamesTheMasterAndWritesNothing) {
  sim::World world(test::spec("ft2:4"));
  Managed master(world, "h00000");
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(master->run());
  world.run_for(std::chrono::seconds(2));
  world.fabric().counts().clear();
  Managed newcomer(world, "h00003");
  group.spawn(newcomer->run());

  world.run_for(std::chrono::seconds(20));
  world.run(group.stop());

  EXPECT_EQ(world.fabric().counts().sets(), 0U);
  EXPECT_EQ(newcomer.lines().count("sm.other_master"), 1U) << testing::PrintToString(newcomer.lines().all);
  EXPECT_THAT(newcomer.lines().first("sm.other_master"), testing::HasSubstr("h00000"));
}

TEST(Masters, TheStatusOfAStandbySaysWhatItHasOfTheMastersState) {
  std::ostringstream text;
  cli::print_subnet(text, {{"subnet", "a"}, {"state", "standby"}});

  EXPECT_THAT(text.str(), testing::ContainsRegex("replica +none"));
}

TEST(Masters, AStandbyTakesTheFabricWhenTheMasterIsGone) {
  sim::World world(test::spec("ft2:4"));
  auto master = std::make_unique<Managed>(world, "h00000");
  Managed standby(world, "h00003");
  mad::TaskGroup first(world.io().get_executor()), second(world.io().get_executor());
  first.spawn((*master)->run());
  world.run_for(std::chrono::seconds(2));
  second.spawn(standby->run());
  world.run_for(std::chrono::seconds(5));
  EXPECT_EQ(standby.last().summary.state, sm::SweepState::standby);

  world.run(first.stop());
  master.reset();
  world.run_for(std::chrono::seconds(20));
  world.run(second.stop());

  EXPECT_EQ(standby.last().state, SmState::master) << testing::PrintToString(standby.lines().all);
  EXPECT_EQ(standby.last().summary.state, sm::SweepState::up);
  EXPECT_EQ(standby.lines().count("sm.master_gone"), 1U);
}

/// The one that outranks it is no master yet when it looks.
TEST(Masters, AStandbyIsAHealthyOneAsSoonAsTheSmThatItWaitedForIsMaster) {
  for (const auto apart : {std::chrono::milliseconds(0), std::chrono::milliseconds(1)}) {
    sim::World world(test::spec("ft2:4"));
    config::SubnetConfig low, high;
    high.sm.priority = 5;
    Managed first(world, "h00000", low), second(world, "h00003", high);
    mad::TaskGroup group(world.io().get_executor());
    group.spawn(second->run());
    world.run_for(apart);
    group.spawn(first->run());
    world.run_for(std::chrono::seconds(5));

    EXPECT_EQ(second.last().state, SmState::master);
    EXPECT_EQ(first.last().summary.state, sm::SweepState::standby) << first.last().summary.why;
    EXPECT_EQ(first.lines().count("sm.master_gone"), 0U) << testing::PrintToString(first.lines().all);
    world.run(group.stop());
  }
}

/// A master on h00000 and a standby on h00003, both settled.
struct Pair {
  explicit Pair(sim::World& w, config::SubnetConfig config = {})
      : world(w), master(std::make_unique<Managed>(w, "h00000", config)), standby(w, "h00003", config) {
    first.spawn((*master)->run());
    world.run_for(std::chrono::seconds(2));
    second.spawn(standby->run());
    world.run_for(std::chrono::seconds(6));
    EXPECT_EQ(standby->published()->state, SmState::standby);
  }
  ~Pair() {
    world.run(first.stop());
    world.run(second.stop());
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  /// The process ends: its port stays up, and is no SM any more.
  void kill_master() {
    world.run(first.stop());
    master.reset();
  }
  bool standby_is_master() { return standby->published()->state == SmState::master; }

  sim::World& world;
  std::unique_ptr<Managed> master;
  Managed standby;
  mad::TaskGroup first{world.io().get_executor()}, second{world.io().get_executor()};
};

constexpr auto kTakeover = std::chrono::milliseconds(2000);

TEST(Masters, AMasterThatIsKilledIsReplacedInTime) {
  sim::World world(test::spec("ft2:4"));
  Pair pair(world);

  pair.kill_master();
  world.run_for(kTakeover);

  EXPECT_TRUE(pair.standby_is_master()) << testing::PrintToString(pair.standby.lines().all);
}

TEST(Masters, HowAStandbyPollsDoesNotHangOnTheRetriesOfOtherRequests) {
  sim::World world(test::spec("ft2:4"));
  config::SubnetConfig patient;
  patient.mad.timeout = std::chrono::seconds(1);
  patient.mad.retries = 20;
  Pair pair(world, patient);

  world.fabric().faults().link_down({"h00000", PortNum{1}});
  world.run_for(kTakeover);

  EXPECT_TRUE(pair.standby_is_master()) << testing::PrintToString(pair.standby.lines().all);
}

TEST(Masters, AMasterWhoseNodeDiesIsReplacedInTime) {
  sim::World world(test::spec("ft2:4"));
  Pair pair(world);

  world.fabric().faults().silent("h00000");
  pair.kill_master();
  world.run_for(kTakeover);

  EXPECT_TRUE(pair.standby_is_master()) << testing::PrintToString(pair.standby.lines().all);
}

TEST(Masters, AMasterWhoseCableIsPulledIsReplacedInTime) {
  sim::World world(test::spec("ft2:4"));
  Pair pair(world);

  world.fabric().faults().link_down({"h00000", PortNum{1}});
  world.run_for(kTakeover);

  EXPECT_TRUE(pair.standby_is_master()) << testing::PrintToString(pair.standby.lines().all);
}

/// Another SM had the fabric, and is gone.
TEST(Masters, AMasterWhoseCableWasOutKeepsTheLidsThatItFinds) {
  sim::World world(test::spec("ft2:4"));
  Managed master(world, "h00000");
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(master->run());
  world.run_for(std::chrono::seconds(3));
  world.fabric().faults().link_down({"h00000", PortNum{1}});
  world.run_for(std::chrono::seconds(15));
  test::Asker other(world, {"h00003", PortNum{1}});
  const auto changed =
      other.change<wire::PortInfo>(test::path({}), 1, [](wire::PortInfo& info) { info.lid = Lid{200}; });
  ASSERT_TRUE(changed.good());

  world.fabric().faults().link_up({"h00000", PortNum{1}});
  world.run_for(std::chrono::seconds(15));

  EXPECT_EQ(world.fabric().port_info({"h00003"})->lid, Lid{200});
  EXPECT_EQ(master.last().summary.state, sm::SweepState::up) << master.last().summary.why;
  world.run(group.stop());
}

TEST(Masters, APollIsOneTryAndTheNextOneDoesNotWaitForIt) {
  sim::World world(test::spec("ft2:4"));
  config::SubnetConfig patient;
  patient.ha.poll = std::chrono::milliseconds(100);
  patient.ha.losses = 20;
  Pair pair(world, patient);
  const auto asked = [&] {
    return pair.standby->counters().total(&mad::AttributeCounters::sent, wire::Method::get);
  };
  pair.kill_master();
  const auto before = asked();

  world.run_for(std::chrono::milliseconds(950));

  EXPECT_FALSE(pair.standby_is_master()) << testing::PrintToString(pair.standby.lines().all);
  EXPECT_GE(asked() - before, 18U);  // by directed route and by LID
  EXPECT_LE(asked() - before, 20U);
}

TEST(Masters, AMasterThatAnswersLateIsNotReplaced) {
  sim::World world(test::spec("ft2:4"));
  Pair pair(world);

  world.fabric().faults().slow("h00000", std::chrono::milliseconds(400));
  world.run_for(std::chrono::seconds(20));

  EXPECT_FALSE(pair.standby_is_master());
  EXPECT_EQ(pair.standby.lines().count("sm.master_gone"), 0U)
      << testing::PrintToString(pair.standby.lines().all);
}

/// The switch before the master has got an M_Key that is not known here: what is behind it cannot be read.
TEST(Masters, AStandbyThatCannotReadTheMastersNodeIsLedByItsPolls) {
  sim::World world(test::spec("ft2:4"));
  Pair pair(world);

  ASSERT_TRUE(world.fabric().faults().set_m_key({"leaf000", PortNum{0}}, 0x77, std::uint8_t{2}));
  for (unsigned i = 0; i < 3; ++i) {
    pair.standby->requests().resweep(sm::Resweep::heavy, "test");
    world.run_for(std::chrono::seconds(10));
    EXPECT_FALSE(pair.standby_is_master()) << testing::PrintToString(pair.standby.lines().all);
  }
  EXPECT_EQ(pair.standby.lines().count("sm.master_gone"), 0U);
  const auto hosts = [&] { return pair.standby->published()->summary.cas; };
  EXPECT_LT(hosts(), 8U);

  ASSERT_TRUE(world.fabric().faults().set_m_key({"leaf000", PortNum{0}}, 0, std::uint8_t{0}));
  world.run_for(std::chrono::minutes(6));
  EXPECT_EQ(hosts(), 8U) << testing::PrintToString(pair.standby.lines().all);

  pair.kill_master();
  world.run_for(std::chrono::seconds(20));
  EXPECT_TRUE(pair.standby_is_master()) << testing::PrintToString(pair.standby.lines().all);
}

TEST(Masters, EndingAStandbyIsNotAMasterGone) {
  sim::World world(test::spec("ft2:4"));
  Managed master(world, "h00000"), standby(world, "h00003");
  test::run_for(world, {of(master), of(standby)}, std::chrono::milliseconds(5500));

  EXPECT_EQ(standby.lines().count("sm.master_gone") + master.lines().count("sm.master_gone"), 0U);
}

/// A Set of SMInfo from another port's SM, as bytes; whether it was answered well.
bool tell(test::Asker& asker, const mad::DirectedPath& way, wire::SmControl control, std::uint64_t sm_key,
          Guid from) {
  wire::SmInfo info;
  info.guid = from;
  info.sm_key = sm_key;
  info.priority = 14;
  info.state = SmState::master;
  return asker.set<wire::SmInfo>(way, info, static_cast<std::uint32_t>(control)).good();
}

TEST(Masters, AStrangerWithoutTheSmKeyCannotTellUsWhatToBe) {
  sim::World world(test::two_leaves());
  Managed master(world, "h0");
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(master->run());
  world.run_for(std::chrono::seconds(2));
  test::Asker stranger(world, {"h1", PortNum{1}});
  const auto way = test::path({1, 3, 1, 1});

  EXPECT_FALSE(tell(stranger, way, wire::SmControl::handover, 0, Guid{0x77}));
  EXPECT_FALSE(tell(stranger, way, wire::SmControl::handover, 99, Guid{0x77}));
  EXPECT_TRUE(tell(stranger, way, wire::SmControl::handover, config::SmConfig{}.sm_key, Guid{0x77}));
  world.run(group.stop());

  EXPECT_GE(master.lines().count("sm.control_refused"), 1U) << testing::PrintToString(master.lines().all);
  EXPECT_EQ(master.lines().count("sm.control control=HANDOVER"), 1U);
}

/// two_leaves() as an SM on h0 has left it, which does not answer any more; smd on h1.
class HungMaster : public testing::Test {
 protected:
  HungMaster() : world_(test::two_leaves()) {
    test::Asker asker(world_);
    test::bring_up_two_leaves(asker);
  }
  void start(std::uint8_t priority) {
    config::SubnetConfig config;
    config.sm.priority = priority;
    hung_.emplace(world_, sim::Place{"h0", PortNum{1}});
    smd_.emplace(world_, "h1", config);
    group_.emplace(world_.io().get_executor());
    group_->spawn((*smd_)->run());
    world_.run_for(std::chrono::seconds(30));
  }
  void TearDown() override { world_.run(group_->stop()); }
  wire::SmInfo master(std::uint8_t priority) const {
    wire::SmInfo info;
    info.guid = Guid{0x4001};
    info.sm_key = 1;
    info.priority = priority;
    info.state = SmState::master;
    return info;
  }

  sim::World world_;
  std::optional<ScriptedSm> hung_;
  std::optional<Managed> smd_;
  std::optional<mad::TaskGroup> group_;
};

TEST_F(HungMaster, IsReplacedWhenItsPollsAreUsedUp) {
  start(0);

  EXPECT_EQ(smd_->last().state, SmState::master) << testing::PrintToString(smd_->lines().all);
  EXPECT_EQ(smd_->lines().count("sm.master_gone"), 1U);
  EXPECT_EQ(smd_->last().summary.lids_changed, 0U);
  ASSERT_EQ(smd_->last().subnet->other_sms.size(), 1U);
  EXPECT_FALSE(smd_->last().subnet->other_sms.front().answered);
}

/// It answers all but SMInfo.
TEST_F(HungMaster, IsNoNodeThatDoesNotAnswer) {
  start(0);

  EXPECT_EQ(smd_->last().summary.state, sm::SweepState::up) << smd_->last().summary.why;
  EXPECT_EQ(smd_->lines().count("node.unresponsive"), 0U) << testing::PrintToString(smd_->lines().all);
  EXPECT_EQ(smd_->lines().count("sm.gone"), 1U);
}

TEST_F(HungMaster, ThatWakesUpAndRanksHigherIsSentHandover) {
  start(3);
  ASSERT_EQ(smd_->last().state, SmState::master);
  hung_->says = master(5);

  world_.run_for(std::chrono::seconds(3));

  EXPECT_THAT(hung_->controls, testing::ElementsAre(1U)) << testing::PrintToString(smd_->lines().all);
  EXPECT_EQ(smd_->last().state, SmState::standby);
  EXPECT_EQ(smd_->lines().count("sm.handover"), 1U);
}

/// The fabric is not read for it: on a large one that takes a while, and it may ask while it starts.
TEST_F(HungMaster, ThatWakesUpAsStandbyIsLookedAtAlone) {
  start(5);
  ASSERT_EQ(smd_->last().state, SmState::master);
  const auto heavy = smd_->lines().count("sweep=heavy");
  hung_->says = master(3);
  hung_->says->state = SmState::standby;

  world_.run_for(std::chrono::seconds(3));

  ASSERT_EQ(smd_->last().subnet->other_sms.size(), 1U);
  EXPECT_TRUE(smd_->last().subnet->other_sms.front().answered) << testing::PrintToString(smd_->lines().all);
  EXPECT_EQ(smd_->lines().count("sweep=heavy"), heavy);
  EXPECT_EQ(smd_->lines().count("a silent SM answers"), 1U);
}

TEST_F(HungMaster, ThatWakesUpAndRanksLowerIsWaitedForWithoutAnySet) {
  start(5);
  ASSERT_EQ(smd_->last().state, SmState::master);
  hung_->says = master(3);
  world_.run_for(std::chrono::seconds(3));
  world_.fabric().counts().clear();

  world_.run_for(std::chrono::seconds(10));

  EXPECT_EQ(world_.fabric().counts().sets(), 0U) << testing::PrintToString(smd_->lines().all);
  EXPECT_THAT(hung_->controls, testing::IsEmpty());
  EXPECT_EQ(smd_->last().state, SmState::master);
  EXPECT_EQ(smd_->last().summary.state, sm::SweepState::degraded);
  EXPECT_EQ(smd_->lines().count("sm.two_masters"), 1U);

  hung_->says->state = SmState::standby;
  world_.run_for(std::chrono::seconds(5));
  EXPECT_EQ(smd_->last().summary.state, sm::SweepState::up) << testing::PrintToString(smd_->lines().all);
}

/// What smd had decided while its cable was out is of its own node alone.
TEST_F(HungMaster, ThatIsMetAfterACutMakesNoTableTooSmall) {
  start(5);
  world_.fabric().faults().link_down({"h1", PortNum{1}});
  world_.run_for(std::chrono::seconds(30));
  ASSERT_EQ(smd_->last().summary.switches, 0U);
  hung_->says = master(3);
  world_.fabric().faults().link_up({"h1", PortNum{1}});
  world_.run_for(std::chrono::seconds(20));

  EXPECT_EQ(smd_->last().state, SmState::standby) << testing::PrintToString(smd_->lines().all);
  EXPECT_EQ(smd_->lines().count("sm.two_masters"), 0U);
  EXPECT_EQ(smd_->lines().count("switch.small_table"), 0U);
}

TEST_F(HungMaster, ThatKeepsTheFabricIsLeftToIt) {
  start(5);
  hung_->says = master(3);

  world_.run_for(std::chrono::seconds(25));

  EXPECT_EQ(smd_->last().state, SmState::standby) << testing::PrintToString(smd_->lines().all);
  EXPECT_EQ(smd_->lines().count("sm.no_handover"), 1U);
}

/// What h1 is told of the SM_Key of an SM on h0, by directed route and by LID.
std::pair<std::uint64_t, std::uint64_t> keys_shown(test::Asker& asker) {
  const auto directed = asker.get<wire::SmInfo>(test::path({1, 3, 1, 1}));
  EXPECT_TRUE(directed.good());
  const auto lid = asker.get<wire::PortInfo>(test::path({1, 3, 1, 1})).value.lid;
  const auto routed = asker.get<wire::SmInfo>(lid);
  EXPECT_TRUE(routed.good());
  return {directed.value.sm_key, routed.value.sm_key};
}

constexpr std::uint64_t kOwnKey = 0x1122334455667788;

std::pair<std::uint64_t, std::uint64_t> keys_shown(const config::SmConfig& sm, bool asker_is_sm) {
  sim::World world(test::two_leaves());
  config::SubnetConfig config;
  config.sm = sm;
  Managed master(world, "h0", config);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(master->run());
  world.run_for(std::chrono::seconds(2));
  test::Asker asker(world, {"h1", PortNum{1}});
  if (asker_is_sm) EXPECT_TRUE(asker.transport().claim_sm());
  const auto shown = keys_shown(asker);
  world.run(group.stop());
  return shown;
}

TEST(SmKey, IsShownToPortsOfSmsOnly) {
  const config::SmConfig own{.sm_key = kOwnKey};
  EXPECT_EQ(keys_shown(own, false), std::pair(std::uint64_t{0}, std::uint64_t{0}));
  EXPECT_EQ(keys_shown(own, true), std::pair(kOwnKey, kOwnKey));
}

TEST(SmKey, IsShownToAllowedSmsOnly) {
  const auto h1 = test::two_leaves().nodes[4].guid.value() + 1;
  const config::SmConfig other{.allowed_guids = {Guid{0x99}}, .sm_key = kOwnKey};
  const config::SmConfig this_one{.allowed_guids = {Guid{h1}}, .sm_key = kOwnKey};
  EXPECT_EQ(keys_shown(other, true), std::pair(std::uint64_t{0}, std::uint64_t{0}));
  EXPECT_EQ(keys_shown(this_one, true), std::pair(kOwnKey, kOwnKey));
}

TEST(SmKey, OfEveryInstallationIsNoSecret) {
  EXPECT_EQ(keys_shown({}, false), std::pair(std::uint64_t{1}, std::uint64_t{1}));
}

TEST(SmKey, IsNotShownToWhoSetsSmInfoWithoutIt) {
  sim::World world(test::two_leaves());
  config::SubnetConfig config;
  config.sm.sm_key = kOwnKey;
  Managed master(world, "h0", config);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(master->run());
  world.run_for(std::chrono::seconds(2));
  test::Asker stranger(world, {"h1", PortNum{1}});
  wire::SmInfo info;
  info.guid = Guid{0x77};

  const auto answer = stranger.set<wire::SmInfo>(test::path({1, 3, 1, 1}), info, 1);
  world.run(group.stop());

  EXPECT_FALSE(answer.good());
  EXPECT_EQ(answer.value.sm_key, 0U);
}

}  // namespace
}  // namespace smd
