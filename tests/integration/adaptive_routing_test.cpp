// SPDX-License-Identifier: Apache-2.0
// Adaptive routing that another SM has left on: smd says so, and ends it where it is told to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "mad/wire/mad.h"
#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "smd/plan/plan.h"
#include "smd/sweep/adaptive.h"
#include "tests/support/api_backend.h"
#include "tests/support/managed_world.h"
#include "tests/support/sim_lab.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr auto kArInfo = wire::ArInfo::kAttribute;

/// ft2:4 in operation, as an SM has left it that is gone. On leaf000, where h00000 and h00001 are, packets to
/// h00007 go back to h00001 by adaptive routing: two of 56 pairs are lost.
class AdaptiveRouting : public testing::Test {
 protected:
  AdaptiveRouting() : world_(test::spec("ft2:4")) {
    Managed before(world_, {}, test::once());
    world_.run(before->run());
    faults().adaptive_group("leaf000", lid("h00007"), {PortNum{2}});
    faults().adaptive_routing("leaf000", sim::Adaptive::on);
    world_.fabric().counts().clear();
  }
  ~AdaptiveRouting() override {
    if (group_) world_.run(group_->stop());
  }

  Managed& begin(config::AdoptAdaptive does, sim::Duration time = 5s, sm::ManagerOptions options = {}) {
    config::SubnetConfig config;
    config.adopt.adaptive_routing = does;
    manager_.emplace(world_, config, std::move(options));
    group_.emplace(world_.io().get_executor());
    group_->spawn((*manager_)->run());
    world_.run_for(time);
    return *manager_;
  }
  sim::Faults faults() { return world_.fabric().faults(); }
  Lid lid(const char* host) { return world_.fabric().port_info({host})->lid; }
  std::size_t lost_pairs() {
    const auto reach = world_.fabric().reach();
    return reach.pairs - reach.delivered;
  }
  wire::ArInfo ar_info(const char* name) {
    const auto& state = world_.fabric().state();
    return state.nodes[*sim::find_node(state, name)].sw->adaptive->info;
  }
  std::uint64_t gets() { return world_.fabric().counts().gets(kArInfo); }
  std::uint64_t sets() { return world_.fabric().counts().sets(kArInfo); }
  const sm::SweepSummary& summary() { return manager_->last().summary; }
  void heavy() {
    (*manager_)->requests().resweep(sm::Resweep::heavy, "test");
    world_.run_for(2s);
  }
  /// All that a switch answered before there was adaptive routing.
  void ignores(const char* name) {
    std::vector<std::uint16_t> known;
    for (std::uint16_t attribute = 0x10; attribute < 0x21; ++attribute) known.push_back(attribute);
    faults().answers_only(name, known);
  }

  sim::World world_;
  std::optional<Managed> manager_;
  std::optional<mad::TaskGroup> group_;
};

TEST_F(AdaptiveRouting, IsNamedOnceAndLeftAsItIs) {
  ASSERT_EQ(lost_pairs(), 2U);
  auto& manager = begin(config::AdoptAdaptive::warn);
  world_.run_for(60s);

  EXPECT_EQ(manager.lines().count("routing.adaptive"), 1U) << testing::PrintToString(manager.lines().all);
  EXPECT_THAT(manager.lines().first("routing.adaptive"),
              AllOf(HasSubstr("switches=1"), HasSubstr("names=leaf000"), HasSubstr("guids=0x"),
                    HasSubstr("past the forwarding tables"), HasSubstr("[adopt] adaptive_routing")));
  EXPECT_EQ(summary().state, sm::SweepState::up) << summary().why;
  EXPECT_EQ(sets(), 0U);
  EXPECT_TRUE(ar_info("leaf000").enabled);
  EXPECT_EQ(lost_pairs(), 2U) << "verification knows the tables only";
  EXPECT_EQ(manager.last().summary.sets_failed, 0U);
}

TEST_F(AdaptiveRouting, IsShownByStatus) {
  auto& manager = begin(config::AdoptAdaptive::warn);
  test::FakeBackend backend;
  backend.add({.name = "a", .port = "p", .snapshot = std::make_shared<sm::Snapshot>(manager.last())});
  const auto answer = api::answer({.method = "GET", .target = "/v1/status", .body = {}}, backend);
  const auto status = *api::parse_json(answer.body);

  const auto& switches = status.at("subnets").at(0).at("adaptive_routing").as_array();
  ASSERT_EQ(switches.size(), 1U);
  EXPECT_EQ(switches[0].at("name").as_string(), "leaf000");
  std::ostringstream text;
  cli::print_status(text, status);
  EXPECT_THAT(text.str(),
              HasSubstr("  adaptive     1 switch routes adaptively, past the forwarding tables: 0x"));
  EXPECT_THAT(text.str(), HasSubstr(" \"leaf000\"\n"));
}

