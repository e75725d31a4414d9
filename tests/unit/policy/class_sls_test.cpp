// SPDX-License-Identifier: Apache-2.0
// SLs of classes are kept by name, with the partitions of the API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "config/qos_classes.h"
#include "smd/policy/accepted.h"
#include "smd/policy/edits.h"

namespace smd::policy {
namespace {

using testing::ElementsAre;
using testing::Pair;

config::SubnetConfig with_class_names(const std::vector<std::string>& names) {
  config::SubnetConfig config;
  config.qos.enabled = true;
  for (const auto& name : names) config.qos.traffic_classes.push_back({.name = name, .partitions = {name}});
  return config;
}

config::SubnetConfig equal_tenants() {
  config::SubnetConfig config;
  config.qos.enabled = true;
  config.qos.preset = config::QosPreset::tenants_equal;
  config.partition = {{.name = "filed", .pkey = 0x20}};
  return config;
}

PoliciesPtr none() { return std::make_shared<const Policies>(); }

TEST(ClassSls, AreKeptFromOneConfigurationToTheNext) {
  const auto first = with_class_sls(with_class_names({"a", "b"}), none());
  EXPECT_THAT(first->class_sls, ElementsAre(Pair("a", Sl{1}), Pair("b", Sl{2})));
  EXPECT_EQ(with_class_sls(with_class_names({"a", "b"}), first), first) << "nothing changes";

  const auto config = with_class_names({"x", "b", "a"});
  const auto next = with_class_sls(config, first);

  EXPECT_THAT(next->class_sls, ElementsAre(Pair("a", Sl{1}), Pair("b", Sl{2}), Pair("x", Sl{3})));
  const auto in_force = with_kept(std::make_shared<const config::SubnetConfig>(config), *next);
  EXPECT_EQ(config::find_class(config::qos_classes_of(*in_force).all, "a")->sl, Sl{1});
  const auto without = std::make_shared<const config::SubnetConfig>();
  EXPECT_EQ(with_kept(without, *next), without);
  EXPECT_EQ(with_class_sls(*without, next), next);
}

/// A store of before had no such table; what was in force last says it.
TEST(ClassSls, OfAnEarlierReleaseAreThoseOfTheAcceptedPolicy) {
  Policies policies;
  policies.accepted = accepted_text(with_class_names({"a", "b"}));

  const auto next =
      with_class_sls(with_class_names({"x", "a", "b"}), std::make_shared<const Policies>(policies));

  EXPECT_THAT(next->class_sls, ElementsAre(Pair("a", Sl{1}), Pair("b", Sl{2}), Pair("x", Sl{3})));
  EXPECT_TRUE(accepted_sls("{").empty());
}

/// What is shown of a partition that was changed is what is in force.
TEST(ClassSls, APartitionThatWasChangedHasTheSlOfItsClass) {
  const auto config = with_class_names({"a", "b"});
  auto policies = with_class_sls(with_class_names({"b"}), none());
  const auto merged = merged_policy(config, *policies);
  const auto files = sources_of(*with_kept(std::make_shared<const config::SubnetConfig>(config), *policies));

  const auto edited = put_partition({files, *policies, *merged}, {.name = "b", .pkey = 0x30});
  ASSERT_TRUE(edited) << edited.error().text;
  const auto done = in_classes(config, *policies, *edited);

  ASSERT_TRUE(done) << done.error().text;
  EXPECT_EQ(done->merged->find(PKey{0x30})->sl, Sl{1});
  EXPECT_EQ(*done->merged, *merged_policy(config, *done->policies));
  EXPECT_THAT(done->policies->class_sls, ElementsAre(Pair("a", Sl{2}), Pair("b", Sl{1})));
}

TEST(ClassSls, AnSlThatIsNotTheOneOfTheClassIsAConflict) {
  const auto config = with_class_names({"a", "b"});
  const auto policies = with_class_sls(config, none());
  const auto merged = merged_policy(config, *policies);
  const auto files = sources_of(*with_kept(std::make_shared<const config::SubnetConfig>(config), *policies));
  const auto put = [&](std::uint8_t sl) {
    const auto edited =
        put_partition({files, *policies, *merged}, {.name = "b", .pkey = 0x30, .settings = {.sl = Sl{sl}}});
    return in_classes(config, *policies, *edited);
  };

  const auto refused = put(5);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "sl_of_class");
  EXPECT_THAT(refused.error().text,
              testing::HasSubstr("SL 5 is asked for, and the partition's traffic class has SL 2"));
  EXPECT_TRUE(put(2)) << "it is the one of the class";
  EXPECT_TRUE(put(0)) << "it asks for none";
}

/// It was made while there were no classes.
TEST(ClassSls, APartitionOfTheApiThatLosesItsSlToItsClassIsNamed) {
  auto config = with_class_names({"a"});
  const auto policies_with = [](std::uint8_t sl) {
    Policies policies;
    policies.api["b"] = std::make_shared<ApiPartition>(ApiPartition{
        .name = "b", .pkey = 0x30, .settings = {.sl = Sl{sl}}, .source = {config::PolicyOrigin::api, 0}});
    return policies;
  };
  const auto merged = merged_policy(config, policies_with(5));

  EXPECT_EQ(merged->find(PKey{0x30})->sl, Sl{0});
  EXPECT_THAT(merged->sls_of_class,
              ElementsAre(config::SlOfClass{.name = "b", .pkey = PKey{0x30}, .asked = Sl{5}, .sl = Sl{0}}));
  const auto without = merged_policy(config, policies_with(0));
  EXPECT_TRUE(without->sls_of_class.empty()) << "it asks for none";
  EXPECT_NE(merged->digest, without->digest) << "answers differ, and so do their tags";

  config.partition = {{.name = "c", .pkey = 0x30}};
  EXPECT_TRUE(merged_policy(config, policies_with(5))->sls_of_class.empty()) << "a file has taken it over";
  config.partition.clear();
  config.qos.enabled = false;
  EXPECT_TRUE(merged_policy(config, policies_with(5))->sls_of_class.empty()) << "all have SL 0";
  config::SubnetConfig plain;
  plain.qos.enabled = true;
  EXPECT_TRUE(merged_policy(plain, policies_with(5))->sls_of_class.empty()) << "no classes";
  EXPECT_EQ(merged_policy(plain, policies_with(5))->find(PKey{0x30})->sl, Sl{5});
}

/// Paths have it by the rule of the class; IPoIB's broadcast group is the partition's.
TEST(ClassSls, TheDefaultPartitionThatNoFileDefinesHasThatOfItsClass) {
  for (const auto* item : {"Default", "0x7fff", "0xffff"}) {
    auto config = with_class_names({"base"});
    config.qos.traffic_classes[0].partitions = {item};
    const auto plain = merged_policy(config::SubnetConfig{}, {});

    const auto merged = merged_policy(config, {});

    const auto* found = merged->find(config::kDefaultPartition);
    EXPECT_EQ(found->sl, Sl{1}) << item;
    ASSERT_FALSE(found->groups.empty());
    for (const auto& group : found->groups) EXPECT_EQ(group.sl, Sl{1}) << to_string(group.mgid);
    EXPECT_NE(merged->digest, plain->digest);
    EXPECT_TRUE(merged->sls_of_class.empty());

    config.partition = {{.name = "blue", .pkey = 0x30}};
    EXPECT_EQ(merged_policy(config, {})->find(config::kDefaultPartition)->sl, Sl{1});
    config.qos.enabled = false;
    EXPECT_EQ(merged_policy(config, {})->find(config::kDefaultPartition)->sl, Sl{0});
  }
  const auto merged = merged_policy(with_class_names({"a"}), {});
  EXPECT_EQ(merged->find(config::kDefaultPartition)->sl, Sl{0}) << "it is in no class";
}

TEST(ClassSls, ThePartitionsOfTheApiHaveThoseOfTheirClasses) {
  const auto config = equal_tenants();
  auto policies = none();
  const auto change = [&](auto edit) {
    const auto merged = merged_policy(config, *policies);
    const auto files =
        sources_of(*with_kept(std::make_shared<const config::SubnetConfig>(config), *policies));
    const auto edited = edit(EditContext{files, *policies, *merged});
    ASSERT_TRUE(edited) << edited.error().text;
    const auto done = in_classes(config, *policies, *edited);
    ASSERT_TRUE(done) << done.error().text;
    policies = done->policies;
    EXPECT_EQ(*done->merged, *merged_policy(config, *policies)) << "what is shown is what is in force";
  };
  const auto put = [&](const std::string& name, std::uint16_t pkey) {
    change([&](const EditContext& context) {
      return put_partition(context, {.name = name, .pkey = pkey, .source = {config::PolicyOrigin::api, 0}});
    });
  };
  const auto sl = [&](std::uint16_t pkey) { return merged_policy(config, *policies)->find(PKey{pkey})->sl; };
  put("m", 0x30);
  EXPECT_EQ(sl(0x20), Sl{1});
  EXPECT_EQ(sl(0x30), Sl{2});

  put("b", 0x31);  // before it by name
  EXPECT_EQ(sl(0x30), Sl{2}) << "a running connection";
  EXPECT_EQ(sl(0x31), Sl{3});
  change([](const EditContext& context) { return erase_partition(context, "m"); });
  EXPECT_EQ(sl(0x31), Sl{3});
  put("z", 0x32);
  EXPECT_EQ(sl(0x32), Sl{4});
  put("m", 0x30);
  EXPECT_EQ(sl(0x30), Sl{2}) << "it is back";

  put("a", 0x33);  // before all by name
  std::vector<std::string> names;
  const auto kept = with_kept(std::make_shared<const config::SubnetConfig>(config), *policies);
  for (const auto& one : config::qos_classes_of(*kept).all) names.push_back(one.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"m", "b", "z", "a"}));
  EXPECT_THAT(std::vector(names.end() - 4, names.end()), ElementsAre("m", "b", "z", "a"))
      << "VLs go by this order";
}

/// The text of the files does not change with the API's partitions, and a standby takes tenants by it.
TEST(ClassSls, TheAcceptedPolicyIsThatOfTheFilesAndTakesTenants) {
  const auto config = equal_tenants();
  Policies policies;
  policies.class_sls = {{"filed", Sl{5}}};
  const auto text = accepted_text(with_kept_sls(config, policies));
  policies.api["t"] = std::make_shared<ApiPartition>(ApiPartition{.name = "t", .pkey = 0x33});
  EXPECT_EQ(accepted_text(with_kept_sls(config, policies)), text);
  config::SubnetConfig taken;
  taken.qos.enabled = true;

  ASSERT_TRUE(restore_accepted(text, taken));

  EXPECT_EQ(accepted_text(taken), text);
  const auto merged = merged_policy(taken, policies);
  EXPECT_EQ(merged->find(PKey{0x20})->sl, Sl{5});
  EXPECT_EQ(merged->find(PKey{0x33})->sl, Sl{1});
  EXPECT_EQ(*merged, *merged_policy(config, policies));
}

}  // namespace
}  // namespace smd::policy
