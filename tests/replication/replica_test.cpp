// SPDX-License-Identifier: Apache-2.0
// A standby has what the master has committed, and takes over without a visible change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tuple>

#include "mad/wire/sa/member_record.h"
#include "tests/support/replica_data.h"
#include "tests/support/replica_pair.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::on_disk;
using test::register_all;
using testing::SizeIs;

constexpr auto* kC = "h00001";

asio::awaitable<void> commit_replica(store::Store& disk, store::ReplicaStatePtr now) {
  co_await disk.commit_replica(std::move(now));
}

class Replica : public test::ReplicaPair {};

TEST_F(Replica, AStandbyHasLidsMembersServicesSubscriptionsAndPartitionsOfTheMaster) {
  start_pair();
  auto& master = site_[kA];
  for (std::size_t i = 0; i < 8; ++i) {
    master.register_now(
        [&](sa::Registry& registry) { register_all(registry, test::adapter_port(master.last(), i)); });
    site_.world.run_for(milliseconds(10));
  }
  site_.world.run_for(milliseconds(300));

  expect_equal();
  EXPECT_FALSE(site_.disks[kB].loaded()->lids.empty());
  EXPECT_EQ(site_.disks[kB].registry()->services().size(), 8U);
  EXPECT_EQ(site_[kB].registry().subscriptions().size(), 8U);
  EXPECT_EQ(site_[kB].store().view()->role, replica::ReplicaView::Role::current) << story();
  EXPECT_TRUE(site_[kB].last().decided.routes && site_[kB].last().decided.partitions)
      << "readers see paths, and partitions with their members";
  const auto view = site_[kA].store().view();
  ASSERT_THAT(view->standbys, SizeIs(1));
  EXPECT_EQ(view->standbys.front().behind, 0U);
}

/// The operator of the master sees why a standby has no copy.
TEST_F(Replica, AMasterShowsTheConnectionThatItHasRefused) {
  site_.network.refused = "certificate verify failed";
  start_pair();

  EXPECT_EQ(site_[kA].store().view()->refused, std::string(kB) + ": certificate verify failed");
  EXPECT_THAT(site_[kA].store().view()->standbys, SizeIs(0));

  site_.network.refused.clear();
  site_.world.run_for(seconds(70));
  EXPECT_EQ(site_[kA].store().view()->refused, "");
  EXPECT_THAT(site_[kA].store().view()->standbys, SizeIs(1)) << story();
}

/// What the fabric was told between two moments.
std::uint64_t sets(const mad::Counters& counters, std::uint16_t attribute) {
  std::uint64_t sent = 0;
  for (const auto& row : counters.by_attribute) {
    if (row.method == wire::Method::set && row.attribute == attribute) sent += row.sent;
  }
  return sent;
}

/// The next master goes on with the SLs of classes, whatever its own files say.
TEST_F(Replica, SlsOfClassesAreCopied) {
  start_pair();
  const auto commit = [](store::Store* store, policy::PoliciesPtr policies) -> asio::awaitable<void> {
    co_await store->commit_policies(std::move(policies));
  };
  auto policies = std::make_shared<policy::Policies>(*site_[kA].store().policies());
  policies->class_sls = {{"storage", Sl{3}}, {"tenant a", Sl{1}}};
  site_.world.run(commit(&site_[kA].store(), policies));
  site_.world.run_for(seconds(1));
  expect_equal();

  site_.kill(kA);
  site_.world.run_for(seconds(5));

  EXPECT_EQ(site_[kB].store().policies()->class_sls, policies->class_sls) << story();
  EXPECT_EQ(site_.disks[kB].policies()->class_sls, policies->class_sls);
}

