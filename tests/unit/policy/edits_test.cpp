// SPDX-License-Identifier: Apache-2.0
// Changes of the API's partitions: what each leaves, and when it is refused.
#include "smd/policy/edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "config/import/partitions_conf.h"
#include "smd/policy/definition_json.h"

namespace smd::policy {
namespace {

namespace json = boost::json;
using Kind = EditError::Kind;

class Edits : public testing::Test {
 protected:
  Edits() {
    files_.toml_file = "smd.toml";
    files_.conf_file = "partitions.conf";
    files_.groups["storage"] = {{*config::parse_port_term("io*")}};
  }
  /// Takes what it changes.
  EditResult take(EditResult result) {
    if (result) policies_ = result->policies;
    return result;
  }
  EditResult put(std::string_view name, std::string_view text, bool fresh = false) {
    return take(put_partition(context(), *parse_definition(json::parse(text), name),
                              fresh ? Put::fresh : Put::replace));
  }
  EditResult add(std::string_view name, std::string_view members) {
    return take(add_members(context(), name, *parse_members(json::parse(members))));
  }
  EditResult remove(std::string_view name, std::string_view term) {
    return take(remove_members(context(), name, {*config::parse_port_term(term)}));
  }
  EditResult erase(std::string_view name) { return take(erase_partition(context(), name)); }
  std::string members(const std::string& name) const {
    std::string text;
    for (const auto& rule : policies_->api.at(name)->members)
      text +=
          (text.empty() ? "" : " ") + to_string(rule.ports) + "=" + std::string(to_string(rule.membership));
    return text;
  }
  std::string at_index0(const std::string& name) const {
    std::string text;
    for (const auto& rule : policies_->api.at(name)->members)
      if (rule.index0) text += (text.empty() ? "" : " ") + to_string(rule.ports);
    return text;
  }
  EditContext context() {
    auto merged = config::merge_partitions(with_api(files_, *policies_));
    merged_ = merged ? std::move(merged->policy) : config::PartitionPolicy{};
    return {files_, *policies_, merged_, [this] { return foreign_; }};
  }

  config::PartitionSources files_;
  config::PartitionPolicy merged_;
  std::vector<PKey> foreign_;
  PoliciesPtr policies_ = std::make_shared<const Policies>();
};

TEST_F(Edits, APartitionGetsNoNumberThatPortsHaveFromAnotherSm) {
  files_.api_pkeys = {0x10, 0x13};
  foreign_ = {PKey{0x8010}, PKey{0x12}};

  EXPECT_EQ(put("a", "{}")->pkey, PKey{0x11});
  EXPECT_EQ(put("b", R"({"pkey": "auto"})")->pkey, PKey{0x13});
  EXPECT_EQ(put("c", R"({"pkey": "0x12"})")->pkey, PKey{0x12}) << "who names it means it";
}

TEST_F(Edits, APartitionGetsTheLowestFreeNumberAndKeepsIt) {
  files_.api_pkeys = {0x10, 0x12};
  files_.toml.push_back({.name = "filed", .pkey = 0x10, .source = {config::PolicyOrigin::toml, 3}});

  EXPECT_EQ(put("a", "{}")->pkey, PKey{0x11});
  EXPECT_EQ(put("b", R"({"pkey": "auto"})")->pkey, PKey{0x12});
  EXPECT_EQ(put("c", "{}").error(),
            (EditError{Kind::conflict, "no_pkey", "no P_Key from 0x0010 to 0x0012 is free"}));
  EXPECT_EQ(put("a", R"({"members": ["h1"]})")->pkey, PKey{0x11});
  EXPECT_EQ(put("a", R"({"pkey": "0x8013"})")->pkey, PKey{0x13});
  EXPECT_EQ(put("c", "{}")->pkey, PKey{0x11});
}

TEST_F(Edits, TheSameAgainChangesNothing) {
  const auto first = put("a", R"({"members": ["h1", "h2"]})");
  EXPECT_TRUE(first->changed);
  EXPECT_TRUE(first->created);
  const auto again = put("a", R"({"members": ["h1", "h2"]})");
  EXPECT_FALSE(again->changed);
  EXPECT_FALSE(again->created);
  EXPECT_EQ(again->pkey, first->pkey);
  EXPECT_FALSE(add("a", R"(["h2"])")->changed);
  EXPECT_FALSE(remove("a", "h3")->changed);
  EXPECT_FALSE(put("a", R"({"members": ["h1", "h2"]})", true)->changed) << "made once more";
  EXPECT_EQ(put("a", "{}", true).error().code, "exists");
}

TEST_F(Edits, AMemberIsThereOnceWithTheMembershipThatWasGivenLast) {
  put("a",
      R"({"members": ["h1", {"name": "h2", "membership": "full"}, {"name": "h1", "membership": "both"}]})");
  EXPECT_EQ(members("a"), "h2=full h1=both");
  add("a", R"([{"name": "h2"}, {"guid": "0x10", "membership": "full"}])");
  EXPECT_EQ(members("a"), "h1=both h2=limited 0x0000000000000010=full");
  remove("a", "h1");
  EXPECT_EQ(members("a"), "h2=limited 0x0000000000000010=full");
  remove("a", "0x10");
  EXPECT_EQ(members("a"), "h2=limited");
}

/// A port has one: by the order of the partitions' names the first request would have kept it.
TEST_F(Edits, OfTwoPartitionsTheLastOneThatAsksForIndex0HasIt) {
  put("z", R"({"members": [{"name": "h1", "index0": true}, {"name": "h2", "index0": true}, "h3"]})");
  put("a", R"({"members": [{"name": "h1", "index0": true}, "h3"]})");
  EXPECT_EQ(at_index0("z"), "h2");
  EXPECT_EQ(at_index0("a"), "h1");
  add("z", R"([{"name": "h1", "index0": true}])");
  EXPECT_EQ(at_index0("z"), "h2 h1") << "the same request again takes it back";
  EXPECT_EQ(at_index0("a"), "");
  add("a", R"([{"name": "h2", "membership": "full"}])");
  EXPECT_EQ(at_index0("z"), "h2 h1") << "this one does not ask for it";
}

/// Later rules override earlier ones.
TEST_F(Edits, AMemberThatIsPutAgainCountsAfterWhatWasPutSince) {
  put("a", R"({"members": [{"name": "h1", "membership": "full"}]})");
  EXPECT_TRUE(add("a", R"([{"glob": "h*", "membership": "limited"}])")->changed);
  EXPECT_TRUE(add("a", R"([{"name": "h1", "membership": "full"}])")->changed);
  EXPECT_EQ(members("a"), "h*=limited h1=full");
  EXPECT_FALSE(add("a", R"([{"name": "h1", "membership": "full"}])")->changed);
  EXPECT_TRUE(add("a", R"([{"name": "h2", "membership": "full"}])")->changed);
  EXPECT_FALSE(add("a", R"([{"name": "h1", "membership": "full"}])")->changed) << "h2 is another node";
  put("b", R"({"members": [{"name": "h5", "membership": "full"}, {"glob": "h*", "membership": "limited"},
                           {"name": "h5", "membership": "full"}]})");
  EXPECT_EQ(members("b"), "h*=limited h5=full");
}

