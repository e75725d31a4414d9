// SPDX-License-Identifier: Apache-2.0
// What a reload says that it changes, where the policy before was refused.
#include "config/difference.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SubnetConfig read(std::string_view text) {
  auto context = context_with({});
  context.may_refuse_policy = true;
  const auto config = load_text(text, "smd.toml", {}, context);
  if (config) return config->base;
  for (const auto& error : config.error()) ADD_FAILURE() << to_string(error);
  return {};
}

constexpr std::string_view kLevel = "[[qos.level]]\nname = \"DEFAULT\"\nsl = ";
constexpr std::string_view kPartition = "[[partition]]\nname = \"a\"\npkey = ";

std::string text_of(std::string_view sl, std::string_view pkey, std::string_view tail = {}) {
  return fmt::format("[qos]\nenabled = true\n{}{}\n{}{}\n{}", kLevel, sl, kPartition, pkey, tail);
}

/// What was in force was accepted before: it is not known to have lacked the level.
TEST(Difference, ARefusedQosPolicyIsNotComparedWith) {
  const auto good = read(text_of("1", "1"));
  EXPECT_THAT(differences(good, read(text_of("2", "1"))), ElementsAre("qos.level[\"DEFAULT\"].sl 1 -> 2"));
  const auto refused = read(text_of("99", "1"));
  ASSERT_FALSE(refused.qos.refused.empty());

  constexpr auto kSentence = "the QoS policy of the files instead of the one accepted last";
  EXPECT_THAT(differences(refused, good), ElementsAre(kSentence));
  EXPECT_THAT(differences(refused, read(text_of("1", "2"))),
              ElementsAre("partition[\"a\"].pkey 0x0001 -> 0x0002", kSentence));
  EXPECT_THAT(differences(refused, refused), IsEmpty());
}

TEST(Difference, NorAreRefusedPartitions) {
  const auto refused = read(text_of("1", "\"x\""));
  ASSERT_FALSE(refused.partitions.refused.empty());

  EXPECT_THAT(differences(refused, read(text_of("1", "1", "[lids]\nlmc = 1\n"))),
              ElementsAre(testing::StartsWith("lids.lmc "),
                          "partitions, groups and QoS policy of the files instead of those accepted last"));
}

/// Logs, events and their readers get the name of a webhook; its path may be a secret.
TEST(Difference, OfSeveralSubnetsItsNameSaysWhichHasIt) {
  EXPECT_THAT(
      united({{.subnet = "east", .items = {"lids.lmc 0 -> 1", "sm.priority 1 -> 2"}},
              {.subnet = "west", .items = {"lids.lmc 0 -> 1", "sm.priority 1 -> 3"}}}),
      testing::ElementsAre("lids.lmc 0 -> 1", "east: sm.priority 1 -> 2", "west: sm.priority 1 -> 3"));
  EXPECT_THAT(united({{.subnet = "east", .items = {}}, {.subnet = "west", .items = {"lids.lmc 0 -> 1"}}}),
              testing::ElementsAre("west: lids.lmc 0 -> 1"));
  EXPECT_THAT(united({{.subnet = "", .items = {"lids.lmc 0 -> 1"}}}),
              testing::ElementsAre("lids.lmc 0 -> 1"));
}

TEST(Difference, AWebhookIsNamedWithoutItsPath) {
  const auto api = [](const std::string& text) {
    const auto config = load_text(text, "smd.toml", {}, context_with({}));
    EXPECT_TRUE(config);
    return config ? config->api : ApiConfig{};
  };
  const auto hook =
      api("[[api.webhook]]\nurl = \"https://a.example:18501/services/SECRET\"\nsecret_file = \"/s\"\n");

  EXPECT_THAT(differences(api(""), hook), ElementsAre("api.webhook[\"https://a.example:18501/...\"] added"));
}

TEST(Difference, KeysThatCountAtTheStartAloneKeepTheirValuesAtAReload) {
  const auto now = read("");
  auto next = read("[routing]\nthreads = 3\n[ha]\npoll = \"100ms\"\n[lids]\nlmc = 1\n");
  next.ha.listen = "127.0.0.1:7650";
  next.ha.peers = {"sm2:7650"};
  next.ha.psk = {1};

  const auto taken = reloadable(now, next);

  using testing::StartsWith;
  EXPECT_THAT(differences(now, taken),
              testing::UnorderedElementsAre(StartsWith("lids.lmc "), StartsWith("ha.poll ")));
  EXPECT_THAT(differences(taken, next),
              testing::UnorderedElementsAre(StartsWith("routing.threads "), StartsWith("ha.listen "),
                                            StartsWith("ha.peers "), "what is in ha.psk_file"));
  EXPECT_EQ(reloadable(taken, next), taken);
}

}  // namespace
}  // namespace smd::config
