// SPDX-License-Identifier: Apache-2.0
// Answers about real sweeps, held against docs/openapi.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <sstream>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "smd/cli/ask_text.h"
#include "tests/support/api_asker.h"
#include "tests/support/changeable_subnet.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"

namespace smd {
namespace {

namespace json = boost::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The state after a first sweep, with something wrong of each kind.
std::shared_ptr<const sm::Snapshot> troubled() {
  auto fabric = test::spec("ft2:8");
  Guid twice;
  for (auto& node : fabric.nodes) {
    if (node.name == "h00002") twice = node.guid;
  }
  for (auto& node : fabric.nodes) {
    if (node.name == "h00005") node.guid = twice, node.ports[1].guid = Guid{twice.value() + 1};
  }
  sim::World world(fabric);
  world.fabric().faults().silent("h00009");
  world.fabric().faults().link_down({"leaf003", PortNum{6}});
  test::Managed manager(world, {}, test::once());
  world.run(manager->run());
  return std::make_shared<sm::Snapshot>(manager.last());
}

class Api : public test::ApiAsker {
 protected:
  Api() {
    backend_.add({.name = "up", .port = "mlx5_0:1", .snapshot = troubled()});
    backend_.add({.name = "ft2:8/x", .port = "mlx5_1:1"});
    backend_.add({.name = "",
                  .port = "mlx5_2:1",
                  .waiting = api::Waiting{.what = "port", .reason = "no device", .since = {}}});
  }
};

TEST_F(Api, TheDocumentHasTheRoutesThatThereAre) {
  std::set<std::string> written;
  std::set<std::string> real;
  for (const auto& [path, item] : document_.at("paths").as_object()) {
    for (const auto* method : {"get", "put", "post", "delete"}) {
      if (!item.as_object().contains(method)) continue;
      std::string upper(method);
      for (auto& c : upper) c = static_cast<char>(c - 'a' + 'A');
      written.insert(upper + " " + std::string(path));
    }
  }
  for (const auto& route : api::routes())
    real.insert(std::string(route.method) + " " + std::string(route.path));

  EXPECT_EQ(real, written);
}

TEST_F(Api, StatusSaysWhatIsWrongAndWhatIsWaitedFor) {
  const auto status = ask("GET", "/v1/status", "Status");
  EXPECT_EQ(ask("GET", "/v1/subnets", "Subnets").at("subnets").as_array().size(), 3U);
  const auto& subnets = status.at("subnets").as_array();

  ASSERT_EQ(subnets.size(), 3U);
  EXPECT_EQ(subnets[0].at("last_sweep").at("state"), "degraded");
  EXPECT_EQ(subnets[0].at("master").at("state"), "master");
  EXPECT_THAT(subnets[0].at("unresponsive").as_array(), testing::Not(IsEmpty()));
  EXPECT_THAT(subnets[0].at("ports_not_active").as_array(), testing::Not(IsEmpty()));
  EXPECT_THAT(subnets[0].at("duplicate_guids").as_array(), testing::Not(IsEmpty()));
  EXPECT_EQ(subnets[1].at("last_sweep"), nullptr);
  EXPECT_EQ(subnets[1].at("sm").at("state"), "discovering");
  EXPECT_EQ(subnets[2].at("waiting").at("reason"), "no device");
  EXPECT_EQ(subnets[2].at("sm").at("state"), "not_active");
}

/// What a standby answers is its copy, and the answer says so.
TEST_F(Api, AnswersSayWhetherTheSmIsMaster) {
  const auto role = [&](const std::string& path) {
    std::string found;
    for (const auto& [name, value] :
         api::answer({.method = "GET", .target = path, .body = {}}, backend_).headers) {
      if (name == "X-SMD-Role") found += value;
    }
    return found;
  };
  EXPECT_EQ(role("/v1/subnets/up/status"), "master");
  EXPECT_EQ(role("/v1/subnets/ft2%3A8%2Fx/status"), "");  // there is no SM yet
  EXPECT_EQ(role("/v1/status"), "master");
  EXPECT_EQ(role("/healthz"), "");
  sm::SmView standby;
  standby.state.sm = wire::SmState::standby;
  backend_.add({.name = "other", .port = "mlx5_3:1", .sms = std::make_shared<sm::SmView>(standby)});

  EXPECT_EQ(role("/v1/subnets/other/status"), "standby");
  EXPECT_EQ(role("/v1/status"), "");  // one is master, one is not
}

TEST_F(Api, WhatIsLostIsAcceptedAtTheMasterWhichIsNamed) {
  sm::SmView view;
  view.state.sm = wire::SmState::standby;
  sm::OtherSm master;
  master.node_description = "sm2";
  master.lid = Lid{7};
  master.info.guid = Guid{0x77};
  master.info.state = wire::SmState::master;
  view.others.push_back({.sm = std::move(master)});
  auto snapshot = std::make_shared<sm::Snapshot>(*backend_.views[0]->snapshot);
  snapshot->state = wire::SmState::standby;
  backend_.add({.name = "other",
                .port = "mlx5_3:1",
                .snapshot = std::move(snapshot),
                .sms = std::make_shared<sm::SmView>(view)});

  EXPECT_THAT(error("POST", "/v1/subnets/other/accept", 409, R"({"lost": true})"),
              testing::HasSubstr("ask the master, sm2 (port GUID 0x0000000000000077, LID 7)"));
}

TEST_F(Api, OneSubnetIsAskedForByItsEncodedName) {
  EXPECT_EQ(ask("GET", "/v1/subnets/ft2%3A8%2Fx/status", "Subnet").at("port"), "mlx5_1:1");
  EXPECT_EQ(error("GET", "/v1/subnets/none/status", 404),
            "no subnet none; there are: up, ft2:8/x, (no port yet)");
}

TEST_F(Api, EveryPortThatIsNotActiveHasItsReason) {
  const auto all = ask("GET", "/v1/subnets/up/ports?all=true", "Ports");
  const auto bad = ask("GET", "/v1/subnets/up/ports?not_active=true&all=true", "Ports");

  EXPECT_GT(all.at("ports").as_array().size(), bad.at("ports").as_array().size());
  bool cut = false;
  for (const auto& port : bad.at("ports").as_array()) {
    EXPECT_TRUE(port.at("reason").is_string()) << port;
    cut = cut || (port.at("name") == "leaf003" && port.at("port") == 6);
  }
  EXPECT_TRUE(cut);
  EXPECT_THAT(error("GET", "/v1/subnets/up/ports?not_active=2", 400), HasSubstr("true or false"));
}

TEST_F(Api, PartitionsHaveTheirMembersAndWhatIsPending) {
  sim::World world(test::spec("ft2:4"));
  test::Managed manager(world,
                        test::with_partitions({test::partition("blue", 0x12, {"h00001", "h9"}, {"h00002"})}),
                        test::once());
  world.run(manager->run());
  backend_.add(
      {.name = "parts", .port = "mlx5_3:1", .snapshot = std::make_shared<sm::Snapshot>(manager.last())});

  const auto list = ask("GET", "/v1/subnets/parts/partitions", "Partitions");
  ASSERT_EQ(list.at("partitions").as_array().size(), 2U);
  EXPECT_EQ(list.at("managed"), true);
  EXPECT_EQ(list.at("partitions").at(0).at("members"), nullptr);
  const auto one =
      ask("GET", "/v1/subnets/parts/partitions?name=0x8012", "Partitions").at("partitions").at(0);
  EXPECT_EQ(one.at("programmed"), 2);
  EXPECT_EQ(one.at("members").at(0).at("name"), "h00001");
  EXPECT_EQ(one.at("members").at(0).at("index"), 1);
  EXPECT_EQ(one.at("members").at(1).at("membership"), "limited");
  EXPECT_EQ(one.at("pending").at(0).at("member"), "h9");
  EXPECT_THAT(error("GET", "/v1/subnets/parts/partitions?name=red", 404), HasSubstr("red"));
  EXPECT_EQ(ask("GET", "/v1/subnets/up/partitions", "Partitions").at("managed"), false);
  const auto as_is = ask("GET", "/v1/subnets/up/partitions?name=Default", "Partitions");
  const auto& rules = as_is.at("partitions").at(0).at("rules");
  EXPECT_EQ(rules.at(0).at("ports"), "ALL");
  EXPECT_EQ(rules.at(0).at("membership"), "as found");
  EXPECT_EQ(rules.at(1).at("membership"), "full") << "of the SM's port";
}

TEST(MembersByState, AreCountedOnceEach) {
  const json::object pending{{"member", "0x1234"}};
  EXPECT_EQ(cli::members_by_state(json::object{{"member_count", 3},
                                               {"programmed", 1},
                                               {"refused", 1},
                                               {"no_room", 0},
                                               {"pending", json::array{pending}}}),
            "1 of 3 members programmed, 1 pending, 1 refused; 1 not in the fabric");
  EXPECT_EQ(cli::members_by_state(
                json::object{{"member_count", 2}, {"programmed", 1}, {"refused", 0}, {"no_room", 1}}),
            "1 of 2 members programmed, 1 no_room");
}

/// A subnet whose partitions can be changed; it is master, and nothing is decided by the changes.
class ApiPartitions : public Api {
 protected:
  ApiPartitions() { snapshot_ = test::add_changeable_subnet(backend_); }
  json::value change(const std::string& method, const std::string& what, unsigned status = 200,
                     std::string body = {}) {
    return ask(method, "/v1/subnets/p/partitions/" + what, "PartitionChange", status, std::move(body));
  }
  std::string refused(const std::string& method, const std::string& what, unsigned status,
                      std::string body = {}) {
    return error(method, "/v1/subnets/p/partitions/" + what, status, std::move(body));
  }
  json::value partition(const std::string& name) {
    return ask("GET", "/v1/subnets/p/partitions/" + name, "Partition");
  }
  /// As a reload does. `edit` changes the configuration.
  void reload(const std::function<void(config::SubnetConfig&)>& edit) {
    auto view = *backend_.views.back();
    auto policy_state = std::make_shared<api::PolicyState>(*view.policy_state);
    auto config = *policy_state->config;
    edit(config);
    policy_state->config = std::make_shared<const config::SubnetConfig>(std::move(config));
    policy_state->merged = policy::merged_policy(*policy_state->config, *policy_state->policies);
    view.policy_state = policy_state;
    backend_.views.back() = std::make_shared<api::SubnetView>(std::move(view));
  }
  std::shared_ptr<sm::Snapshot> snapshot_;
};

TEST_F(ApiPartitions, ShowTheSlInForceAndTheOneThatIsAskedFor) {
  change("PUT", "blue", 201, R"({"sl": 5})");
  EXPECT_EQ(partition("blue").at("sl"), 0) << "QoS is off";
  EXPECT_EQ(partition("blue").at("sl_asked"), 5);
  EXPECT_EQ(partition("filed").at("sl_asked"), nullptr);

  reload([](config::SubnetConfig& config) { config.qos.enabled = true; });
  EXPECT_EQ(partition("blue").at("sl"), 5);
  EXPECT_EQ(partition("blue").at("sl_asked"), nullptr);

  reload([](config::SubnetConfig& config) {
    config.qos.traffic_classes = {{.name = "storage", .ulps = {"lustre"}}};
  });
  const auto blue = partition("blue");
  EXPECT_EQ(blue.at("sl"), 0) << "of the default class";
  EXPECT_EQ(blue.at("sl_asked"), 5);
  std::ostringstream out;
  cli::print_partitions(out, json::object{{"partitions", json::array{blue}}}, false);
  EXPECT_THAT(out.str(), HasSubstr("\n  SL 0 is in force, SL 5 is asked for\n"));
}

TEST_F(ApiPartitions, StatusNamesFilesThatAreRefused) {
  const auto refused_files = [&] {
    return ask("GET", "/v1/subnets/p/status", "Subnet").at("files_refused").as_array();
  };
  EXPECT_THAT(refused_files(), IsEmpty());
  reload([](config::SubnetConfig& config) {
    config.partitions.refused = "smd.toml:3: wrong";
    config.qos.refused = "q.conf:3: wrong\nsmd.toml:3: wrong";
  });
  EXPECT_THAT(refused_files(), ElementsAre("smd.toml:3: wrong", "q.conf:3: wrong"));
}

TEST_F(ApiPartitions, AreMadeChangedAndTakenAway) {
  const auto made = change("PUT", "blue", 201, R"({"members": ["h00001"]})");
  EXPECT_EQ(made.at("pkey"), "0x0001");
  EXPECT_EQ(made.at("changed"), true);
  EXPECT_EQ(change("PUT", "blue", 200, R"({"members": ["h00001"]})").at("changed"), false);
  EXPECT_EQ(change("POST", "blue/members", 200, R"({"guid": "0x10", "membership": "full"})").at("changed"),
            true);
  EXPECT_EQ(change("DELETE", "blue/members/0x10").at("changed"), true);
  EXPECT_EQ(change("DELETE", "blue/members/0x10").at("changed"), false) << "asked again by a client";
  EXPECT_EQ(change("DELETE", "blue/members", 200, R"({"members": ["h00001", "h00002"]})").at("changed"),
            true);
  EXPECT_EQ(change("DELETE", "blue").at("changed"), true);
  EXPECT_EQ(refused("DELETE", "blue", 404), "the API has no partition blue");
}

TEST_F(ApiPartitions, OfAChangeThatIsNotDecidedYetNothingIsInForce) {
  EXPECT_EQ(partition("filed").at("in_force"), true);
  EXPECT_EQ(partition("filed").at("ready"), "1 of 1");
  change("PUT", "blue", 201, R"({"members": ["h00001"]})");
  const auto blue = partition("0x8001");
  EXPECT_EQ(blue.at("name"), "blue");
  EXPECT_EQ(blue.at("in_force"), false);
  EXPECT_EQ(blue.at("sources").at(0), "API");
  EXPECT_THAT(blue.at("members").as_array(), IsEmpty());
  EXPECT_EQ(ask("GET", "/v1/subnets/p/partitions", "Partitions").at("partitions").as_array().size(), 3U);
}

TEST_F(ApiPartitions, OfAStandbyWithoutACopyWaitUntilItIsMaster) {
  change("PUT", "blue", 201, R"({"members": ["h00001"]})");
  EXPECT_EQ(partition("blue").as_object().if_contains("not_in_force"), nullptr) << "it is decided soon";
  auto& shown = *std::ranges::find_if(backend_.views, [](const auto& one) { return one->name == "p"; });
  auto view = *shown;
  auto snapshot = std::make_shared<sm::Snapshot>(*view.snapshot);
  snapshot->state = wire::SmState::standby;
  view.snapshot = std::move(snapshot);
  const auto show = [&](api::SubnetView now) {
    shown = std::make_shared<const api::SubnetView>(std::move(now));
    std::ostringstream text;
    cli::print_partitions(text, ask("GET", "/v1/subnets/p/partitions", "Partitions"), false);
    return text.str();
  };
  EXPECT_THAT(show(view), testing::AllOf(HasSubstr("; this SM is a standby without a copy"),
                                         testing::Not(HasSubstr("smd partitions wait"))));
  replica::ReplicaView replica;
  replica.role = replica::ReplicaView::Role::behind;
  replica.position.epoch = 1;
  view.replica = std::make_shared<const replica::ReplicaView>(std::move(replica));
  EXPECT_THAT(show(view), HasSubstr("smd partitions wait"));
}

/// As RFC 9110 has it: nothing is changed where there is one already, not even where it is the same.
TEST_F(ApiPartitions, AreMadeOnlyWhereThereIsNoneOfTheName) {
  const auto put = [&](const std::string& none_match, std::string body) {
    api::Request request{.method = "PUT", .target = "/v1/subnets/p/partitions/blue", .body = std::move(body)};
    request.peer = {.local = true, .address = {}, .user = {}};
    request.if_none_match = none_match;
    return api::answer(request, backend_).status;
  };
  EXPECT_EQ(put("*", R"({"members": ["h00001"]})"), 201U);
  EXPECT_EQ(put("*", R"({"members": ["h00001"]})"), 412U);
  EXPECT_EQ(put("*", R"({"members": ["h00002"]})"), 412U);
  EXPECT_EQ(put("\"1-2\"", "{}"), 400U);
  EXPECT_EQ(change("PUT", "blue", 200, R"({"members": ["h00001"]})").at("changed"), false) << "as it was";
}

TEST_F(ApiPartitions, AreRefusedWithStatusAndReason) {
  EXPECT_EQ(refused("POST", "filed/members", 409, R"(["h1"])"),
            "partition filed is defined in smd.toml:0: change it there");
  EXPECT_EQ(refused("PUT", "blue", 400, R"({"pkey": 0})").substr(0, 8), "pkey: fo");
  EXPECT_THAT(refused("PUT", "blue", 400, "{"), HasSubstr("not JSON"));
  EXPECT_EQ(refused("PUT", "blue", 400, R"({"pkey": 1, "pkey": 2})"), "pkey: twice in an object");
  EXPECT_EQ(refused("PUT", "blue?create=no", 400, "{}"), R"(create: found "no", allowed true)");
  EXPECT_THAT(refused("DELETE", "blue/members/0xzz", 400), HasSubstr("the member: allowed"));
  change("PUT", "blue", 201, "{}");
  EXPECT_EQ(refused("POST", "blue/members", 400, R"([{"a": 1, "a": 2}])"), "a: twice in an object");
  EXPECT_EQ(refused("PUT", "blue?create=true", 409, R"({"members": ["h1"]})"),
            "there is a partition blue, and it is another one");
  backend_.keeps = false;
  EXPECT_THAT(refused("DELETE", "blue", 503), HasSubstr("nothing was changed"));
  backend_.keeps = true;
  snapshot_->state = wire::SmState::standby;
  EXPECT_THAT(refused("DELETE", "blue", 409), HasSubstr("not master"));
  EXPECT_THAT(error("PUT", "/v1/subnets/up/partitions/blue", 503, "{}"), HasSubstr("store is not open"));
}

TEST_F(ApiPartitions, HaveTheStateOfTheirMembersWhereItIsAskedFor) {
  const std::string all = "/v1/subnets/p/partitions?match=filed&state=";
  const auto first = [&](const auto& said) { return said.at("partitions").at(0).at("members"); };
  EXPECT_TRUE(first(ask("GET", all + "false", "Partitions")).is_null());
  EXPECT_EQ(first(ask("GET", all + "true", "Partitions")).at(0).at("state"), "programmed");
  EXPECT_EQ(error("GET", all + "yes", 400), R"(state: found "yes", allowed true or false)");
}

TEST_F(ApiPartitions, Index0IsDecidedAnewOfThePortsThatAreNamed) {
  ask("POST", "/v1/subnets/p/partitions/reindex", "Reindexed", 202);
  EXPECT_EQ(backend_.reindexed.size(), snapshot_->subnet->nodes.size());
  ask("POST", "/v1/subnets/p/partitions/reindex", "Reindexed", 202, R"({"ports": "h0000[12]"})");
  EXPECT_EQ(backend_.reindexed.size(), 2U);
  EXPECT_THAT(refused("POST", "reindex", 404, R"({"ports": "h9"})"), HasSubstr("h9"));
  EXPECT_THAT(refused("POST", "reindex", 400, R"({"port": "h9"})"), HasSubstr("ports"));
}

TEST_F(Api, SweepsAreAskedForOfOneSubnet) {
  ask("POST", "/v1/subnets/up/resweep", "Asked", 202);
  ask("POST", "/v1/subnets/up/resweep", "Asked", 202, R"({"sweep": "heavy"})");
  ask("POST", "/v1/subnets/up/resweep", "Asked", 202, R"({"sweep": "converge"})");
  ask("POST", "/v1/subnets/up/resweep", "Asked", 202, R"({"sweep": "converge", "engine": true})");

  EXPECT_THAT(
      backend_.asked,
      ElementsAre(testing::Pair(0U, sm::Resweep::light), testing::Pair(0U, sm::Resweep::heavy),
                  testing::Pair(0U, sm::Resweep::converge), testing::Pair(0U, sm::Resweep::converge_engine)));
  EXPECT_EQ(error("POST", "/v1/subnets/up/resweep", 400, R"({"sweep": "full"})"),
            "sweep: found \"full\", allowed \"light\", \"heavy\" or \"converge\"");
  EXPECT_EQ(error("POST", "/v1/subnets/up/resweep", 400, R"({"sweep": "heavy", "engine": true})"),
            "sweep: found \"heavy\", allowed with engine only \"converge\"");
}

TEST_F(ApiPartitions, SweepsAreOffUntilTheTimeIsOver) {
  const std::string target = "/v1/subnets/p/sweeps";
  EXPECT_EQ(ask("GET", "/v1/subnets/p/status", "Subnet").at("sweeps_off_until"), nullptr);
  EXPECT_TRUE(ask("PUT", target, "Sweeps", 200, R"({"off_for": 3600})").at("sweeps_off_until").is_string());
  EXPECT_TRUE(ask("GET", "/v1/subnets/p/status", "Subnet").at("sweeps_off_until").is_string());
  EXPECT_EQ(ask("PUT", target, "Sweeps", 200, R"({"off_for": 0})").at("sweeps_off_until"), nullptr);
  EXPECT_EQ(ask("GET", "/v1/subnets/p/status", "Subnet").at("sweeps_off_until"), nullptr);
  for (const auto* bad : {"", "{}", "1", R"({"off_for": -1})", R"({"off_for": 604801})",
                          R"({"off_for": "1h"})", R"({"off_for": 1, "x": 1})"})
    error("PUT", target, 400, bad);
  EXPECT_EQ(error("PUT", target, 400, R"({"off_for": 604801})"),
            "off_for: found 604801, allowed whole seconds from 0 (on) to 604800");
  EXPECT_THAT(error("PUT", "/v1/subnets/ft2%3A8%2Fx/sweeps", 503, R"({"off_for": 1})"),
              HasSubstr("the fabric is not read yet"));
}

TEST_F(ApiPartitions, AResweepSaysThatSweepsAreOff) {
  const std::string target = "/v1/subnets/p/resweep";
  EXPECT_EQ(ask("POST", target, "Asked", 202).at("sweeps_off_until"), nullptr);
  ask("PUT", "/v1/subnets/p/sweeps", "Sweeps", 200, R"({"off_for": 3600})");
  for (const auto* body : {"", R"({"dry_run": true})"}) {
    const auto asked = ask("POST", target, "Asked", *body == '\0' ? 202 : 200, body);
    EXPECT_TRUE(asked.at("sweeps_off_until").is_string()) << body;
  }
}

TEST_F(ApiPartitions, ADryRunOfSweepsOffChangesNothing) {
  const auto off = ask("PUT", "/v1/subnets/p/sweeps", "Sweeps", 200, R"({"off_for": 3600, "dry_run": true})");

  EXPECT_TRUE(off.at("sweeps_off_until").is_string());
  EXPECT_EQ(ask("GET", "/v1/subnets/p/status", "Subnet").at("sweeps_off_until"), nullptr);
}

TEST_F(Api, ADryRunOfAResweepOrOfTheLogChangesNothing) {
  const auto sweep = ask("POST", "/v1/subnets/up/resweep", "Asked", 200, R"({"dry_run": true})");
  const auto levels = ask("PUT", "/v1/log", "Log", 200, R"({"level": "debug", "dry_run": true})");

  EXPECT_EQ(sweep.at("sweep"), "light");
  EXPECT_THAT(backend_.asked, testing::IsEmpty());
  EXPECT_EQ(levels.at("level"), "debug");
  EXPECT_EQ(backend_.filter, log::Filter{});
  EXPECT_EQ(error("POST", "/v1/subnets/up/resweep", 400, R"({"dry_run": 1})"),
            "dry_run: must be true or false");
}

TEST_F(Api, LevelsOfTheLogAreSetAndTakenBack) {
  backend_.configured.modules = {{"sweep", log::Level::debug}};
  ask("PUT", "/v1/log", "Log", 200, R"({"level": "warn"})");
  ask("PUT", "/v1/log", "Log", 200, R"({"level": "debug", "guid": "0x5"})");
  ask("PUT", "/v1/log", "Log", 200, R"({"level": "error", "module": "sm"})");
  EXPECT_EQ(backend_.filter.level, log::Level::warn);
  EXPECT_EQ(backend_.filter.guids.at(Guid{5}), log::Level::debug);
  EXPECT_EQ(backend_.filter.modules.at("sm"), log::Level::error);

  ask("PUT", "/v1/log", "Log", 200, R"({"level": "default"})");
  EXPECT_EQ(backend_.filter, backend_.configured);
  ask("GET", "/v1/log", "Log");
}

TEST_F(Api, WrongBodiesAreRefusedWithTheirReason) {
  EXPECT_THAT(error("PUT", "/v1/log", 400, "{"), HasSubstr("not JSON"));
  EXPECT_EQ(error("PUT", "/v1/log", 400, "[]"), "the body must be an object");
  EXPECT_EQ(error("PUT", "/v1/log", 400), "level: missing");
  for (const auto* path : {"/v1/log", "/v1/log?dry_run=true"})
    EXPECT_EQ(error("PUT", path, 400, R"({"level": "", "l\u0065vel": ""})"), "level: twice in an object");
  EXPECT_EQ(error("PUT", "/v1/log", 400, R"({"level": 3})"), "level: must be a string");
  EXPECT_EQ(error("PUT", "/v1/log", 400, R"({"lvl": "info"})"),
            "lvl: not known; there are level, module, guid, dry_run");
  EXPECT_THAT(error("PUT", "/v1/log", 400, R"({"level": "info", "guid": "x"})"), HasSubstr("allowed a GUID"));
  EXPECT_THAT(error("PUT", "/v1/log", 400, R"({"level": "info", "module": "x"})"),
              HasSubstr("allowed api, "));
}

TEST_F(Api, WhatDoesNotExistIsSaid) {
  EXPECT_THAT(error("GET", "/", 404), HasSubstr("docs/openapi.json"));
  EXPECT_THAT(error("GET", "/v1/subnets//ports", 404), HasSubstr("no /v1/subnets//ports"));
  EXPECT_EQ(error("DELETE", "/v1/log", 405), "/v1/log takes GET, PUT");
  EXPECT_THAT(error("GET", "/v1/subnets/up/ports?a=%zz", 400), HasSubstr("'%'"));
}

TEST_F(Api, ADumpIsTheFilesOfOneSweep) {
  const auto answer = api::answer(
      {.method = "GET", .target = "/v1/subnets/up/dump?files=guid2lid,topology.net", .body = {}}, backend_);
  ASSERT_TRUE(answer.bundle);
  ASSERT_EQ(answer.bundle->files().size(), 2U);
  EXPECT_EQ(answer.bundle->files()[0].name, "guid2lid");
  EXPECT_GT(answer.bundle->files()[0].size, 0U);
  EXPECT_THAT(error("GET", "/v1/subnets/up/dump?files=x", 400), HasSubstr("x"));
  const std::scoped_lock another(backend_.dumping);
  EXPECT_THAT(error("GET", "/v1/subnets/up/dump", 503), HasSubstr("another dump"));
  EXPECT_THAT(error("GET", "/v1/subnets/ft2%3A8%2Fx/dump", 503), HasSubstr("not read yet"));
}

/// An empty list, or "ask the master", would be a false word of a fabric that was not read.
TEST_F(Api, ASubnetThatWaitsForItsPortSaysThatToEachCall) {
  backend_.add({.name = "w",
                .port = "mlx5_9",
                .waiting = api::Waiting{.what = "port", .reason = "no port mlx5_9", .since = {}}});
  const auto told = [&](const std::string& method, const std::string& what, const std::string& body = {}) {
    const auto answer =
        api::answer({.method = method, .target = "/v1/subnets/w/" + what, .body = body}, backend_);
    EXPECT_EQ(answer.status, 503U) << method << ' ' << what << ": " << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("w waits: no port mlx5_9")) << what;
    EXPECT_THAT(answer.body, HasSubstr("\"code\":\"waiting\"")) << what;
    EXPECT_THAT(answer.headers, testing::Contains(testing::Pair("Retry-After", testing::_))) << what;
  };
  for (const auto* what : {"ports", "ports?lost=true", "ports/1_1", "nodes", "nodes/x", "links", "switches",
                           "groups", "services", "qos", "partitions", "partitions/blue", "routing", "balance",
                           "path?src=1&dst=2", "dump", "why?node=x", "tokens"})
    told("GET", what);
  told("POST", "resweep");
  told("POST", "accept", R"({"lost": true})");
  told("PUT", "sweeps", R"({"off_for": 1})");
  told("PUT", "priority", R"({"priority": 1})");
  told("POST", "handover");
  told("PUT", "partitions/blue", "{}");
  told("POST", "ports/x/1/disable");
  told("PUT", "tokens/mon", R"({"role": "viewer"})");
}

TEST_F(Api, AnSmThatDoesNotRunYetHandsNothingOver) {
  EXPECT_THAT(error("POST", "/v1/subnets/ft2%3A8%2Fx/handover", 503), HasSubstr("waits"));
  EXPECT_EQ(ask("GET", "/v1/subnets/ft2%3A8%2Fx/sms", "Sms").at("sms").as_array().size(), 0U);
}

}  // namespace
}  // namespace smd
