// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/left_partitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace smd::policy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct NamedKey {
  std::string name;
  std::uint16_t pkey;
};

Policies with_keys(const std::vector<NamedKey>& all) {
  Policies policies;
  for (const auto& [name, pkey] : all)
    policies.api[name] = std::make_shared<const ApiPartition>(ApiPartition{.name = name, .pkey = pkey});
  return policies;
}

LeftPartitions joined(const Policies& ours, const Policies& other, const Policies* common,
                      const config::SubnetConfig& files = {}) {
  return with_left_partitions({.config = std::make_shared<const config::SubnetConfig>(files),
                               .policies = std::make_shared<const Policies>(ours),
                               .merged = merged_policy(files, ours)},
                              other, common);
}

TEST(LeftPartitions, ThatOnlyTheOtherPartHasMadeOrChangedAreTaken) {
  const auto common = with_keys({{"changed", 1}, {"same", 2}});
  const auto left = joined(with_keys({{"changed", 1}, {"ours", 3}, {"same", 2}}),
                           with_keys({{"changed", 5}, {"made", 4}, {"same", 2}}), &common);

  EXPECT_THAT(left.taken, ElementsAre("changed", "made"));
  EXPECT_THAT(left.refused, IsEmpty());
  EXPECT_EQ(*left.policies, with_keys({{"changed", 5}, {"made", 4}, {"ours", 3}, {"same", 2}}));
  ASSERT_NE(left.merged, nullptr);
  EXPECT_NE(left.merged->find(PKey{4}), nullptr);
}

TEST(LeftPartitions, ThatAreDeletedInOneOfBothStayAsTheyAreHere) {
  const auto common = with_keys({{"changed", 1}, {"here", 2}, {"there", 3}});
  const auto ours = with_keys({{"there", 3}});
  const auto left = joined(ours, with_keys({{"changed", 5}, {"here", 2}}), &common);

  EXPECT_THAT(left.taken, IsEmpty());
  EXPECT_THAT(left.refused, ElementsAre("changed (deleted here)", "there (deleted there)"));
  EXPECT_EQ(*left.policies, ours);
}

TEST(LeftPartitions, WhoseNameOrNumberIsInUseAreNamed) {
  const auto common = with_keys({});
  config::SubnetConfig files;
  files.partition = {{.name = "filed", .pkey = 0x20}};
  const auto ours = with_keys({{"key", 1}, {"name", 2}});
  const auto left = joined(ours, with_keys({{"file", 0x20}, {"name", 3}, {"other", 1}}), &common, files);

  EXPECT_THAT(left.taken, IsEmpty());
  EXPECT_THAT(left.refused,
              ElementsAre(HasSubstr("file (P_Key 0x0020 is defined in "), "name (changed here, too)",
                          "other (P_Key 0x0001 is that of partition key)"));
  EXPECT_EQ(*left.policies, ours);
}

/// One of both may have deleted what the other still has.
TEST(LeftPartitions, AreNotTakenWhereWhatBothHadIsNotKnown) {
  const auto left = joined(with_keys({{"same", 1}}), with_keys({{"made", 2}, {"same", 1}}), nullptr);

  EXPECT_THAT(left.taken, IsEmpty());
  EXPECT_THAT(left.refused, ElementsAre("made (what both parts had when the fabric was cut is not known)"));
}

}  // namespace
}  // namespace smd::policy
