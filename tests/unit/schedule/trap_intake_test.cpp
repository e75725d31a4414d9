// SPDX-License-Identifier: Apache-2.0
#include "smd/schedule/trap_intake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "mad/wire/trap.h"
#include "smd/schedule/bad_m_key.h"
#include "tests/support/subnet_builder.h"
#include "tests/unit/schedule/schedule_lab.h"

namespace smd::sm {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kSwitch = 0x10, kHost = 0x20;
constexpr Lid kSwitchLid{1}, kHostLid{2}, kUnknownLid{9};

struct TrapLab : test::ScheduleLab {
  void hear(std::uint16_t trap, Lid from, Lid issuer = {}, bool is_generic = true) {
    traps.heard({.is_generic = is_generic, .trap = trap, .issuer_lid = issuer}, from);
  }

  std::shared_ptr<const config::SubnetConfig> config =
      std::make_shared<const config::SubnetConfig>(test::schedule_config());
  std::shared_ptr<const Subnet> subnet =
      std::make_shared<const Subnet>(test::SubnetBuilder()
                                         .add_switch(kSwitch)
                                         .host(kHost, kSwitch, 1)
                                         .lid(kSwitch, 0, kSwitchLid.value())
                                         .lid(kHost, 1, kHostLid.value())
                                         .build());
  LidIndex lids;
  TrapIntake traps{{.scheduler = scheduler,
                    .log = {},
                    .events = {},
                    .subnet = subnet,
                    .config = config,
                    .lids = lids,
                    .shared_keys = {}}};
};

/// The host's SMP came by its cable to the switch, and by port 2 to another host.
TEST(BadMKey, TheWayBackLeadsToTheSender) {
  constexpr std::uint64_t kVictim = 0x30;
  auto fabric = test::SubnetBuilder();
  fabric.add_switch(kSwitch)
      .host(kHost, kSwitch, 1)
      .host(kVictim, kSwitch, 2)
      .lid(kHost, 1, kHostLid.value());
  const auto subnet = std::make_shared<const Subnet>(fabric.build());
  const LidIndex lids(subnet);
  const auto& victim = *subnet->find(Guid{kVictim});
  wire::BadMKeyDetails details{.dr_slid = Lid{0xFFFF}, .directed = true, .hop_count = 2};
  details.return_path[0] = details.return_path[1] = PortNum{1};

  const auto found = sender_of(*subnet, lids, victim, details);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->node->guid(), Guid{kHost});
  EXPECT_EQ(found->port, PortNum{1});

  details.return_path[0] = PortNum{9};
  EXPECT_FALSE(sender_of(*subnet, lids, victim, details));
  details.path_truncated = true;
  EXPECT_FALSE(sender_of(*subnet, lids, victim, details));
  details.dr_slid = kHostLid;
  EXPECT_EQ(sender_of(*subnet, lids, victim, details)->node->guid(), Guid{kHost});
  details.directed = false;
  EXPECT_FALSE(sender_of(*subnet, lids, victim, details));
}

TEST(TrapIntake, CountsByNumberAndByTheNodeThatATrapIsAbout) {
  TrapLab lab;
  lab.hear(128, kSwitchLid);
  lab.hear(128, kHostLid, kSwitchLid);
  lab.hear(144, kHostLid, kUnknownLid);
  lab.hear(144, kUnknownLid);
  lab.hear(144, kHostLid, {}, false);  // not generic
  std::vector<std::tuple<std::uint16_t, Guid, std::uint64_t>> rows;
  for (const auto& row : lab.traps.counts()->rows()) rows.emplace_back(row.trap, row.node, row.count);
  EXPECT_THAT(rows, ElementsAre(std::tuple(128, Guid{kSwitch}, 2), std::tuple(144, Guid{}, 1),
                                std::tuple(144, Guid{kHost}, 1)));
}

struct TrapCase {
  std::string_view name;
  std::uint16_t trap;
  Lid from, issuer;
  std::set<Guid> suspects;  ///< of an incremental sweep
  bool heavy = false, gap = false, bad_m_key = false;
};

