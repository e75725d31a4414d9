// SPDX-License-Identifier: Apache-2.0
// Multicast trees in a simulated fabric whose switches really forward by them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "mad/wire/attributes.h"
#include "mad/wire/capability.h"
#include "smd/store/store.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

constexpr Lid kGroup{0xC003};

/// A world with a manager that runs in it.
class Fabric {
 public:
  explicit Fabric(std::string_view spec) : world_(test::spec(spec)) { restart({}); }
  ~Fabric() { world_.run(group_->stop()); }

  void restart(config::SubnetConfig config) {
    if (group_) world_.run(group_->stop());
    manager_.emplace(world_, std::move(config));
    group_.emplace(world_.io().get_executor());
    group_->spawn((*manager_)->run());
    world_.run_for(2s);
  }

  std::vector<std::string> hosts() const {
    std::vector<std::string> names;
    for (const auto& node : manager_->last().subnet->nodes) {
      if (!node->is_switch()) names.push_back(node->description);
    }
    return names;
  }

  void join(const std::vector<std::string>& receivers, const std::vector<std::string>& senders = {}) {
    receivers_ = receivers;
    senders_ = senders;
    tell();
  }
  void tell() {
    sm::GroupMembers group{.mlid = kGroup, .members = {}};
    for (const auto& name : receivers_) group.members.push_back({port_of(name), true});
    for (const auto& name : senders_) group.members.push_back({port_of(name), false});
    auto groups = std::make_shared<sm::GroupList>();
    if (!group.members.empty()) groups->push_back(std::move(group));
    (*manager_)->requests().set_groups([groups] { return groups; });
  }

  std::shared_ptr<const sm::GroupList> groups_of(const std::vector<std::string>& receivers, Lid mlid) {
    sm::GroupMembers group{.mlid = mlid, .members = {}};
    for (const auto& name : receivers) group.members.push_back({port_of(name), true});
    return std::make_shared<const sm::GroupList>(sm::GroupList{std::move(group)});
  }

  Guid port_of(const std::string& name) {
    auto& known = guids_[name];
    for (const auto& node : manager_->last().subnet->nodes) {
      if (node->description == name) known = node->is_switch() ? node->guid() : node->ports[1].guid;
    }
    return known;
  }

  /// No member gets a packet of any other twice.
  bool sound() {
    return std::ranges::none_of(receivers_, [&](const auto& from) { return spread(from).twice; });
  }
  /// Every receiver whose link is up gets each packet once, nobody else does.
  void expect_whole() {
    auto all = receivers_;
    all.insert(all.end(), senders_.begin(), senders_.end());
    for (const auto& from : all) {
      if (!linked(from)) continue;
      const auto got = spread(from);
      EXPECT_FALSE(got.twice) << from;
      const auto others =
          std::ranges::count_if(receivers_, [&](const auto& to) { return to != from && linked(to); });
      EXPECT_EQ(got.reached.size(), static_cast<std::size_t>(others)) << from;
    }
  }
  bool linked(const std::string& name) {
    for (const auto& node : manager_->last().subnet->nodes) {
      if (node->description == name) return node->ports[1].linked();
    }
    return false;
  }
  sim::Spread spread(const std::string& from) { return world_.fabric().spread({from}, kGroup); }

  sim::World& world() { return world_; }
  Managed& manager() { return *manager_; }

 private:
  sim::World world_;
  std::optional<Managed> manager_;
  std::optional<mad::TaskGroup> group_;
  std::vector<std::string> receivers_, senders_;
  std::map<std::string, Guid> guids_;
};

std::uint64_t sets_of(Fabric& fabric, std::uint16_t attribute) {
  return fabric.world().fabric().counts().sets(attribute);
}

TEST(MulticastTrees, AJoinWritesMftsAndNothingElse) {
  Fabric fabric("ft2:8");
  fabric.world().fabric().counts().clear();

  fabric.join({"h00000", "h00009", "h00031"});
  fabric.world().run_for(10ms);

  fabric.expect_whole();
  EXPECT_EQ(sets_of(fabric, wire::MulticastForwardingTable::kAttribute), 4U);  // three leaves and a spine
  EXPECT_EQ(fabric.world().fabric().counts().sets(), 4U);
  EXPECT_EQ(fabric.world().fabric().counts().gets(), 0U);
}

/// A leaf that answers well and keeps no mask: it is told so, and nobody writes it again and again.
TEST(MulticastTrees, MasksThatASwitchDoesNotKeepAreNamedAndNotWrittenAgain) {
  Fabric fabric("ft2:8");
  constexpr auto kMft = wire::MulticastForwardingTable::kAttribute;
  fabric.world().fabric().faults().forgets("leaf000", kMft, "all");
  fabric.join({"h00000", "h00009", "h00031"});
  fabric.world().run_for(1s);
  fabric.world().fabric().counts().clear();
  fabric.world().run_for(60s);

  EXPECT_EQ(sets_of(fabric, kMft), 0U);
  EXPECT_EQ(fabric.manager().lines().count("field.not_kept"), 1U);
  const auto line = fabric.manager().lines().first("field.not_kept");
  EXPECT_NE(line.find("name=leaf000"), std::string::npos) << line;
  EXPECT_NE(line.find("attribute=MulticastForwardingTable"), std::string::npos) << line;
  EXPECT_EQ(fabric.spread("h00009").reached.size(), 1U) << "h00031";
}

