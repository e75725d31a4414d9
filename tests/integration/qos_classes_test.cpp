// SPDX-License-Identifier: Apache-2.0
// [[qos.class]] on a fabric: what ports hold, what the SA answers, and what packets get.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>

#include "mad/sim/arbitration/arbitration.h"
#include "mad/sim/state/tables.h"
#include "mad/wire/sa/path_record.h"
#include "smd/daemon/plan_text.h"
#include "smd/decide/qos_kinds.h"
#include "smd/decide/qos_shares.h"
#include "smd/report/qos_explanation.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"
#include "tests/support/sa_lab.h"

namespace smd {
namespace {

using namespace std::chrono_literals;
using test::Managed;

constexpr std::uint64_t kNvme = 0x1061144;

/// default 30 %: SL 0; storage 50 %: SL 1; tenant 20 %: SL 2; control, of high priority: SL 3.
config::SubnetConfig with_classes() {
  config::SubnetConfig config;
  config.qos.enabled = true;
  config.qos.traffic_classes = {{.name = "storage", .share = 50, .ulps = {"nvmeof"}},
                                {.name = "tenant", .share = 20, .partitions = {"blue"}},
                                {.name = "control", .high_priority = true, .ulps = {"sm"}}};
  config.partition = {test::partition("blue", 0x21, {"ALL"}), test::partition("Default", 0x7fff, {"ALL"})};
  return config;
}

class QosClassesWritten : public testing::Test {
 protected:
  QosClassesWritten() : world_(test::spec("ft2:8")), config_(with_classes()) {}
  const sim::State& state() { return world_.fabric().state(); }
  sim::PortIndex at(const sim::Place& place) { return *sim::find_port(state(), place); }
  Vl vl_of(sim::PortIndex port, unsigned in, unsigned sl) {
    const auto bits = sim::sl_to_vl_row(state(), port, PortNum{static_cast<std::uint8_t>(in)});
    return Vl{static_cast<std::uint8_t>(bits >> (4 * sl) & 0xF)};
  }
  /// "0:192,1:255" of a part of the tables, from 1; entries without a weight are left out.
  std::string turns(const sim::Place& place, unsigned part) {
    std::string text;
    const auto& tables = state().ports[at(place)].tables;
    if (!tables || tables->vl_arb.empty()) return text;
    for (const auto& entry : tables->vl_arb[part - 1].entries) {
      if (entry.weight != 0) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", entry.vl, entry.weight);
    }
    return text;
  }
  std::uint64_t sets(std::uint16_t attribute) { return world_.fabric().counts().sets(attribute); }
  void begin() {
    manager_.emplace(world_, config_, sm::ManagerOptions{});
    group_.spawn((*manager_)->run());
    world_.run_for(30s);
    ASSERT_EQ(manager_->last().summary.state, sm::SweepState::up) << manager_->last().summary.why;
    world_.fabric().counts().clear();
  }
  void reload() {
    (*manager_)->requests().reload(config_);
    world_.run_for(30s);
  }
  bool has_turns(sim::PortIndex port, Vl vl) {
    const auto& tables = state().ports[port].tables;
    if (!tables || tables->vl_arb.empty()) return vl == Vl{0};
    return std::ranges::any_of(tables->vl_arb, [&](const auto& block) {
      return std::ranges::any_of(block.entries, [&](const auto& e) { return e.vl == vl && e.weight != 0; });
    });
  }

