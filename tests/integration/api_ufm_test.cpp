// SPDX-License-Identifier: Apache-2.0
// UFM's calls, as the clients of clouds make them. Methods, paths and bodies are those of
//   ib-kubernetes: Mellanox/ib-kubernetes 528f63f6, pkg/sm/plugins/ufm/ufm.go
//   NICo: NVIDIA/infra-controller a02fa34b, crates/ib-fabric/src/ib/ufmclient/rest.rs
//   mlnx-baremetal: IamFive/networking-mlnx-baremetal 070d42a2, networking_mlnx_baremetal/ufmclient
// and what is expected of an answer is how that client reads it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "smd/api/json_in.h"
#include "smd/api/router.h"
#include "smd/api/ufm.h"
#include "tests/support/ufm_fixture.h"

namespace smd {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

class ApiUfm : public test::UfmFixture {};

TEST_F(ApiUfm, IbKubernetesAddsListsAndRemovesGuidsThatAreNotThereYet) {
  good("GET", "/ufmRest/app/ufm_version");
  good(
      "POST", "/ufmRest/resources/pkeys",
      R"({"pkey": "0x7AFF", "index0": true, "ip_over_ib": true, "membership": "full", "guids": ["0200000000000001","02000ff000ff0009"]})");
  good(
      "POST", "/ufmRest/resources/pkeys",
      R"({"pkey": "0x7AFF", "index0": true, "ip_over_ib": true, "membership": "full", "guids": ["020000000000003e"]})");
  // ListGuidsInUse reads guids[].guid of each key and compares with lower-case texts.
  const auto listed = pkeys();
  std::vector<std::string> guids;
  for (const auto& one : listed.at("0x7aff").at("guids").as_array())
    guids.emplace_back(one.at("guid").as_string());
  EXPECT_THAT(guids, testing::ElementsAre("0200000000000001", "020000000000003e", "02000ff000ff0009"));
  EXPECT_EQ(listed.at("0x7aff").at("guids").at(0).at("index0"), true);
  EXPECT_EQ(listed.at("0x7aff").at("guids").at(0).at("membership"), "full");
  EXPECT_EQ(listed.at("0x7aff").at("partition"), "api_pkey_0x7aff");

  good("POST", "/ufmRest/actions/remove_guids_from_pkey",
       R"({"pkey": "0x7AFF", "guids": ["0200000000000001"]})");
  EXPECT_EQ(pkeys().at("0x7aff").at("guids").as_array().size(), 2U);
  good("POST", "/ufmRest/actions/remove_guids_from_pkey",
       R"({"pkey": "0x7AFF", "guids": ["020000000000003e","02000ff000ff0009"]})");
  EXPECT_FALSE(pkeys().as_object().contains("0x7aff")) << "the key goes with its last GUID";
  good("POST", "/ufmRest/actions/remove_guids_from_pkey",
       R"({"pkey": "0x7AFF", "guids": ["0200000000000001"]})");
}

TEST_F(ApiUfm, NicoReadsAKeyWithItsQosAndTakesAnEmptyObjectForNone) {
  EXPECT_EQ(call("GET", "/ufmRestV3/resources/pkeys/0x67?guids_data=true").body, "{}");
  EXPECT_EQ(call("GET", "/ufmRestV3/resources/pkeys/0x67").status, 200U);
  good("POST", "/ufmRestV3/resources/pkeys",
       R"({"pkey":"0x67","ip_over_ib":true,"membership":"full","index0":true,"guids":["946dae03005975c8"]})");
  good("PUT", "/ufmRestV3/resources/pkeys/qos_conf",
       R"({"pkey":"0x67","mtu_limit":4,"service_level":0,"rate_limit":200.0})");
  const auto key = good("GET", "/ufmRestV3/resources/pkeys/0x67?guids_data=true&qos_conf=true");
  EXPECT_EQ(
      json::serialize(key),
      R"({"partition":"api_pkey_0x67","ip_over_ib":true,"guids":[{"guid":"946dae03005975c8","index0":true,)"
      R"("membership":"full"}],"qos_conf":{"mtu_limit":4,"rate_limit":200,"service_level":0}})");
  good("POST", "/ufmRest/resources/pkeys/qos_conf", R"({"pkey":"0x67","service_level":3})");
  EXPECT_EQ(
      good("GET", "/ufmRest/resources/pkeys?qos_conf=true").at("0x67").at("qos_conf").at("service_level"), 3);
  good("POST", "/ufmRestV3/actions/remove_guids_from_pkey",
       R"({"pkey":"0x67","guids":["946dae03005975c8"]})");
  EXPECT_EQ(call("GET", "/ufmRestV3/resources/pkeys/0x67").body, "{}");

  const auto conf = good("GET", "/ufmRestV3/app/smconf");
  EXPECT_EQ(conf.at("sm_key"), "0x0000000000000001");
  EXPECT_EQ(conf.at("m_key"), "0x0000000000000000");
  EXPECT_EQ(conf.at("m_key_per_port"), false);
  const auto ports = good("GET", "/ufmRest/resources/ports?sys_type=Computer").as_array();
  ASSERT_EQ(ports.size(), 8U);
  for (const auto* field :
       {"guid", "name", "systemID", "lid", "dname", "system_name", "physical_state", "logical_state"})
    EXPECT_TRUE(ports[0].as_object().contains(field)) << field;
  EXPECT_EQ(ports[0].at("logical_state"), "Active");
  const std::string name(ports[0].at("name").as_string());
  EXPECT_EQ(good("GET", "/ufmRest/resources/ports/" + name).at(0).at("name").as_string(),
            std::string_view(name));
}

TEST_F(ApiUfm, MlnxBaremetalSetsMembersAndDeletesThem) {
  const std::string body =
      R"({"guids": ["0002c90300001234"], "ip_over_ib": true, "index0": true, "membership": "full", "pkey": "0x5"})";
  good("POST", "/ufmRest/resources/pkeys/", body);
  EXPECT_EQ(good("GET", "/ufmRest/resources/pkeys?guids_data=True").at("0x5").at("guids").as_array().size(),
            1U);
  EXPECT_FALSE(
      good("GET", "/ufmRest/resources/pkeys?guids_data=False").at("0x5").as_object().contains("guids"));
  good(
      "PUT", "/ufmRest/resources/pkeys",
      R"({"guids": ["0002c90300001235", "0002c90300001236"], "pkey": "0x5", "memberships": ["full", "limited"]})");
  const auto guids = good("GET", "/ufmRest/resources/pkeys/0x5?guids_data=True").at("guids");
  ASSERT_EQ(guids.as_array().size(), 2U);
  EXPECT_EQ(guids.at(1).at("membership"), "limited");
  good("DELETE", "/ufmRest/resources/pkeys/0x5/guids/0002c90300001235,0002c90300001236");
  EXPECT_FALSE(pkeys().as_object().contains("0x5"));
  good("POST", "/ufmRest/resources/pkeys/", body);
  good("DELETE", "/ufmRest/resources/pkeys/0x5");
  good("DELETE", "/ufmRest/resources/pkeys/0x5");
  EXPECT_FALSE(pkeys().as_object().contains("0x5"));
}

TEST_F(ApiUfm, AnEmptyKeyStaysUntilItIsDeleted) {
  good("POST", "/ufmRest/resources/pkeys/add",
       R"({"pkey":"0x12","ip_over_ib":true,"mtu_limit":2,"rate_limit":2.5})");
  EXPECT_TRUE(pkeys().at("0x12").at("guids").as_array().empty());
  const auto keys = good("GET", "/ufmRest/resources/pkeys");
  EXPECT_EQ(json::serialize(keys), R"(["0x12","0x20","0x7fff"])");
  EXPECT_EQ(pkeys().at("0x7fff").at("partition"), "management");
}

TEST_F(ApiUfm, HostsAreAddedByName) {
  good("POST", "/ufmRest/resources/pkeys/hosts", R"({"pkey":"0x30","hosts_names":"h00001,h00002"})");
  EXPECT_EQ(backend_.views[0]->policy_state->policies->api.at("api_pkey_0x30")->members.size(), 2U);
  good("DELETE", "/ufmRest/resources/pkeys/0x30/hosts/h00001");
  EXPECT_EQ(backend_.views[0]->policy_state->policies->api.at("api_pkey_0x30")->members.size(), 1U);
  good("DELETE", "/ufmRest/resources/pkeys/0x30/hosts/h00002");
  EXPECT_TRUE(backend_.views[0]->policy_state->policies->api.empty());
}

TEST_F(ApiUfm, NoCallReplacesThePartitionOfAnotherKey) {
  good("POST", "/ufmRest/resources/pkeys", R"({"pkey":"0x2","partition_name":"blue","guids":["0a"]})");

  for (const auto& [method, path] : {std::pair{"POST", "/add"}, {"POST", ""}, {"PUT", ""}})
    EXPECT_EQ(refused(409, method, std::string("/ufmRest/resources/pkeys") + path,
                      R"({"pkey":"0x32","partition_name":"blue","guids":["0b"]})"),
              "name_taken");
  EXPECT_EQ(refused(409, "POST", "/ufmRest/resources/pkeys/hosts",
                    R"({"pkey":"0x32","partition_name":"blue","hosts_names":"h00001"})"),
            "name_taken");
  EXPECT_EQ(
      refused(409, "POST", "/ufmRest/resources/pkeys/add", R"({"pkey":"0x32","partition_name":"Default"})"),
      "name_taken");
  EXPECT_EQ(
      refused(409, "POST", "/ufmRest/resources/pkeys/add", R"({"pkey":"0x32","partition_name":"filed"})"),
      "of_file");
  EXPECT_THAT(guids_of("0x2"), testing::ElementsAre("000000000000000a"));
  EXPECT_EQ(policies().api.size(), 1U);
}

TEST_F(ApiUfm, AnAutomaticNameThatIsTakenIsAnotherOne) {
  good("POST", "/ufmRest/resources/pkeys/add", R"({"pkey":"0x51","partition_name":"api_pkey_0x60"})");
  good("POST", "/ufmRest/resources/pkeys", R"({"pkey":"0x60","guids":["0b"]})");
  EXPECT_EQ(pkeys().at("0x51").at("partition"), "api_pkey_0x60");
  EXPECT_EQ(pkeys().at("0x60").at("partition"), "api_pkey_0x60_2");
  EXPECT_THAT(guids_of("0x60"), testing::ElementsAre("000000000000000b"));
}

TEST_F(ApiUfm, AKeyKeepsItsName) {
  good("POST", "/ufmRest/resources/pkeys/add", R"({"pkey":"0x51","partition_name":"blue"})");
  good("POST", "/ufmRest/resources/pkeys/add", R"({"pkey":"0x51","partition_name":"blue"})");
  good("POST", "/ufmRest/resources/pkeys/add", R"({"pkey":"0x51"})");
  for (const auto& [method, path] :
       {std::pair{"POST", "/add"}, {"POST", ""}, {"PUT", ""}, {"PUT", "/qos_conf"}})
    EXPECT_EQ(refused(409, method, std::string("/ufmRest/resources/pkeys") + path,
                      R"({"pkey":"0x51","partition_name":"red","guids":["0b"]})"),
              "other_name");
  EXPECT_EQ(pkeys().at("0x51").at("partition"), "blue");
  EXPECT_TRUE(guids_of("0x51").empty());
}

TEST_F(ApiUfm, APortThatWasAddedByTheNameOfItsHostIsRemovedByItsGuid) {
  good("POST", "/ufmRest/resources/pkeys/hosts", R"({"pkey":"0x42","hosts_names":"h00001,h00002,h00003"})");
  const auto first = api::ufm_text(port_of("h00001")), second = api::ufm_text(port_of("h00002"));

  good("DELETE", "/ufmRest/resources/pkeys/0x42/guids/" + first);
  EXPECT_EQ(members_of("api_pkey_0x42"), "h00002 h00003");
  good("POST", "/ufmRest/actions/remove_guids_from_pkey", R"({"pkey":"0x42","guids":[")" + second + R"("]})");
  EXPECT_EQ(members_of("api_pkey_0x42"), "h00003");
  good("DELETE", "/ufmRest/resources/pkeys/0x42/guids/" + api::ufm_text(port_of("h00003")));
  EXPECT_TRUE(policies().api.empty()) << "the key goes with its last port";
}

TEST_F(ApiUfm, APortThatIsAMemberByARuleForSeveralIsNotRemoved) {
  config::PartitionDefinition definition{.name = "mixed", .pkey = 0x43};
  for (const auto* term : {"0x77", "h0000*"}) {
    config::MemberRule rule{.membership = config::Membership::full};
    rule.ports.terms.push_back(*config::parse_port_term(term));
    definition.members.push_back(rule);
  }
  auto policy_state = std::make_shared<api::PolicyState>(*backend_.views[0]->policy_state);
  auto policies = std::make_shared<policy::Policies>(*policy_state->policies);
  policies->api["mixed"] = std::make_shared<const policy::ApiPartition>(definition);
  policy_state->policies = policies;
  policy_state->merged = policy::merged_policy(*policy_state->config, *policies);
  auto view = *backend_.views[0];
  view.policy_state = policy_state;
  backend_.views[0] = std::make_shared<const api::SubnetView>(view);
  const auto guid = api::ufm_text(port_of("h00001"));

  const auto path = "/ufmRest/resources/pkeys/0x43/guids/" + guid + ",77";
  EXPECT_EQ(refused(409, "DELETE", path), "member_rule");
  EXPECT_THAT(call("DELETE", path).body, HasSubstr("h0000*"));
  EXPECT_EQ(refused(409, "POST", "/ufmRest/actions/remove_guids_from_pkey",
                    R"({"pkey":"0x43","guids":[")" + guid + R"("]})"),
            "member_rule");
  EXPECT_EQ(refused(409, "DELETE", "/ufmRest/resources/pkeys/0x43/hosts/h00001"), "member_rule");
  EXPECT_EQ(members_of("mixed"), "0x0000000000000077 h0000*") << "nothing of the call is done";
  good("DELETE", "/ufmRest/resources/pkeys/0x43/guids/77");
  EXPECT_EQ(members_of("mixed"), "h0000*");
}

TEST_F(ApiUfm, AHostIsRemovedWithThePortsThatWereAddedByGuid) {
  const auto guid = api::ufm_text(port_of("h00001"));
  good("POST", "/ufmRest/resources/pkeys", R"({"pkey":"0x44","guids":["77",")" + guid + R"("]})");
  good("DELETE", "/ufmRest/resources/pkeys/0x44/hosts/h00001");
  EXPECT_EQ(members_of("api_pkey_0x44"), "0x0000000000000077");
}

TEST_F(ApiUfm, HostsAreNamedOneByOne) {
  for (const auto* word : {"h000*", "h0000?", "h[1]", "group:storage", "level:0", "rail:1", "partition:blue",
                           "node:h00001", "ALL", "ALL_CAS", "SELF", "0x10", "0x10-0x1f", "h00001:1"}) {
    const auto body = R"({"pkey":"0x40","hosts_names":["h00001",")" + std::string(word) + R"("]})";
    EXPECT_EQ(call("POST", "/ufmRest/resources/pkeys/hosts", body).status, 400U) << word;
    EXPECT_THAT(call("POST", "/ufmRest/resources/pkeys/hosts", body).body, HasSubstr(word));
  }
  EXPECT_EQ(call("POST", "/ufmRest/resources/pkeys/hosts", R"({"pkey":"0x40","hosts_names":[1]})").status,
            400U);
  EXPECT_TRUE(policies().api.empty());
  good("POST", "/ufmRest/resources/pkeys/hosts", R"({"pkey":"0x40","hosts_names":"h00001, MF0;sw:M7/U1"})");
  EXPECT_EQ(members_of("api_pkey_0x40"), "h00001 MF0;sw:M7/U1");
}

TEST_F(ApiUfm, IpOverIbOfAKeyChanges) {
  const std::string on = R"({"pkey":"0x45","guids":["0a"],"ip_over_ib":true})";
  const std::string off = R"({"pkey":"0x45","guids":["0a"],"ip_over_ib":false})";
  good("PUT", "/ufmRest/resources/pkeys", on);
  EXPECT_EQ(pkeys().at("0x45").at("ip_over_ib"), true);
  good("PUT", "/ufmRest/resources/pkeys", off);
  EXPECT_EQ(pkeys().at("0x45").at("ip_over_ib"), false);
  good("POST", "/ufmRest/resources/pkeys", on);
  EXPECT_EQ(pkeys().at("0x45").at("ip_over_ib"), false)
      << "of POST for a new key only: clients always send it";
  good("PUT", "/ufmRest/resources/pkeys", R"({"pkey":"0x45","ip_over_ib":true})");
  EXPECT_EQ(pkeys().at("0x45").at("ip_over_ib"), true);
  EXPECT_THAT(guids_of("0x45"), testing::ElementsAre("000000000000000a")) << "no guids: they stay";
  good("POST", "/ufmRest/resources/pkeys/add", R"({"pkey":"0x45","ip_over_ib":false})");
  EXPECT_EQ(pkeys().at("0x45").at("ip_over_ib"), false);
}

TEST_F(ApiUfm, QosOfAKeyThatIsNotThereIsRefused) {
  for (const auto* method : {"PUT", "POST"})
    EXPECT_EQ(refused(404, method, "/ufmRest/resources/pkeys/qos_conf", R"({"pkey":"0x999","mtu_limit":4})"),
              "no_such_pkey");
  EXPECT_FALSE(pkeys().as_object().contains("0x999"));
  EXPECT_EQ(refused(409, "PUT", "/ufmRest/resources/pkeys/qos_conf", R"({"pkey":"0x20","mtu_limit":4})"),
            "of_file");
}

TEST_F(ApiUfm, AKeyGoesWithItsLastGuidAlsoByPut) {
  good("PUT", "/ufmRest/resources/pkeys", R"({"pkey":"0x46","guids":["0a"]})");
  good("PUT", "/ufmRest/resources/pkeys", R"({"pkey":"0x46","guids":[]})");
  EXPECT_EQ(call("GET", "/ufmRest/resources/pkeys/0x46").body, "{}");
  good("PUT", "/ufmRest/resources/pkeys", R"({"pkey":"0x46","guids":[]})");
  EXPECT_TRUE(policies().api.empty());
}

TEST_F(ApiUfm, TheKeyOfAFileIsNeverSaidToBeChanged) {
  EXPECT_EQ(refused(409, "DELETE", "/ufmRest/resources/pkeys/0x20"), "of_file");
  EXPECT_EQ(refused(409, "DELETE", "/ufmRest/resources/pkeys/0x20/guids/0a"), "of_file");
  EXPECT_EQ(refused(409, "PUT", "/ufmRest/resources/pkeys", R"({"pkey":"0x20","guids":[]})"), "of_file");
}

TEST_F(ApiUfm, LongListsOfMembersComeInPieces) {
  constexpr std::uint64_t kMany = 9'001;
  auto part = std::make_shared<sm::PartitionPart>(*snapshot_->decided.partitions);
  for (auto& partition : part->partitions) {
    if (partition.pkey != PKey{0x20}) continue;
    for (std::uint64_t i = 0; i < kMany; ++i) {
      partition.members.push_back({.port = Guid{0x0200000000000000 + i}, .at = {Guid{0x77}, PortNum{1}}});
      partition.pending.push_back(
          {.member = {.term = {.kind = config::PortTermKind::guid, .first = Guid{i + 1}}}});
    }
  }
  auto snapshot = std::make_shared<sm::Snapshot>(*snapshot_);
  snapshot->decided.partitions = part;
  auto view = *backend_.views[0];
  view.snapshot = snapshot;
  backend_.views[0] = std::make_shared<const api::SubnetView>(view);

  for (const auto* path :
       {"/v1/subnets/p/partitions/filed", "/v1/subnets/p/partitions?name=filed", "/v1/subnets/p/partitions",
        "/ufmRest/resources/pkeys?guids_data=true", "/ufmRest/resources/pkeys/0x20?guids_data=true"})
    EXPECT_TRUE(call("GET", path).rest) << path;
  const auto one = good("GET", "/v1/subnets/p/partitions/filed");
  EXPECT_EQ(one.at("members").as_array().size(), kMany + 1);
  EXPECT_EQ(one.at("pending").as_array().size(), kMany);
  EXPECT_EQ(one.at("ready"), "1 of 18003");
  const auto named = good("GET", "/v1/subnets/p/partitions?name=filed");
  EXPECT_EQ(named.at("partitions").at(0), one);
  EXPECT_TRUE(named.at("next").is_null());
  auto without_members = one.as_object();
  without_members["rules"] = without_members["members"] = nullptr;
  const auto listed = good("GET", "/v1/subnets/p/partitions").at("partitions").as_array();
  EXPECT_EQ(std::ranges::count(listed, json::value(without_members)), 1);
  EXPECT_EQ(guids_of("0x20").size(), kMany + 1);
  EXPECT_TRUE(std::ranges::is_sorted(guids_of("0x20")));
  EXPECT_EQ(good("GET", "/ufmRest/resources/pkeys/0x20?guids_data=true&qos_conf=true"),
            good("GET", "/ufmRest/resources/pkeys?guids_data=true&qos_conf=true").at("0x20"));
}

TEST_F(ApiUfm, OfTwoRulesForAGuidTheLaterOneIsShown) {
  good("POST", "/ufmRest/resources/pkeys", R"({"pkey":"0x47","guids":["0a","0b"]})");
  good("POST", "/ufmRest/resources/pkeys", R"({"pkey":"0x47","guids":["0a"],"membership":"limited"})");
  const auto guids = pkeys().at("0x47").at("guids");
  ASSERT_EQ(guids.as_array().size(), 2U);
  EXPECT_EQ(guids.at(0).at("membership"), "limited");
  EXPECT_EQ(guids.at(1).at("membership"), "full");
}

TEST_F(ApiUfm, WrongCallsAreRefused) {
  for (const auto* body :
       {"", "[]", R"({"guids":[]})", R"({"pkey":"0x0","guids":[]})", R"({"pkey":"0x7fff","guids":[]})",
        R"({"pkey":"5","guids":[]})", R"({"pkey":"0x5","guids":["x"]})", R"({"pkey":"0x5","guids":[1]})",
        R"({"pkey":"0x5","guids":["0"]})", R"({"pkey":"0x5","guids":["1"],"membership":"both"})",
        R"({"pkey":"0x5","guids":["1"],"memberships":[]})", R"({"pkey":"0x5","guids":["1"],"index0":1})",
        R"({"pkey":"0x5","mtu_limit":3})", R"({"pkey":"0x5","rate_limit":3})",
        R"({"pkey":"0x5","service_level":16})", R"({"pkey":"0x5","guids":["1"],"pkey":"0x6"})"})
    EXPECT_EQ(call("POST", "/ufmRest/resources/pkeys", body).status, 400U) << body;
  EXPECT_EQ(call("POST", "/ufmRest/resources/pkeys", R"({"pkey":"0x20","guids":["1"]})").status, 409U)
      << "a file has it";
  EXPECT_EQ(call("GET", "/ufmRest/app/none").status, 404U);
  EXPECT_EQ(backend_.unknown, std::vector<std::string>{"GET /ufmRest/app/none"});
  EXPECT_EQ(call("GET", "/ufmRest/app/ufm_version", {}, "Basic dXNlcjp3cm9uZw==").status, 401U);
  EXPECT_EQ(call("GET", "/ufmRest/resources/pkeys?fabric=none").status, 404U);
  EXPECT_EQ(call("GET", "/ufmRest/resources/pkeys?fabric=p").status, 200U);
}

/// Case and zeros before it do not matter, the membership bit is no part of it.
TEST_F(ApiUfm, AKeyIsTheSameHoweverItIsSpelled) {
  unsigned guid = 1;
  for (const auto* spelling : {"0x5", "0x05", "0x0005", "0X5", "0x00000005"}) {
    good("POST", "/ufmRest/resources/pkeys",
         fmt::format(R"({{"pkey":"{}","guids":["{:x}"]}})", spelling, guid++));
    EXPECT_TRUE(good("GET", fmt::format("/ufmRest/resources/pkeys/{}?guids_data=true", spelling))
                    .as_object()
                    .contains("guids"))
        << spelling;
  }
  EXPECT_EQ(guids_of("0x5").size(), 5U);
  good("POST", "/ufmRest/resources/pkeys", R"({"pkey":"0x07Af","guids":["1"]})");
  EXPECT_EQ(guids_of("0x7af").size(), 1U);
  for (const auto* wrong : {"0x0", "0x0000", "0x7fff", "0x7FFF", "0x07fff", "0x8005", "0x10005", "5", "0x",
                            "x5", "0x-5", "0x5 ", ""}) {
    const auto body = fmt::format(R"({{"pkey":"{}","guids":["1"]}})", wrong);
    for (const auto& [method, path] : {std::pair("POST", "pkeys"), {"PUT", "pkeys"}, {"POST", "pkeys/add"}})
      EXPECT_EQ(call(method, fmt::format("/ufmRest/resources/{}", path), body).status, 400U) << wrong;
    EXPECT_EQ(call("POST", "/ufmRest/actions/remove_guids_from_pkey", body).status, 400U) << wrong;
  }
  for (const auto* management : {"0x7fff", "0x7FFF", "0X7fff", "0x07fff"})
    EXPECT_EQ(
        good("GET", fmt::format("/ufmRest/resources/pkeys/{}?guids_data=true", management)).at("partition"),
        "management");
  EXPECT_EQ(call("DELETE", "/ufmRest/resources/pkeys/0x07fff").status, 400U);
}

TEST_F(ApiUfm, WordsOfTheQueryAreTheSameInAnyCase) {
  good("POST", "/ufmRest/resources/pkeys", R"({"pkey":"0x5","guids":["1"]})");
  for (const auto* word : {"true", "True", "TRUE", "1"}) {
    for (const auto* slash : {"", "/"}) {
      const auto keys = good("GET", fmt::format("/ufmRest/resources/pkeys{}?guids_data={}", slash, word));
      EXPECT_EQ(keys.at("0x5").at("guids").as_array().size(), 1U) << word;
    }
  }
  for (const auto* word : {"false", "False", "0", ""}) {
    const auto keys = good("GET", fmt::format("/ufmRest/resources/pkeys?guids_data={}", word));
    EXPECT_FALSE(keys.at("0x5").as_object().contains("guids")) << word;
  }
  EXPECT_TRUE(good("GET", "/ufmRest/resources/systems?ports=True").at(0).as_object().contains("ports"));
}

TEST_F(ApiUfm, HostsAreRemovedByBodyAsByPath) {
  const std::string hosts = "/ufmRest/resources/pkeys/hosts";
  good("POST", hosts, R"({"pkey":"0x6","hosts_names":"h00001,h00002,h00003","membership":"full"})");
  good("DELETE", hosts, R"({"pkey":"0x6","hosts_names":"h00002"})");
  EXPECT_EQ(members_of("api_pkey_0x6"), "h00001 h00003");
  good("DELETE", "/ufmRest/resources/pkeys/0x6/hosts/h00003");
  EXPECT_EQ(members_of("api_pkey_0x6"), "h00001");
  good("DELETE", hosts, R"({"pkey":"0x6","hosts_names":["h00001"]})");
  EXPECT_FALSE(policies().api.contains("api_pkey_0x6")) << "it goes with its last host";
  EXPECT_EQ(call("DELETE", hosts, R"({"pkey":"0x6"})").status, 400U);
}

TEST_F(ApiUfm, SystemsAndLinksHaveBothEnds) {
  EXPECT_EQ(good("GET", "/ufmRest/resources/systems").as_array().size(), snapshot_->subnet->nodes.size());
  const auto with_ports = good("GET", "/ufmRest/resources/systems?ports=true");
  EXPECT_EQ(boost::json::serialize(with_ports).find("0000000000000000_"), std::string::npos);
  const auto count = [&](std::string_view query) {
    return good("GET", fmt::format("/ufmRest/resources/ports{}", query)).as_array().size();
  };
  EXPECT_EQ(count("?sys_type=computer") + count("?sys_type=SWITCH") + count("?sys_type=zzz"), count(""));
  EXPECT_EQ(good("GET", "/ufmRest/resources/links").as_array().size(), snapshot_->summary.links);
}

/// What was written is read, though nothing is decided by it yet.
TEST_F(ApiUfm, GuidsThatWereTakenOutAMomentAgoAreNotShown) {
  const auto port = [&](std::size_t node) {
    const auto& hosts = snapshot_->subnet->nodes;
    std::vector<Guid> guids;
    for (const auto& one : hosts) {
      if (!one->is_switch()) guids.push_back(one->ports[1].guid);
    }
    return guids.at(node);
  };
  const auto set = [&](Guid guid) {
    good("PUT", "/ufmRest/resources/pkeys",
         fmt::format(R"({{"pkey": "0x21", "guids": ["{}"]}})", api::ufm_text(guid)));
  };
  set(port(0));
  auto view = *backend_.views[0];
  auto now = std::make_shared<sm::Snapshot>(*view.snapshot);
  auto decided = std::make_shared<sm::PartitionPart>(*now->decided.partitions);
  decided->policy = view.policy_state->merged;
  decided->partitions.push_back(
      {.pkey = PKey{0x21}, .members = {{.port = port(0), .at = {}}}, .pending = {}});
  now->decided.partitions = decided;
  view.snapshot = now;
  backend_.views[0] = std::make_shared<api::SubnetView>(view);
  set(port(1));
  const auto guids = good("GET", "/ufmRest/resources/pkeys/0x21?guids_data=true").at("guids");
  ASSERT_EQ(guids.as_array().size(), 1U) << guids;
  EXPECT_EQ(guids.at(0).at("guid"), json::string(api::ufm_text(port(1))));
}

/// ib-kubernetes gives GUIDs to others that no key has.
TEST_F(ApiUfm, MembersWhoseHostIsDownAreShown) {
  const auto host = port_of("h00002");
  good("POST", "/ufmRest/resources/pkeys/hosts", R"({"pkey": "0x21", "hosts_names": "h00002"})");
  good("POST", "/ufmRest/resources/pkeys",
       fmt::format(R"({{"pkey": "0x22", "guids": ["{}"]}})", api::ufm_text(host)));
  ASSERT_THAT(guids_of("0x21"), testing::ElementsAre(api::ufm_text(host)));

  auto view = *backend_.views[0];
  auto now = std::make_shared<sm::Snapshot>(*view.snapshot);
  auto subnet = std::make_shared<sm::Subnet>(*now->subnet);
  const auto gone =
      std::ranges::find(subnet->nodes, "h00002", [](const auto& node) { return node->description; });
  ASSERT_NE(gone, subnet->nodes.end());
  auto inventory = std::make_shared<sm::Inventory>(*now->inventory);
  inventory->put((*gone)->guid(), {.type = NodeType::ca, .name = "h00002", .lost_at = 100});
  subnet->nodes.erase(gone);
  now->subnet = subnet, now->inventory = inventory;
  view.snapshot = now;
  backend_.views[0] = std::make_shared<api::SubnetView>(view);

  EXPECT_THAT(guids_of("0x21"), testing::ElementsAre(api::ufm_text(host))) << "by its name";
  EXPECT_THAT(guids_of("0x22"), testing::ElementsAre(api::ufm_text(host)));
  good("DELETE", "/ufmRest/resources/pkeys/0x21/hosts/h00002");
  EXPECT_FALSE(pkeys().as_object().contains("0x21"));
}

TEST_F(ApiUfm, ASystemIsFoundByItsGuid) {
  const auto all = good("GET", "/ufmRest/resources/systems");
  const auto& first = all.at(0);
  const std::string path = "/ufmRest/resources/systems/" + std::string(first.at("guid").as_string());
  const auto one = good("GET", path + "?ports=true");
  ASSERT_EQ(one.as_array().size(), 1U);
  EXPECT_EQ(one.at(0).at("system_name"), first.at("system_name"));
  EXPECT_FALSE(one.at(0).at("ports").as_array().empty());
  EXPECT_FALSE(good("GET", path).at(0).as_object().contains("ports"));
  EXPECT_EQ(call("GET", "/ufmRest/resources/systems/00000000000000ff").body, "{}");
  EXPECT_EQ(call("GET", "/ufmRest/resources/systems/x").body, "{}");
}

TEST_F(ApiUfm, AllReadCallsAnswerAsDocumented) {
  good("GET", "/ufmRest/app/ufm_version");
  good("GET", "/ufmRest/app/smconf");
  good("GET", "/ufmRest/app/sharp/resources");
  good("GET", "/ufmRest/resources/pkeys");
  good("GET", "/ufmRest/resources/pkeys?guids_data=true&qos_conf=true");
  good("GET", "/ufmRest/resources/pkeys/0x20?guids_data=true&qos_conf=true");
  good("GET", "/ufmRest/resources/pkeys/0x7fff?guids_data=true");
  good("GET", "/ufmRest/resources/pkeys/0x77");
  good("GET", "/ufmRest/resources/ports");
  good("GET", "/ufmRest/resources/links");
}

TEST(UfmPath, IsTheSameForAllKindsOfAuthentication) {
  EXPECT_EQ(api::ufm_path("/ufmRestV2/app/x"), "/ufmRest/app/x");
  EXPECT_EQ(api::ufm_path("/ufmRestV3/resources/pkeys/"), "/ufmRest/resources/pkeys");
  EXPECT_EQ(api::ufm_path("/ufmRestV4/x"), "/ufmRestV4/x");
  EXPECT_EQ(api::ufm_path("/v1/status/"), "/v1/status/");
  EXPECT_FALSE(api::is_ufm("/ufmRestX/y"));
}

}  // namespace
}  // namespace smd
