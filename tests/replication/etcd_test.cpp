// SPDX-License-Identifier: Apache-2.0
// A pair whose state is copied through etcd instead of from peer to peer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "mad/wire/sa/member_record.h"
#include "smd/etcd/network.h"
#include "tests/support/etcd_network.h"
#include "tests/support/memory_etcd.h"
#include "tests/support/replica_data.h"
#include "tests/support/replica_site.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::Field;
using ViewRole = replica::ReplicaView::Role;

constexpr auto* kFirst = "h00000";
constexpr auto* kSecond = "h00003";
class ReplicaEtcd : public testing::Test {
 protected:
  ReplicaEtcd() { test::copy_through(etcd_, site_, lines_); }
  test::ReplicaSm& start(const std::string& host, std::uint8_t priority,
                         replica::Mode mode = replica::Mode::async) {
    config::SubnetConfig config;
    config.sm.priority = priority;
    return site_.start(host, std::move(config), {etcd::kPeer}, mode);
  }
  void start_both(replica::Mode mode = replica::Mode::async) {
    start(kFirst, 5, mode);
    start(kSecond, 3, mode);
    site_.world.run_for(seconds(3));
    ASSERT_TRUE(site_[kFirst].is_master());
    ASSERT_FALSE(site_[kSecond].is_master());
  }
  /// The adapter with this number joins a group.
  void join(std::size_t adapter) {
    auto& master = site_[kFirst];
    const auto port = test::adapter_port(master.last(), adapter);
    master.register_now([&](sa::Registry& registry) { test::register_all(registry, port); });
  }
  void expect_copied() {
    EXPECT_EQ(test::on_disk(site_.disks[kFirst]), test::on_disk(site_.disks[kSecond]))
        << testing::PrintToString(
               replica::differing(test::on_disk(site_.disks[kFirst]), test::on_disk(site_.disks[kSecond])))
        << told();
    EXPECT_EQ(site_[kSecond].store().view()->role, ViewRole::current) << told();
  }
  std::string told() {
    std::string text;
    for (const auto& line : lines_.all) text += line + "\n";
    for (const auto* host : {kFirst, kSecond}) {
      text += std::string("--- ") + host + "\n";
      if (!site_.runs(host)) continue;
      for (const auto& line : site_[host].lines.all) text += line + "\n";
    }
    return text;
  }

  test::ReplicaSite site_{"ft2:4"};
  test::MemoryEtcd etcd_{site_.world.clock()};
  test::Lines lines_;  ///< of the networks
  // The SMs end before what they refer to.
  struct AtEnd {
    test::ReplicaSite& site;
    ~AtEnd() {
      for (const auto* host : {kFirst, kSecond}) site.kill(host);
    }
  } at_end_{site_};
};

TEST_F(ReplicaEtcd, ATakeoverChangesNothingAndAsksNoClient) {
  start_both();
  for (std::size_t i = 0; i < 8; ++i) join(i);
  site_.world.run_for(seconds(1));
  expect_copied();
  const auto lids = site_.disks[kFirst].loaded()->lids;
  const auto members = site_[kFirst].registry().members().size();
  const auto asked = site_[kSecond].asked;

  site_.kill(kFirst);
  site_.world.run_for(seconds(5));

  auto& now = site_[kSecond];
  ASSERT_TRUE(now.is_master()) << told();
  EXPECT_EQ(now.store().loaded()->lids, lids);
  EXPECT_EQ(now.last().summary.lids_changed, 0U);
  EXPECT_EQ(now.registry().members().size(), members);
  EXPECT_EQ(now.registry().services().size(), 8U);
  EXPECT_EQ(now.asked, asked) << told();
  EXPECT_EQ(etcd_.value("/smd/test/live/epoch").substr(0, 16), "0000000000000002");
}

TEST_F(ReplicaEtcd, TheMasterShowsEtcdAndTheStandbysThatReadIt) {
  start_both();
  join(0);
  site_.world.run_for(seconds(1));

  const auto view = site_[kFirst].store().view();
  EXPECT_THAT(view->standbys, Contains(Field(&replica::StandbyView::name, "etcd"))) << told();
  EXPECT_THAT(view->standbys, Contains(Field(&replica::StandbyView::port, site_.port_of(kSecond)))) << told();
  for (const auto& standby : view->standbys) EXPECT_EQ(standby.acked, view->position) << standby.name;
  EXPECT_EQ(view->failure, "");
  EXPECT_FALSE(site_[kSecond].store().view()->forwards);
}

TEST_F(ReplicaEtcd, EtcdThatIsGoneCostsOneWarningAndIsCaughtUpWith) {
  start_both();
  etcd_.down = true;
  etcd_.break_all();
  const auto before = site_.world.now();
  join(0);
  EXPECT_EQ(site_.world.now(), before);  // no answer waits for it
  site_.world.run_for(seconds(60));
  EXPECT_EQ(lines_.count("ha.etcd_failed"), 2U) << told();  // one on either SM
  EXPECT_NE(site_[kFirst].store().view()->failure, "");
  EXPECT_EQ(site_[kSecond].store().view()->role, ViewRole::lost);
  EXPECT_TRUE(site_[kFirst].is_master());
  EXPECT_EQ(site_[kFirst].lines.count("ha.standby_lost"), 0U) << told();  // etcd is none

  etcd_.down = false;
  join(1);
  site_.world.run_for(seconds(15));

  EXPECT_EQ(lines_.count("ha.etcd_works_again"), 2U) << told();
  EXPECT_EQ(site_[kFirst].store().view()->failure, "");
  expect_copied();
}

