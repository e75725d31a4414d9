// SPDX-License-Identifier: Apache-2.0
// [partitions], [[group]] and [[partition]] of smd.toml as sources of the policy.
#include "config/partition_sources.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/describe.h"
#include "config/difference.h"
#include "config/qos_sources.h"
#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Config partitions_from(std::string_view text, std::map<std::string, std::string> files = {}) {
  auto config = load_text(text, "smd.toml", {}, context_with(std::move(files)));
  if (config) return *std::move(config);
  for (const auto& error : config.error()) ADD_FAILURE() << to_string(error);
  return {};
}

/// A digest of less than all of it would have an old policy in force without end.
TEST(PartitionSources, TheDigestOfAPolicyTellsPortsApart) {
  const auto digest = [](std::string_view ports, std::string_view group = "[\"io0\"]") {
    const auto config =
        partitions_from(fmt::format("[[group]]\nname = \"storage\"\nmembers = {}\n"
                                    "[[partition]]\nname = \"blue\"\npkey = 0x12\nfull = {}\n",
                                    group, ports));
    const auto merged = merge_partitions(partition_sources(config.subnets.at(0)));
    return merged ? merged->policy.digest : 0;
  };
  const std::vector<std::uint64_t> digests{digest(R"(["h1", "h23"])"),
                                           digest(R"(["h12", "h3"])"),
                                           digest(R"(["h1:2", "h3"])"),
                                           digest(R"(["h1"])"),
                                           digest(R"(["level:1"])"),
                                           digest(R"(["rail:1"])"),
                                           digest(R"(["ALL"])"),
                                           digest(R"(["0x10"])"),
                                           digest(R"(["0x10-0x1f"])"),
                                           digest(R"(["0x10-0x2f"])"),
                                           digest(R"(["h1"])", R"(["io1"])")};
  const std::set<std::uint64_t> distinct(digests.begin(), digests.end());
  EXPECT_EQ(distinct.size(), digests.size());
  EXPECT_FALSE(distinct.contains(0));
  EXPECT_EQ(digest("[ \"h1\",\n  \"h23\" ]"), digests[0]);
}

TEST(PartitionSources, ABlockIsADefinitionWithItsLine) {
  const auto config = partitions_from(R"(
[[group]]
name = "storage"
members = ["io*", "0x10-0x1f"]

[[partition]]
name = "blue"
pkey = 0x8012
limited = ["ALL_CAS"]
full = ["SELF", "group:storage"]
members = [{ports = ["h0:1"], membership = "both", index0 = true}]
ipoib = true
mtu = 4096
rate = 100
qkey = 0x0b1c
scopes = [2, 5]
groups = [{mgid = "ff12:401b::16"}, {mgid = "ff12::1", mtu = 2048, rate = 10, tclass = 3, flow_label = 4}]
)");
  const auto sources = partition_sources(config.subnets[0]);

  ASSERT_THAT(sources.toml, SizeIs(1));
  const auto& blue = sources.toml[0];
  EXPECT_EQ(blue.name, "blue");
  EXPECT_EQ(blue.pkey, 0x12);
  EXPECT_EQ(blue.source, (PolicySource{.origin = PolicyOrigin::toml, .line = 6}));
  EXPECT_TRUE(blue.ipoib);
  EXPECT_EQ(blue.settings, (GroupSettings{.mtu = Mtu::m4096, .rate = 16, .scopes = 0x24, .qkey = 0x0b1c}));
  ASSERT_THAT(blue.members, SizeIs(3));
  EXPECT_EQ(to_string(blue.members[1].ports), "SELF, group:storage");
  EXPECT_EQ(blue.members[1].membership, Membership::full);
  EXPECT_EQ(blue.members[2].membership, Membership::both);
  EXPECT_TRUE(blue.members[2].index0);
  ASSERT_THAT(blue.groups, SizeIs(2));
  EXPECT_EQ(blue.groups[0].settings, blue.settings) << "what a group does not say is its partition's";
  EXPECT_EQ(blue.groups[1].settings.mtu, Mtu::m2048);
  EXPECT_EQ(blue.groups[1].settings.rate, 3);
  EXPECT_EQ(to_string(sources.groups.at("storage")), "io*, 0x0000000000000010-0x000000000000001f");
}