TEST_F(Replica, ATakeoverChangesNothingAndAsksNoClient) {
  start_pair();
  auto& master = site_[kA];
  for (std::size_t i = 0; i < 8; ++i)
    master.register_now(
        [&](sa::Registry& registry) { register_all(registry, test::adapter_port(master.last(), i)); });
  master.manager().requests().resweep(sm::Resweep::heavy, "test");  // the group's tree is in the switches
  site_.world.run_for(seconds(3));
  EXPECT_GT(sets(master.manager().counters(), wire::MulticastForwardingTable::kAttribute), 0U);
  const auto lids = site_.disks[kA].loaded()->lids;
  const auto members = master.registry().members().size();
  const auto asked = site_[kB].asked;
  const auto before = site_[kB].manager().counters();

  site_.kill(kA);
  site_.world.run_for(seconds(5));

  auto& now = site_[kB];
  ASSERT_TRUE(now.is_master()) << story();
  const auto sent = now.manager().counters() - before;
  EXPECT_EQ(now.last().summary.state, sm::SweepState::up) << now.last().summary.why;
  EXPECT_EQ(now.store().loaded()->lids, lids);
  EXPECT_EQ(now.last().summary.lids_changed, 0U);
  EXPECT_EQ(sets(sent, wire::LinearForwardingTable::kAttribute), 0U);
  EXPECT_EQ(sets(sent, wire::MulticastForwardingTable::kAttribute), 0U);
  EXPECT_EQ(sets(sent, wire::PKeyTable::kAttribute), 0U);
  EXPECT_EQ(sets(sent, wire::SlToVl::kAttribute), 0U);
  EXPECT_EQ(now.asked - asked, 0U) << story();
  EXPECT_EQ(now.registry().members().size(), members);
  EXPECT_EQ(now.registry().services().size(), 8U);
  EXPECT_EQ(now.registry().subscriptions().size(), 8U);
}

/// The second group has its spine because the first one, which is gone, had the other. A standby that knew
/// nothing of that would choose otherwise.
TEST_F(Replica, ATakeoverKeepsTreesWhoseReasonsAreGone) {
  start_pair();
  auto& master = site_[kA];
  const auto change = [&](auto&& edit) {
    master.register_now(edit);
    master.manager().requests().resweep(sm::Resweep::heavy, "test");
    site_.world.run_for(seconds(3));
  };
  const auto port = [&](std::size_t adapter) { return test::adapter_port(master.last(), adapter); };
  const auto join = [&](std::uint8_t group, Lid mlid, std::initializer_list<std::size_t> adapters) {
    change([&](sa::Registry& registry) {
      for (const auto i : adapters) register_all(registry, port(i), group, mlid);
    });
  };
  join(7, Lid{0xC005}, {2, 4});
  join(8, Lid{0xC006}, {5, 7});
  change([&](sa::Registry& registry) {
    for (const std::size_t i : {2U, 4U}) registry.drop_member({test::replica_group(7), port(i)});
  });
  const auto before = site_[kB].manager().counters();

  site_.kill(kA);
  site_.world.run_for(seconds(5));

  ASSERT_TRUE(site_[kB].is_master()) << story();
  const auto sent = site_[kB].manager().counters() - before;
  EXPECT_EQ(sets(sent, wire::MulticastForwardingTable::kAttribute), 0U) << story();
}

std::uint64_t gets(const mad::Counters& counters) {
  return counters.total(&mad::AttributeCounters::sent, wire::Method::get);
}

/// MasterSMLID of the adapters but for the two of the SMs, as the fabric has it.
std::vector<Lid> sm_lids(test::ReplicaSite& site) {
  std::vector<Lid> found;
  for (const auto* host : {"h00001", "h00002", "h00004", "h00005", "h00006", "h00007"})
    found.push_back(site.world.fabric().port_info({host, PortNum{1}})->sm_lid);
  return found;
}

/// A sweep waits for a host that does not answer; clients do not.
TEST_F(Replica, ClientsAreToldAndAnsweredBeforeTheFabricIsRead) {
  start_pair();
  const auto own = site_.world.fabric().port_info({kB, PortNum{1}})->lid;
  ASSERT_TRUE(site_.world.fabric().faults().silent("h00007"));

  site_.kill(kA);
  for (int step = 0; step < 300 && !site_[kB].is_master(); ++step) site_.world.run_for(milliseconds(10));
  ASSERT_TRUE(site_[kB].is_master()) << story();
  const auto before = site_[kB].manager().counters();
  site_.world.run_for(milliseconds(60));

  auto told = sm_lids(site_);
  EXPECT_NE(told.back(), own);  // the silent one
  told.pop_back();
  EXPECT_THAT(told, testing::Each(own)) << story();
  EXPECT_EQ(site_[kB].last().state, wire::SmState::master);
  EXPECT_EQ(site_[kB].managed().lines().count("sweep=heavy reason=\"master gone\""), 0U) << story();
  EXPECT_LT(gets(site_[kB].manager().counters() - before), 400U);
  site_.world.run_for(seconds(5));
  EXPECT_EQ(site_[kB].managed().lines().count("sweep=heavy reason=\"master gone\""), 1U) << story();
  EXPECT_EQ(site_[kB].managed().lines().count("ha.clients_told"), 1U) << story();
}

