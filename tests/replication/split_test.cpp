// SPDX-License-Identifier: Apache-2.0
// A fabric is cut into two parts, each with a master, and becomes one again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/etcd_network.h"
#include "tests/support/replica_data.h"
#include "tests/support/replica_site.h"

namespace smd {
namespace {

using std::chrono::seconds;

/// On leaf000, which is cut off with its two hosts; and on leaf001. The first ranks higher.
constexpr auto* kSmall = "h00000";
constexpr auto* kLarge = "h00003";
/// End ports of both parts.
constexpr std::size_t kSmallPorts = 2 + 1, kLargePorts = 6 + 5;

class Split : public testing::Test {
 protected:
  virtual std::string copies_by(const char* other) { return other; }
  void start(const char* host, const char* other) {
    config::SubnetConfig config;
    config.sm.priority = host == kSmall ? 5 : 3;
    if (large_stays_) config.sm.master_priority = host == kSmall ? 12 : 13;
    site_.start(host, config, {copies_by(other)});
  }
  void start_both() {
    start(kSmall, kLarge);
    start(kLarge, kSmall);
    site_.world.run_for(seconds(3));
  }
  void cut(bool network) {
    for (const unsigned port : {3U, 4U})
      site_.world.fabric().faults().link_down({"leaf000", PortNum{static_cast<std::uint8_t>(port)}});
    site_.network.cut = network;
    if (network) site_.network.break_all();
  }
  void join() {
    site_.network.cut = false;
    for (const unsigned port : {3U, 4U})
      site_.world.fabric().faults().link_up({"leaf000", PortNum{static_cast<std::uint8_t>(port)}});
  }
  /// LIDs of all adapters, as the fabric has them.
  std::map<std::string, Lid> lids() {
    std::map<std::string, Lid> found;
    for (unsigned host = 0; host < 8; ++host) {
      const auto name = fmt::format("h{:05}", host);
      found[name] = site_.world.fabric().port_info({name, PortNum{1}})->lid;
    }
    return found;
  }
  Guid port(unsigned host) {
    const auto name = fmt::format("h{:05}", host);
    for (const auto* sm : {kSmall, kLarge}) {
      for (const auto& node : site_[sm].last().subnet->nodes) {
        if (node->description == name) return node->ports[1].guid;
      }
    }
    ADD_FAILURE() << name;
    return {};
  }
  void add(const char* sm, std::uint8_t number, unsigned mlid, unsigned host) {
    site_[sm].register_now([&](sa::Registry& registry) {
      test::register_all(registry, port(host), number, Lid{static_cast<std::uint16_t>(mlid)});
    });
  }
  std::string story() {
    std::string text;
    for (const auto* host : {kSmall, kLarge}) {
      text += std::string("--- ") + host + "\n";
      for (const auto& line : site_[host].lines.all) text += line + "\n";
      for (const auto& line : site_[host].managed().lines().all) text += line + "\n";
    }
    return text;
  }
  void expect_both_masters() {
    EXPECT_TRUE(site_[kSmall].is_master()) << story();
    EXPECT_TRUE(site_[kLarge].is_master()) << story();
    EXPECT_EQ(site_[kSmall].last().summary.cas, 2U);
    EXPECT_EQ(site_[kLarge].last().summary.cas, 6U);
  }
  const char* winner() const { return large_stays_ ? kLarge : kSmall; }
  void expect_one_master() {
    EXPECT_EQ(site_[kSmall].is_master(), !large_stays_) << story();
    EXPECT_EQ(site_[kLarge].is_master(), large_stays_) << story();
    const auto& now = site_[winner()].last();
    EXPECT_EQ(now.summary.cas, 8U);
    EXPECT_EQ(now.summary.state, sm::SweepState::up) << now.summary.why << story();
    std::set<Lid> different;
    for (const auto& [host, lid] : lids()) different.insert(lid);
    EXPECT_EQ(different.size(), 8U);
  }
  /// Each SM has what clients have registered with either.
  void expect_registered(std::initializer_list<std::uint8_t> numbers) {
    for (const auto* sm : {kSmall, kLarge}) {
      const auto& registry = site_[sm].registry();
      EXPECT_EQ(registry.services().size(), numbers.size()) << sm << story();
      EXPECT_EQ(registry.subscriptions().size(), numbers.size()) << sm;
      std::set<Lid> mlids;
      for (const auto number : numbers) {
        const auto* found = registry.groups().find(test::replica_group(number));
        ASSERT_NE(found, nullptr) << sm << " group " << int{number} << story();
        EXPECT_EQ(found->members, 1U);
        mlids.insert(found->mlid);
      }
      EXPECT_EQ(mlids.size(), numbers.size());
    }
  }

