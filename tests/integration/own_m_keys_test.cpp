// SPDX-License-Identifier: Apache-2.0
// M_Keys that smd gives: who has which, in which order, and what a later SM makes of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tests/support/managed_world.h"
#include "tests/support/sm_site.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;
using testing::Each;
using testing::Field;
using testing::IsEmpty;

constexpr std::uint64_t kKey = 0x5EC2E7000000CAFE;

config::SubnetConfig keyed(std::uint8_t level, std::uint64_t key = kKey, bool per_port = false) {
  config::SubnetConfig config;
  config.keys.m_key_file = "m_key";
  config.keys.m_key = key;
  config.keys.m_key_level = level;
  config.keys.m_key_per_port = per_port;
  return config;
}

/// What outlives a manager.
class KeptStore final : public store::Store {
 public:
  sm::StoredPtr loaded() const override { return kept; }
  asio::awaitable<bool> commit(sm::StoredPtr now) override {
    if (works) kept = std::move(now);
    co_return works;
  }
  sm::StoredPtr kept = std::make_shared<const sm::Stored>();
  bool works = true;
};

class OwnMKeys : public testing::Test {
 protected:
  OwnMKeys() : fabric_(test::spec("ft2:8")), world_(fabric_) {}
  ~OwnMKeys() override { end(); }

  void begin(config::SubnetConfig config, sim::Duration time = 20s) {
    manager_.emplace(world_, std::move(config), sm::ManagerOptions{}, &store_);
    group_.emplace(world_.io().get_executor());
    group_->spawn((*manager_)->run());
    world_.run_for(time);
  }
  void end() {
    if (group_) world_.run(group_->stop());
    if (manager_) lines_.insert(lines_.end(), manager_->lines().all.begin(), manager_->lines().all.end());
    group_.reset(), manager_.reset();
  }
  void heavy() {
    (*manager_)->requests().resweep(sm::Resweep::heavy, "test");
    world_.run_for(10s);
  }
  /// Of every end port that is linked.
  std::vector<wire::PortInfo> ports() {
    std::vector<wire::PortInfo> found;
    for (const auto& node : fabric_.nodes) {
      const PortNum port{static_cast<std::uint8_t>(node.type == NodeType::switch_ ? 0 : 1)};
      found.push_back(*world_.fabric().port_info({node.name, port}));
    }
    return found;
  }
  std::uint64_t wrong_keys() { return world_.fabric().state().drops.m_key; }
  sm::SweepState state() { return manager_->last().summary.state; }
  std::string why() { return manager_->last().summary.why; }

  base::Fabric fabric_;
  sim::World world_;
  KeptStore store_;
  std::optional<Managed> manager_;
  std::optional<mad::TaskGroup> group_;
  std::vector<std::string> lines_;
};

auto has(std::uint64_t key, std::uint8_t level, std::uint16_t lease = 60) {
  return testing::AllOf(Field("M_Key", &wire::PortInfo::m_key, key),
                        Field("M_KeyProtectBits", &wire::PortInfo::m_key_protect, level),
                        Field("M_KeyLeasePeriod", &wire::PortInfo::m_key_lease_period, lease));
}