TEST_F(ReplicaEtcd, EtcdThatDoesNotAnswerIsNotWaitedFor) {
  start_both();
  etcd_.silent = true;
  const auto before = site_.world.now();
  for (std::size_t i = 0; i < 8; ++i) join(i);
  EXPECT_EQ(site_.world.now(), before);
  site_.world.run_for(seconds(30));
  EXPECT_EQ(site_[kSecond].store().view()->role, ViewRole::lost) << told();

  etcd_.silent = false;
  site_.world.run_for(seconds(20));
  expect_copied();
}

TEST_F(ReplicaEtcd, AFullEtcdStopsTheCopyAndNothingElse) {
  start_both();
  etcd_.full = true;
  for (std::size_t i = 0; i < 3; ++i) join(i);
  site_.world.run_for(seconds(60));

  EXPECT_EQ(lines_.count("ha.etcd_failed"), 1U) << told();
  EXPECT_EQ(lines_.count("quota-backend-bytes"), 1U) << told();
  EXPECT_THAT(site_[kFirst].store().view()->failure, testing::HasSubstr("space exceeded"));
  EXPECT_EQ(site_[kFirst].last().summary.state, sm::SweepState::up);
  etcd_.full = false;
  site_.world.run_for(seconds(20));
  EXPECT_EQ(lines_.count("ha.etcd_works_again"), 1U) << told();
  expect_copied();
}

TEST_F(ReplicaEtcd, AStandbyThatWasAwayOverACompactionCopiesAnew) {
  start_both();
  join(0);
  site_.world.run_for(seconds(1));
  site_.kill(kSecond);
  for (std::size_t i = 1; i < 6; ++i) {
    join(i);
    site_.world.run_for(milliseconds(100));
    etcd_.compact();
  }

  start(kSecond, 3);
  site_.world.run_for(seconds(3));
  expect_copied();

  // While it reads as well: what it looks at is gone at each look.
  for (int step = 0; step < 50; ++step) {
    if (step == 0) join(7);
    site_.world.run_for(milliseconds(1));
    etcd_.compact();
  }
  site_.world.run_for(seconds(3));
  expect_copied();
}

TEST_F(ReplicaEtcd, TransactionsAreSmallAndTheLogIsCutBySnapshots) {
  start_both();
  auto& master = site_[kFirst];
  for (int i = 0; i < 50; ++i) {
    auto policies = std::make_shared<policy::Policies>(*master.store().policies());
    policies->accepted = std::string(1'000'000, static_cast<char>('a' + i % 26));
    site_.world.run([](store::Store& store, policy::PoliciesPtr now) -> asio::awaitable<void> {
      co_await store.commit_policies(std::move(now));
    }(master.store(), policies));
    site_.world.run_for(milliseconds(200));
  }
  site_.world.run_for(seconds(5));

  expect_copied();
  EXPECT_LE(etcd_.most_operations, etcd::kMostOperations);
  EXPECT_LE(etcd_.largest, std::size_t{300} * 1024);
  const auto head = etcd::head_of(etcd_.value("/smd/test/live/head"));
  ASSERT_TRUE(head);
  EXPECT_GT(head->snapshot.number, 0U);
  EXPECT_LT(etcd_.keys("/log/"), 16U * 8U);
}

/// Its disk is new, and etcd has more: what it writes is refused until its epoch is higher.
TEST_F(ReplicaEtcd, AMasterOfALowerEpochIsRefusedAndBeginsAHigherOne) {
  start_both();
  join(0);
  site_.world.run_for(seconds(1));
  site_.kill(kSecond);
  site_.kill(kFirst);
  site_.world.run_for(seconds(10));
  etcd_.put("/smd/test/live/epoch", "0000000000000007 0000000000000099");
  site_.disks.erase(kFirst);

  start(kFirst, 5);
  site_.world.run_for(seconds(1));
  EXPECT_EQ(etcd_.value("/smd/test/live/epoch"), "0000000000000007 0000000000000099");
  site_.world.run_for(seconds(10));

  EXPECT_THAT(site_[kFirst].refused, testing::IsEmpty()) << told();  // it is gone: nothing is split
  EXPECT_EQ(site_[kFirst].lines.count("ha.lower_epoch"), 1U) << told();
  EXPECT_EQ(site_.disks[kFirst].replica()->position.epoch, 8U);
  EXPECT_EQ(etcd_.value("/smd/test/live/epoch").substr(0, 16), "0000000000000008");
  start(kSecond, 3);
  site_.world.run_for(seconds(3));
  expect_copied();
}

