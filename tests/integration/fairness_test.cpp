// SPDX-License-Identifier: Apache-2.0
// One cable or one host that does not come to rest: everything else goes on at its pace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "mad/wire/attributes.h"
#include "mad/wire/trap.h"
#include "tests/support/managed_world.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

class Fairness : public testing::Test {
 protected:
  Fairness() {
    group_.spawn(manager_->run());
    world_.run_for(12s);
  }
  ~Fairness() override { world_.run(group_.stop()); }

  sim::Faults faults() { return world_.fabric().faults(); }
  std::string lines() const { return testing::PrintToString(manager_.lines().all); }
  Lid lid_of(const std::string& host) { return world_.fabric().port_info({host, PortNum{1}})->lid; }
  bool active(const std::string& node, std::uint8_t port) {
    return world_.fabric().port_info({node, PortNum{port}})->port_state == PortState::active;
  }
  std::size_t heavy_sweeps() const { return manager_.lines().count("sweep=heavy"); }

  /// A trap of a host that names an issuer which no port is.
  void strange_trap(const std::string& host, Lid issuer) {
    const wire::LocalChangeDetails details{.lid = issuer, .capability_mask = 0x1234};
    const auto notice = wire::generic_notice(wire::NoticeType::informational, wire::kProducerCa,
                                             wire::trap::kLocalChange, issuer, details);
    auto smi = world_.transport(sim::Place{host, PortNum{1}}, sim::Interface::smi);
    auto smp = wire::Smp::lid_routed(wire::Method::trap, wire::Notice::kAttribute, 0);
    smp.put(notice);
    EXPECT_TRUE(smi->send(smp.bytes(), mad::LidRoute{.lid = manager_.last().decided.lids->sm_lid}, 0ms));
  }

  sim::World world_{test::spec("ft2:8")};
  Managed manager_{world_};
  mad::TaskGroup group_{world_.io().get_executor()};
};

TEST_F(Fairness, AFlappingCableHidesNoStolenLid) {
  const auto lid = lid_of("h00009");
  faults().link_flaps({"leaf003", PortNum{6}}, 150ms);
  world_.run_for(15s);

  faults().set_lid({"h00009", PortNum{1}}, Lid{77});
  world_.run_for(21s);

  EXPECT_EQ(lid_of("h00009"), lid) << lines();
}

TEST_F(Fairness, AFlappingCableDelaysNoOtherEvent) {
  faults().link_flaps({"leaf003", PortNum{6}}, 150ms);
  world_.run_for(15s);

  for (int i = 0; i < 10; ++i) {
    faults().link_down({"leaf001", PortNum{1}});
    world_.run_for(1s);
    faults().link_up({"leaf001", PortNum{1}});
    world_.run_for(500ms);
    EXPECT_TRUE(active("leaf001", 1)) << "after mend " << i;
    world_.run_for(10s);
  }
}

TEST_F(Fairness, AFlappingCableCostsABoundedNumberOfMads) {
  faults().link_flaps({"leaf003", PortNum{6}}, 150ms);
  world_.run_for(30s);
  const auto before = world_.fabric().counts().gets();
  const auto began = world_.clock().now();
  world_.run_for(60s);  // longer where links train slowly

  const auto took = std::chrono::duration_cast<std::chrono::seconds>(world_.clock().now() - began);
  EXPECT_LE(world_.fabric().counts().gets() - before, static_cast<std::uint64_t>(took.count()) * 120U);
}

TEST_F(Fairness, TrapsAboutAnUnknownLidMakeFewerAndFewerSweeps) {
  const auto before = heavy_sweeps();
  for (int i = 0; i < 300; ++i) {
    strange_trap("h00009", Lid{4000});
    world_.run_for(1s);
  }

  EXPECT_LE(heavy_sweeps() - before, 12U) << lines();
  EXPECT_GE(heavy_sweeps() - before, 2U);
  const auto line = manager_.lines().first("unknown_lid=4000");
  EXPECT_THAT(line, testing::HasSubstr("h00009")) << lines();
}

TEST_F(Fairness, TrapsAboutAnUnknownLidDelayNoOtherEvent) {
  for (int i = 0; i < 60; ++i) {
    strange_trap("h00009", Lid{4000});
    if (i % 10 == 5) faults().link_down({"leaf001", PortNum{1}});
    if (i % 10 == 7) faults().link_up({"leaf001", PortNum{1}});
    world_.run_for(500ms);
    if (i % 10 == 7) EXPECT_TRUE(active("leaf001", 1)) << "at " << i;
    world_.run_for(500ms);
  }
}

TEST_F(Fairness, ALeafThatWasSilentForLongIsFoundWithinOneLightSweep) {
  faults().silent("leaf003");
  world_.run_for(300s);
  ASSERT_EQ(manager_.last().summary.unresponsive, 1U) << lines();

  faults().heal("leaf003");
  world_.run_for(11s);

  EXPECT_EQ(manager_.last().summary.state, sm::SweepState::up) << lines();
}

TEST_F(Fairness, TheSearchForASilentLeafDelaysNoOtherEvent) {
  faults().silent("leaf003");
  world_.run_for(2s);

  for (int i = 0; i < 20; ++i) {
    faults().link_down({"leaf001", PortNum{1}});
    world_.run_for(1700ms);
    faults().link_up({"leaf001", PortNum{1}});
    world_.run_for(500ms);
    EXPECT_TRUE(active("leaf001", 1)) << "after mend " << i;
    world_.run_for(3300ms);
  }
}

}  // namespace
}  // namespace smd
