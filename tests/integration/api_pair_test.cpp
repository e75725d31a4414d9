// SPDX-License-Identifier: Apache-2.0
// Answers of a master and of its standby.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <ranges>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "smd/cli/ask_text.h"
#include "smd/replica/view.h"
#include "tests/support/api_asker.h"
#include "tests/support/sm_site.h"

namespace smd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A master and its standby, as the master's API sees them.
class ApiOfAPair : public test::ApiAsker {
 protected:
  ApiOfAPair() {
    site_.start("h00000", 9);
    site_.start("h00003", 3);
    site_.world.run_for(std::chrono::seconds(5));
    backend_.views.clear();
    for (const auto* host : {"h00000", "h00003"}) {
      auto& sm = site_[host];
      backend_.add({.name = host, .port = "p", .snapshot = sm->published(), .sms = sm->sms()});
    }
  }
  test::SmSite site_{"ft2:4"};
};

TEST_F(ApiOfAPair, AllSmsAreListedWithWhatWillBecomeOfThem) {
  const auto list = ask("GET", "/v1/subnets/h00000/sms", "Sms");
  const auto& sms = list.at("sms").as_array();

  ASSERT_EQ(sms.size(), 2U);
  EXPECT_EQ(sms[0].at("self"), true);
  EXPECT_EQ(sms[0].at("state"), "master");
  EXPECT_EQ(sms[0].at("priority"), 9);
  EXPECT_EQ(sms[1].at("node"), "h00003");
  EXPECT_EQ(sms[1].at("state"), "standby");
  EXPECT_EQ(sms[1].at("outlook"), "takes over when this SM fails");
  EXPECT_TRUE(sms[1].at("last_seen").is_string());
  std::ostringstream text;
  cli::print_sms(text, list, false);
  EXPECT_THAT(text.str(), HasSubstr("LAST SEEN"));
  EXPECT_THAT(text.str(), HasSubstr("h00003"));
}

/// The family of the lag loses the row of a standby that is gone: no alert could tell.
TEST_F(ApiOfAPair, StandbysOfAMasterAreCountedAlsoWhereThereAreNone) {
  const auto metrics = [this] {
    return api::answer({.method = "GET", .target = "/metrics", .body = {}}, backend_).body;
  };
  const auto copying_to = [this](std::size_t standbys, std::size_t connected = 0) {
    replica::ReplicaView replica;
    replica.latest.epoch = 7;
    replica.standbys.resize(standbys + connected);
    for (auto& standby : replica.standbys | std::views::take(standbys)) standby.acked.epoch = 7;
    for (auto& view : backend_.views) {
      auto with = *view;
      with.replica = std::make_shared<const replica::ReplicaView>(replica);
      view = std::make_shared<const api::SubnetView>(std::move(with));
    }
  };
  EXPECT_THAT(metrics(), testing::Not(HasSubstr("\nsmd_replica_standbys"))) << "nothing is copied";
  copying_to(0);
  EXPECT_THAT(metrics(), HasSubstr("\nsmd_replica_standbys{subnet=\"h00000\"} 0\n"));
  EXPECT_THAT(metrics(), testing::Not(HasSubstr("\nsmd_replica_standbys{subnet=\"h00003\"}")));
  copying_to(2);
  EXPECT_THAT(metrics(), HasSubstr("\nsmd_replica_standbys{subnet=\"h00000\"} 2\n"));
  copying_to(1, 2);
  EXPECT_THAT(metrics(), HasSubstr("\nsmd_replica_standbys{subnet=\"h00000\"} 1\n"))
      << "two have a connection, and nothing of this mastership";
}

TEST_F(ApiOfAPair, StatusSaysWhatWillHappen) {
  const auto master = ask("GET", "/v1/subnets/h00000/status", "Subnet");
  const auto standby = ask("GET", "/v1/subnets/h00003/status", "Subnet");

  EXPECT_THAT(std::string(master.at("outlook").as_string()),
              HasSubstr("\"h00003\" takes over when it fails"));
  EXPECT_EQ(standby.at("outlook"), "takes over 1.5 s after the master's last answer");
}

