// SPDX-License-Identifier: Apache-2.0
// Calls of UFM's clients beside those on partitions: sessions, several fabrics, what smd does not have, and
// what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/api/json_in.h"
#include "smd/api/ufm_session.h"
#include "tests/support/ufm_fixture.h"

namespace smd {
namespace {

using test::kUfmSecret;
using testing::HasSubstr;

class ApiUfmSession : public test::UfmFixture {};

/// UFM's plugin for Slurm asks for them: interfaces that have none answer so.
TEST_F(ApiUfmSession, ThereAreNoReservationsOfSharp) {
  EXPECT_TRUE(good("GET", "/ufmRest/app/sharp/resources").as_array().empty());
  EXPECT_EQ(refused(404, "GET", "/ufmRest/app/sharp/resources/17"), "no_sharp");
  EXPECT_EQ(refused(404, "DELETE", "/ufmRest/app/sharp/resources/17"), "no_sharp");
  EXPECT_EQ(refused(404, "POST", "/ufmRest/app/sharp/resources", R"({"app_id":17})"), "no_sharp");
  EXPECT_THAT(backend_.unknown, testing::IsEmpty()) << "these paths are known";
}

/// A client that is set to another way to authenticate is found by the log.
TEST_F(ApiUfmSession, APrefixThatSmdDoesNotHaveIsNamed) {
  EXPECT_EQ(call("GET", "/ufmRestKrb/resources/pkeys").status, 404U);
  EXPECT_EQ(backend_.unknown, std::vector<std::string>{"GET /ufmRestKrb/resources/pkeys"});
}

TEST_F(ApiUfmSession, ACallThatSmdDoesNotHaveIsNamedAsItCame) {
  const auto answer = call("GET", "/ufmRestV3/jobs/7?a=b");
  EXPECT_EQ(answer.status, 404U);
  EXPECT_THAT(answer.body, HasSubstr("no /ufmRestV3/jobs/7; "));
  EXPECT_EQ(backend_.unknown, std::vector<std::string>{"GET /ufmRestV3/jobs/7"});
}

TEST_F(ApiUfmSession, AClientThatLooksForLifeNeedsNoToken) {
  const auto answer = call("GET", "/healthcheck", {}, "");
  EXPECT_EQ(answer.status, 200U);
  EXPECT_TRUE(api::parse_json(answer.body)->is_object());
}

/// The header of this name; empty: there is none.
std::string ufm_header(const api::Answer& answer, std::string_view name) {
  const auto at = std::ranges::find(answer.headers, name, &std::pair<std::string, std::string>::first);
  return at != answer.headers.end() ? at->second : std::string();
}

TEST_F(ApiUfmSession, ASessionIsGoodAsLongAsItsToken) {
  const auto form = "httpd_username=admin&httpd_password=" + std::string(kUfmSecret);
  const auto opened = call("POST", "/dologin", form, "");
  ASSERT_EQ(opened.status, 200U) << opened.body;
  const auto cookie = ufm_header(opened, "Set-Cookie");
  for (const auto* word : {"; HttpOnly", "; Secure", "; SameSite=Strict", "; Path=/ufmRestV2"})
    EXPECT_THAT(cookie, HasSubstr(word));
  EXPECT_EQ(ufm_header(opened, "Cache-Control"), "no-store");
  EXPECT_EQ(opened.body.find(kUfmSecret), std::string::npos);
  const auto shown = "other=1; " + cookie.substr(0, cookie.find(';')) + "; more=2";

  const auto with_cookie = [&](const std::string& target) {
    return call("GET", target, {}, api::ufm_authorization(target, "", shown)).status;
  };
  EXPECT_EQ(with_cookie("/ufmRestV2/app/ufm_version"), 200U);
  EXPECT_EQ(with_cookie("/ufmRest/app/ufm_version"), 401U) << "other paths do not take it";
  EXPECT_EQ(with_cookie("/v1/status"), 401U);
  EXPECT_EQ(api::ufm_authorization("/ufmRestV2/x", "Basic x", shown), "Basic x") << "the header counts";
  EXPECT_EQ(api::ufm_authorization("/ufmRestV2/x", "", "smd_sessionx=1"), "");

  auto view = *backend_.views[0];
  auto policy_state = *view.policy_state;
  auto policies = *policy_state.policies;
  policies.tokens.clear();
  policy_state.policies = std::make_shared<const policy::Policies>(policies);
  view.policy_state = std::make_shared<const api::PolicyState>(policy_state);
  backend_.views[0] = std::make_shared<api::SubnetView>(view);
  EXPECT_EQ(with_cookie("/ufmRestV2/app/ufm_version"), 401U) << "revoked";
}

/// It would be one without a cookie, and good for a token that is revoked.
TEST_F(ApiUfmSession, ALoginIsNotAnsweredFromMemory) {
  api::Request request{
      .method = "POST", .target = "/dologin", .body = "httpd_password=" + std::string(kUfmSecret)};
  request.peer = {.local = false, .address = "10.0.0.1", .user = {}};
  request.time = 1000;
  request.idempotency_key = "k";
  for (int i = 0; i < 2; ++i) {
    const auto opened = api::answer(request, backend_);
    EXPECT_EQ(opened.status, 200U) << i;
    EXPECT_NE(ufm_header(opened, "Set-Cookie"), "") << i;
  }
}

TEST_F(ApiUfmSession, ASessionNeedsTheSecretOfAToken) {
  for (const auto* form : {"", "httpd_username=x", "httpd_password=", "httpd_password=a%0d%0aX-Y:1", "{}",
                           "httpd_password=%zz", "x_httpd_password=1"})
    EXPECT_EQ(call("POST", "/dologin", form, "").status, 400U) << form;
  const auto before = backend_.wrong_tokens;
  EXPECT_EQ(call("POST", "/dologin", "httpd_password=smd_wrong", "").status, 401U);
  EXPECT_EQ(backend_.wrong_tokens, before + 1) << "as any wrong token";
  unsigned last = 0;
  for (int i = 0; i < 50 && last != 429; ++i)
    last = call("POST", "/dologin", "httpd_password=smd_wrong", "").status;
  EXPECT_EQ(last, 429U) << "guesses are limited";
}

TEST_F(ApiUfmSession, AFabricIsNamedByTheQuery) {
  backend_.add({.name = "q",
                .port = "mlx5_4:1",
                .snapshot = snapshot_,
                .policy_state = backend_.views[0]->policy_state});
  const std::string keys = "/ufmRest/resources/pkeys";
  good("POST", keys + "?fabric=q", R"({"pkey":"0x9","guids":["1"]})");
  EXPECT_TRUE(backend_.views[1]->policy_state->policies->api.contains("api_pkey_0x9"));
  EXPECT_FALSE(backend_.views[0]->policy_state->policies->api.contains("api_pkey_0x9"));
  EXPECT_EQ(call("GET", keys + "/0x9").body, "{}") << "without a name the first one";
  EXPECT_EQ(good("GET", keys + "/0x9?fabric=q").at("partition"), "api_pkey_0x9");
  good("DELETE", keys + "/0x9?fabric=q");
  EXPECT_EQ(call("GET", keys + "/0x9?fabric=q").body, "{}");
  EXPECT_EQ(call("DELETE", keys + "/0x9?fabric=none").status, 404U);
}

/// As values those of a large fabric would be a gigabyte.
TEST_F(ApiUfmSession, ListsOfALargeFabricComeInPieces) {
  sim::World world(test::spec("ft2:16"));
  test::Managed manager(world, {}, test::once());
  world.run(manager->run());
  auto view = *backend_.views[0];
  view.snapshot = std::make_shared<const sm::Snapshot>(manager.last());
  backend_.views[0] = std::make_shared<api::SubnetView>(view);

  for (const auto* list : {"ports", "links"}) {
    const auto answer = call("GET", std::string("/ufmRest/resources/") + list);
    EXPECT_NE(answer.rest, nullptr) << list;
    const auto all = api::parse_json(whole(answer));
    ASSERT_TRUE(all) << list;
    EXPECT_GE(all->as_array().size(), 256U) << list;
  }
  EXPECT_EQ(good("GET", "/ufmRest/resources/ports?sys_type=Computer").as_array().size(), 128U);
}

/// A client that makes its key of the body has the same one for each fabric.
TEST_F(ApiUfmSession, AnIdempotencyKeyIsOfOneFabric) {
  auto other = *backend_.views[0];
  other.name = "q";
  backend_.views.push_back(std::make_shared<api::SubnetView>(other));
  for (const std::string fabric : {"p", "q"}) {
    api::Request request{.method = "POST",
                         .target = "/ufmRest/resources/pkeys/add?fabric=" + fabric,
                         .body = R"({"pkey": "0x44"})"};
    request.authorization = "Basic " + std::string(kUfmSecret);
    request.peer = {.local = false, .address = "10.0.0.1", .user = {}};
    request.time = 1000;
    request.idempotency_key = "k";
    EXPECT_EQ(api::answer(request, backend_).status, 200U) << fabric;
  }
  for (const auto& view : backend_.views)
    EXPECT_NE(view->policy_state->merged->find(PKey{0x44}), nullptr) << view->name;
}

TEST_F(ApiUfmSession, EachEndOfACableNamesTheOtherAsThatIsCalled) {
  const auto ports = good("GET", "/ufmRest/resources/ports?sys_type=Computer").as_array();
  ASSERT_FALSE(ports.empty());
  for (const auto& port : ports) {
    const std::string there(port.at("peer").as_string());
    EXPECT_EQ(good("GET", "/ufmRest/resources/ports/" + there).at(0).at("peer"), port.at("name"));
  }
}

TEST_F(ApiUfmSession, APortIsFoundByItsOwnNameAlone) {
  for (const auto* type : {"Computer", "Switch"}) {
    const auto ports = good("GET", std::string("/ufmRest/resources/ports?sys_type=") + type).as_array();
    ASSERT_FALSE(ports.empty());
    for (const auto& port : ports) {
      const std::string name(port.at("name").as_string());
      EXPECT_EQ(good("GET", "/ufmRest/resources/ports/" + name).at(0), port);
      EXPECT_EQ(good("GET", "/ufmRest/resources/ports/0x" + name).at(0), port);
    }
    const std::string guid(ports.front().at("guid").as_string());
    for (const auto* end : {"", "_", "_0", "_01", "_0x1", "_1x", "_254", "_255", "_4294967297"})
      EXPECT_EQ(call("GET", "/ufmRest/resources/ports/" + guid + end).body, "{}") << end;
  }
  for (const auto* other : {"0_1", "0002c9000000ffff_1", "h00000_1", "_1"})
    EXPECT_EQ(call("GET", std::string("/ufmRest/resources/ports/") + other).body, "{}") << other;
}

/// Else a client whose key is mistyped is told that all is done.
TEST_F(ApiUfmSession, CallsOnGuidsNeedThem) {
  const std::string body = R"({"pkey":"0x46","guid":["0a"]})";
  EXPECT_EQ(call("POST", "/ufmRest/resources/pkeys", body).status, 400U);
  EXPECT_EQ(call("GET", "/ufmRest/resources/pkeys/0x46").body, "{}") << "nothing was made";
  EXPECT_EQ(call("POST", "/ufmRest/actions/remove_guids_from_pkey", body).status, 400U);
  good("POST", "/ufmRest/resources/pkeys", R"({"pkey":"0x46","guids":[]})");
  good("POST", "/ufmRest/actions/remove_guids_from_pkey", R"({"pkey":"0x46","guids":[]})");
}

TEST_F(ApiUfmSession, WhatIsWrongIsNamed) {
  const auto said = [&](const std::string& body) {
    return call("POST", "/ufmRest/resources/pkeys", body).body;
  };
  EXPECT_THAT(said(R"({"pkey":"0x8001","guids":[]})"),
              HasSubstr("pkey: found 0x8001, allowed 0x1 to 0x7ffe"));
  EXPECT_THAT(said(R"({"pkey":"0x5","guids":[],"mtu_limit":3})"),
              HasSubstr("mtu_limit: found 3, allowed 2 or 4 (KB)"));
  EXPECT_THAT(said(R"({"pkey":"0x5","guids":[],"service_level":16})"),
              HasSubstr("service_level: found 16, allowed 0 to 15"));
  const auto of_long = said(R"({"pkey":"0x5","guids":")" + std::string(10'000, 'x') + "\"}");
  EXPECT_THAT(of_long, HasSubstr("..., allowed a list of GUIDs"));
  EXPECT_LT(of_long.size(), 1000U);
}

}  // namespace
}  // namespace smd