TEST(MulticastTrees, WhoLeavesGetsNothingMore) {
  Fabric fabric("ft2:8");
  fabric.join({"h00000", "h00009", "h00031"}, {"h00020"});
  fabric.world().run_for(10ms);
  fabric.expect_whole();

  fabric.join({"h00000", "h00009"});
  fabric.world().run_for(10ms);
  fabric.expect_whole();

  fabric.join({});
  fabric.world().run_for(10ms);
  EXPECT_TRUE(fabric.spread("h00000").reached.empty());
}

/// Its firmware may be busy; what it receives goes past that.
TEST(MulticastTrees, ASilentMemberKeepsItsBranchAndOneWhoseLinkIsDownDoesNot) {
  Fabric fabric("ft2:8");
  fabric.join({"h00000", "h00009", "h00031"});
  fabric.world().run_for(10ms);
  fabric.expect_whole();

  fabric.world().fabric().faults().silent("h00009");
  fabric.manager()->requests().resweep(sm::Resweep::heavy, "test");
  fabric.world().run_for(20s);
  fabric.tell();
  fabric.world().run_for(1s);
  EXPECT_THAT(fabric.manager().last().subnet->silent_hosts, testing::SizeIs(1));
  fabric.world().fabric().faults().silent("h00009", false);
  EXPECT_EQ(fabric.spread("h00000").reached.size(), 2U);

  // Another one joins meanwhile.
  fabric.world().fabric().faults().silent("h00009");
  fabric.manager()->requests().resweep(sm::Resweep::heavy, "test");
  fabric.world().run_for(20s);
  fabric.join({"h00000", "h00009", "h00031", "h00017"});
  fabric.world().run_for(1s);
  fabric.world().fabric().faults().silent("h00009", false);
  EXPECT_EQ(fabric.spread("h00000").reached.size(), 3U);

  fabric.world().fabric().faults().silent("h00009");
  fabric.world().fabric().faults().link_down({"h00009", PortNum{1}});
  fabric.manager()->requests().resweep(sm::Resweep::heavy, "test");
  fabric.world().run_for(20s);
  EXPECT_THAT(fabric.manager().last().subnet->silent_hosts, testing::IsEmpty());
}

TEST(MulticastTrees, ANewManagerFindsThemInTheSwitches) {
  Fabric fabric("ft2:8");
  fabric.join({"h00000", "h00009", "h00031"});
  fabric.world().run_for(10ms);
  fabric.world().fabric().counts().clear();

  fabric.restart({});
  fabric.tell();
  fabric.world().run_for(1s);

  EXPECT_EQ(sets_of(fabric, wire::MulticastForwardingTable::kAttribute), 0U);
  fabric.expect_whole();
}

TEST(MulticastTrees, GroupsThatNobodyKnowsStayForAWhile) {
  Fabric fabric("ft2:8");
  fabric.join({"h00000", "h00009", "h00031"});
  fabric.world().run_for(10ms);

  fabric.restart({});
  fabric.join({});
  fabric.world().run_for(1min);
  EXPECT_EQ(fabric.spread("h00000").reached.size(), 2U);

  fabric.world().run_for(5min);
  EXPECT_TRUE(fabric.spread("h00000").reached.empty());
}

/// The groups of whole blocks may have ended while those behind go on.
TEST(MulticastTrees, ANewManagerFindsThoseBehindEmptyBlocks) {
  for (const unsigned block : {2U, 3U}) {
    Fabric fabric("ft2:8");
    const Lid far{static_cast<std::uint16_t>(0xC000 + 32 * block + 5)};
    const auto groups = fabric.groups_of({"h00000", "h00009", "h00031"}, far);
    fabric.manager()->requests().set_groups([groups] { return groups; });
    fabric.world().run_for(10ms);
    ASSERT_EQ(fabric.world().fabric().spread({"h00000"}, far).reached.size(), 2U);
    fabric.world().fabric().counts().clear();

    fabric.restart({});
    fabric.manager()->requests().set_groups([groups] { return groups; });
    fabric.world().run_for(1s);

    EXPECT_EQ(sets_of(fabric, wire::MulticastForwardingTable::kAttribute), 0U) << block;
    EXPECT_EQ(fabric.world().fabric().spread({"h00000"}, far).reached.size(), 2U);
  }
}