  /// One joins the group, the other leaves it.
  void replace_member(const char* sm, std::uint8_t number, unsigned left, unsigned joined) {
    const auto mgid = test::replica_group(number);
    site_[sm].register_now([&](sa::Registry& registry) {
      registry.put_member({mgid, port(joined)}, {.join_state = wire::kFullMember, .joined_by = port(joined)});
      registry.drop_member({mgid, port(left)});
    });
  }
  asio::awaitable<void> commit(const char* sm, policy::PoliciesPtr next) {
    co_await site_[sm].store().commit_policies(std::move(next));
  }
  /// By the API.
  void make_partition(const char* sm, const std::string& name, std::uint16_t pkey) {
    auto next = std::make_shared<policy::Policies>(*site_[sm].store().policies());
    next->accepted = "{}";
    next->tokens[name].hash = std::string(64, '1');
    next->api[name] =
        std::make_shared<const policy::ApiPartition>(policy::ApiPartition{.name = name, .pkey = pkey});
    site_.world.run(commit(sm, std::move(next)));
  }
  static std::vector<std::string> partitions(const policy::PoliciesPtr& of) {
    std::vector<std::string> names;
    for (const auto& [name, partition] : of->api) names.push_back(name);
    return names;
  }
  /// The other part's partitions are told to the master that stays, with those that both had.
  void expect_partitions_of_both_parts() {
    start_both();
    make_partition(kSmall, "both", 0x10);
    site_.world.run_for(seconds(2));
    cut(true);
    site_.world.run_for(seconds(20));
    expect_both_masters();
    make_partition(kSmall, "small", 0x11);
    make_partition(kLarge, "large", 0x12);
    join();
    site_.world.run_for(seconds(40));

    expect_one_master();
    const auto& told = site_[winner()].inherited_policies;
    ASSERT_EQ(told.size(), 1U) << story();
    EXPECT_THAT(partitions(told[0].first), testing::ElementsAre("both", large_stays_ ? "small" : "large"));
    EXPECT_TRUE(told[0].first->tokens.empty());
    ASSERT_NE(told[0].second, nullptr);
    EXPECT_THAT(partitions(told[0].second), testing::ElementsAre("both"));
  }
  const sa::Group* group(const char* sm, std::uint8_t number) {
    return site_[sm].registry().groups().find(test::replica_group(number));
  }

