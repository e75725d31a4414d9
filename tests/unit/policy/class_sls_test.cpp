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

PoliciesPtr none() { return std::make_shared<const Policies>(); }

TEST(ClassSls, AreKeptFromOneConfigurationToTheNext) {
  const auto first = with_class_sls(with_class_names({"a", "b"}), none());
  EXPECT_THAT(first->class_sls, ElementsAre(Pair("a", Sl{1}), Pair("b", Sl{2})));
  EXPECT_EQ(with_class_sls(with_class_names({"a", "b"}), first), first) << "nothing changes";

  const auto config = with_class_names({"x", "b", "a"});
  const auto next = with_class_sls(config, first);

  EXPECT_THAT(next->class_sls, ElementsAre(Pair("a", Sl{1}), Pair("b", Sl{2}), Pair("x", Sl{3})));
  const auto in_force = with_kept(std::make_shared<const config::SubnetConfig>(config), *next);
  EXPECT_EQ(config::find_class(config::qos_classes_of(*in_force), "a")->sl, Sl{1});
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
  const auto done = in_classes(config, *edited);

  EXPECT_EQ(done.merged->find(PKey{0x30})->sl, Sl{1});
  EXPECT_EQ(*done.merged, *merged_policy(config, *done.policies));
  EXPECT_THAT(done.policies->class_sls, ElementsAre(Pair("a", Sl{2}), Pair("b", Sl{1})));
}

}  // namespace
}  // namespace smd::policy