TEST_F(OwnMKeys, EveryEndPortHasItAndThenTheLevel) {
  for (std::uint8_t level = 0; level <= 3; ++level) {
    SCOPED_TRACE(int{level});
    sim::World world(fabric_);
    Managed manager(world, keyed(level));
    mad::TaskGroup group(world.io().get_executor());
    std::map<sim::PortIndex, std::vector<int>> levels;
    bool first_key_with_level = false;
    world.fabric().watch_sets([&](const sim::DoneSet& set) {
      if (set.attribute != wire::PortInfo::kAttribute) return;
      const auto& info = world.fabric().state().ports[set.at].info;
      auto& seen = levels[set.at];
      first_key_with_level |= seen.empty() && info.m_key != 0 && info.m_key_protect != 0;
      if (info.m_key != 0) seen.push_back(info.m_key_protect);
    });
    group.spawn(manager->run());
    world.run_for(20s);
    std::vector<wire::PortInfo> ports;
    for (const auto& node : fabric_.nodes) {
      const PortNum port{static_cast<std::uint8_t>(node.type == NodeType::switch_ ? 0 : 1)};
      ports.push_back(*world.fabric().port_info({node.name, port}));
    }
    EXPECT_THAT(ports, Each(has(kKey, level)));
    EXPECT_FALSE(first_key_with_level) << "a key comes with level 0";
    EXPECT_EQ(manager.last().summary.state, sm::SweepState::up) << manager.last().summary.why;
    EXPECT_EQ(world.fabric().state().drops.m_key, 0U);

    const auto sets = world.fabric().counts().sets();
    manager->requests().resweep(sm::Resweep::heavy, "test");
    world.run_for(10s);
    EXPECT_EQ(world.fabric().counts().sets(), sets) << "all is as it should be";
    EXPECT_EQ(world.fabric().state().drops.m_key, 0U);
    world.run(group.stop());
  }
}

TEST_F(OwnMKeys, ComeToEndPortsBeforeTheirSwitchesAndToOurOwnLast) {
  std::vector<std::pair<bool, sim::PortIndex>> order;  // is a switch
  world_.fabric().watch_sets([&](const sim::DoneSet& set) {
    if (set.attribute != wire::PortInfo::kAttribute) return;
    const auto& state = world_.fabric().state();
    const auto known = [&](const auto& row) { return row.second == set.at; };
    if (state.ports[set.at].info.m_key == 0 || std::ranges::any_of(order, known)) return;
    order.emplace_back(state.node_of(set.at).is_switch(), set.at);
  });
  begin(keyed(2));

  ASSERT_GT(order.size(), 2U);
  EXPECT_EQ(order.back().second, *world_.fabric().default_port());
  order.pop_back();
  EXPECT_TRUE(std::ranges::is_sorted(order, {}, [](const auto& row) { return row.first; }));
}

TEST_F(OwnMKeys, AreKeptBeforeTheyAreSet) {
  bool kept = true;
  world_.fabric().watch_sets([&](const sim::DoneSet& set) {
    if (set.attribute == wire::PortInfo::kAttribute && world_.fabric().state().ports[set.at].info.m_key != 0)
      kept &= !store_.kept->m_keys.empty();
  });
  begin(keyed(2));
  EXPECT_TRUE(kept);
  EXPECT_EQ(store_.kept->m_keys.size(), fabric_.nodes.size());
}

/// Another process would not know them.
TEST_F(OwnMKeys, WaitForADiskThatDoesNotTakeThem) {
  store_.works = false;
  begin(keyed(2));
  EXPECT_THAT(ports(), Each(has(0, 0, 0)));
  EXPECT_EQ(manager_->lines().count("m_key.not_stored"), 1U);
  heavy();
  EXPECT_THAT(ports(), Each(has(0, 0, 0)));

  store_.works = true;
  world_.run_for(30s);
  EXPECT_THAT(ports(), Each(has(kKey, 2)));
  EXPECT_EQ(state(), sm::SweepState::up) << why();
  EXPECT_EQ(manager_->lines().count("m_key.not_stored"), 1U);

  store_.works = false;
  (*manager_)->requests().reload(keyed(2, 0x77));
  world_.run_for(20s);
  EXPECT_THAT(ports(), Each(has(kKey, 2)));
}

TEST_F(OwnMKeys, ArePassedOnToTheNextProcess) {
  for (const bool per_port : {false, true}) {
    begin(keyed(2, kKey, per_port));
    ASSERT_EQ(state(), sm::SweepState::up) << why();
    end();
    const auto blocks = world_.fabric().counts().sets(wire::LinearForwardingTable::kAttribute);
    begin(keyed(2, kKey, per_port));
    EXPECT_EQ(state(), sm::SweepState::up) << why();
    EXPECT_EQ(wrong_keys(), 0U);
    EXPECT_EQ(world_.fabric().counts().sets(wire::LinearForwardingTable::kAttribute), blocks);
    end();
  }
}