/// The other part of a fabric that is cut in two has written under a higher epoch: nothing is overwritten.
TEST_F(ReplicaEtcd, WhatAnotherLivingMasterHasWrittenStays) {
  start_both();
  const std::string other = "0000000000000007 0000000000000099";
  etcd_.put("/smd/test/live/alive", other);
  etcd_.put("/smd/test/live/epoch", other);
  for (std::size_t i = 0; i < 3; ++i) join(i);
  site_.world.run_for(seconds(30));

  EXPECT_EQ(etcd_.value("/smd/test/live/epoch"), other);
  EXPECT_EQ(site_[kFirst].refused.front(), Guid{0x99}) << told();
  EXPECT_TRUE(site_[kFirst].is_master());
  EXPECT_EQ(site_.disks[kFirst].replica()->position.epoch, 1U);

  site_.world.run([](test::MemoryEtcd& etcd) -> asio::awaitable<void> {
    const auto client = etcd.clients()->make();
    co_await client->transact(
        {.guards = {}, .puts = {}, .erases = {{.key = "/smd/test/live/alive", .end = "/smd/test/live/b"}}});
  }(etcd_));  // it has ended
  site_.world.run_for(seconds(20));
  EXPECT_EQ(site_.disks[kFirst].replica()->position.epoch, 8U) << told();
  expect_copied();
}

/// A standby whose copy has a later epoch than the master says so by etcd.
TEST_F(ReplicaEtcd, AStandbyWithALaterEpochIsHeard) {
  auto ahead = std::make_shared<store::ReplicaState>();
  ahead->position = {.epoch = 7, .number = 1};
  ahead->source = Guid{0x99};
  site_.world.run([](store::Store& disk, store::ReplicaStatePtr now) -> asio::awaitable<void> {
    co_await disk.commit_replica(std::move(now));
  }(site_.disks[kSecond], ahead));
  start_both();
  site_.world.run_for(seconds(15));

  EXPECT_EQ(site_.disks[kFirst].replica()->position.epoch, 8U) << told();
  expect_copied();
}

TEST_F(ReplicaEtcd, AHandoverWaitsForTheStandbyThatReads) {
  start_both();
  etcd_.delay = milliseconds(5);
  join(2);
  const auto asked = site_[kSecond].asked;
  ASSERT_TRUE(site_[kFirst].manager().hand_over(std::nullopt));
  site_.world.run_for(seconds(6));

  ASSERT_TRUE(site_[kSecond].is_master()) << told();
  EXPECT_EQ(site_[kSecond].registry().services().size(), 1U);
  EXPECT_EQ(site_[kSecond].asked, asked) << told();
  EXPECT_EQ(site_[kFirst].store().view()->role, ViewRole::current) << told();
  EXPECT_EQ(test::on_disk(site_.disks[kFirst]), test::on_disk(site_.disks[kSecond]));
}

TEST_F(ReplicaEtcd, SyncWaitsForEtcdAndAtMostFiftyMilliseconds) {
  start_both(replica::Mode::sync);
  const auto time_of = [&](std::size_t adapter) {
    const auto began = site_.world.now();
    join(adapter);
    return site_.world.now() - began;
  };
  etcd_.delay = milliseconds(10);
  EXPECT_GE(time_of(0), milliseconds(10));
  EXPECT_LE(time_of(2), milliseconds(30));
  EXPECT_EQ(site_[kFirst].lines.count("ha.sync_lost"), 0U) << told();
  etcd_.delay = milliseconds(400);
  EXPECT_EQ(time_of(1), milliseconds(50));
  EXPECT_EQ(site_[kFirst].lines.count("ha.sync_lost"), 1U) << told();
}

/// Keys that are none of ours, or are cut, in the place of ours.
/// Another hand has written it: no mastership would be after it.
TEST_F(ReplicaEtcd, AnEpochThatIsTooLargeIsOfNoSm) {
  const std::string other = "ffffffffffffffff 0000000000000099";
  etcd_.put("/smd/test/live/epoch", other);
  start_both();
  site_.world.run_for(seconds(10));

  EXPECT_EQ(etcd_.value("/smd/test/live/epoch"), other);
  EXPECT_THAT(site_[kFirst].store().view()->failure, testing::HasSubstr("/live/epoch is not of smd"))
      << told();
  EXPECT_EQ(site_.disks[kFirst].replica()->position.epoch, 1U);
}

TEST_F(ReplicaEtcd, WhatMakesNoSenseIsNotTaken) {
  start_both();
  join(0);
  site_.world.run_for(seconds(1));
  const auto before = test::on_disk(site_.disks[kSecond]);
  const auto head = etcd_.value("/smd/test/live/head");
  for (const std::string spoilt :
       {"", "7", "1 1 99 1 1 7 1 1", "1 1 2 99999999999999999999 1 0 1 1", "2 1 5 1 1 0 1 2"}) {
    etcd_.put("/smd/test/live/head", spoilt);
    site_.world.run_for(seconds(2));
    EXPECT_EQ(test::on_disk(site_.disks[kSecond]), before) << spoilt;
  }
  etcd_.put("/smd/test/live/head", head);
  join(1);
  site_.world.run_for(seconds(5));
  expect_copied();
}

}  // namespace
}  // namespace smd
