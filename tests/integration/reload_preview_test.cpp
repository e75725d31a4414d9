// SPDX-License-Identifier: Apache-2.0
// What a reload would change, before it is done: in the API, by the fabric as it is.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "tests/support/api_backend.h"
#include "tests/support/json_schema.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"
#include "tests/support/store_lab.h"

namespace smd {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using testing::HasSubstr;

class ReloadPreview : public testing::Test {
 protected:
  ReloadPreview()
      : ReloadPreview(test::with_partitions({test::partition("Default", 0x7fff, {"ALL"}),
                                             test::partition("blue", 0x21, {"h00002", "h00003"})})) {}
  explicit ReloadPreview(config::SubnetConfig config)
      : world_(test::spec("ft2:8")), config_(std::move(config)) {
    const auto policies = policy::with_class_sls(config_, std::make_shared<const policy::Policies>());
    manager_.emplace(world_, config_, test::once(), &store_);
    world_.run((*manager_)->run());
    backend_.add({.name = "f",
                  .port = "mlx5_0:1",
                  .snapshot = std::make_shared<sm::Snapshot>(manager_->last()),
                  .policy_state = std::make_shared<const api::PolicyState>(
                      api::PolicyState{std::make_shared<const config::SubnetConfig>(config_), policies,
                                       policy::merged_policy(config_, *policies)})});
  }
  json::value ask(unsigned status, const std::string& body) {
    const auto answer = api::answer({.method = "POST", .target = "/v1/reload", .body = body}, backend_);
    EXPECT_EQ(answer.status, status) << answer.body;
    return *api::parse_json(answer.body);
  }
  /// What this configuration would change, held against the schema.
  json::value preview(const config::SubnetConfig& next) {
    backend_.next = api::NextConfigs{.subnets = {{.subnet = next}}, .warnings = {}};
    const auto answer = ask(200, R"({"dry_run": true})");
    const auto document = test::api_document();
    const test::Schema schemas(document);
    EXPECT_THAT(schemas.wrong(answer, schemas.named("Reload")), testing::IsEmpty());
    return answer.at("subnets").at(0);
  }