/// Answers to polls come between two sweeps.
TEST_F(ApiOfAPair, StatusAndListShowWhatAnSmHasSaidLast) {
  for (auto& view : backend_.views) {
    auto with = *view;
    auto sms = std::make_shared<sm::SmView>(*with.sms);
    for (auto& other : sms->others) other.sm.info.priority = 4;
    with.sms = std::move(sms);
    view = std::make_shared<const api::SubnetView>(std::move(with));
  }
  const auto list = ask("GET", "/v1/subnets/h00000/sms", "Sms");
  const auto status = ask("GET", "/v1/subnets/h00000/status", "Subnet");
  EXPECT_EQ(list.at("sms").at(1).at("priority"), 4);
  EXPECT_EQ(status.at("other_sms").at(0).at("priority"), 4);
}

TEST_F(ApiOfAPair, AnSmThatIsNeverObeyedIsNamedAsSuchEverywhere) {
  for (auto& view : backend_.views) {
    auto with = *view;
    auto sms = std::make_shared<sm::SmView>(*with.sms);
    sms->state.policy.allowed = {sms->state.self.guid};
    with.sms = std::move(sms);
    view = std::make_shared<const api::SubnetView>(std::move(with));
  }
  constexpr auto* kWhy = "never obeyed: not in [sm] allowed_guids";
  const auto status = ask("GET", "/v1/subnets/h00000/status", "Subnet");
  EXPECT_EQ(status.at("other_sms").at(0).at("never_obeyed"), kWhy);
  std::ostringstream text;
  cli::print_subnet(text, status);
  EXPECT_THAT(text.str(), HasSubstr(std::string("; ") + kWhy));
  EXPECT_THAT(error("POST", "/v1/subnets/h00000/handover", 409),
              testing::AllOf(HasSubstr("\"h00003\" may not have the fabric"), HasSubstr(kWhy)));
  const auto standby = ask("GET", "/v1/subnets/h00003/status", "Subnet");
  EXPECT_THAT(std::string(standby.at("master").at("never_obeyed").as_string()),
              testing::EndsWith("; smd waits while it is master"));
}