/// A light sweep that is due comes after that.
TEST_F(Replica, AnSmThatWasMasterBeforeTellsThePortsFirstAsWell) {
  start_pair();
  const auto* master = kA;
  const auto* standby = kB;
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    site_.world.run_for(seconds(9 + 3 * round));
    const auto told = site_[standby].managed().lines().count("ha.clients_told");
    ASSERT_TRUE(site_[master].manager().hand_over(std::nullopt)) << story();
    site_.world.run_for(seconds(2));
    ASSERT_TRUE(site_[standby].is_master()) << story();
    EXPECT_EQ(site_[standby].managed().lines().count("ha.clients_told"), told + 1) << story();
    std::swap(master, standby);
  }
}

/// It answers on the fabric: what it has committed since its last word by the network may be missing.
TEST_F(Replica, ACopyOfAMasterThatTheNetworkHidesIsStale) {
  start_pair();
  site_.network.delay = seconds(100);
  site_.world.run_for(milliseconds(500));
  site_[kA].register_now(
      [&](sa::Registry& registry) { register_all(registry, test::adapter_port(site_[kA].last(), 1)); });
  site_.world.run_for(milliseconds(1500));
  const auto asked = site_[kB].asked;

  site_.kill(kA);
  site_.world.run_for(seconds(5));

  ASSERT_TRUE(site_[kB].is_master()) << story();
  EXPECT_THAT(site_[kB].lines.first("ha.took_over"),
              testing::AllOf(testing::HasSubstr("current=false"), testing::HasSubstr("action=")))
      << story();
  EXPECT_GT(site_[kB].asked, asked) << "clients are asked to register again";
}

TEST_F(Replica, AStandbySeesWhatTheMasterHasFoundByGetsOnly) {
  start_pair();
  site_.world.run_for(seconds(2));
  const auto links = [&] {
    std::size_t count = 0;
    for (const auto& node : site_[kB].last().subnet->nodes) {
      for (const auto& port : node->ports) count += port.peer ? 1U : 0U;
    }
    return count;
  };
  const auto before = links();
  const auto sent = site_[kB].manager().counters();
  ASSERT_TRUE(site_.world.fabric().faults().link_down({"leaf000", PortNum{3}}));
  site_.world.run_for(seconds(4));

  EXPECT_EQ(links(), before - 2) << story();
  ASSERT_TRUE(site_.world.fabric().faults().link_up({"leaf000", PortNum{3}}));
  site_.world.run_for(seconds(10));
  EXPECT_EQ(links(), before) << story();
  const auto since = site_[kB].manager().counters() - sent;
  EXPECT_EQ(since.total(&mad::AttributeCounters::sent, wire::Method::set), 0U);
  EXPECT_FALSE(site_[kB].is_master());
}

/// The copy may lack something: the fabric is read before anybody is answered.
TEST_F(Replica, WithAStaleCopyTheFabricIsReadFirst) {
  start_pair();
  site_.network.cut = true;
  site_.network.break_all();
  site_.world.run_for(seconds(60));

  site_.kill(kA);
  site_.world.run_for(seconds(5));

  EXPECT_TRUE(site_[kB].is_master());
  EXPECT_EQ(site_[kB].managed().lines().count("ha.clients_told"), 0U) << story();
}

TEST_F(Replica, AStandbyThatCouldNotHearTheMasterAsksClientsAgain) {
  start_pair();
  site_.network.cut = true;
  site_.network.break_all();
  site_.world.run_for(seconds(60));
  EXPECT_FALSE(site_[kB].is_master());
  EXPECT_EQ(site_[kB].lines.count("ha.replica_lost"), 1U) << story();
  EXPECT_EQ(site_[kB].store().view()->role, replica::ReplicaView::Role::lost);
  const auto asked = site_[kB].asked;

  site_.kill(kA);
  site_.world.run_for(seconds(5));

  EXPECT_TRUE(site_[kB].is_master());
  EXPECT_GT(site_[kB].asked, asked) << story();
}

TEST_F(Replica, AConnectionThatBreaksAgainAndAgainLosesNothing) {
  site_.network.most_at_once = 100;
  start_pair();
  auto& master = site_[kA];
  for (std::size_t i = 0; i < 8; ++i) {
    master.register_now(
        [&](sa::Registry& registry) { register_all(registry, test::adapter_port(master.last(), i)); });
    site_.network.break_all();
    site_.world.run_for(milliseconds(150));
  }
  site_.world.run_for(seconds(5));

  expect_equal();
  EXPECT_EQ(site_[kB].store().view()->role, replica::ReplicaView::Role::current) << story();
}

