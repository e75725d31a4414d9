// SPDX-License-Identifier: Apache-2.0
// Partitions as JSON: what is read, and what is refused with which words.
#include "smd/policy/definition_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "config/partitions.h"

namespace smd::policy {
namespace {

namespace json = boost::json;
using config::Membership;

config::PartitionDefinition read(std::string_view text) {
  auto found = parse_definition(json::parse(text), "blue");
  if (!found) ADD_FAILURE() << found.error();
  return found.value_or(config::PartitionDefinition{});
}

std::string refusal(std::string_view text) {
  const auto found = parse_definition(json::parse(text), "blue");
  return found ? "taken" : found.error();
}

TEST(DefinitionJson, ReadsAllOfAPartition) {
  const auto blue = read(R"({"name": "blue", "pkey": "0x8012",
    "members": [{"guid": "0x0002c90300001234", "membership": "full", "index0": true}, {"name": "h1"},
                {"glob": "io*", "membership": "both"}, {"group": "storage"}, {"ports": "h2:1"}, "SELF"],
    "ipoib": {"mtu": 4096, "rate": 100, "qkey": "0x1234", "tclass": 3, "flow_label": 7, "scopes": [2, 5]},
    "groups": [{"mgid": "ff12:401b::16"}, {"mgid": "ff12:1::", "mtu": "2048", "rate": 2.5}]})");