  sim::World world_;
  config::SubnetConfig config_;
  std::optional<Managed> manager_;
  mad::TaskGroup group_{world_.io().get_executor()};
  ~QosClassesWritten() override { world_.run(group_.stop()); }
};

const sim::Place kClassHost{"h00005", PortNum{1}}, kClassUplink{"leaf003", PortNum{6}};

TEST_F(QosClassesWritten, AreTablesOfEveryPort) {
  begin();
  for (const auto& place : {kClassHost, kClassUplink}) {
    EXPECT_EQ(turns(place, 1), "1:128,0:192,2:128,1:192") << "3, 5 and 2 packets";
    EXPECT_EQ(turns(place, 3), "3:64");
    EXPECT_EQ(state().ports[at(place)].info.vl_high_limit, 0);
    for (unsigned sl = 0; sl < 16; ++sl)
      EXPECT_EQ(vl_of(at(place), place.node == kClassHost.node ? 0 : 1, sl),
                Vl{static_cast<std::uint8_t>(sl < 4 ? sl : 0)});
    EXPECT_EQ(state().ports[at(place)].info.master_sm_sl, place.node == kClassHost.node ? Sl{3} : Sl{0});
  }
  (*manager_)->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(30s);
  EXPECT_EQ(sets(wire::SlToVl::kAttribute) + sets(wire::VlArbitration::kAttribute), 0U);
}

TEST_F(QosClassesWritten, AChangedShareWritesWeightsOnly) {
  begin();
  config_.qos.traffic_classes[0].share = 30;
  reload();
  EXPECT_EQ(turns(kClassHost, 1), "0:128,1:192,2:128,0:192");
  EXPECT_EQ(sets(wire::SlToVl::kAttribute), 0U);
  EXPECT_EQ(sets(wire::VlArbitration::kAttribute), 128U) << "one block of each port";
}

TEST_F(QosClassesWritten, NoSlIsEverOnAVlWithoutTurnsWhileClassesComeAndGo) {
  begin();
  std::size_t looked = 0;
  world_.fabric().watch_sets([&](const sim::DoneSet& set) {
    if (set.attribute != wire::SlToVl::kAttribute && set.attribute != wire::VlArbitration::kAttribute) return;
    for (unsigned sl = 0; sl < 4; ++sl) {
      const auto vl = vl_of(set.at, state().node_of(set.at).is_switch() ? 1 : 0, sl);
      EXPECT_TRUE(has_turns(set.at, vl)) << "SL " << sl;
    }
    ++looked;
  });
  config_.qos.traffic_classes.push_back({.name = "backup", .share = 10, .sl = 9, .ports = {}});
  reload();
  EXPECT_EQ(vl_of(at(kClassHost), 0, 9), Vl{4});
  config_.qos.traffic_classes.erase(config_.qos.traffic_classes.begin());
  config_.qos.traffic_classes[0].sl = 2;
  config_.qos.traffic_classes[1].sl = 3;
  reload();
  EXPECT_EQ(vl_of(at(kClassHost), 0, 1), Vl{0}) << "an SL of no class has the default one's VL";
  EXPECT_GT(looked, 100U);
}

class QosSetsRefused : public QosClassesWritten {
 protected:
  /// SLs in use, on ports that are in service, whose VL never has a turn.
  std::vector<std::string> starved(unsigned sls) {
    std::vector<std::string> found;
    for (const auto& node : state().nodes) {
      for (unsigned p = 1; p <= node.ports; ++p) {
        const auto port = at({node.name, PortNum{static_cast<std::uint8_t>(p)}});
        if (state().ports[port].info.port_state != PortState::active) continue;
        for (unsigned sl = 0; sl < sls; ++sl) {
          const auto vl = vl_of(port, node.is_switch() ? 1 : 0, sl);
          if (!has_turns(port, vl)) found.push_back(fmt::format("{} {} SL {}", node.name, p, sl));
        }
      }
    }
    return found;
  }
  void refuse(const std::string& node, std::uint16_t attribute, std::uint16_t status = 0x001C) {
    ASSERT_TRUE(world_.fabric().faults().refuses(node, attribute, status));
  }
  /// The state says that tables are not as decided, and where.
  void expect_degraded_by(const std::string& node) {
    const auto& summary = manager_->last().summary;
    EXPECT_EQ(summary.state, sm::SweepState::degraded);
    EXPECT_THAT(summary.why, testing::HasSubstr(node + " port "));
  }
  /// The next sweep writes what was left out.
  void converge(const std::string& node, std::uint16_t attribute) {
    refuse(node, attribute, 0);
    (*manager_)->requests().resweep(sm::Resweep::heavy, "test");
    world_.run_for(60s);
    EXPECT_EQ(manager_->last().summary.state, sm::SweepState::up) << manager_->last().summary.why;
    EXPECT_THAT(starved(5), testing::IsEmpty());
  }
};

TEST_F(QosSetsRefused, NoSlMovesToAVlThatAPortHasNotGivenTurns) {
  for (const std::string node : {"h00005", "leaf003"}) {
    if (!manager_) begin();
    refuse(node, wire::VlArbitration::kAttribute);
    config_.qos.traffic_classes.push_back({.name = "backup", .share = 10, .sl = 4, .ports = {}});
    reload();
    EXPECT_THAT(starved(5), testing::IsEmpty()) << node;
    expect_degraded_by(node);
    EXPECT_THAT(manager_->lines().first("SLs would move to VLs without turns"),
                testing::HasSubstr("set.skipped"));
    converge(node, wire::VlArbitration::kAttribute);
    EXPECT_EQ(vl_of(at(kClassHost), 0, 4), Vl{4});
    EXPECT_EQ(vl_of(at(kClassUplink), 1, 4), Vl{4});
    config_.qos.traffic_classes.pop_back();
    reload();
  }
}

TEST_F(QosSetsRefused, NoVlLosesItsTurnsWhileAPortStillMapsSlsToIt) {
  const auto all = config_.qos.traffic_classes;
  for (const std::string node : {"h00005", "leaf003"}) {
    if (!manager_) begin();
    refuse(node, wire::SlToVl::kAttribute);
    config_.qos.traffic_classes = {all[1], all[2]};
    config_.qos.traffic_classes[0].sl = 2;
    config_.qos.traffic_classes[1].sl = 3;
    reload();
    EXPECT_THAT(starved(4), testing::IsEmpty()) << node;
    expect_degraded_by(node);
    EXPECT_THAT(manager_->lines().first("VLs that SLs still have keep their turns"),
                testing::HasSubstr("set.skipped"));
    converge(node, wire::SlToVl::kAttribute);
    EXPECT_EQ(vl_of(at(kClassHost), 0, 1), Vl{0}) << "an SL of no class has the default one's VL";
    config_.qos.traffic_classes = all;
    reload();
  }
}

TEST_F(QosSetsRefused, AtTheStartAreInTheStateToo) {
  for (const std::uint16_t attribute : {wire::SlToVl::kAttribute, wire::VlArbitration::kAttribute}) {
    world_.fabric().faults().reboot("h00005", 1s);
    world_.run_for(2s);
    refuse("h00005", attribute);
    manager_.emplace(world_, config_, sm::ManagerOptions{});
    mad::TaskGroup group(world_.io().get_executor());
    group.spawn((*manager_)->run());
    world_.run_for(30s);
    expect_degraded_by("h00005");
    converge("h00005", attribute);
    world_.run(group.stop());
    manager_.reset();
  }
}

/// SLs of no class are on VLs of their own in the table that the switch keeps.
TEST_F(QosSetsRefused, VlsOfATableThatASwitchKeepsFromTheStartGetTurns) {
  refuse("leaf003", wire::SlToVl::kAttribute);
  manager_.emplace(world_, config_, sm::ManagerOptions{});
  group_.spawn((*manager_)->run());
  world_.run_for(30s);
  (*manager_)->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(60s);
  expect_degraded_by("leaf003");
  EXPECT_EQ(vl_of(at(kClassUplink), 1, 4), Vl{4});
  EXPECT_THAT(starved(16), testing::IsEmpty());

  world_.fabric().counts().clear();
  (*manager_)->requests().resweep(sm::Resweep::heavy, "test");
  world_.run_for(60s);
  EXPECT_EQ(sets(wire::VlArbitration::kAttribute), 0U) << "they have them";
  converge("leaf003", wire::SlToVl::kAttribute);
  EXPECT_EQ(turns(kClassUplink, 1), "1:128,0:192,2:128,1:192");
  EXPECT_EQ(vl_of(at(kClassUplink), 1, 4), Vl{0});
}

/// By `tenants-equal`: SL, VL and share as if a file had it, and those of the others stay.
TEST_F(QosClassesWritten, APartitionOfTheApiIsATenantAsOneOfAFileIs) {
  config_.qos.traffic_classes.clear();
  config_.qos.preset = config::QosPreset::tenants_equal;
  config_.partition[0].name = "m";
  begin();
  EXPECT_EQ(turns(kClassHost, 1), "0:64,1:64");
  auto filed = config_;
  filed.partition.push_back(test::partition("b", 0x22, {"ALL"}));
  sim::World other(test::spec("ft2:8"));
  Managed by_file(other, filed, test::once());
  other.run(by_file->run());

  policy::ApiPartition made{.name = "b", .pkey = 0x22, .source = {config::PolicyOrigin::api, 0}};
  made.members.push_back(
      {.ports = {test::port_terms({"ALL"})}, .membership = config::Membership::full, .source = made.source});
  policy::Policies policies;
  policies.class_sls = {{"m", Sl{1}}};
  policies.api.emplace("b", std::make_shared<const policy::ApiPartition>(std::move(made)));
  (*manager_)->requests().set_policies(std::make_shared<const policy::Policies>(policies));
  world_.run_for(10s);

  EXPECT_EQ(turns(kClassHost, 1), "0:64,1:64,2:64") << "a third each";
  const auto &now = manager_->last().decided, &expected = by_file.last().decided;
  ASSERT_TRUE(now.qos_policy && now.qos_tables && expected.qos_tables);
  EXPECT_EQ(*now.qos_tables, *expected.qos_tables);
  EXPECT_EQ(now.qos_policy->policy->classes, expected.qos_policy->policy->classes);
  EXPECT_EQ(now.partitions->policy->find(PKey{0x22})->sl, Sl{2});
  EXPECT_EQ(now.partitions->policy->find(PKey{0x21})->sl, Sl{1});
  EXPECT_EQ(now.qos_policy->matcher.match(0, 0, {.pkey = PKey{0x8022}})->sl, Sl{2});
  EXPECT_EQ(manager_->last().summary.sweep, sm::SweepKind::heavy) << "of the start: no sweep was needed";

  (*manager_)->requests().set_policies(std::make_shared<const policy::Policies>());
  world_.run_for(10s);
  EXPECT_EQ(turns(kClassHost, 1), "0:64,1:64");
}

TEST_F(QosClassesWritten, FewVlsAreSharedFromTheLastClassOn) {
  world_.fabric().faults().vl_cap("h00005", 2);
  begin();
  EXPECT_EQ(turns(kClassHost, 1), "0:64,1:64") << "50 % for storage, 50 % for the others";
  for (unsigned sl = 0; sl < 4; ++sl)
    EXPECT_EQ(vl_of(at(kClassHost), 0, sl), Vl{static_cast<std::uint8_t>(sl == 1)}) << sl;
}

TEST_F(QosClassesWritten, MaxVlsIsNamedWhereItMakesClassesShareAVl) {
  config_.qos.all.max_vls = 2;
  begin();
  ASSERT_EQ(manager_->lines().count("qos.sls_share_vl"), 1U) << "all ports have the same tables";
  const auto line = manager_->lines().first("qos.sls_share_vl");
  EXPECT_THAT(line, testing::HasSubstr("vls=2 vls_needed=4"));
  EXPECT_THAT(line, testing::HasSubstr("qos.max_vls"));
}

TEST_F(QosClassesWritten, GivePacketsTheirShares) {
  begin();
  const sim::Place receiver{"h00000", PortNum{1}};
  std::vector<sim::DataFlow> flows;
  for (std::uint8_t sl = 0; sl < 3; ++sl) {
    for (const auto* sender : {"h00004", "h00008", "h00012"}) {
      auto flow = sim::flow_between(state(), {sender, PortNum{1}}, receiver, Sl{sl});
      ASSERT_TRUE(flow);
      flow->payload = 4096;
      flows.push_back(*flow);
    }
  }
  const auto result = sim::arbitrate(state(), flows, {.packets = 300'000});
  constexpr std::array kExpected{0.3, 0.5, 0.2};
  for (std::uint8_t sl = 0; sl < 3; ++sl) {
    const auto got = sim::share_of(result, at(receiver), Sl{sl});
    EXPECT_NEAR(got, kExpected[sl], 0.05 * kExpected[sl]) << int{sl};
  }
}

TEST_F(QosClassesWritten, AreExplainedAsTheyAreDecided) {
  begin();
  const auto& last = manager_->last();
  const auto found = sm::explain_qos({.subnet = *last.subnet, .decided = last.decided});
  std::vector<std::string> kinds;
  for (const auto& kind : found.kinds) kinds.push_back(fmt::format("{} {}", *kind.ports, kind.names));
  EXPECT_THAT(kinds,
              testing::ElementsAre("128 adapters, switch ports to end ports, switch ports to switches"));
  ASSERT_EQ(found.uses.size(), 4U);
  EXPECT_EQ(found.uses.at(Sl{1}).name, "storage");
  const auto again = sm::qos_explanation_of(sm::qos_json(found));
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(*again, found);

  config::PartitionPolicy partitions;
  partitions.sls_of_class = {{.name = "p9", .pkey = PKey{0x39}, .asked = Sl{5}, .sl = Sl{0}}};
  const auto with_other =
      sm::explain_qos({.subnet = *last.subnet, .decided = last.decided, .partitions = &partitions});
  EXPECT_THAT(with_other.warnings, testing::Contains(testing::HasSubstr("partition p9 of the API")));
}

TEST_F(QosClassesWritten, AreInTheTextOfADryRun) {
  begin();
  const auto& last = manager_->last();
  std::ostringstream out;
  daemon::print_plan(out, *last.subnet, last.decided, {});
  EXPECT_THAT(out.str(), testing::ContainsRegex("SL 1  VL 1 .*class storage"));
}

/// What a turn sends depends on the size of packets.
TEST_F(QosClassesWritten, AreExplainedInPacketsOfTheLinks) {
  config_.links.mtu = Mtu::m1024;
  begin();
  const auto& last = manager_->last();
  const auto found = sm::explain_qos({.subnet = *last.subnet, .decided = last.decided});
  ASSERT_EQ(found.kinds.size(), 1U);
  EXPECT_EQ(found.kinds[0].mtu, 1024U);
}

sa::EndPort const* host(const sa::Directory& directory, bool last) {
  const sa::EndPort* found = nullptr;
  for (const auto& port : directory.end_ports()) {
    if (!port.node->is_switch() && (last || found == nullptr)) found = &port;
  }
  return found;
}

/// What a host is answered: an SL, or -1 for no path.
int answered_sl(const test::SaLab& lab, std::optional<PKey> pkey, std::optional<std::uint64_t> service,
                std::optional<Sl> sl = {}) {
  using QosRecord = wire::PathRecord;
  const auto bit = [](unsigned number) { return std::uint64_t{1} << number; };
  QosRecord asked;
  asked.sgid = lab.directory().gid_of(*host(lab.directory(), false));
  asked.dgid = lab.directory().gid_of(*host(lab.directory(), true));
  auto mask = bit(QosRecord::kSgid) | bit(QosRecord::kDgid);
  if (pkey) asked.pkey = *pkey, mask |= bit(QosRecord::kPKey);
  if (sl) asked.sl = *sl, mask |= bit(QosRecord::kSl);
  if (service)
    asked.service_id = *service, mask |= bit(QosRecord::kServiceId) | bit(QosRecord::kServiceId + 1);
  const auto reply = test::ask(
      lab.directory(),
      test::Question{.method = wire::Method::get, .attribute = QosRecord::kRecord, .mask = mask}.with(asked));
  return reply.status == 0 ? reply.get<QosRecord>(0).sl.value() : -1;
}

TEST(QosClassesOfTheSa, AreChosenByPKeyThenServiceId) {
  const test::SaLab lab("ft2:4", with_classes());
  const auto sl = [&](std::optional<PKey> pkey, std::optional<std::uint64_t> service) {
    return answered_sl(lab, pkey, service);
  };
  EXPECT_EQ(sl({}, {}), 0);
  EXPECT_EQ(sl({}, kNvme), 1);
  EXPECT_EQ(sl(PKey{0x8021}, {}), 2);
  EXPECT_EQ(sl(PKey{0x8021}, kNvme), 2) << "the P_Key comes first";
  EXPECT_EQ(sl(kDefaultPKey, kNvme), 1);
}

/// What no class names has the default one, and no other SL.
TEST(QosClassesOfTheSa, GiveNoPathTheSlOfAnotherClass) {
  const test::SaLab lab("ft2:4", with_classes());
  for (std::uint8_t sl = 0; sl < 6; ++sl) {
    const auto granted = [&](int own) { return sl == own ? own : -1; };
    EXPECT_EQ(answered_sl(lab, {}, {}, Sl{sl}), granted(0)) << int{sl};
    EXPECT_EQ(answered_sl(lab, kDefaultPKey, {}, Sl{sl}), granted(0)) << int{sl};
    EXPECT_EQ(answered_sl(lab, {}, kNvme, Sl{sl}), granted(1)) << int{sl};
    EXPECT_EQ(answered_sl(lab, PKey{0x8021}, {}, Sl{sl}), granted(2)) << int{sl};
  }
}

/// rdma_cm asks with the P_Key, too: what is not IPoIB's has a service ID.
TEST(QosClassesOfTheSa, IpoibTakesNoTrafficOfOtherProtocols) {
  auto config = with_classes();
  config.qos.traffic_classes.insert(config.qos.traffic_classes.begin(), {.name = "ip", .ulps = {"ipoib"}});
  config.qos.traffic_classes.push_back({.name = "port", .ports = test::port_terms({"ALL_CAS"})});
  const test::SaLab lab("ft2:4", config);
  EXPECT_EQ(answered_sl(lab, kDefaultPKey, {}), 1) << "IPoIB";
  EXPECT_EQ(answered_sl(lab, kDefaultPKey, kNvme), 2);
  EXPECT_EQ(answered_sl(lab, kDefaultPKey, 0x1060001), 5) << "by its port";
  EXPECT_EQ(answered_sl(lab, {}, {}), 5);
}

/// A path has one SL in one partition, whether its client names the P_Key or not.
TEST(QosClassesOfTheSa, ThatListTheDefaultPartitionComeBeforeProtocolsAndPorts) {
  auto config = with_classes();
  config.qos.traffic_classes.push_back({.name = "base", .partitions = {"Default"}});
  config.qos.traffic_classes.push_back({.name = "port", .ports = test::port_terms({"ALL_CAS"})});
  const test::SaLab lab("ft2:4", config);
  const auto base = answered_sl(lab, kDefaultPKey, {});
  EXPECT_GT(base, 0);
  EXPECT_EQ(answered_sl(lab, {}, {}), base);
  EXPECT_EQ(answered_sl(lab, {}, kNvme), base);
  EXPECT_EQ(answered_sl(lab, kDefaultPKey, kNvme), base);
}

}  // namespace
}  // namespace smd