TEST_F(AdaptiveRouting, EndsWhereItIsToBeDisabled) {
  auto& manager = begin(config::AdoptAdaptive::disable);

  EXPECT_EQ(lost_pairs(), 0U);
  EXPECT_FALSE(ar_info("leaf000").enabled);
  EXPECT_EQ(sets(), 1U);
  EXPECT_EQ(manager.lines().count("routing.adaptive "), 1U);
  EXPECT_THAT(manager.lines().first("routing.adaptive "), HasSubstr("it is switched off"));
  EXPECT_THAT(manager.lines().first("routing.adaptive_disabled"),
              AllOf(HasSubstr("switches=1"), HasSubstr("names=leaf000")));
  EXPECT_EQ(summary().state, sm::SweepState::up) << summary().why;
}

TEST_F(AdaptiveRouting, WhatElseARInfoHoldsIsWrittenBack) {
  test::Asker asker(world_, {"h00000"});
  const auto leaf = test::path({1});
  auto held = asker.get<wire::ArInfo>(leaf).value;
  held.group_top = 77;
  held.ageing_us = 30;
  held.by_sl_mask = 0xBEEF;
  held.reserved6[35] = 0x5A;
  ASSERT_TRUE(asker.set<wire::ArInfo>(leaf, held).good());
  begin(config::AdoptAdaptive::disable);

  held.enabled = false;
  EXPECT_EQ(ar_info("leaf000"), held);
}

/// Tables that another SM has left wrong, and a switch that takes none while adaptive routing is on.
TEST_F(AdaptiveRouting, EndsBeforeTablesAreWritten) {
  test::Asker asker(world_, {"h00000"});
  asker.change<wire::ArInfo>(test::path({1}), 0, [](wire::ArInfo& ar) { ar.no_fallback = true; });
  faults().set_lft_entry("leaf000", lid("h00006"), PortNum{1});
  auto& manager = begin(config::AdoptAdaptive::disable);

  EXPECT_EQ(lost_pairs(), 0U);
  EXPECT_EQ(manager.lines().count("set.failed"), 0U) << manager.lines().first("set.failed");
  EXPECT_EQ(summary().state, sm::SweepState::up) << summary().why;
}

TEST_F(AdaptiveRouting, MayEndByATableThatIsWritten) {
  faults().set_lft_entry("leaf000", lid("h00006"), PortNum{1});
  auto& manager = begin(config::AdoptAdaptive::warn);

  EXPECT_FALSE(ar_info("leaf000").enabled);
  EXPECT_EQ(sets(), 0U);
  EXPECT_EQ(manager.lines().count("routing.adaptive_disabled"), 1U);
  EXPECT_EQ(lost_pairs(), 0U);
  for (const auto& node : manager.last().subnet->nodes) EXPECT_FALSE(node->routes_adaptively());
}

TEST_F(AdaptiveRouting, SwitchesAreAskedWhenTheFabricIsTakenOverAndNotWithEachSweep) {
  for (const auto* name : {"leaf002", "leaf003", "spine000"})
    faults().adaptive_routing(name, sim::Adaptive::none);
  auto& manager = begin(config::AdoptAdaptive::warn);
  EXPECT_EQ(gets(), 6U);
  EXPECT_EQ(summary().state, sm::SweepState::up) << summary().why;
  EXPECT_EQ(summary().unresponsive, 0U);

  faults().link_down({"h00003", PortNum{1}});
  world_.run_for(60s);
  EXPECT_EQ(gets(), 6U) << "light and incremental sweeps";

  heavy();
  EXPECT_EQ(gets(), 9U) << "those that do not know it are not asked again";
  EXPECT_EQ(manager.lines().count("routing.adaptive "), 1U);
}

TEST_F(AdaptiveRouting, ASwitchThatIsSilentToTheQuestionCostsLittle) {
  begin(config::AdoptAdaptive::warn, 300ms);
  const auto quick = summary().total_ms;
  world_.run(group_->stop());
  group_.reset();
  manager_.reset();
  for (const auto* name : {"leaf001", "leaf002", "spine001"}) ignores(name);
  auto& manager = begin(config::AdoptAdaptive::disable);

  EXPECT_EQ(summary().state, sm::SweepState::up) << summary().why;
  EXPECT_EQ(summary().unresponsive, 0U);
  EXPECT_LE(summary().total_ms, quick + 150) << "an eighth of a time-out of 0.8 s, all at once";
  EXPECT_EQ(manager.lines().count("node.unresponsive"), 0U);
  EXPECT_EQ(lost_pairs(), 0U) << "the others are dealt with";
  const auto asked = gets();
  world_.run_for(60s);
  EXPECT_EQ(gets(), asked);
}

TEST_F(AdaptiveRouting, ADryRunSendsGetsOnly) {
  sm::ManagerOptions options;
  options.dry_run = true;
  auto& manager = begin(config::AdoptAdaptive::disable, 5s, options);
  std::vector<std::string> phases;
  for (const auto& round : manager.last().plan->rounds) phases.emplace_back(to_string(round.phase));

  EXPECT_EQ(gets(), 6U);
  EXPECT_EQ(world_.fabric().counts().sets(), 0U);
  EXPECT_THAT(phases, testing::ElementsAre("adaptive_routing"));
  EXPECT_THAT(manager.lines().first("routing.adaptive "), HasSubstr("smd run switches it off"));
  EXPECT_EQ(manager.lines().count("routing.adaptive_disabled"), 0U);
  EXPECT_TRUE(ar_info("leaf000").enabled);
}