TEST_F(OwnMKeys, AreEnoughForAnSmWithoutAStore) {
  begin(keyed(3));
  end();
  store_.kept = std::make_shared<const sm::Stored>();
  begin(keyed(3));
  EXPECT_EQ(state(), sm::SweepState::up) << why();
  EXPECT_EQ(wrong_keys(), 0U);
}

TEST_F(OwnMKeys, OfEachPortAreAllDifferent) {
  begin(keyed(2, kKey, true));
  EXPECT_EQ(state(), sm::SweepState::up) << why();
  std::set<std::uint64_t> keys;
  for (const auto& info : ports()) keys.insert(info.m_key);
  EXPECT_EQ(keys.size(), fabric_.nodes.size());
  EXPECT_FALSE(keys.contains(kKey));
  EXPECT_FALSE(keys.contains(0));
}

TEST_F(OwnMKeys, AreChangedByAReload) {
  begin(keyed(2));
  (*manager_)->requests().reload(keyed(2, 0x77));
  world_.run_for(20s);
  EXPECT_THAT(ports(), Each(has(0x77, 2)));
  (*manager_)->requests().reload(keyed(3, 0x77, true));
  world_.run_for(20s);
  EXPECT_THAT(ports(), Each(Field(&wire::PortInfo::m_key_protect, 3)));
  (*manager_)->requests().reload(keyed(3, 0));
  world_.run_for(20s);
  EXPECT_THAT(ports(), Each(has(0, 0, 0)));
  EXPECT_EQ(state(), sm::SweepState::up) << why();
  EXPECT_EQ(wrong_keys(), 0U);
}

/// It has the old key yet, and sweeps that look for it are minutes apart.
TEST_F(OwnMKeys, OfANodeThatWasSilentWhileTheyWereChangedAreTriedByLightSweeps) {
  begin(keyed(2));
  world_.fabric().faults().silent("h00021");
  (*manager_)->requests().reload(keyed(2, 0x77));
  world_.run_for(1000s);
  EXPECT_NE(state(), sm::SweepState::up);
  world_.fabric().faults().silent("h00021", false);
  world_.run_for(20s);
  EXPECT_THAT(ports(), Each(has(0x77, 2)));
  EXPECT_EQ(state(), sm::SweepState::up) << why();
}

TEST_F(OwnMKeys, ThatWereNotChangedEverywhereAreChangedByTheNextProcess) {
  begin(keyed(2));
  end();
  // As after a process that has ended amid the change: what is stored says the new key, some have the old
  // one.
  auto half = std::make_shared<sm::Stored>(*store_.kept);
  for (auto& [port, row] : half->m_keys) row.key = 0x77, row.before = kKey;
  store_.kept = half;
  begin(keyed(2, 0x77), 60s);
  EXPECT_THAT(ports(), Each(has(0x77, 2)));
  EXPECT_EQ(state(), sm::SweepState::up) << why();
}

TEST_F(OwnMKeys, OfLevel1ThatAnotherSmHasSetAreFoundInItsFile) {
  auto stored = std::make_shared<sm::Stored>();
  for (const auto& node : fabric_.nodes) {
    const PortNum port{static_cast<std::uint8_t>(node.type == NodeType::switch_ ? 0 : 1)};
    const auto key = node.guid.value() & 0xFFFFU;
    world_.fabric().faults().set_m_key({node.name, port}, key, std::uint8_t{1});
    const auto guid = base::port_guid(node, port);
    stored->m_keys[guid] = {.key = key, .before = 0, .node = node.guid, .port = port};
  }
  store_.kept = stored;
  begin(keyed(2));
  EXPECT_THAT(ports(), Each(has(kKey, 2)));
  EXPECT_EQ(state(), sm::SweepState::up) << why();
}