TEST(MulticastTrees, ASwitchSaysHowFarItsTableIsInUse) {
  Fabric fabric("ft2:8");
  auto faults = fabric.world().fabric().faults();
  for (const auto& node : fabric.manager().last().subnet->nodes) {
    const auto mask = node->ports[0].info.capability_mask | wire::kCapMulticastFdbTop;
    if (node->is_switch()) faults.set_capabilities({node->description, PortNum{0}}, mask);
  }
  fabric.restart({});
  const Lid far{0xC000 + 32 * 10};
  const auto groups = fabric.groups_of({"h00000", "h00009", "h00031"}, far);
  fabric.manager()->requests().set_groups([groups] { return groups; });
  fabric.world().run_for(1s);
  fabric.world().fabric().counts().clear();

  fabric.restart({});
  fabric.manager()->requests().set_groups([groups] { return groups; });
  fabric.world().run_for(1s);

  EXPECT_EQ(sets_of(fabric, wire::MulticastForwardingTable::kAttribute), 0U);
  EXPECT_EQ(fabric.world().fabric().spread({"h00000"}, far).reached.size(), 2U);
}

/// A registry says how far tables are in use, whatever lies between.
TEST(MulticastTrees, ARestartFindsAllThatTheStoreKnows) {
  sim::World world(test::spec("ft2:8"));
  store::MemoryStore store;
  const Lid far{0xC000 + 32 * 20};
  auto groups = std::make_shared<sm::GroupList>();
  {
    test::Managed first(world, {}, {}, &store);
    mad::TaskGroup group(world.io().get_executor());
    group.spawn(first->run());
    world.run_for(2s);
    groups->push_back({.mlid = far, .members = {}});
    sa::Registry registry;
    const Mgid mgid{{0xff, 0x12, 1}};
    registry.put_group(mgid, far, {}, false);
    for (const auto& node : first.last().subnet->nodes) {
      if (!node->is_switch() && groups->back().members.size() < 3)
        groups->back().members.push_back({node->ports[1].guid, true});
    }
    first->requests().set_groups([groups] { return groups; });
    world.run_for(1s);
    world.run(store.commit_registry(std::make_shared<const sa::Registry>(std::move(registry))));
    world.run(group.stop());
  }
  world.fabric().counts().clear();

  test::Managed second(world, {}, {}, &store);
  mad::TaskGroup group(world.io().get_executor());
  group.spawn(second->run());
  world.run_for(2s);
  second->requests().set_groups([groups] { return groups; });
  world.run_for(1s);
  world.run(group.stop());

  EXPECT_EQ(world.fabric().counts().sets(wire::MulticastForwardingTable::kAttribute), 0U);
}

/// What lies far behind all that is known is not taken for empty: before a group uses it, it is written.
TEST(MulticastTrees, WhatWasNotReadIsWrittenBeforeItIsUsed) {
  Fabric fabric("ft2:8");
  const Lid far{0xC000 + 32 * 20};
  const auto stale = fabric.groups_of({"h00000", "h00009", "h00031"}, far);
  const auto fresh = fabric.groups_of({"h00001", "h00017"}, far);
  fabric.manager()->requests().set_groups([stale] { return stale; });
  fabric.world().run_for(10ms);
  ASSERT_EQ(fabric.world().fabric().spread({"h00000"}, far).reached.size(), 2U);

  fabric.restart({});
  fabric.manager()->requests().set_groups([fresh] { return fresh; });
  fabric.world().run_for(1s);

  EXPECT_EQ(fabric.world().fabric().spread({"h00001"}, far).reached.size(), 1U);
  EXPECT_TRUE(fabric.world().fabric().spread({"h00009"}, far).reached.empty())
      << "its leaf is in no tree any more";
}

/// Members come and go, cables and switches too: at every instant a packet comes at most once, and once all
/// is quiet exactly once.
TEST(MulticastTrees, NobodyGetsAPacketTwiceWhateverHappens) {
  const auto seeds = std::getenv("SMD_LONG") != nullptr ? 1000U : 12U;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    std::mt19937_64 random(seed);
    const std::vector specs{"ft2:8", "ft3:4", "torus:3x3:2", "random:10:4:2:9"};
    Fabric fabric(specs[seed % specs.size()]);
    const auto hosts = fabric.hosts();
    std::vector<std::pair<std::string, PortNum>> cables;
    for (const auto& node : fabric.manager().last().subnet->nodes) {
      for (std::size_t p = 1; node->is_switch() && p < node->ports.size(); ++p) {
        const auto& peer = node->ports[p].peer;
        if (peer && fabric.manager().last().subnet->find(peer->node)->is_switch())
          cables.emplace_back(node->description, PortNum{static_cast<std::uint8_t>(p)});
      }
    }
    for (int step = 0; step < 12; ++step) {
      std::vector<std::string> members, senders;
      for (const auto& host : hosts) {
        if (random() % 3 == 0) (random() % 5 == 0 ? senders : members).push_back(host);
      }
      fabric.join(members, senders);
      const auto& [node, port] = cables[random() % cables.size()];
      const sim::Place place{node, port};
      const auto fault = random() % 3;
      if (fault == 0) fabric.world().fabric().faults().link_down(place);
      if (fault == 1) fabric.world().fabric().faults().link_up(place);
      for (int instant = 0; instant < 100; ++instant) {
        fabric.world().run_for(20us);
        ASSERT_TRUE(fabric.sound()) << "seed " << seed << ", step " << step << ", instant " << instant;
      }
    }
    for (const auto& [node, port] : cables) fabric.world().fabric().faults().link_up({node, port});
    fabric.world().run_for(30s);
    fabric.expect_whole();
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace smd
