// SPDX-License-Identifier: Apache-2.0
// Nodes that another SM has protected by M_Keys: smd cannot take them over, and says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class MKeys : public testing::Test {
 protected:
  MKeys()
      : fabric_(test::spec("ft2:8")), world_(fabric_), manager_(world_), group_(world_.io().get_executor()) {}
  ~MKeys() override { world_.run(group_.stop()); }

  void begin(std::chrono::seconds time) {
    group_.spawn(manager_->run());
    world_.run_for(time);
  }
  void protect(const std::string& node, unsigned port, std::uint8_t level, std::uint64_t key = 0x1234) {
    ASSERT_TRUE(
        world_.fabric().faults().set_m_key({node, PortNum{static_cast<std::uint8_t>(port)}}, key, level));
  }
  std::string line(const std::string& what) { return manager_.lines().first(what); }
  const sm::Snapshot& last() { return manager_.last(); }

  base::Fabric fabric_;
  sim::World world_;
  Managed manager_;
  mad::TaskGroup group_;
};

TEST_F(MKeys, ThatAreHiddenAreWhySetsAreNotAnswered) {
  protect("leaf002", 0, 1);
  protect("h00021", 1, 1);
  begin(10s);

  auto lines = manager_.lines().all;
  std::erase_if(lines, [](const std::string& text) { return !text.contains("node.m_key_unknown"); });
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines, testing::Each(AllOf(HasSubstr("protect_bits=1"), HasSubstr("lease=\"for ever\""),
                                         HasSubstr("Sets are not answered"))));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("name=leaf002")));
  EXPECT_THAT(lines, testing::Contains(HasSubstr("name=h00021 port=1")));
  EXPECT_EQ(last().summary.state, sm::SweepState::degraded);
  EXPECT_THAT(last().summary.why, HasSubstr("2 nodes with an M_Key that smd does not know"));
  EXPECT_EQ(last().unknown_m_keys.size(), 2U);

  protect("leaf002", 0, 0, 0);
  protect("h00021", 1, 0, 0);
  world_.run_for(120s);
  EXPECT_EQ(last().summary.state, sm::SweepState::up) << last().summary.why;
  EXPECT_THAT(last().unknown_m_keys, IsEmpty());
}

TEST_F(MKeys, ThatAnyoneMayReadAreUsed) {
  protect("leaf002", 0, 0);
  protect("h00021", 1, 0);
  begin(10s);

  EXPECT_EQ(last().summary.state, sm::SweepState::up) << last().summary.why;
  EXPECT_EQ(manager_.lines().count("node.m_key_unknown"), 0U);
}

TEST_F(MKeys, ThatHideEverythingAreAPossibleReasonOfSilence) {
  protect("leaf003", 0, 2);
  begin(10s);

  EXPECT_THAT(line("node.unresponsive"), HasSubstr("hangs, or has an M_Key with protection level 2 or 3"));
  EXPECT_EQ(last().summary.state, sm::SweepState::degraded);
}

TEST_F(MKeys, OfASwitchThatIsKnownAreNoReasonOfItsSilence) {
  begin(10s);
  ASSERT_EQ(last().summary.state, sm::SweepState::up);
  world_.fabric().faults().silent("leaf003");
  world_.run_for(60s);

  EXPECT_THAT(line("node.unresponsive"), AllOf(HasSubstr("leaf003"), testing::Not(HasSubstr("M_Key"))));
}

TEST_F(MKeys, AreToldByTrap256) {
  begin(10s);
  protect("h00021", 1, 1);
  auto heavy = [&] {
    manager_->requests().resweep(sm::Resweep::heavy, "test");
    world_.run_for(5s);
  };
  heavy();
  EXPECT_THAT(last().unknown_m_keys, IsEmpty()) << "nothing was to be written";
  world_.fabric().faults().smp_with_m_key({"h00021", PortNum{1}}, 0x99);
  world_.run_for(1s);
  heavy();

  EXPECT_THAT(line("node.m_key_unknown"), AllOf(HasSubstr("name=h00021"), HasSubstr("trap 256")));
  ASSERT_EQ(last().unknown_m_keys.size(), 1U);
  EXPECT_EQ(last().unknown_m_keys.front().evidence, "trap 256");
}

TEST_F(MKeys, OfAWholeFabricAreOneLine) {
  for (const auto& node : fabric_.nodes) {
    const bool sm = node.name == "h00000";
    if (!sm) protect(node.name, node.type == NodeType::switch_ ? 0 : 1, 1);
  }
  begin(20s);

  EXPECT_EQ(manager_.lines().count("node.m_key_unknown nodes="), 1U);
  EXPECT_THAT(line("node.m_key_unknown"), HasSubstr("names="));
}

}  // namespace
}  // namespace smd