TEST_F(Edits, ANameThatIsTheKeyOfAnotherPartitionIsRefused) {
  EXPECT_EQ(put("0x0044", R"({"pkey": 5})").error().code, "bad_name");
  EXPECT_TRUE(put("0x0044", R"({"pkey": "0x44"})"));
}

TEST_F(Edits, APartitionWithTheNameOfAFilesCanOnlyBeTakenAway) {
  put("red", R"({"pkey": "0x20"})");
  files_.toml.push_back({.name = "red", .pkey = 0x21, .source = {config::PolicyOrigin::toml, 3}});
  EXPECT_EQ(add("red", R"(["h1"])").error().code, "of_file");
  EXPECT_THAT(
      add("red", R"(["h1"])").error().text,
      testing::AllOf(testing::StartsWith("red is the name of partition 0x"),
                     testing::HasSubstr("that of the API, 0x"), testing::HasSubstr("can only be deleted")));
  EXPECT_EQ(put("red", R"({"pkey": "0x20", "members": ["h1"]})").error().code, "of_file");
  EXPECT_TRUE(erase("red")->changed);
}

TEST_F(Edits, APartitionWhoseKeyAFileHasNamesThatOfTheFile) {
  put("x", R"({"pkey": "0x20"})");
  files_.toml.push_back({.name = "y", .pkey = 0x20, .source = {config::PolicyOrigin::toml, 18}});
  const auto text = erase("x").error().text;
  EXPECT_THAT(text, testing::StartsWith("P_Key 0x0020 of x is that of y, "));
  EXPECT_THAT(text, testing::EndsWith(":18: change it there"));
  EXPECT_EQ(add("x", R"(["h1"])").error().text, text);
}

TEST_F(Edits, WhatAFileDefinesIsChangedThere) {
  const auto conf = config::read_partitions_conf("Filed=0x20:ALL;\nAuto:ALL;\n", "partitions.conf");
  files_.conf = conf->definitions;

  EXPECT_EQ(add("Filed", R"(["h1"])").error(),
            (EditError{Kind::conflict, "of_file",
                       "partition Filed is defined in partitions.conf:1: change it there"}));
  EXPECT_EQ(put("Filed", "{}").error().code, "of_file");
  EXPECT_EQ(erase("Filed").error().code, "of_file");
  EXPECT_EQ(put("mine", R"({"pkey": "0x20"})").error().text,
            "P_Key 0x0020 is defined in partitions.conf:1: change it there");
  EXPECT_EQ(put("mine", R"({"pkey": 1})").error().text,
            "P_Key 0x0001 is defined in partitions.conf:2: change it there")
      << "a number that smd chose";
  EXPECT_EQ(put("mine", "{}")->pkey, PKey{0x2});
}