  EXPECT_EQ(blue.name, "blue");
  EXPECT_EQ(blue.pkey, 0x12);
  EXPECT_EQ(blue.source.origin, config::PolicyOrigin::api);
  ASSERT_EQ(blue.members.size(), 6U);
  const std::array texts{"0x0002c90300001234", "h1", "io*", "group:storage", "h2:1", "SELF"};
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(to_string(blue.members[i].ports), texts[i]);
  EXPECT_EQ(blue.members[0].membership, Membership::full);
  EXPECT_TRUE(blue.members[0].index0);
  EXPECT_EQ(blue.members[1].membership, Membership::limited);
  EXPECT_EQ(blue.members[2].membership, Membership::both);
  EXPECT_TRUE(blue.ipoib);
  EXPECT_EQ(blue.settings.mtu, Mtu::m4096);
  EXPECT_EQ(blue.settings.rate, 16);
  EXPECT_EQ(blue.settings.qkey, 0x1234U);
  EXPECT_EQ(blue.settings.tclass, 3);
  EXPECT_EQ(blue.settings.flow_label, 7U);
  EXPECT_EQ(blue.settings.scopes, 1U << 2 | 1U << 5);
  ASSERT_EQ(blue.groups.size(), 2U);
  EXPECT_EQ(blue.groups[0].settings.mtu, Mtu::m4096);
  EXPECT_EQ(blue.groups[0].settings.tclass, 0) << "is not inherited, as in OpenSM's file";
  EXPECT_EQ(blue.groups[1].settings.rate, 2);
}

TEST(DefinitionJson, TheSlOfAPartitionMayStandAtItOrAtItsIpoibGroup) {
  EXPECT_EQ(read(R"({"sl": 3})").settings.sl, Sl{3});
  EXPECT_EQ(read(R"({"ipoib": {"sl": "5"}})").settings.sl, Sl{5});
}

TEST(DefinitionJson, AllOfItMayBeMissing) {
  const auto bare = read("{}");
  EXPECT_FALSE(bare.pkey);
  EXPECT_FALSE(bare.ipoib);
  EXPECT_TRUE(bare.members.empty());
  EXPECT_FALSE(read(R"({"pkey": "auto"})").pkey);
  EXPECT_EQ(read(R"({"pkey": 32767})").pkey, 0x7fff);
  EXPECT_EQ(read(R"({"pkey": 68})").pkey, 0x44);
  EXPECT_EQ(read(R"({"pkey": "0X8044"})").pkey, 0x44);
  EXPECT_TRUE(read(R"({"ipoib": true})").ipoib);
}

TEST(DefinitionJson, RefusesWithKeyFoundAndAllowed) {
  const std::vector<std::pair<std::string, std::string>> kWrong{
      {"[]", "body: found [], allowed an object"},
      {R"({"memebers": []})",
       "memebers: not known; allowed name, pkey, sl, members, ipoib, groups; did you mean \"members\"?"},
      {R"({"name": "red"})", "name: found \"red\", allowed \"blue\", the name of the path"},
      {R"({"pkey": 0})",
       "pkey: found 0, allowed 0x0001 to 0x7fff, the same with the bit of full members, or \"auto\""},
      {R"({"pkey": "0x8000"})",
       "pkey: found \"0x8000\", allowed 0x0001 to 0x7fff, the same with the bit of full members, or "
       "\"auto\""},
      {R"({"pkey": 65536})",
       "pkey: found 65536, allowed 0x0001 to 0x7fff, the same with the bit of full members, or \"auto\""},
      {R"({"pkey": "68"})",
       "pkey: found \"68\", allowed a text that begins with 0x, a decimal number without quotes, or "
       "\"auto\""},
      {R"({"pkey": "0068"})",
       "pkey: found \"0068\", allowed a text that begins with 0x, a decimal number without quotes, or "
       "\"auto\""},
      {R"({"members": {}})", "members: found {}, allowed a list"},
      {R"({"members": [{"guid": "h1"}]})",
       "members[0].guid: found \"h1\", allowed a port GUID as \"0x0002c90300001234\""},
      {R"({"members": [{"guid": 16}]})", "members[0].guid: found 16, allowed a text"},
      {R"({"members": ["h1", {"name": "h*"}]})",
       "members[1].name: found \"h*\", allowed the name of one node; a pattern is a \"glob\""},
      {R"({"members": [{"name": "h1", "group": "g"}]})",
       "members[0]: found {\"name\":\"h1\",\"group\":\"g\"}, allowed one of guid, name, glob, group, ports"},
      {R"({"members": [{"membership": "full"}]})",
       "members[0]: found {\"membership\":\"full\"}, allowed one of guid, name, glob, group, ports"},
      {R"({"members": [{"name": "h1", "membership": "Full"}]})",
       "members[0].membership: found \"Full\", allowed \"limited\", \"full\" or \"both\""},
      {R"({"members": [{"name": "h1", "index0": 1}]})", "members[0].index0: found 1, allowed true or false"},
      {R"({"members": ["partition:red"]})",
       "members[0]: found \"partition:red\", allowed ports that do not depend on a partition: use a group"},
      {R"({"ipoib": 1})", "ipoib: found 1, allowed true, false or an object"},
      {R"({"ipoib": {"mtu": 4}})", "ipoib.mtu: found 4, allowed 256, 512, 1024, 2048 or 4096 (bytes)"},
      {R"({"sl": 16})", "sl: found 16, allowed 0 to 15"},
      {R"({"ipoib": {"qkey": -1}})", "ipoib.qkey: found -1, allowed 0 to 4294967295"},
      {R"({"ipoib": {"scopes": []}})", "ipoib.scopes: found [], allowed a list of 1 to 15"},
      {R"({"ipoib": {"scopes": [16]}})", "ipoib.scopes: found 16, allowed a list of 1 to 15"},
      {R"({"groups": [{"mtu": 256}]})",
       "groups[0].mgid: found null, allowed a multicast GID as \"ff12:401b::16\""},
      {R"({"groups": [{"mgid": "fe80::1"}]})",
       "groups[0].mgid: found \"fe80::1\", allowed a multicast GID as \"ff12:401b::16\""},
  };
  for (const auto& [text, words] : kWrong) EXPECT_EQ(refusal(text), words) << text;
  EXPECT_THAT(refusal(R"({"ipoib": {"rate": 99}})"),
              testing::StartsWith("ipoib.rate: found 99, allowed 2.5, 5, 10, 14, 20,"));
}

/// What is long is not repeated at length.
TEST(DefinitionJson, ShowsTheBeginningOfWhatIsWrong) {
  const auto words = refusal("{\"pkey\": \"" + std::string(5000, 'x') + "\"}");
  EXPECT_LT(words.size(), 300U);
}

TEST(DefinitionJson, MembersComeInThreeForms) {
  EXPECT_EQ(parse_members(json::parse(R"({"members": ["h1", "h2"]})"))->size(), 2U);
  EXPECT_EQ(parse_members(json::parse(R"(["h1", "h2"])"))->size(), 2U);
  EXPECT_EQ(parse_members(json::parse(R"({"name": "h1", "membership": "full"})")).value()[0].membership,
            Membership::full);
  EXPECT_EQ(parse_members(json::parse(R"({"members": [], "more": 1})")).error(),
            "more: not known; allowed members");
}

TEST(DefinitionJson, WritesWhatItReads) {
  for (
      const auto* text :
      {"{}", R"({"pkey": 18, "ipoib": {"mtu": 256, "rate": 2.5, "qkey": 5, "scopes": [1, 15]}})",
       R"({"sl": 3, "members": []})", R"({"ipoib": {"sl": "5"}})",
       R"({"ipoib": {"qkey": 5}, "groups": [{"mgid": "ff12:1::", "qkey": 0}, {"mgid": "ff12:2::"}]})",
       R"({"members": [{"name": "0x10"}, {"name": "ALL"}, {"glob": "node:h[0-9]"}, {"guid": "0x1", "index0": true}]})",
       R"({"ipoib": true, "groups": [{"mgid": "ff12:401b::16", "tclass": 2, "flow_label": 9}]})"}) {
    const auto once = read(text);
    EXPECT_EQ(read(json::serialize(definition_json(once))), once) << text;
  }
}

}  // namespace
}  // namespace smd::policy