TEST_F(AdaptiveRouting, ASetThatIsRefusedIsReportedAndTriedAgain) {
  faults().refuses("leaf000", kArInfo, wire::kStatusBadField);
  faults().set_lft_entry("leaf000", lid("h00006"), PortNum{1});
  faults().set_lft_entry("leaf003", lid("h00000"), PortNum{1});
  auto& manager = begin(config::AdoptAdaptive::disable);

  EXPECT_THAT(manager.lines().first("set.failed"),
              AllOf(HasSubstr("leaf000"), HasSubstr("attribute=ARInfo")));
  EXPECT_EQ(lost_pairs(), 0U) << "tables are written all the same, which ends it here";
  EXPECT_EQ(summary().state, sm::SweepState::up) << summary().why;
}

TEST_F(AdaptiveRouting, ASetThatIsRefusedForAWhileSucceedsLater) {
  faults().refuses("leaf000", kArInfo, wire::kStatusBadField);
  auto& manager = begin(config::AdoptAdaptive::disable);
  EXPECT_EQ(summary().state, sm::SweepState::degraded);
  EXPECT_EQ(summary().why, "1 Set not done");
  EXPECT_EQ(lost_pairs(), 2U);

  faults().refuses("leaf000", kArInfo, 0);
  world_.run_for(60s);
  EXPECT_EQ(summary().state, sm::SweepState::up) << summary().why;
  EXPECT_EQ(manager.lines().count("routing.adaptive_disabled"), 1U);
  EXPECT_EQ(lost_pairs(), 0U);
}

TEST_F(AdaptiveRouting, ASwitchThatDoesNotObeyIsNamedAndNotAskedForEver) {
  faults().forgets("leaf000", kArInfo, "E");
  auto& manager = begin(config::AdoptAdaptive::disable);

  EXPECT_THAT(manager.lines().first("field.not_kept"),
              AllOf(HasSubstr("leaf000"), HasSubstr("attribute=ARInfo"), HasSubstr("field=E")));
  EXPECT_EQ(manager.lines().count("routing.adaptive_disabled"), 0U);
  const auto sent = sets();
  world_.run_for(120s);
  EXPECT_EQ(sets(), sent);
}

TEST_F(AdaptiveRouting, WhatIsSwitchedOnAgainIsFoundByTheNextWholeSweep) {
  auto& manager = begin(config::AdoptAdaptive::disable);
  ASSERT_EQ(lost_pairs(), 0U);
  faults().adaptive_routing("leaf000", sim::Adaptive::on);
  heavy();

  EXPECT_EQ(lost_pairs(), 0U);
  EXPECT_EQ(manager.lines().count("routing.adaptive "), 2U);
  EXPECT_EQ(manager.lines().count("routing.adaptive_disabled"), 2U);
}

TEST_F(AdaptiveRouting, ARestartEndsIt) {
  auto& manager = begin(config::AdoptAdaptive::warn);
  ASSERT_EQ(sm::adaptive_switches(*manager.last().subnet).size(), 1U);
  faults().reboot("leaf000");
  world_.run_for(30s);

  EXPECT_THAT(sm::adaptive_switches(*manager.last().subnet), IsEmpty());
  EXPECT_EQ(summary().state, sm::SweepState::up) << summary().why;
  EXPECT_EQ(lost_pairs(), 0U);
  EXPECT_EQ(manager.lines().count("routing.adaptive_disabled"), 0U) << "no table did";

  faults().adaptive_routing("leaf000", sim::Adaptive::on);
  heavy();
  EXPECT_EQ(manager.lines().count("routing.adaptive "), 2U);
}

TEST_F(AdaptiveRouting, OfManySwitchesTheFirstAreNamed) {
  sim::World world(test::spec("ft2:8"));
  {
    Managed before(world, {}, test::once());
    world.run(before->run());
  }
  for (const auto& node : world.fabric().state().nodes)
    world.fabric().faults().adaptive_routing(node.name, sim::Adaptive::on);
  Managed manager(world, {}, test::once());
  world.run(manager->run());

  EXPECT_THAT(manager.lines().first("routing.adaptive "),
              AllOf(HasSubstr("switches=12"), HasSubstr("leaf007,..."), Not(HasSubstr("spine000"))));
}

TEST_F(AdaptiveRouting, OfOtherVendorsSwitchesNothingIsAsked) {
  auto fabric = test::spec("ft2:4");
  for (auto& node : fabric.nodes) node.vendor_id = 0x66a;
  sim::World world(fabric);
  for (int run = 0; run < 2; ++run) {
    Managed manager(world, {}, test::once());
    world.run(manager->run());
  }
  EXPECT_EQ(world.fabric().counts().gets(kArInfo), 0U);
}

}  // namespace
}  // namespace smd