TEST(PartitionSources, OpensmsFileIsReadWithItsWarnings) {
  const auto config = partitions_from("[partitions]\nfile = \"p.conf\"\nallow_both_pkeys = true\n",
                                      {{"p.conf", "A : ALL=both ;\n"}});
  const auto sources = partition_sources(config.subnets[0]);

  EXPECT_THAT(sources.conf, SizeIs(1));
  EXPECT_TRUE(sources.allow_both_pkeys);
  ASSERT_THAT(config.warnings, SizeIs(1));
  EXPECT_EQ(to_string(config.warnings[0]),
            "p.conf:1: \"A\" has no P_Key and gets 0x0001, or keeps the one that it has got before; it may "
            "change with the "
            "lines before it");
}

TEST(PartitionSources, LinesAboveABlockChangeNothing) {
  const auto one = partitions_from("[[partition]]\nname = \"a\"\n");
  const auto other = partitions_from("# a comment\n\n[[partition]]\nname = \"a\"\n");

  EXPECT_EQ(one, other);
  EXPECT_NE(partition_sources(one.base).toml[0].source, partition_sources(other.base).toml[0].source);
}

/// Whatever the file is called.
TEST(PartitionSources, AreNamedByTheFileThatTheyStandIn) {
  const auto config = load_text(
      "[qos]\nenabled = true\n[[qos.level]]\nname = \"DEFAULT\"\nsl = 1\n[[partition]]\nname = \"a\"\npkey = "
      "1\n"
      "[[subnet]]\nname = \"one\"\nport = \"mlx5_0:1\"\n",
      "/tmp/b.toml", {}, context_with({}));
  ASSERT_TRUE(config) << to_string(config.error().front());

  for (const auto* subnet : {&config->base, &config->subnets[0]}) {
    const auto merged = merge_partitions(partition_sources(*subnet));
    ASSERT_TRUE(merged);
    const auto* partition = merged->policy.find(PKey{1});
    ASSERT_NE(partition, nullptr);
    EXPECT_EQ(to_string(partition->sources.front(), merged->policy), "/tmp/b.toml:6");
    EXPECT_EQ(qos_policy_of(*subnet).file, "/tmp/b.toml");
  }
}

TEST(PartitionSources, ASubnetsBlocksReplaceThoseOutsideOfIt) {
  const auto config = partitions_from(R"(
[[partition]]
name = "a"
pkey = 1
[[subnet]]
name = "one"
port = "mlx5_0:1"
[[subnet]]
name = "two"
port = "mlx5_1:1"
[[subnet.partition]]
name = "b"
pkey = 1
)");

  EXPECT_EQ(partition_sources(config.subnets[0]).toml[0].name, "a");
  EXPECT_EQ(partition_sources(config.subnets[1]).toml[0].name, "b");
}

TEST(PartitionSources, RemovingForeignKeysNeedsADefaultPartition) {
  EXPECT_THAT(
      errors_of("[adopt]\nforeign_pkeys = \"remove\"\n[[partition]]\nname = \"Default\"\npkey = 0x7fff\n"),
      IsEmpty());
  EXPECT_THAT(errors_of("[adopt]\nforeign_pkeys = \"remove\"\n[[partition]]\nname = \"a\"\npkey = 1\n"),
              ElementsAre(HasSubstr("adopt.foreign_pkeys: got \"remove\", expected \"keep\"")));
}

TEST(PartitionSources, CheckPrintsBothNotationsOfMtuAndRate) {
  const auto text =
      describe(partitions_from("[[partition]]\nname = \"a\"\npkey = 5\nmtu = 4096\nrate = 400\n"));

  EXPECT_THAT(
      text,
      HasSubstr("name = \"a\", pkey = 0x0005, mtu = 4096 (mtu=5 in OpenSM's file), rate = 400 (rate=21 in "
                "OpenSM's file)"));
}

}  // namespace
}  // namespace smd::config