  bool large_stays_ = false;  ///< of two masters
  test::ReplicaSite site_{"ft2:4"};
};

TEST_F(Split, OfAFabricAndItsNetworkLeavesAMasterToEachPartAndLosesNothingWhenItIsJoined) {
  start_both();
  add(kSmall, 1, 0xC001, 1);
  site_.world.run_for(seconds(1));
  const auto before = lids();

  cut(true);
  site_.world.run_for(seconds(20));
  expect_both_masters();
  add(kSmall, 2, 0xC005, 0);
  add(kLarge, 3, 0xC005, 5);  // the same multicast LID
  add(kLarge, 4, 0xC006, 6);
  join();
  site_.world.run_for(seconds(40));

  expect_one_master();
  EXPECT_EQ(lids(), before);
  expect_registered({1, 2, 3, 4});
  EXPECT_EQ(group(kSmall, 4)->mlid, Lid{0xC006});
}

/// It had a current copy of the other's state when the fabric was cut.
TEST_F(Split, LosesNothingWhereTheFormerStandbyStaysMaster) {
  large_stays_ = true;
  start_both();
  ASSERT_TRUE(site_[kSmall].is_master()) << story();
  add(kSmall, 1, 0xC001, 7);
  add(kSmall, 5, 0xC002, 1);
  add(kSmall, 6, 0xC003, 6);
  site_.world.run_for(seconds(1));

  cut(false);
  site_.world.run_for(seconds(20));
  expect_both_masters();
  add(kSmall, 2, 0xC005, 0);
  add(kLarge, 3, 0xC005, 5);  // the same multicast LID
  replace_member(kSmall, 5, 1, 0);
  replace_member(kLarge, 6, 6, 4);
  const auto asked = site_[kLarge].asked;
  join();
  site_.world.run_for(seconds(40));

  expect_one_master();
  expect_registered({1, 2, 3, 5, 6});
  for (const auto* sm : {kSmall, kLarge}) {
    EXPECT_TRUE(site_[sm].registry().members().contains({test::replica_group(5), port(0)})) << sm;
    EXPECT_TRUE(site_[sm].registry().members().contains({test::replica_group(6), port(4)})) << sm;
  }
  EXPECT_EQ(site_[kSmall].lines.count("ha.clients_left"), 1U) << story();
  EXPECT_EQ(site_[kLarge].lines.count("ha.clients_inherited"), 1U) << story();
  EXPECT_EQ(site_[kLarge].asked - asked, kSmallPorts) << story();
}

TEST_F(Split, AsksThePortsOfTheOtherPartOnceToRegisterAgain) {
  start_both();
  site_.world.run_for(seconds(1));
  cut(false);
  site_.world.run_for(seconds(20));
  expect_both_masters();
  const auto asked = site_[kSmall].asked;

  join();
  site_.world.run_for(seconds(40));

  expect_one_master();
  EXPECT_EQ(site_[kSmall].asked - asked, kLargePorts) << story();
}

/// Nothing of both parts has changed: what one has, the other has too.
TEST_F(Split, OfWhichTheFormerStandbyKnowsAllBringsNothingBack) {
  large_stays_ = true;
  start_both();
  add(kSmall, 1, 0xC001, 6);
  site_.world.run_for(seconds(1));
  cut(false);
  site_.world.run_for(seconds(20));
  expect_both_masters();
  site_[kLarge].register_now([&](sa::Registry& registry) { test::unregister_all(registry, port(6), 1); });

  join();
  site_.world.run_for(seconds(40));

  expect_one_master();
  expect_registered({});
  EXPECT_EQ(group(kLarge, 1), nullptr);
}

TEST_F(Split, TellsTheMasterThatStaysOfPartitionsOfTheOtherPart) { expect_partitions_of_both_parts(); }

TEST_F(Split, TellsTheFormerStandbyOfThemToo) {
  large_stays_ = true;
  expect_partitions_of_both_parts();
}

TEST_F(Split, OfTheFabricAloneIsServedByBothAndJoined) {
  start_both();
  const auto before = lids();

  cut(false);
  site_.world.run_for(seconds(20));
  expect_both_masters();
  add(kSmall, 2, 0xC005, 0);
  add(kLarge, 3, 0xC006, 5);
  join();
  site_.world.run_for(seconds(40));

  expect_one_master();
  EXPECT_EQ(lids(), before);
  expect_registered({2, 3});
}

/// They never were one: all LIDs of the smaller part are taken in the larger one.
TEST_F(Split, OfTwoFabricsThatAreJoinedTheLargerKeepsItsLids) {
  cut(true);
  start(kSmall, kLarge);
  start(kLarge, kSmall);
  site_.world.run_for(seconds(5));
  expect_both_masters();
  const auto before = lids();
  EXPECT_EQ(before.at("h00000").value() <= 16, true);
  std::set<Lid> different;
  for (const auto& [host, lid] : before) different.insert(lid);
  EXPECT_LT(different.size(), 8U);

  join();
  site_.world.run_for(seconds(40));

  expect_one_master();
  auto after = lids();
  std::size_t moved = 0;
  for (const auto& [host, lid] : before) {
    const bool small = host == "h00000" || host == "h00001";
    if (!small) EXPECT_EQ(after.at(host), lid) << host;
    if (small && after.at(host) != lid) ++moved;
  }
  EXPECT_GT(moved, 0U);
}

/// Each has begun its first epoch in its part, and hears over the network that the other one is master.
TEST_F(Split, OfSmsWhoseEpochsAreTheSameIsSaidAtBoth) {
  cut(false);
  start(kSmall, kLarge);
  start(kLarge, kSmall);
  site_.world.run_for(seconds(5));

  expect_both_masters();
  ASSERT_EQ(site_[kSmall].store().view()->position.epoch, site_[kLarge].store().view()->position.epoch);
  EXPECT_THAT(site_[kSmall].refused, testing::ElementsAre(site_.port_of(kLarge))) << story();
  EXPECT_THAT(site_[kLarge].refused, testing::ElementsAre(site_.port_of(kSmall))) << story();
}

/// As Split, with state that is copied through etcd, which both parts reach.
class SplitWithEtcd : public Split {
 protected:
  SplitWithEtcd() { test::copy_through(etcd_, site_, lines_); }
  ~SplitWithEtcd() override {
    for (const auto* host : {kSmall, kLarge}) site_.kill(host);
  }
  std::string copies_by(const char* /*other*/) override { return etcd::kPeer; }