TEST_F(OwnMKeys, AreThereInSpiteOfLostPackets) {
  world_.fabric().faults().loss(5);
  begin(keyed(2), 120s);
  world_.fabric().faults().loss(0);
  heavy();
  world_.run_for(60s);
  EXPECT_THAT(ports(), Each(has(kKey, 2)));
  EXPECT_EQ(state(), sm::SweepState::up) << why();
}

TEST_F(OwnMKeys, OfANodeThatHasRestartedAreGivenAgain) {
  begin(keyed(2));
  for (const auto* name : {"h00021", "leaf002"}) {
    world_.fabric().faults().reboot(name);
    world_.run_for(60s);
    EXPECT_THAT(ports(), Each(has(kKey, 2))) << name;
    EXPECT_EQ(state(), sm::SweepState::up) << why();
  }
}

TEST_F(OwnMKeys, AreInNoLine) {
  begin(keyed(2));
  (*manager_)->requests().reload(keyed(2, 0x123456789ABCDEF0));
  world_.run_for(20s);
  world_.fabric().faults().smp_with_m_key({"h00021", PortNum{1}}, 0x99);
  heavy();
  end();
  ASSERT_THAT(lines_, testing::Not(IsEmpty()));
  for (const std::uint64_t key : {kKey, std::uint64_t{0x123456789ABCDEF0}}) {
    for (const auto& form : {fmt::format("{:x}", key), fmt::format("{:X}", key), fmt::format("{}", key)}) {
      for (const auto& line : lines_) EXPECT_EQ(line.find(form), std::string::npos) << line;
    }
  }
}

TEST(OwnMKeysOfAPair, AreNoHindranceForTheStandby) {
  test::SmSite site("ft2:8");
  auto config = keyed(3);
  config.sm.priority = 5;
  site.start("h00000", config);
  site.world.run_for(10s);
  config.sm.priority = 4;
  site.start("h00009", config);
  site.world.run_for(10s);
  EXPECT_EQ(site.state("h00009"), wire::SmState::standby);
  site.kill("h00000");
  site.world.run_for(30s);
  EXPECT_EQ(site.state("h00009"), wire::SmState::master);
  EXPECT_EQ(site["h00009"].last().summary.state, sm::SweepState::up) << site["h00009"].last().summary.why;
  EXPECT_EQ(site.world.fabric().state().drops.m_key, 0U);
}

/// The master asks the other one for SMInfo before that has read anything: it knows nothing of the asker's
/// port.
TEST(OwnMKeysOfAPair, AreNotGuessedByAnSmThatBegins) {
  test::SmSite site("ft2:8");
  auto config = keyed(2);
  config.sm.sm_key = 0x1122334455667788;
  config.sm.priority = 5;
  site.start("h00000", config);
  site.world.run_for(10s);
  config.sm.priority = 4;
  site.start("h00009", config);
  site.world.run_for(20s);
  EXPECT_EQ(site.state("h00009"), wire::SmState::standby);
  EXPECT_EQ(site.world.fabric().state().drops.m_key, 0U);
  EXPECT_EQ(site["h00000"].lines().count("sm.gone"), 0U) << site.story();
}

/// It cannot know the key of its own switch, and must not take its own port for the fabric.
TEST(OwnMKeysOfAPair, OfEachPortKeepAnSmWithoutAStoreFromBeingMaster) {
  test::SmSite site("ft2:8");
  auto config = keyed(2, kKey, true);
  config.sm.priority = 5;
  site.start("h00000", config);
  site.world.run_for(10s);
  config.sm.priority = 9;
  site.start("h00009", config);
  site.world.run_for(90s);
  EXPECT_EQ(site.state("h00000"), wire::SmState::master);
  EXPECT_EQ(site["h00000"].last().summary.state, sm::SweepState::up) << site["h00000"].last().summary.why;
  EXPECT_EQ(site.state("h00009"), wire::SmState::discovering);
  EXPECT_EQ(site["h00009"].lines().count("own_port.neighbour_silent"), 1U);
}

}  // namespace
}  // namespace smd