TEST_F(ApiOfAPair, StatusOfAStandbySaysWhatItHasReadOfTheMastersGroups) {
  const auto read = [&](const std::string& host) {
    auto status = ask("GET", "/v1/subnets/" + host + "/status", "Subnet");
    std::ostringstream text;
    cli::print_subnet(text, status);
    return std::pair{status.at("groups_read"), text.str()};
  };
  EXPECT_EQ(read("h00003").first, nullptr);
  EXPECT_THAT(read("h00003").second, testing::Not(HasSubstr("groups read")));
  for (auto& view : backend_.views) {
    auto with = *view;
    with.groups_read = std::make_shared<const sa::GroupsRead>(
        sa::GroupsRead{.from = Lid{7}, .groups = 4, .members = 21, .ignored = 1, .at = 1'700'000'000});
    view = std::make_shared<const api::SubnetView>(with);
  }

  EXPECT_EQ(read("h00000").first, nullptr) << "it was the standby's then";
  const auto [json, text] = read("h00003");
  EXPECT_EQ(json.at("sm_lid"), 7);
  EXPECT_EQ(json.at("groups"), 4);
  EXPECT_EQ(json.at("members"), 21);
  EXPECT_EQ(json.at("ignored"), 1);
  EXPECT_EQ(json.at("at"), "2023-11-14T22:13:20Z");
  EXPECT_THAT(text, testing::ContainsRegex(
                        "groups read +4 with 21 members, of the master at LID 7 .read 2023-11-14T22:13:20Z"));
}

TEST_F(ApiOfAPair, TheMasterHandsOverAndAnyOtherSaysWhyNot) {
  const auto given = ask("POST", "/v1/subnets/h00000/handover", "HandedOver", 202);

  EXPECT_EQ(given.at("node"), "h00003");
  EXPECT_THAT(backend_.handed_over, testing::SizeIs(1));
  EXPECT_THAT(error("POST", "/v1/subnets/h00003/handover", 409),
              testing::StartsWith("h00003: this SM is not master: only the master hands over, h00000"));
  EXPECT_EQ(error("POST", "/v1/subnets/h00000/handover", 409, R"({"guid": "0x0000000000000077"})"),
            "no SM has the port GUID 0x0000000000000077: smd sms lists them");
  EXPECT_THAT(error("POST", "/v1/subnets/h00000/handover", 400, R"({"guid": 7})"), HasSubstr("port GUID"));
  EXPECT_THAT(error("POST", "/v1/subnets/h00000/handover", 400, R"({"to": "x"})"), HasSubstr("guid"));
  EXPECT_THAT(backend_.handed_over, testing::SizeIs(1));
}

TEST_F(ApiOfAPair, AStandbyThatLacksChangesGetsTheFabricByForceOnly) {
  const auto master = backend_.views[0];
  ASSERT_EQ(master->name, "h00000");
  const auto to = master->sms->others.at(0).sm.info.guid;
  const auto with = [&](std::vector<replica::StandbyView> standbys) {
    auto replica = std::make_shared<replica::ReplicaView>();
    replica->role = replica::ReplicaView::Role::source;
    replica->standbys = std::move(standbys);
    auto view = std::make_shared<api::SubnetView>(*master);
    view->replica = std::move(replica);
    backend_.views[0] = std::move(view);
  };
  const std::string path = "/v1/subnets/h00000/handover";

  with({});
  EXPECT_THAT(error("POST", path, 409), HasSubstr("it does not copy the state of this SM now"));
  ask("POST", path, "HandedOver", 202, R"({"force": true})");
  with({{.name = "b", .port = to, .behind = 3, .lag = std::chrono::milliseconds(2500)}});
  EXPECT_THAT(error("POST", path, 409),
              HasSubstr("3 changes are not on its disk, the oldest for 2.5 s; force"));
  with({{.name = "b", .port = to, .behind = 3, .lag = std::chrono::milliseconds(20)}});
  ask("POST", path, "HandedOver", 202);
}

TEST_F(ApiOfAPair, ThePriorityIsAWholeNumberUpTo15) {
  const auto now = ask("PUT", "/v1/subnets/h00003/priority", "Priority", 200, R"({"priority": 12})");

  EXPECT_EQ(now.at("was"), 3);
  EXPECT_EQ(now.at("priority"), 12);
  EXPECT_THAT(backend_.priorities, ElementsAre(std::pair(std::size_t{1}, std::uint8_t{12})));
  EXPECT_EQ(error("PUT", "/v1/subnets/h00003/priority", 400, R"({"priority": 16})"),
            "priority: found 16, allowed a whole number from 0 to 15");
  EXPECT_EQ(error("PUT", "/v1/subnets/h00003/priority", 400, ""), "priority: missing");
  EXPECT_THAT(backend_.priorities, testing::SizeIs(1));
}

TEST_F(ApiOfAPair, ADryRunOfAHandoverOrAPriorityChangesNothing) {
  const auto given = ask("POST", "/v1/subnets/h00000/handover", "HandedOver", 200, R"({"dry_run": true})");
  const auto now =
      ask("PUT", "/v1/subnets/h00003/priority", "Priority", 200, R"({"priority": 12, "dry_run": true})");

  EXPECT_EQ(given.at("node"), "h00003");
  EXPECT_EQ(given.at("dry_run"), true);
  EXPECT_EQ(now.at("dry_run"), true);
  EXPECT_THAT(backend_.handed_over, testing::IsEmpty());
  EXPECT_THAT(backend_.priorities, testing::IsEmpty());
  EXPECT_THAT(error("POST", "/v1/subnets/h00003/handover", 409, R"({"dry_run": true})"),
              HasSubstr("only the master hands over"));
}

}  // namespace
}  // namespace smd