  test::MemoryEtcd etcd_{site_.world.clock()};
  test::Lines lines_;
};

TEST_F(SplitWithEtcd, BothPartsKeepWhatClientsHaveRegistered) {
  start_both();
  add(kSmall, 1, 0xC001, 1);
  site_.world.run_for(seconds(1));

  cut(false);
  site_.world.run_for(seconds(20));
  expect_both_masters();
  add(kSmall, 2, 0xC005, 0);
  add(kLarge, 3, 0xC005, 5);
  add(kLarge, 4, 0xC006, 6);
  join();
  site_.world.run_for(seconds(60));

  expect_one_master();
  expect_registered({1, 2, 3, 4});
  EXPECT_EQ(etcd_.keys("/left"), 0U);  // taken
  EXPECT_EQ(site_[kSmall].lines.count("ha.clients_inherited"), 1U) << story();
}

/// What could not be written is kept until it can.
TEST_F(SplitWithEtcd, EtcdThatIsAwayAtTheJoinGetsItLater) {
  start_both();
  cut(false);
  site_.world.run_for(seconds(20));
  expect_both_masters();
  add(kLarge, 3, 0xC005, 5);
  etcd_.down = true;
  etcd_.break_all();
  join();
  site_.world.run_for(seconds(40));
  expect_one_master();
  EXPECT_EQ(site_[kSmall].registry().services().size(), 0U);

  etcd_.down = false;
  site_.world.run_for(seconds(60));
  expect_registered({3});
}

/// The standby that takes over by itself has it all: nothing is left to it.
TEST_F(SplitWithEtcd, AHandoverLeavesNothing) {
  start_both();
  add(kSmall, 1, 0xC001, 1);
  site_.world.run_for(seconds(2));
  ASSERT_TRUE(site_[kSmall].manager().hand_over(std::nullopt));
  site_.world.run_for(seconds(10));

  ASSERT_TRUE(site_[kLarge].is_master()) << story();
  EXPECT_EQ(site_[kSmall].lines.count("ha.clients_left"), 0U) << story();
  expect_registered({1});
}

}  // namespace
}  // namespace smd
