// SPDX-License-Identifier: Apache-2.0
// Multicast LIDs: how many a switch's table has, up to the last one, and what becomes of them at a takeover.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mad/wire/attributes.h"
#include "mad/wire/capability.h"
#include "tests/support/sa_session.h"
#include "tests/support/served.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;
using Record = wire::McMemberRecord;

constexpr Lid kLastMlid{0xFFFE};

/// A fabric whose switches have so many multicast LIDs and tell how far their tables are in use.
class Tables {
 public:
  explicit Tables(std::optional<std::uint16_t> capacity) : world_(test::spec("ft2:4"), options(capacity)) {
    auto faults = world_.fabric().faults();
    for (const auto* name : {"leaf000", "leaf001", "leaf002", "leaf003", "spine000", "spine001"})
      faults.set_capabilities({name, PortNum{0}}, wire::kCapMulticastFdbTop);
    group_.spawn(manager_->run());
    world_.run_for(2s);
  }
  ~Tables() { world_.run(group_.stop()); }
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;

  /// All hosts join a group of this number; how many of the others a packet of the first one reaches.
  std::size_t reached_by(Lid mlid) {
    auto groups = std::make_shared<sm::GroupList>(sm::GroupList{{.mlid = mlid, .members = {}}});
    for (const auto& node : manager_.last().subnet->nodes) {
      if (!node->is_switch()) groups->front().members.push_back({node->ports[1].guid, true});
    }
    manager_->requests().set_groups([groups] { return groups; });
    world_.run_for(1s);
    return world_.fabric().spread({"h00000"}, mlid).reached.size();
  }
  const wire::SwitchInfo& leaf() {
    for (const auto& node : manager_.last().subnet->nodes) {
      if (node->description == "leaf000") return *node->switch_info;
    }
    throw std::runtime_error("no leaf000");
  }

 private:
  static sim::Options options(std::optional<std::uint16_t> capacity) {
    auto options = sim::World::default_options();
    options.capacities.multicast_fdb = capacity.value_or(options.capacities.multicast_fdb);
    return options;
  }
  sim::World world_;
  Managed manager_{world_};
  mad::TaskGroup group_{world_.io().get_executor()};
};

/// 0xC000 to 0xFFFE are multicast LIDs, 0xFFFF is the permissive one.
TEST(MulticastLids, OfTheLaboratoryAreAllThatThereAre) {
  Tables tables({});
  EXPECT_EQ(tables.leaf().multicast_fdb_cap, 0x3FFFU);
  EXPECT_EQ(tables.reached_by(kLastMlid), 7U);
  EXPECT_EQ(tables.leaf().multicast_fdb_top, kLastMlid.value());
}

TEST(MulticastLids, ATableOfAllOfThemIsUsedToTheLastOne) {
  Tables tables(0x3FFF);
  EXPECT_EQ(tables.reached_by(kLastMlid), 7U);
  EXPECT_EQ(tables.leaf().multicast_fdb_top, kLastMlid.value()) << "0xFFFF is no multicast LID";
}

/// Switches of a vendor that counts 0xFFFF.
TEST(MulticastLids, ATableOfOneMoreHasNoTopBeyondTheLastOne) {
  Tables tables(0x4000);
  EXPECT_EQ(tables.reached_by(kLastMlid), 7U);
  EXPECT_EQ(tables.leaf().multicast_fdb_top, kLastMlid.value()) << "0xFFFF is no multicast LID";
}

TEST(MulticastLids, APartOfABlockCountsToo) {
  for (const auto capacity : {std::uint16_t{1}, std::uint16_t{40}, std::uint16_t{1000}}) {
    Tables tables(capacity);
    const Lid last{static_cast<std::uint16_t>(0xC000 + capacity - 1)};
    EXPECT_EQ(tables.reached_by(last), 7U) << capacity;
    EXPECT_EQ(tables.leaf().multicast_fdb_top, last.value());
  }
}

/// Three members of one group, and SMs that come and go.
class Takeover : public testing::Test {
 protected:
  static constexpr auto kMembers = {"h00003", "h00004", "h00005"};

  void begin(store::Store* store) {
    served_.reset();
    served_.emplace(world_, store, sa::Settings{.sm_key = 1});
  }
  /// The multicast LID that the SA gives this host.
  Lid join(const std::string& host) {
    auto transport = world_.transport(sim::Place{host, PortNum{1}}, sim::Interface::gsi);
    std::vector<std::uint8_t> came;
    transport->on_receive([&](std::span<mad::Received> batch) {
      for (auto& one : batch) came = one.bytes;
    });
    const auto gid = Gid::of(kDefaultSubnetPrefix, transport->local()->guid);
    const auto mgid = test::mgid("ff12:401b:ffff::ffff:ffff");
    EXPECT_TRUE(transport->send(test::membership(wire::Method::set, mgid, gid), served_->address(), 1000ms));
    world_.run_for(200ms);
    transport->on_receive(nullptr);
    const auto reply = test::reply_of(came);
    EXPECT_EQ(reply.status, 0U) << host;
    return reply.get<Record>(0).mlid;
  }
  /// Of the two other members, those that a packet of this host reaches.
  std::size_t reached(const std::string& from, Lid mlid) {
    return world_.fabric().spread({from}, mlid).reached.size();
  }

  sim::World world_{test::spec("ft2:4")};
  store::MemoryStore store_;
  std::optional<test::Served> served_;
};

/// docs/multicast.md, "Taking over": what is lost, and when.
TEST_F(Takeover, WithoutWhatTheOldOneKnewLosesPacketsBetweenTwoJoins) {
  begin(&store_);
  std::map<std::string, Lid> old;
  for (const auto* host : kMembers) old[host] = join(host);
  const auto before = old["h00003"];
  for (const auto* host : kMembers) ASSERT_EQ(reached(host, before), 2U);

  begin(nullptr);
  for (const auto* host : kMembers) EXPECT_EQ(reached(host, before), 2U) << "nobody has joined again";

  const auto after = join("h00003");
  EXPECT_NE(after, before);
  EXPECT_EQ(reached("h00004", before), 2U) << "who has not joined again reaches all";
  EXPECT_EQ(reached("h00003", after), 0U) << "who has joined again reaches those alone who have";
  EXPECT_EQ(join("h00004"), after);
  EXPECT_EQ(reached("h00003", after), 1U);
  EXPECT_EQ(join("h00005"), after);
  for (const auto* host : kMembers) EXPECT_EQ(reached(host, after), 2U);

  world_.run_for(5min);
  for (const auto* host : kMembers) EXPECT_EQ(reached(host, before), 0U) << "the grace is over";
}

TEST_F(Takeover, WithTheStoreLosesNothing) {
  begin(&store_);
  Lid mlid;
  for (const auto* host : kMembers) mlid = join(host);

  begin(&store_);
  for (const auto* host : kMembers) {
    EXPECT_EQ(reached(host, mlid), 2U);
    EXPECT_EQ(join(host), mlid);
  }
  world_.run_for(6min);
  for (const auto* host : kMembers) EXPECT_EQ(reached(host, mlid), 2U);
}

}  // namespace
}  // namespace smd