  sim::World world_;
  config::SubnetConfig config_;
  store::MemoryStore store_;
  std::optional<test::Managed> manager_;
  test::FakeBackend backend_;
};

TEST_F(ReloadPreview, TheConfigurationInForceChangesNothing) {
  const auto found = preview(config_);
  EXPECT_TRUE(found.at("changed").as_array().empty());
  const auto& fabric = found.at("fabric");
  EXPECT_FALSE(fabric.at("disturbs").as_bool());
  EXPECT_TRUE(fabric.at("sets").as_array().empty()) << json::serialize(fabric);
}

TEST_F(ReloadPreview, APortThatLosesAKeyIsNamed) {
  auto next = config_;
  next.partition[1].full = test::port_terms({"h00002", "h00004"});
  const auto found = preview(next);
  EXPECT_EQ(found.at("changed").as_array().size(), 1U);
  EXPECT_TRUE(found.at("fabric").at("disturbs").as_bool());
  std::string ports;
  for (const auto& port : found.at("fabric").at("pkeys").as_array()) ports += json::serialize(port);
  EXPECT_THAT(ports, HasSubstr(R"("name":"h00003","port":1,"lost":["0x8021"],"gained":[])"));
  EXPECT_THAT(ports, HasSubstr(R"("name":"h00004","port":1,"lost":[],"gained":["0x8021"])"));
  EXPECT_EQ(found.at("fabric").at("lids_changed"), 0);
  EXPECT_EQ(found.at("fabric").at("entries_changed"), 0);
}

TEST_F(ReloadPreview, OtherRoutesAndLidsAreCounted) {
  auto next = config_;
  next.routing.engines = {"updn"};
  next.lids.lmc = 1;
  const auto fabric = preview(next).at("fabric");
  EXPECT_TRUE(fabric.at("disturbs").as_bool());
  EXPECT_EQ(fabric.at("engine_now"), "dmodc");
  EXPECT_EQ(fabric.at("engine"), "updn");
  EXPECT_GT(fabric.at("lids_changed").to_number<unsigned>(), 0U);
  EXPECT_FALSE(fabric.at("sets").as_array().empty());
}

TEST_F(ReloadPreview, NothingIsPutInForce) {
  auto next = config_;
  next.partition.pop_back();
  world_.fabric().counts().clear();
  preview(next);
  EXPECT_EQ(world_.fabric().counts().sets(), 0U);
  EXPECT_EQ(backend_.reloads, 0U);
  ask(202, "");
  EXPECT_EQ(backend_.reloads, 1U);
}

/// 50 % of a link for all else: SL 0; 30 % for s: SL 1; 20 % for n: SL 2.
class ReloadPreviewOfClasses : public ReloadPreview {
 protected:
  ReloadPreviewOfClasses() : ReloadPreview(classes()) {}
  static config::SubnetConfig classes() {
    config::SubnetConfig config;
    config.qos.enabled = true;
    config.qos.traffic_classes = {{.name = "s", .share = 30, .ulps = {"lustre"}},
                                  {.name = "n", .share = 20, .ulps = {"nvmeof"}}};
    return config;
  }
  json::value qos(const config::SubnetConfig& next) { return preview(next).at("fabric").at("qos"); }
};

TEST_F(ReloadPreviewOfClasses, ThatStayAreNotNamed) {
  const auto found = qos(config_);
  EXPECT_TRUE(found.at("classes").as_array().empty()) << json::serialize(found);
  EXPECT_TRUE(found.at("warnings").as_array().empty()) << json::serialize(found);
}

/// SLs are kept by the name: that of s stays its own.
TEST_F(ReloadPreviewOfClasses, OneWithAnotherNameHasAnotherSl) {
  auto next = config_;
  next.qos.traffic_classes[0].name = "t";
  const auto found = qos(next);
  const auto& classes = found.at("classes").as_array();
  ASSERT_EQ(classes.size(), 2U) << json::serialize(found);
  EXPECT_EQ(classes[0].at("class"), "s");
  EXPECT_THAT(json::serialize(classes[0].at("before")), HasSubstr(R"("sls":[1],"vls":[1])"));
  EXPECT_TRUE(classes[0].at("after").is_null());
  EXPECT_EQ(classes[1].at("class"), "t");
  EXPECT_TRUE(classes[1].at("before").is_null());
  EXPECT_THAT(json::serialize(classes[1].at("after")), HasSubstr(R"("sls":[3],"vls":[1])"));
  EXPECT_NEAR(classes[1].at("after").at("share_most").to_number<double>(), 0.3, 0.01);
}

TEST_F(ReloadPreviewOfClasses, AnotherShareAndTheWarningsOfSmdQosAreNamed) {
  auto next = config_;
  next.qos.traffic_classes[0].share = 60;
  EXPECT_THAT(json::serialize(qos(next).at("classes")), HasSubstr(R"("class":"s","before":{"sls":[1])"));
  for (unsigned i = 0; i < 12; ++i)
    next.qos.traffic_classes.push_back({.name = fmt::format("k{}", i),
                                        .sl = static_cast<std::uint8_t>(3 + i),
                                        .service_id = {{0x100 + i, 0x100 + i}}});
  const auto found = qos(next);
  EXPECT_THAT(json::serialize(found.at("classes")), HasSubstr(R"("class":"k11","before":null)"));
  EXPECT_THAT(json::serialize(found.at("warnings")), HasSubstr("share VL 0 and delay each other"));
}

TEST_F(ReloadPreviewOfClasses, OnlyALostSlDisturbs) {
  const auto disturbs = [&](const config::SubnetConfig& next) {
    return preview(next).at("fabric").at("disturbs").as_bool();
  };
  auto next = config_;
  next.qos.traffic_classes[0].share = 60;
  next.qos.traffic_classes.push_back({.name = "t", .ulps = {"iser"}});
  EXPECT_FALSE(disturbs(next)) << "another share, and a new class";

  next.qos.traffic_classes[0].sl = 7;
  EXPECT_TRUE(disturbs(next)) << "connections stay on the SL of before";
  next = config_;
  next.qos.traffic_classes.pop_back();
  EXPECT_TRUE(disturbs(next)) << "a class is gone";
  next = config_;
  next.qos.traffic_classes.insert(next.qos.traffic_classes.begin(), {.name = "rest", .standard = true});
  EXPECT_FALSE(disturbs(next)) << "the default class has another name, and SL 0 as before";
}

/// The daemon reads the file too, so that log and status say it.
TEST_F(ReloadPreview, AReloadOfAWrongFileIsRefused) {
  backend_.next = std::unexpected(std::vector<std::string>{"smd.toml:3: sm.priority: got 99", "more"});
  const auto answer = ask(422, "");
  EXPECT_EQ(answer.at("code"), "wrong_configuration");
  EXPECT_EQ(answer.at("detail"), "smd.toml:3: sm.priority: got 99\nmore");
  EXPECT_EQ(backend_.reloads, 1U);
}

TEST_F(ReloadPreview, APartitionOfTheApiThatAFileTakesOverIsNamed) {
  auto policies = std::make_shared<policy::Policies>();
  auto red = std::make_shared<config::PartitionDefinition>();
  red->name = "red";
  red->pkey = 0x40;
  red->source.origin = config::PolicyOrigin::api;
  policies->api.emplace("red", red);
  auto& view = backend_.views.front();
  auto changed = std::make_shared<api::SubnetView>(*view);
  changed->policy_state = std::make_shared<const api::PolicyState>(
      api::PolicyState{view->policy_state->config, policies, policy::merged_policy(config_, *policies)});
  view = changed;
  auto next = config_;
  next.partition.push_back(test::partition("crimson", 0x40, {"h00002"}));
  EXPECT_THAT(json::serialize(preview(next).at("changed")),
              HasSubstr("partition red of the API (P_Key 0x0040)"));
}

TEST_F(ReloadPreview, WrongFilesAndBodiesAreRefusedInOneLineEach) {
  backend_.next = std::unexpected(std::vector<std::string>{"smd.toml:3: a", "smd.toml:7: b"});
  EXPECT_THAT(json::serialize(ask(422, R"({"dry_run": true})")),
              HasSubstr(R"(smd.toml:3: a\nsmd.toml:7: b)"));
  for (const auto* bad : {"{", "[]", R"({"dry_run": 1})", R"({"dry_run": true, "x": 1})"}) ask(400, bad);
  EXPECT_EQ(backend_.reloads, 0U);
}

TEST_F(ReloadPreview, OfAStandbyIsWhatATakeoverChangesWhereItsOwnFilesCount) {
  EXPECT_EQ(preview(config_).at("takeover"), false);
  auto view = *backend_.views[0];
  auto snapshot = std::make_shared<sm::Snapshot>(*view.snapshot);
  snapshot->state = wire::SmState::standby;
  view.snapshot = std::move(snapshot);
  const auto of_pair = [&](config::HaPolicy policy) {
    auto config = config_;
    config.ha.policy = policy;
    replica::ReplicaView replica;
    replica.role = replica::ReplicaView::Role::current;
    view.replica = std::make_shared<const replica::ReplicaView>(std::move(replica));
    backend_.views[0] = std::make_shared<const api::SubnetView>(view);
    return preview(config).at("takeover");
  };
  EXPECT_EQ(of_pair(config::HaPolicy::local), true);
  EXPECT_EQ(of_pair(config::HaPolicy::replica), false) << "they count after a reload as master";
}

/// It has no port and so no policy yet: what the files said before is what it is compared with.
TEST_F(ReloadPreview, ASubnetThatWaitsForItsPortIsComparedToo) {
  backend_.views.clear();
  backend_.add({.name = "f", .port = "mlx5_9"});
  auto next = config_;
  next.routing.engines = {"minhop"};
  const auto preview_of = [&](const config::SubnetConfig& wanted) {
    backend_.next = api::NextConfigs{
        .subnets = {{.subnet = wanted, .before = std::make_shared<const config::SubnetConfig>(config_)}},
        .warnings = {}};
    return ask(200, R"({"dry_run": true})").at("subnets").at(0);
  };
  const auto found = preview_of(next);
  EXPECT_FALSE(found.at("leaves").as_bool());
  EXPECT_TRUE(found.at("fabric").is_null());
  ASSERT_EQ(found.at("changed").as_array().size(), 1U);
  EXPECT_THAT(json::serialize(found.at("changed")), HasSubstr("routing.engines"));
  EXPECT_TRUE(preview_of(config_).at("changed").as_array().empty());
}

TEST_F(ReloadPreview, ASubnetThatIsNotInTheFilesLeaves) {
  backend_.next = api::NextConfigs{.subnets = std::vector<api::NextConfig>(1), .warnings = {}};
  const auto found = ask(200, R"({"dry_run": true})").at("subnets").at(0);
  EXPECT_TRUE(found.at("leaves").as_bool());
  EXPECT_TRUE(found.at("fabric").is_null());
}

}  // namespace
}  // namespace smd
