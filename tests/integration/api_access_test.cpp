// SPDX-License-Identifier: Apache-2.0
// Who may call what: each route and each role.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "smd/base/unix_time.h"
#include "tests/support/api_backend.h"
#include "tests/support/json_schema.h"
#include "tests/support/managed_world.h"
#include "tests/support/partition_config.h"

namespace smd {
namespace {

namespace json = boost::json;
using access::Role;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The least role of each call; a call that is not here fails the test below.
const std::map<std::string, std::string>& least_roles() {
  static const std::map<std::string, std::string> kLeast{
      {"GET /healthz", "anonymous"},
      {"GET /readyz", "anonymous"},
      {"GET /healthcheck", "anonymous"},
      {"POST /dologin", "anonymous"},
      {"GET /ufmRest/app/sharp/resources", "viewer"},
      {"POST /ufmRest/app/sharp/resources", "operator"},
      {"GET /ufmRest/app/sharp/resources/{resource}", "viewer"},
      {"DELETE /ufmRest/app/sharp/resources/{resource}", "operator"},
      {"GET /ufmRest/app/ufm_version", "viewer"},
      {"GET /ufmRest/app/smconf", "admin"},
      {"GET /ufmRest/resources/pkeys", "tenant"},
      {"POST /ufmRest/resources/pkeys", "operator"},
      {"PUT /ufmRest/resources/pkeys", "operator"},
      {"POST /ufmRest/resources/pkeys/add", "operator"},
      {"PUT /ufmRest/resources/pkeys/qos_conf", "operator"},
      {"POST /ufmRest/resources/pkeys/qos_conf", "operator"},
      {"POST /ufmRest/resources/pkeys/hosts", "operator"},
      {"DELETE /ufmRest/resources/pkeys/hosts", "operator"},
      {"GET /ufmRest/resources/pkeys/{pkey}", "tenant"},
      {"DELETE /ufmRest/resources/pkeys/{pkey}", "operator"},
      {"DELETE /ufmRest/resources/pkeys/{pkey}/guids/{guids}", "operator"},
      {"DELETE /ufmRest/resources/pkeys/{pkey}/hosts/{hosts}", "operator"},
      {"POST /ufmRest/actions/remove_guids_from_pkey", "operator"},
      {"GET /ufmRest/resources/ports", "viewer"},
      {"GET /ufmRest/resources/ports/{port}", "viewer"},
      {"GET /ufmRest/resources/systems", "viewer"},
      {"GET /ufmRest/resources/systems/{system}", "viewer"},
      {"GET /ufmRest/resources/links", "viewer"},
      {"GET /metrics", "viewer"},
      {"GET /metrics/guilbaults", "viewer"},
      {"GET /v1/status", "viewer"},
      {"GET /v1/log", "viewer"},
      {"PUT /v1/log", "admin"},
      {"GET /v1/subnets", "tenant"},
      {"GET /v1/subnets/{subnet}/status", "viewer"},
      {"GET /v1/subnets/{subnet}/ports", "tenant"},
      {"GET /v1/subnets/{subnet}/sms", "viewer"},
      {"GET /v1/subnets/{subnet}/nodes", "viewer"},
      {"GET /v1/subnets/{subnet}/nodes/{node}", "tenant"},
      {"GET /v1/subnets/{subnet}/links", "viewer"},
      {"GET /v1/subnets/{subnet}/path", "tenant"},
      {"GET /v1/subnets/{subnet}/groups", "viewer"},
      {"GET /v1/subnets/{subnet}/services", "tenant"},
      {"GET /v1/subnets/{subnet}/switches", "viewer"},
      {"GET /v1/subnets/{subnet}/routing", "viewer"},
      {"GET /v1/subnets/{subnet}/why", "tenant"},
      {"GET /v1/subnets/{subnet}/ports/{port}", "tenant"},
      {"GET /v1/subnets/{subnet}/changes", "tenant"},
      {"GET /v1/subnets/{subnet}/qos", "viewer"},
      {"GET /v1/subnets/{subnet}/events", "tenant"},
      {"GET /v1/events", "tenant"},
      {"GET /v1/subnets/{subnet}/dump", "viewer"},
      {"GET /v1/subnets/{subnet}/partitions", "tenant"},
      {"GET /v1/subnets/{subnet}/partitions/{partition}", "tenant"},
      {"PUT /v1/subnets/{subnet}/partitions/{partition}", "operator"},
      {"DELETE /v1/subnets/{subnet}/partitions/{partition}", "operator"},
      {"POST /v1/subnets/{subnet}/partitions/{partition}/members", "operator"},
      {"DELETE /v1/subnets/{subnet}/partitions/{partition}/members", "operator"},
      {"DELETE /v1/subnets/{subnet}/partitions/{partition}/members/{member}", "operator"},
      {"POST /v1/subnets/{subnet}/partitions/reindex", "operator"},
      {"POST /v1/subnets/{subnet}/ports/{guid}/{number}/disable", "operator"},
      {"POST /v1/subnets/{subnet}/ports/{guid}/{number}/enable", "operator"},
      {"POST /v1/subnets/{subnet}/ports/{guid}/{number}/reset", "operator"},
      {"POST /v1/subnets/{subnet}/resweep", "operator"},
      {"POST /v1/reload", "admin"},
      {"POST /v1/subnets/{subnet}/accept", "operator"},
      {"PUT /v1/subnets/{subnet}/sweeps", "operator"},
      {"GET /v1/subnets/{subnet}/balance", "viewer"},
      {"POST /v1/subnets/{subnet}/handover", "operator"},
      {"PUT /v1/subnets/{subnet}/priority", "operator"},
      {"GET /v1/subnets/{subnet}/tokens", "local"},
      {"PUT /v1/subnets/{subnet}/tokens/{token}", "local"},
      {"DELETE /v1/subnets/{subnet}/tokens/{token}", "local"},
      {"POST /v1/subnets/{subnet}/tokens/{token}/rotate", "local"},
  };
  return kLeast;
}

/// Two subnets, of which "up" has partitions and a token of each role, and "other" none.
class ApiAccess : public testing::Test {
 protected:
  ApiAccess() {
    policy_state_->config = std::make_shared<const config::SubnetConfig>(test::with_partitions(
        {test::partition("blue", 0x12, {"h00001"}, {}), test::partition("red", 0x13, {"h00002"}, {})}));
    auto policies = std::make_shared<policy::Policies>();
    for (const auto role : {Role::tenant, Role::viewer, Role::operator_, Role::admin}) {
      auto& token = policies->tokens[std::string(to_string(role))];
      token.role = role;
      token.hash = access::hash_of(secret(to_string(role)));
      if (role == Role::tenant) token.partitions = {"blue"};
    }
    policy_state_->policies = policies;
    policy_state_->merged = policy::merged_policy(*policy_state_->config, *policies);
    sim::World world(test::spec("ft2:4"));
    test::Managed manager(world, *policy_state_->config, test::once());
    world.run(manager->run());
    auto snapshot = std::make_shared<sm::Snapshot>(manager.last());
    snapshot->state = wire::SmState::master;
    backend_.add({.name = "up", .port = "mlx5_0:1", .snapshot = snapshot, .policy_state = policy_state_});
    backend_.add({.name = "other", .port = "mlx5_1:1", .kept = std::make_shared<const policy::Policies>()});
    document_ = test::api_document();
  }
  static std::string secret(std::string_view role) { return "smd_" + std::string(role); }
  /// As a caller with that role, "anonymous" or "local".
  api::Answer call(const std::string& role, std::string_view method, std::string target,
                   std::string body = {}) {
    api::Request request{.method = std::string(method), .target = std::move(target), .body = std::move(body)};
    request.peer = {.local = role == "local", .address = "10.0.0.1", .user = {}};
    if (role != "anonymous" && role != "local") request.authorization = "Bearer " + secret(role);
    request.time = 1000;
    return api::answer(request, backend_);
  }
  json::value local(std::string_view method, std::string_view path, std::string_view schema, unsigned status,
                    std::string body = {}) {
    const auto answer = call("local", method, "/v1/subnets/up/tokens" + std::string(path), std::move(body));
    EXPECT_EQ(answer.status, status) << answer.body;
    auto value = api::parse_json(answer.body).value_or(json::value());
    const test::Schema schemas(document_);
    EXPECT_THAT(schemas.wrong(value, schemas.named(schema)), IsEmpty()) << answer.body;
    return value;
  }