TEST_F(Edits, AFileTakesAPartitionOverAndGivesItBack) {
  put("a", R"({"pkey": "0x30", "members": ["h1"]})");
  files_.toml.push_back({.name = "x", .pkey = 0x30, .source = {config::PolicyOrigin::toml, 9}});

  const auto merged = config::merge_partitions(with_api(files_, *policies_));
  EXPECT_THAT(merged->policy.taken_over, testing::SizeIs(1));
  EXPECT_EQ(add("a", R"(["h2"])").error().text,
            "P_Key 0x0030 of a is that of x, smd.toml:9: change it there");

  files_.toml.clear();
  EXPECT_TRUE(add("a", R"(["h2"])")->changed);
  EXPECT_EQ(members("a"), "h1=limited h2=limited");
}

TEST_F(Edits, OfTwoPartitionsOneHasTheKey) {
  put("a", R"({"pkey": "0x30"})");
  EXPECT_EQ(put("b", R"({"pkey": "0x8030"})").error(),
            (EditError{Kind::conflict, "pkey_taken", "P_Key 0x0030 is that of partition a"}));
  EXPECT_TRUE(erase("a")->changed);
  EXPECT_TRUE(put("b", R"({"pkey": "0x8030"})")->created);
}

TEST_F(Edits, ANameIsThatOfOnePartition) {
  const auto conf = config::read_partitions_conf("Filed=0x20:ALL;\n=0x21:ALL;\n", "partitions.conf");
  files_.conf = conf->definitions;
  put("a", R"({"pkey": "0x30"})");

  EXPECT_EQ(put("Default", "{}").error(),
            (EditError{Kind::conflict, "name_taken",
                       "Default is the name of partition 0x7fff: choose another one"}));
  EXPECT_EQ(put("0021", R"({"pkey": "0x15"})").error().code, "name_taken") << "of a partition without a name";
  EXPECT_TRUE(put("a", R"({"pkey": "0x31"})")->changed) << "its own name";
  const auto other = take(put_partition(context(), {.name = "a", .pkey = 0x32}, Put::same_key));
  EXPECT_EQ(other.error(), (EditError{Kind::conflict, "name_taken",
                                      "a is the name of partition 0x0031: choose another one"}));
  EXPECT_EQ(policies_->api.at("a")->pkey, 0x31);
}

TEST_F(Edits, TheNameOfTheDefaultPartitionStaysItsOwn) {
  EXPECT_EQ(put("zz", R"({"pkey": "0x7fff"})").error(),
            (EditError{Kind::conflict, "pkey_taken", "P_Key 0x7fff is that of partition Default"}));
  EXPECT_EQ(put("Default", "{}").error().code, "name_taken");
  files_.toml.push_back({.name = "all", .pkey = 0x7fff, .source = {config::PolicyOrigin::toml, 3}});
  EXPECT_EQ(put("Default", "{}").error().code, "name_taken");
  EXPECT_EQ(put("all", R"({"pkey": "0x7fff"})").error().code, "of_file");
}

TEST_F(Edits, AFreeNameIsThatOfNoPartition) {
  files_.toml.push_back({.name = "n_2", .pkey = 0x20, .source = {config::PolicyOrigin::toml, 3}});
  EXPECT_EQ(free_partition_name(context(), "n"), "n");
  put("n", "{}");
  EXPECT_EQ(free_partition_name(context(), "n"), "n_3");
}

TEST_F(Edits, MembersThatAreSetMayNameAGroupThatIsGone) {
  put("a", R"({"members": ["group:storage", "h1", "h2"]})");
  const auto before = policies_->api.at("a")->members;
  const config::MemberRules members{before[0], before[1]};
  files_.groups.clear();
  EXPECT_TRUE(take(set_members(context(), "a", members))->changed);
  EXPECT_EQ(this->members("a"), "group:storage=limited h1=limited");
  EXPECT_EQ(set_members(context(), "b", members).error().code, "no_such_partition");
}

