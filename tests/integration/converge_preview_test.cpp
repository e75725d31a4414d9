// SPDX-License-Identifier: Apache-2.0
// A dry run of converge: which tables it would come to, computed beside those in force.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "smd/decide/routes.h"
#include "tests/support/api_backend.h"
#include "tests/support/json_schema.h"
#include "tests/support/kept_manager.h"

namespace smd {
namespace {

using namespace std::chrono_literals;

class ConvergePreviewed : public ::testing::Test, protected test::KeptManager {
 protected:
  ConvergePreviewed() : KeptManager(test::spec("torus:4x4+guids=7")) {
    config_.routing.path_sl = config::PathSl::asked;
    config_.routing.engines = {"lash"};
    begin();
  }
  boost::json::value ask(unsigned status, const std::string& body) {
    const auto policies = std::make_shared<const policy::Policies>();
    backend_.add({.name = "f",
                  .port = "mlx5_0:1",
                  .snapshot = std::make_shared<sm::Snapshot>(manager_->last()),
                  .policy_state = std::make_shared<const api::PolicyState>(
                      api::PolicyState{std::make_shared<const config::SubnetConfig>(config_), policies,
                                       policy::merged_policy(config_, *policies)})});
    const auto answer =
        api::answer({.method = "POST", .target = "/v1/subnets/f/resweep", .body = body}, backend_);
    EXPECT_EQ(answer.status, status) << answer.body;
    return *api::parse_json(answer.body);
  }
  /// Held against the schema.
  boost::json::value preview(const std::string& body) {
    const auto found = ask(200, body);
    const auto document = test::api_document();
    const test::Schema schemas(document);
    EXPECT_THAT(schemas.wrong(found, schemas.named("Asked")), testing::IsEmpty());
    return found.at("converge");
  }

  test::FakeBackend backend_;
};

TEST_F(ConvergePreviewed, SaysThatFreshTablesAreThoseInForce) {
  const auto found = preview(R"({"sweep": "converge", "dry_run": true})");

  EXPECT_EQ(found.at("engine_now"), "lash");
  EXPECT_EQ(found.at("engine"), "lash");
  EXPECT_EQ(found.at("entries_changed"), 0);
  EXPECT_EQ(found.at("pairs_with_other_sl"), 0);
  EXPECT_EQ(found.at("max_link_time"), found.at("max_link_time_now"));
  EXPECT_FALSE(found.at("interrupts").as_bool());
}

TEST_F(ConvergePreviewed, NamesTheEngineThatWaitsAndChangesNothing) {
  config_.routing.engines = {"dfsssp"};
  (*manager_)->requests().reload(config_);
  world_.run_for(5s);
  ASSERT_EQ(routes().engine_waits, "dfsssp");
  const auto before = manager_->last().decided.routes;

  const auto found = preview(R"({"sweep": "converge", "engine": true, "dry_run": true})");

  EXPECT_EQ(found.at("engine_now"), "lash");
  EXPECT_EQ(found.at("engine"), "dfsssp");
  EXPECT_EQ(found.at("refused"), nullptr);
  EXPECT_GT(found.at("pairs_with_other_sl").to_number<int>(), 0);
  EXPECT_THAT(backend_.asked, testing::IsEmpty());
  world_.run_for(5s);
  EXPECT_EQ(manager_->last().decided.routes, before);

  (*manager_)->requests().resweep(sm::Resweep::converge_engine, "test");
  world_.run_for(20s);
  EXPECT_EQ(routes().engine, "dfsssp");
  EXPECT_EQ(sm::entries_differing(*before, routes()), found.at("entries_changed").to_number<std::uint64_t>());
}

TEST_F(ConvergePreviewed, IsMadeOnceAtATime) {
  const std::scoped_lock other(backend_.dumping);
  EXPECT_EQ(ask(503, R"({"sweep": "converge", "dry_run": true})").at("code"), "busy");
}

TEST_F(ConvergePreviewed, OtherSweepsHaveNone) {
  EXPECT_FALSE(ask(200, R"({"sweep": "heavy", "dry_run": true})").as_object().contains("converge"));
}

}  // namespace
}  // namespace smd