TEST(TrapIntake, AsksForWhatTheTrapIsAbout) {
  const std::vector<TrapCase> cases{
      {"a link of a switch", 128, kSwitchLid, {}, {Guid{kSwitch}}, false, true},
      {"a switch that another port tells of", 128, kHostLid, kSwitchLid, {Guid{kSwitch}}, false, true},
      {"a capability of a host", 144, kHostLid, {}, {Guid{kHost}}},
      {"the system image GUID of a host", 145, kHostLid, {}, {Guid{kHost}}},
      {"a LID that no port has", 128, kHostLid, kUnknownLid, {}, true},
      {"an unknown sender", 144, kUnknownLid, {}, {}, true},
      {"errors of a link change nothing", 129, kHostLid, {}, {}},
      {"a bad M_Key changes nothing", 256, kHostLid, {}, {}, false, false, true},
      {"a bad M_Key of an unknown LID", 256, kUnknownLid, {}, {}},
  };
  for (const auto& row : cases) {
    SCOPED_TRACE(row.name);
    TrapLab lab;
    lab.hear(row.trap, row.from, row.issuer);

    EXPECT_EQ(lab.agenda.suspects(), row.suspects);
    EXPECT_EQ(lab.agenda.asks(Work::incremental), !row.suspects.empty());
    EXPECT_EQ(lab.agenda.asks(Work::heavy), row.heavy);
    EXPECT_EQ(lab.scheduler.trap_gap().next().has_value(), row.gap);
    EXPECT_EQ(!lab.traps.bad_m_keys().empty(), row.bad_m_key);
    EXPECT_EQ(lab.traps.count(), 1U);
  }
}

/// Mastership asks the SM; a sweep would find nothing.
TEST(TrapIntake, AnSmWithAnotherPriorityIsNoReasonForASweep) {
  TrapLab lab;
  wire::LocalChangeDetails details{.lid = kHostLid, .other_local_changes = true, .sm_priority_change = true};
  const auto hear = [&] {
    lab.traps.heard(wire::generic_notice(wire::NoticeType::informational, wire::kProducerCa,
                                         wire::trap::kLocalChange, kHostLid, details),
                    kHostLid);
  };

  hear();
  EXPECT_TRUE(lab.agenda.empty());
  details.node_description_change = true;
  hear();
  EXPECT_EQ(lab.agenda.suspects(), std::set{Guid{kHost}});
  EXPECT_EQ(lab.traps.count(), 2U);
}

TEST(TrapIntake, VendorsTrapsAndThoseBeforeTheFirstSweepAreNotFollowed) {
  TrapLab lab;
  lab.hear(128, kSwitchLid, {}, false);
  lab.subnet = nullptr;
  lab.hear(128, kSwitchLid);

  EXPECT_TRUE(lab.agenda.empty());
  EXPECT_EQ(lab.traps.count(), 0U);
}

TEST(TrapIntake, WithoutOnTrapTheyAreCountedOnly) {
  TrapLab lab;
  auto config = *lab.config;
  config.sweep.on_trap = false;
  lab.config = std::make_shared<const config::SubnetConfig>(config);
  lab.hear(128, kSwitchLid);

  EXPECT_TRUE(lab.agenda.empty());
  EXPECT_EQ(lab.traps.count(), 1U);
}

TEST(TrapIntake, ASenderThatGoesOnAboutUnknownLidsIsNotFollowedEachTime) {
  TrapLab lab;
  std::vector<int> seconds;
  for (int second = 0; second <= 35; ++second) {
    lab.hear(128, kHostLid, kUnknownLid);
    if (!lab.agenda.take({Work::heavy}).work.empty()) seconds.push_back(second);
    lab.go(1s);
  }
  EXPECT_THAT(seconds, ElementsAre(0, 10, 30));

  lab.hear(128, kUnknownLid);
  EXPECT_EQ(lab.agenda.take({Work::heavy}).reason, "trap 128 about the unknown LID 9")
      << "another sender has a pace of its own";
}

TEST(TrapIntake, ForgetsNodesWithABadMKeyThatAreGone) {
  TrapLab lab;
  lab.hear(256, kHostLid);
  ASSERT_THAT(lab.traps.bad_m_keys(), ElementsAre(Guid{kHost}));

  lab.subnet = std::make_shared<const Subnet>(test::SubnetBuilder().add_switch(kSwitch).build());
  lab.traps.forget_gone();
  EXPECT_THAT(lab.traps.bad_m_keys(), IsEmpty());
}

}  // namespace
}  // namespace smd::sm