/// Whichever name comes first.
TEST_F(Edits, AGroupOfAnotherPartitionIsNotTaken) {
  put("m", R"({"pkey":81,"groups":[{"mgid":"ff12:1234::1"}]})");
  const auto before = put("a", R"({"pkey":82,"groups":[{"mgid":"ff12:1234::1"}]})");
  ASSERT_FALSE(before);
  EXPECT_EQ(before.error().code, "group_taken");
  EXPECT_THAT(before.error().text,
              testing::HasSubstr("groups: another partition has it: group ff12:1234::1"));
  const auto after = put("z", R"({"pkey":83,"groups":[{"mgid":"ff12:1234::1"}]})");
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, "bad_group");
  EXPECT_TRUE(put("a", R"({"pkey":82,"groups":[{"mgid":"ff12:1234::2"}]})"));
}

/// Rules of many GUIDs are compared by their place alone.
TEST_F(Edits, WhatIsPutAgainStaysUnlessALaterRuleMayBeAboutItsPorts) {
  put("a", R"({"pkey":81,"members":["0x11","0x12","h1","h*","h2"]})");
  const auto again = [&](std::string_view body) { return add("a", body)->changed; };
  EXPECT_FALSE(again(R"(["h2"])")) << "it is the last one";
  EXPECT_TRUE(again(R"(["h1"])")) << "the pattern behind it may be about h1";
  EXPECT_EQ(members("a"),
            "0x0000000000000011=limited 0x0000000000000012=limited h*=limited h2=limited h1=limited");
  EXPECT_FALSE(again(R"(["h1"])"));
  EXPECT_FALSE(again(R"(["h2"])")) << "names are of other ports";
  EXPECT_TRUE(again(R"(["0x11"])")) << "a name may be that of the GUID's node";
  EXPECT_FALSE(again(R"(["0x11"])"));
}

/// A file's is left out with a warning, which a client of the API would not see.
TEST_F(Edits, AGroupThatDoesNotSuitIsRefused) {
  const auto refused = put("blue", R"({"pkey":82,"groups":[{"mgid":"ff12:401b:8011::99"}]})");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "bad_group");
  EXPECT_THAT(refused.error().text, testing::HasSubstr("ff12:401b:8011::99 has the P_Key 0x8011"));
  const auto reserved = put("blue", R"({"pkey":82,"groups":[{"mgid":"ff22::16"}]})");
  ASSERT_FALSE(reserved);
  EXPECT_EQ(reserved.error().code, "bad_group");
  EXPECT_TRUE(policies_->api.empty());
  ASSERT_TRUE(put("blue", R"({"pkey":82,"groups":[{"mgid":"ff12:401b::99"}]})"));
  EXPECT_FALSE(put("red", R"({"pkey":83,"groups":[{"mgid":"ff12::1"},{"mgid":"ff12::1"}]})"));
}

TEST_F(Edits, RefusesWhatIsNotThere) {
  EXPECT_EQ(erase("a").error(),
            (EditError{Kind::not_found, "no_such_partition", "the API has no partition a"}));
  EXPECT_EQ(add("a", R"(["h1"])").error().kind, Kind::not_found);
  EXPECT_EQ(put("a", R"({"members": ["group:storge"]})").error().text,
            "there is no group storge; did you mean \"storage\"?");
  put("a", R"({"members": ["group:storage"]})");
  EXPECT_EQ(add("a", R"(["group:none"])").error().code, "no_such_group");
  EXPECT_EQ(put_partition(context(), {.name = "a,b"}).error().code, "bad_name");
  EXPECT_EQ(put_partition(context(), {.name = " a"}).error().code, "bad_name");
  EXPECT_EQ(put_partition(context(), {.name = std::string(65, 'a')}).error().code, "bad_name");
  EXPECT_EQ(put_partition(context(), {.name = ""}).error().code, "bad_name");
}

/// The default partition is there without a file: members of it are added to all ports.
TEST_F(Edits, TheDefaultPartitionTakesMembers) {
  EXPECT_EQ(put("Default", R"({"pkey": "0x7fff", "members": [{"name": "h1", "index0": true}]})")->pkey,
            PKey{0x7fff});
  const auto merged = config::merge_partitions(with_api(files_, *policies_));
  ASSERT_THAT(merged->policy.partitions, testing::SizeIs(1));
  EXPECT_EQ(merged->policy.partitions[0].members.size(), 3U);
}

/// A group that a later smd.toml has no more: its members are pending until it is back.
TEST_F(Edits, MembersOfAGroupThatIsGoneArePending) {
  put("a", R"({"members": ["h1", "group:storage"]})");
  files_.groups.clear();

  const auto merged = config::merge_partitions(with_api(files_, *policies_));

  ASSERT_TRUE(merged);
  EXPECT_THAT(merged->warnings, testing::SizeIs(1));
  const std::vector<config::PortView> ports;
  const auto resolved = config::resolve_partitions(merged->policy, config::PortIndex(ports), Guid{});
  ASSERT_THAT(resolved.front().pending, testing::SizeIs(2));
  EXPECT_EQ(resolved.front().pending[1].member.reason, "there is no group of this name");
}

}  // namespace
}  // namespace smd::policy