  std::shared_ptr<api::PolicyState> policy_state_ = std::make_shared<api::PolicyState>();
  test::FakeBackend backend_;
  json::value document_;
};

std::string filled(std::string path) {
  for (const auto& [what, with] : std::map<std::string, std::string>{{"{subnet}", "up"},
                                                                     {"{partition}", "blue"},
                                                                     {"{member}", "0x10"},
                                                                     {"{node}", "h00001"},
                                                                     {"{pkey}", "0x12"},
                                                                     {"{guids}", "10"},
                                                                     {"{guid}", "h00001"},
                                                                     {"{number}", "1"},
                                                                     {"{hosts}", "h1"},
                                                                     {"{port}", "x"},
                                                                     {"{resource}", "1"},
                                                                     {"{token}", "none"}}) {
    if (const auto at = path.find(what); at != std::string::npos) path.replace(at, what.size(), with);
  }
  return path;
}

TEST_F(ApiAccess, EachRoleMayWhatItsRowSays) {
  backend_.views.pop_back();  // an admin of all subnets
  constexpr std::array kRoles{"anonymous", "tenant", "viewer", "operator", "admin", "local"};
  for (const auto& route : api::routes()) {
    const auto name = std::string(route.method) + " " + std::string(route.path);
    const auto row = least_roles().find(name);
    ASSERT_NE(row, least_roles().end()) << name << ": say in least_roles() who may call it";
    const auto least = std::ranges::find(kRoles, row->second) - kRoles.begin();
    for (std::size_t i = 0; i < kRoles.size(); ++i) {
      const auto status = call(kRoles[i], route.method, filled(std::string(route.path))).status;
      const bool refused = status == 401 || status == 403;
      EXPECT_EQ(refused, static_cast<std::ptrdiff_t>(i) < least)
          << name << " as " << kRoles[i] << ": " << status;
      if (i == 0 && least > 0) EXPECT_EQ(status, 401U) << name;
    }
  }
  EXPECT_EQ(least_roles().size(), api::routes().size());
}

TEST_F(ApiAccess, ASubnetWithoutTheTokenDoesNotExist) {
  for (const auto* role : {"tenant", "viewer", "operator", "admin"}) {
    const auto answer = call(role, "GET", "/v1/subnets/other/ports");
    EXPECT_EQ(answer.status, 404U) << role;
    EXPECT_EQ(answer.body.find("other,"), std::string::npos) << answer.body;
  }
  const auto status = api::parse_json(call("viewer", "GET", "/v1/status").body);
  EXPECT_EQ(status->at("subnets").as_array().size(), 1U);
  const auto log = call("admin", "PUT", "/v1/log", R"({"level": "warn"})");
  EXPECT_EQ(log.status, 403U) << "the log is that of both subnets";
  EXPECT_THAT(log.body, testing::HasSubstr("token admin has role admin in up, none in 1 other subnet; this "
                                           "needs admin in each subnet"));
}

/// A start without the port: each client would be kept out for a minute, and the log would name a reason that
/// is wrong.
TEST_F(ApiAccess, ATokenOfAStoreThatIsNotOpenIsNotAWrongOne) {
  auto view = *backend_.views[0];
  view.policy_state.reset();
  backend_.views[0] = std::make_shared<api::SubnetView>(view);
  for (int i = 0; i < 20; ++i) {
    const auto early = call("viewer", "GET", "/v1/status");
    EXPECT_EQ(early.status, 503U) << early.body;
    EXPECT_THAT(early.body, HasSubstr("\"waiting\""));
    EXPECT_THAT(early.headers, testing::Contains(testing::Pair("Retry-After", testing::_)));
  }
  EXPECT_EQ(backend_.wrong_tokens, 0U);
  EXPECT_EQ(call("anonymous", "GET", "/v1/status").status, 401U);
  EXPECT_EQ(local("GET", "", "Error", 503).at("error").at("code"), "waiting");

  view.kept = policy_state_->policies;
  backend_.views[0] = std::make_shared<api::SubnetView>(view);
  EXPECT_EQ(call("viewer", "GET", "/v1/status").status, 200U) << "without its port";
  EXPECT_EQ(call("unknown", "GET", "/v1/status").status, 401U);
  EXPECT_EQ(local("GET", "", "Tokens", 200).at("tokens").as_array().size(), 4U);
}

TEST_F(ApiAccess, WhatATokenMayDoWhereAStoreIsNotOpenIsNotKnown) {
  auto other = *backend_.views[1];
  other.kept.reset();
  backend_.views[1] = std::make_shared<api::SubnetView>(other);
  EXPECT_EQ(call("admin", "PUT", "/v1/log", R"({"level": "warn"})").status, 503U);
  EXPECT_EQ(call("viewer", "PUT", "/v1/log", R"({"level": "warn"})").status, 403U) << "too little here";
  EXPECT_EQ(call("admin", "GET", "/v1/subnets/other/ports").status, 503U);
  EXPECT_EQ(call("admin", "GET", "/v1/subnets/none/ports").status, 503U) << "which there are is not told";
  EXPECT_EQ(call("local", "GET", "/v1/subnets/none/ports").status, 404U);
  EXPECT_EQ(call("admin", "GET", "/v1/subnets/up/ports").status, 200U);
  EXPECT_EQ(backend_.wrong_tokens, 0U);
  other.waiting = api::Waiting{.what = "state", .reason = "another process has it", .since = {}};
  backend_.views[1] = std::make_shared<api::SubnetView>(other);
  EXPECT_EQ(call("unknown", "GET", "/v1/status").status, 401U)
      << "a store that was refused is not waited for";
  EXPECT_EQ(backend_.wrong_tokens, 1U);
  EXPECT_EQ(call("admin", "GET", "/v1/subnets/none/ports").status, 404U);
  EXPECT_EQ(call("admin", "PUT", "/v1/log", R"({"level": "warn"})").status, 403U);
}

TEST_F(ApiAccess, ATenantSeesItsPartitionAndThePortsOfItsMembers) {
  const auto partitions = *api::parse_json(call("tenant", "GET", "/v1/subnets/up/partitions").body);
  ASSERT_EQ(partitions.at("partitions").as_array().size(), 1U);
  EXPECT_EQ(partitions.at("partitions").at(0).at("name"), "blue");
  EXPECT_EQ(call("tenant", "GET", "/v1/subnets/up/partitions/blue").status, 200U);
  for (const auto* hidden : {"red", "0x8013", "0x7fff", "none"})
    EXPECT_EQ(call("tenant", "GET", "/v1/subnets/up/partitions/" + std::string(hidden)).status, 404U)
        << hidden;
  EXPECT_EQ(call("tenant", "GET", "/v1/subnets/up/partitions?name=red").status, 404U);
  const auto none = *api::parse_json(call("tenant", "GET", "/v1/subnets/up/partitions?match=x*").body);
  EXPECT_TRUE(none.at("partitions").as_array().empty());
  EXPECT_EQ(none.at("managed"), partitions.at("managed")) << "whatever is asked for";

  const auto answer = call("tenant", "GET", "/v1/subnets/up/ports?all=true&lost=true");
  const auto ports = *api::parse_json(call("tenant", "GET", "/v1/subnets/up/ports?all=true").body);
  ASSERT_EQ(ports.at("ports").as_array().size(), 1U) << ports;
  EXPECT_EQ(ports.at("ports").at(0).at("name"), "h00001");
  EXPECT_EQ(ports.at("ports").at(0).at("peer"), nullptr) << "the switch is not its own";
  EXPECT_EQ(answer.body.find("lost_nodes"), std::string::npos);
}

TEST_F(ApiAccess, ACallerLearnsWhichSubnetsThereAreForIt) {
  EXPECT_EQ(call("tenant", "GET", "/v1/subnets").body,
            R"({"subnets":[{"subnet":"up","role":"tenant","partitions":["blue"]}]})"
            "\n");
  const auto subnets = *api::parse_json(call("local", "GET", "/v1/subnets").body);
  EXPECT_EQ(subnets.at("subnets").as_array().size(), 2U);
  EXPECT_EQ(subnets.at("subnets").at(1).at("role"), "admin");
}

TEST_F(ApiAccess, ChangesAndTriesAreWrittenDownWithTheirCaller) {
  call("viewer", "POST", "/v1/subnets/up/resweep");
  call("operator", "POST", "/v1/subnets/up/resweep");
  call("anonymous", "POST", "/v1/subnets/up/resweep");
  call("viewer", "GET", "/v1/status");
  ASSERT_EQ(backend_.calls.size(), 2U);
  EXPECT_EQ(backend_.calls[0].by, "viewer");
  EXPECT_EQ(backend_.calls[0].status, 403U);
  EXPECT_EQ(backend_.calls[1].status, 202U);
  EXPECT_EQ(backend_.calls[1].address, "10.0.0.1");
}

TEST_F(ApiAccess, ADryRunIsWrittenDownAsOne) {
  call("operator", "POST", "/v1/subnets/up/resweep?dry_run=true");
  call("admin", "POST", "/v1/reload", R"({"dry_run": true})");
  call("operator", "POST", "/v1/subnets/up/resweep?dry_run=false");
  call("operator", "POST", "/ufmRest/resources/pkeys/add", R"({"pkey": "0x66", "dry_run": true})");
  ASSERT_EQ(backend_.calls.size(), 4U);
  EXPECT_TRUE(backend_.calls[0].dry_run);
  EXPECT_TRUE(backend_.calls[1].dry_run);
  EXPECT_FALSE(backend_.calls[2].dry_run);
  EXPECT_FALSE(backend_.calls[3].dry_run) << "UFM has no dry run: it is done";
}

TEST_F(ApiAccess, ErrorsAreProblemsAndThoseOfUfmWhatTheyWere) {
  for (const auto& [role, target, status] :
       {std::tuple{"anonymous", "/v1/status", 401U}, std::tuple{"tenant", "/v1/status", 403U},
        std::tuple{"viewer", "/v1/none", 404U}}) {
    const auto answer = call(role, "GET", target);
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.type, "application/problem+json");
    const auto body = *api::parse_json(answer.body);
    EXPECT_EQ(body.at("status"), status) << body;
    EXPECT_EQ(body.at("detail"), body.at("error").at("message"));
    EXPECT_EQ(body.at("code"), body.at("error").at("code"));
    EXPECT_FALSE(body.at("title").as_string().empty());
  }
  for (const auto& [role, target] :
       {std::pair{"anonymous", "/ufmRest/resources/pkeys"}, std::pair{"viewer", "/ufmRestV3/none"}}) {
    const auto answer = call(role, "GET", target);
    EXPECT_THAT(answer.type, IsEmpty());
    EXPECT_EQ(api::parse_json(answer.body)->as_object().size(), 1U) << answer.body;
  }
}

TEST_F(ApiAccess, TokensAreMadeRotatedAndRevoked) {
  const auto made = local("PUT", "/new", "TokenChange", 201, R"({"role": "viewer", "expires_in": 60})");
  const std::string first(made.at("secret").as_string());
  EXPECT_EQ(first.substr(0, 4), "smd_");
  EXPECT_EQ(local("PUT", "/new", "Error", 409, R"({"role": "viewer"})").at("error").at("code"), "exists");
  const auto may = [&](const std::string& secret) {
    api::Request request{
        .method = "GET", .target = "/v1/status", .body = {}, .authorization = "Bearer " + secret};
    request.peer = {.local = false, .address = "10.0.0.2", .user = {}};
    request.time = sm::unix_now();
    return api::answer(request, backend_).status == 200;
  };
  EXPECT_TRUE(may(first));
  const auto list = local("GET", "", "Tokens", 200).at("tokens");
  EXPECT_EQ(list.as_array().size(), 5U);
  EXPECT_EQ(json::serialize(list).find(access::hash_of(first)), std::string::npos) << "nor its hash";

  const std::string second(local("POST", "/new/rotate", "TokenChange", 200).at("secret").as_string());
  EXPECT_FALSE(may(first));
  EXPECT_TRUE(may(second));
  local("DELETE", "/new", "TokenChange", 200);
  EXPECT_FALSE(may(second)) << "at once";
  local("DELETE", "/new", "Error", 404);
  local("POST", "/new/rotate", "Error", 404);
}

TEST_F(ApiAccess, WrongTokensAreNotMade) {
  for (const auto* body : {"", "[]", R"({})", R"({"role": "king"})", R"({"role": "tenant"})",
                           R"({"role": "viewer", "partitions": ["a"]})",
                           R"({"role": "viewer", "sha256": "x"})", R"({"role": "viewer", "expires_in": 0})",
                           R"({"role": "tenant", "partitions": [1]})", R"({"role": "viewer", "more": 1})"})
    local("PUT", "/new", "Error", 400, body);
  local("PUT", "/a%20b", "Error", 400, R"({"role": "viewer"})");
  local("PUT", "/.hidden", "Error", 400, R"({"role": "viewer"})");
  backend_.keeps = false;
  local("PUT", "/new", "Error", 503, R"({"role": "viewer"})");
}

TEST_F(ApiAccess, ATokenForAPartitionThatIsNotThereIsMadeWithAWarning) {
  const auto made = local("PUT", "/new", "TokenChange", 201,
                          R"({"role": "tenant", "partitions": ["blue", "nope", "later"]})");
  EXPECT_EQ(made.at("warning"),
            "no partition has the name nope, later at present: the tenant sees it when there is one");
  const auto known =
      local("PUT", "/other", "TokenChange", 201, R"({"role": "tenant", "partitions": ["blue"]})");
  EXPECT_FALSE(known.as_object().contains("warning"));
}

TEST_F(ApiAccess, AStandbyTakesItsTokensFromTheMaster) {
  auto view = *backend_.views[0];
  auto replica = std::make_shared<replica::ReplicaView>();
  replica->role = replica::ReplicaView::Role::current;
  view.replica = replica;
  auto snapshot = std::make_shared<sm::Snapshot>(*view.snapshot);
  snapshot->state = wire::SmState::standby;
  view.snapshot = snapshot;
  backend_.views[0] = std::make_shared<api::SubnetView>(view);
  EXPECT_EQ(local("PUT", "/new", "Error", 409, R"({"role": "viewer"})").at("error").at("code"), "not_master");
  EXPECT_EQ(call("viewer", "GET", "/v1/subnets/up/status").status, 200U) << "and reads go on";
}

/// They are good at its own address; the master knows nothing of them.
TEST_F(ApiAccess, TokensOfAStandbyThatCopiesNothingAreItsOwn) {
  EXPECT_FALSE(
      local("PUT", "/mine", "TokenChange", 201, R"({"role": "viewer"})").as_object().contains("warning"));
  auto view = *backend_.views[0];
  auto snapshot = std::make_shared<sm::Snapshot>(*view.snapshot);
  snapshot->state = wire::SmState::standby;
  view.snapshot = snapshot;
  sm::SmView sms;
  sm::OtherSm master;
  master.node_description = "sm2";
  master.lid = Lid{7};
  master.info.guid = Guid{0x77};
  master.info.state = wire::SmState::master;
  sms.others.push_back({.sm = std::move(master)});
  view.sms = std::make_shared<sm::SmView>(sms);
  backend_.views[0] = std::make_shared<api::SubnetView>(view);

  constexpr auto kWarning =
      "this SM is a standby that copies no state: the change is of its own tokens, the master, sm2 (port "
      "GUID "
      "0x0000000000000077, LID 7) has others";
  EXPECT_EQ(local("PUT", "/here", "TokenChange", 201, R"({"role": "viewer"})").at("warning"), kWarning);
  EXPECT_EQ(local("POST", "/mine/rotate", "TokenChange", 200, "{}").at("warning"), kWarning);
  EXPECT_EQ(local("DELETE", "/mine", "TokenChange", 200).at("warning"), kWarning);
}

TEST_F(ApiAccess, ReadinessIsThatOfTheMaster) {
  EXPECT_EQ(call("anonymous", "GET", "/readyz?subnet=up").status, 200U);
  const auto both = call("anonymous", "GET", "/readyz");
  EXPECT_EQ(both.status, 503U) << "the other subnet has no master";
  EXPECT_THAT(both.headers, testing::Contains(testing::Pair("Retry-After", "1")));
  EXPECT_EQ(call("anonymous", "GET", "/readyz?subnet=up&role=standby").status, 503U);
  EXPECT_EQ(call("anonymous", "GET", "/readyz?subnet=none").status, 503U);
  for (const std::string role : {"", "&role=standby"}) {
    const auto there = call("anonymous", "GET", "/readyz?subnet=other" + role);
    const auto nowhere = call("anonymous", "GET", "/readyz?subnet=none" + role);
    EXPECT_EQ(there.status, 503U);
    EXPECT_EQ(nowhere.status, 503U);
    EXPECT_EQ(there.body, nowhere.body) << "without a token names of subnets are not told";
    EXPECT_EQ(there.headers, nowhere.headers);
  }
  EXPECT_EQ(call("anonymous", "GET", "/readyz?role=king").status, 400U);
  auto view = *backend_.views[0];
  auto snapshot = std::make_shared<sm::Snapshot>(*view.snapshot);
  snapshot->state = wire::SmState::standby;
  auto replica = std::make_shared<replica::ReplicaView>();
  replica->role = replica::ReplicaView::Role::current;
  view.snapshot = snapshot, view.replica = replica;
  backend_.views[0] = std::make_shared<api::SubnetView>(view);
  EXPECT_EQ(call("anonymous", "GET", "/readyz?subnet=up&role=standby").status, 200U);
  EXPECT_EQ(call("anonymous", "GET", "/readyz?subnet=up").status, 503U);
}

/// No header tells what the token is not good in. What has not changed has the role too.
TEST_F(ApiAccess, TheRoleIsOfSubnetsThatTheCallerSees) {
  using Header = std::pair<std::string, std::string>;
  const auto has_role = [](const api::Answer& answer) {
    return std::ranges::any_of(answer.headers, [](const auto& one) { return one.first == "X-SMD-Role"; });
  };
  auto other = *backend_.views[1];
  sm::SmView standby;
  standby.state.sm = wire::SmState::standby;
  other.sms = std::make_shared<sm::SmView>(standby);
  backend_.views[1] = std::make_shared<api::SubnetView>(other);
  for (const auto* path : {"/v1/subnets/other/ports", "/v1/subnets/nosuch/ports",
                           "/ufmRest/resources/pkeys?fabric=other", "/ufmRest/resources/pkeys?fabric=nosuch"})
    EXPECT_FALSE(has_role(call("tenant", "GET", path))) << path;
  EXPECT_TRUE(has_role(call("local", "GET", "/v1/subnets/other/ports")));
  EXPECT_THAT(call("viewer", "GET", "/v1/status").headers, testing::Contains(Header("X-SMD-Role", "master")));
  EXPECT_FALSE(has_role(call("local", "GET", "/v1/status"))) << "one is master, one is not";

  api::Request request{.method = "GET", .target = "/v1/subnets/up/nodes", .body = {}};
  for (const auto& [name, value] : api::answer(request, backend_).headers) {
    if (name == "ETag") request.if_none_match = value;
  }
  const auto same = api::answer(request, backend_);
  EXPECT_EQ(same.status, 304U);
  EXPECT_EQ(same.body, "");
  EXPECT_THAT(same.headers, testing::Contains(Header("X-SMD-Role", "master")));
  EXPECT_THAT(same.headers, testing::Contains(Header("ETag", request.if_none_match)));
  request = {.method = "POST", .target = "/v1/subnets/up/resweep", .body = {}};
  request.if_match = "\"1-0\"";
  const auto changed = api::answer(request, backend_);
  EXPECT_EQ(changed.status, 412U);
  EXPECT_THAT(changed.headers, testing::Contains(Header("X-SMD-Role", "master")));
}

/// Other keys of a query are refused.
TEST_F(ApiAccess, QueriesHaveTheKeysOfTheDocument) {
  for (const auto& route : api::routes()) {
    if (route.path.starts_with("/ufmRest")) continue;
    std::string method(route.method);
    std::ranges::transform(method, method.begin(), [](char c) { return static_cast<char>(c - 'A' + 'a'); });
    const auto& path = document_.at("paths").at(route.path).as_object();
    std::set<std::string> said, taken;
    for (const auto* at : {&path, &path.at(method).as_object()}) {
      const auto* parameters = at->if_contains("parameters");
      if (parameters == nullptr) continue;
      for (const auto& one : parameters->as_array()) {
        if (one.at("in") == "query") said.emplace(one.at("name").as_string());
      }
    }
    std::istringstream words{std::string(route.query)};
    for (std::string word; words >> word;) taken.insert(word);
    EXPECT_EQ(said, taken) << route.method << ' ' << route.path;
  }
}

}  // namespace
}  // namespace smd