TEST_F(Replica, GarbageCostsAWarningAndNoChange) {
  start_pair();
  const auto before = on_disk(site_.disks[kB]);
  std::uint64_t random = 1;
  site_.network.spoil = [&random](std::vector<std::uint8_t>& bytes) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    bytes[(random >> 33U) % bytes.size()] ^= static_cast<std::uint8_t>(1U + (random >> 56U) % 255U);
  };
  site_.world.run_for(seconds(60));
  EXPECT_TRUE(site_[kA].is_master());
  EXPECT_FALSE(site_[kB].is_master());
  EXPECT_EQ(site_[kA].last().summary.state, sm::SweepState::up);

  site_.network.spoil = nullptr;
  site_.world.run_for(seconds(30));

  EXPECT_EQ(on_disk(site_.disks[kB]), before);
  expect_equal();
}

/// The master has an epoch that is lower than its standby's copy: it is refused, the fabric decides that it
/// is master all the same, and its next epoch is higher.
TEST_F(Replica, AMasterOfALowerEpochIsRefusedUntilTheFabricHasDecided) {
  auto ahead = std::make_shared<store::ReplicaState>();
  ahead->position = {.epoch = 7, .number = 1};
  ahead->source = Guid{0x99};
  site_.world.run(commit_replica(site_.disks[kB], ahead));
  start_pair();
  site_.world.run_for(seconds(10));

  EXPECT_THAT(site_[kA].refused, SizeIs(1));
  EXPECT_EQ(site_.disks[kA].replica()->position.epoch, 8U);
  expect_equal();
}

/// The master's disk is a new one: until its epoch is higher the standby has another state.
TEST_F(Replica, ACopyOfWhatItsMasterHasLostIsNotCurrent) {
  auto earlier = std::make_shared<store::ReplicaState>();
  earlier->position = {.epoch = 7, .number = 1};
  earlier->source = Guid{0x99};
  site_.world.run(commit_replica(site_.disks[kA], earlier));
  start_pair();
  ASSERT_EQ(site_.disks[kB].replica()->position.epoch, 8U) << story();

  site_.kill(kA);
  site_.disks.erase(kA);
  site_.begin(kA, ranked(5), {kB});
  for (int i = 0; i < 500 && site_[kB].lines.count("ha.lower_epoch") == 0; ++i)
    site_.world.run_for(milliseconds(10));
  ASSERT_EQ(site_[kB].lines.count("ha.lower_epoch"), 1U) << story();
  site_.world.run_for(milliseconds(300));
  EXPECT_NE(site_[kB].store().view()->role, replica::ReplicaView::Role::current);

  site_.world.run_for(seconds(15));
  EXPECT_EQ(site_[kB].store().view()->role, replica::ReplicaView::Role::current) << story();
  expect_equal();
}

/// A peer that is wrong, or means harm, costs a warning: there is an epoch after each that it says.
TEST_F(Replica, TheLargestEpochThatAPeerMaySayEndsNoCopy) {
  auto ahead = std::make_shared<store::ReplicaState>();
  ahead->position = {.epoch = replica::kLargestEpoch, .number = 1};
  ahead->source = Guid{0x99};
  site_.world.run(commit_replica(site_.disks[kB], ahead));
  start_pair();
  site_.world.run_for(seconds(10));

  EXPECT_EQ(site_.disks[kA].replica()->position.epoch, replica::kLargestEpoch);
  EXPECT_EQ(site_[kB].store().view()->role, replica::ReplicaView::Role::current) << story();
  expect_equal();
}

/// What the master has committed meanwhile may be lost with it: that the connection has ended is seen late.
TEST_F(Replica, ACopyOfBeforeAStandstillIsNotCurrentUntilTheMasterIsHeardAgain) {
  start_pair();
  ASSERT_EQ(site_[kB].store().view()->role, replica::ReplicaView::Role::current) << story();
  site_[kB].store_clock().suspended = seconds(60);
  site_.world.run_for(seconds(1));
  EXPECT_EQ(site_[kB].store().view()->role, replica::ReplicaView::Role::current) << "it is heard";

  site_[kB].store_clock().suspended = seconds(120);
  site_.kill(kA);
  site_.world.run_for(seconds(5));

  ASSERT_TRUE(site_[kB].is_master()) << story();
  EXPECT_THAT(site_[kB].lines.all, testing::Contains(testing::AllOf(testing::HasSubstr("ha.took_over"),
                                                                    testing::HasSubstr("current=false"))))
      << story();
}

