// SPDX-License-Identifier: Apache-2.0
// A standby that has read the groups of its master's SA at its start gets the fabric at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "smd/etcd/network.h"
#include "tests/support/etcd_network.h"
#include "tests/support/memory_etcd.h"
#include "tests/support/replica_data.h"
#include "tests/support/replica_site.h"

namespace smd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ReplicaRole = replica::ReplicaView::Role;

constexpr auto *kReadFrom = "h00000", *kReader = "h00003", *kNobody = "h00001";
/// Of what is inherited: [adopt] grace, and the second after it.
constexpr auto kAfterGrace = seconds(302);

class GroupsRead : public testing::Test {
 protected:
  ~GroupsRead() override {
    for (const auto* host : {kReadFrom, kReader}) site_.kill(host);  // before what they refer to
  }
  static config::SubnetConfig with_rank(std::uint8_t priority) {
    config::SubnetConfig config;
    config.sm.priority = priority;
    return config;
  }
  /// The master has three members, and the newcomer has read them before it shows itself.
  test::ReplicaSm& begin(const std::string& peer_of_reader) {
    auto& master = site_.start(kReadFrom, with_rank(9), {etcd_ ? etcd::kPeer : kReader});
    master.register_now([&](sa::Registry& registry) {
      for (const std::size_t i : {0U, 1U, 2U})
        test::register_all(registry, test::adapter_port(master.last(), i));
    });
    site_.world.run_for(seconds(1));
    auto& reader = site_.begin(kReader, with_rank(5), {peer_of_reader}, master.address());
    EXPECT_EQ(reader.sa_lines.count("ha.groups_read"), 1U) << testing::PrintToString(reader.sa_lines.all);
    return reader;
  }
  bool is_handed_over() { return site_[kReadFrom].manager().hand_over(site_.port_of(kReader)).has_value(); }
  void expect_master() {
    site_.world.run_for(seconds(5));
    ASSERT_TRUE(site_[kReader].is_master()) << story();
  }
  /// HANDOVER in the millisecond in which its copy has become current, and its master knows it.
  void hand_over_when_current() {
    auto& reader = site_[kReader];
    const auto current = [&] { return reader.store().view()->role == ReplicaRole::current; };
    bool handed_over = false;
    for (int i = 0; i < 5000 && !handed_over; ++i) {
      site_.world.run_for(milliseconds(1));
      handed_over = current() && is_handed_over();
    }
    ASSERT_TRUE(handed_over) << story();
    expect_master();
    EXPECT_THAT(reader.lines.all, testing::Contains(testing::AllOf(testing::HasSubstr("ha.took_over"),
                                                                   testing::HasSubstr("current=true"))));
  }
  void expect_members_stay() {
    const auto& reader = site_[kReader];
    EXPECT_EQ(reader.sa_lines.count("ha.groups_inherited"), 0U)
        << testing::PrintToString(reader.sa_lines.all);
    site_.world.run_for(kAfterGrace);
    EXPECT_EQ(reader.sa_lines.count("ha.groups_not_joined"), 0U);
    EXPECT_EQ(site_[kReader].registry().members().size(), 3U) << "none has to join again";
  }
  std::string story() { return testing::PrintToString(site_[kReader].managed().lines().all); }

  test::ReplicaSite site_{"ft2:4"};
  std::optional<test::MemoryEtcd> etcd_;
  test::Lines network_lines_;
};

TEST_F(GroupsRead, ACopyThatIsCurrentReplacesThemAtOnce) {
  begin(kReadFrom);
  hand_over_when_current();
  expect_members_stay();
}

TEST_F(GroupsRead, ACopyThroughEtcdReplacesThemAtOnce) {
  etcd_.emplace(site_.world.clock());
  test::copy_through(*etcd_, site_, network_lines_);
  begin(etcd::kPeer);
  hand_over_when_current();
  expect_members_stay();
}

/// [ha] peers is set, and the master is none of them: an opensm.
TEST_F(GroupsRead, WithoutACopyTheyAreInherited) {
  auto& reader = begin(kNobody);
  site_.world.run_for(seconds(3));
  ASSERT_TRUE(is_handed_over()) << story();
  expect_master();
  EXPECT_EQ(reader.sa_lines.count("ha.groups_inherited"), 1U) << testing::PrintToString(reader.sa_lines.all);
}

}  // namespace
}  // namespace smd