/// The successor has all that was committed before it gets the fabric, and the old master copies it at once.
TEST_F(Replica, AHandoverWaitsForTheCopyAndAsksNobody) {
  start_pair();
  auto& old = site_[kA];
  site_.network.delay = milliseconds(20);
  old.register_now(
      [&](sa::Registry& registry) { register_all(registry, test::adapter_port(old.last(), 2)); });
  const auto asked = site_[kB].asked;

  ASSERT_TRUE(old.manager().hand_over(std::nullopt));
  site_.world.run_for(seconds(5));

  auto& now = site_[kB];
  ASSERT_TRUE(now.is_master()) << story();
  EXPECT_EQ(now.registry().services().size(), 1U);
  EXPECT_EQ(now.asked, asked) << story();
  EXPECT_EQ(old.store().view()->role, replica::ReplicaView::Role::current) << story();
  EXPECT_EQ(on_disk(site_.disks[kA]), on_disk(site_.disks[kB]));
}

/// Nothing was committed meanwhile: no transaction tells it that it has everything.
TEST_F(Replica, AStandbyThatIsRestartedIsCurrentAtOnceAndLosesNoClient) {
  start_pair();
  auto& master = site_[kA];
  for (std::size_t i = 0; i < 4; ++i)
    master.register_now(
        [&](sa::Registry& registry) { register_all(registry, test::adapter_port(master.last(), i)); });
  site_.world.run_for(seconds(1));
  site_.kill(kB);
  site_.world.run_for(seconds(1));

  site_.start(kB, ranked(3), {kA});
  site_.world.run_for(seconds(2));

  EXPECT_EQ(site_[kB].store().view()->role, replica::ReplicaView::Role::current) << story();
  EXPECT_EQ(site_[kB].registry().services().size(), 4U) << story();
  expect_equal();
  const auto asked = site_[kB].asked;
  site_.kill(kA);
  site_.world.run_for(seconds(5));
  ASSERT_TRUE(site_[kB].is_master());
  EXPECT_EQ(site_[kB].registry().services().size(), 4U);
  EXPECT_EQ(site_[kB].asked, asked) << story();
}

/// The old master comes back, with its old disk, and copies the new one.
TEST_F(Replica, TheOldMasterThatReturnsCopiesTheNewOne) {
  start_pair();
  site_.kill(kA);
  site_.world.run_for(seconds(5));
  auto& now = site_[kB];
  ASSERT_TRUE(now.is_master());
  now.register_now(
      [&](sa::Registry& registry) { register_all(registry, test::adapter_port(now.last(), 2)); });

  site_.start(kA, ranked(1), {kB});
  site_.world.run_for(seconds(5));

  EXPECT_FALSE(site_[kA].is_master());
  expect_equal();
  EXPECT_EQ(site_.disks[kA].replica()->position.epoch, 2U);
}

/// Nothing that is written to the master before ends: several of its words and a transaction are not read.
TEST_F(Replica, AWriteThatDoesNotEndDoesNotKeepAStandbyFromTheNextMaster) {
  start_pair();
  site_.start(kC, ranked(2), {kA, kB});
  site_.world.run_for(seconds(3));
  ASSERT_EQ(site_[kC].store().view()->source, site_.port_of(kA)) << story();
  site_.network.takes_nothing = kA;
  site_.world.run_for(milliseconds(500));
  site_[kA].register_now(
      [&](sa::Registry& registry) { register_all(registry, test::adapter_port(site_[kA].last(), 1)); });
  site_.world.run_for(milliseconds(500));

  site_.kill(kA);
  site_.world.run_for(seconds(5));
  auto& now = site_[kB];
  ASSERT_TRUE(now.is_master()) << story();
  now.register_now(
      [&](sa::Registry& registry) { register_all(registry, test::adapter_port(now.last(), 2)); });
  site_.world.run_for(seconds(2));

  const auto view = site_[kC].store().view();
  EXPECT_EQ(view->role, replica::ReplicaView::Role::current) << testing::PrintToString(site_[kC].lines.all);
  EXPECT_EQ(view->source, site_.port_of(kB));
  EXPECT_EQ(site_[kC].registry().services().size(), now.registry().services().size());
}

}  // namespace
}  // namespace smd
