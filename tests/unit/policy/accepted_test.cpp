// SPDX-License-Identifier: Apache-2.0
// The policy of files as the store keeps it.
#include "smd/policy/accepted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "config/load.h"
#include "config/partition_sources.h"
#include "config/partitions.h"

namespace smd::policy {
namespace {

constexpr std::string_view kToml = R"(
[partitions]
file = "partitions.conf"
enforcement = "out"
enforcement_required = true
allow_both_pkeys = true
api_pkeys = "0x0100-0x01ff"

[[group]]
name = "storage"
members = ["io*", "0x10-0x1f", "node:ALL", "level:1"]

[[partition]]
name = "blue"
pkey = 0x8012
limited = ["h0*", "h1:2"]
full = ["SELF", "group:storage"]
both = ["ALL_SWITCHES"]
members = [{ports = ["h00001"], membership = "full", index0 = true}]
ipoib = true
mtu = 4096
rate = 100
qkey = 7
scopes = [2, 5]
groups = [{mgid = "ff12:401b::16", tclass = 3, flow_label = 9}]

[[partition]]
name = "red"
pkey = "auto"
)";
constexpr std::string_view kConf =
    "One=0x1,ipoib,mtu=5,defmember=full:ALL,0x5=limited;\nTwo,indx0:0x7,SELF=full;\n";

std::expected<config::Config, std::vector<config::ConfigError>> load(std::string_view toml,
                                                                     std::string_view conf,
                                                                     bool may_refuse = false) {
  config::ConfigContext context;
  context.read = [conf](const std::filesystem::path&) { return std::string(conf); };
  context.may_refuse_policy = may_refuse;
  return config::load_text(toml, "smd.toml", {}, context);
}

TEST(AcceptedPolicy, IsReadAsItWasWritten) {
  const auto config = load(kToml, kConf);
  ASSERT_TRUE(config) << to_string(config.error().front());
  const auto text = accepted_text(config->base);
  config::SubnetConfig other;

  const auto restored = restore_accepted(text, other);

  ASSERT_TRUE(restored) << restored.error();
  EXPECT_EQ(accepted_text(other), text);
  EXPECT_EQ(config::merge_partitions(config::partition_sources(other, ""))->policy,
            config::merge_partitions(config::partition_sources(config->base, "smd.toml"))->policy);
  EXPECT_EQ(other.partitions.enforcement, config::Enforcement::out);
  EXPECT_TRUE(other.partitions.enforcement_required);
  EXPECT_EQ(other.partitions.api_pkeys, std::pair(std::uint16_t{0x100}, std::uint16_t{0x1ff}));
}

TEST(AcceptedPolicy, OfNoPartitionsIsOneToo) {
  config::SubnetConfig other;
  ASSERT_TRUE(restore_accepted(accepted_text({}), other));
  EXPECT_FALSE(config::merge_partitions(config::partition_sources(other, ""))->policy.configured);
}

TEST(AcceptedPolicy, RefusesAnyOtherText) {
  const auto good = accepted_text(load(kToml, kConf)->base);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < good.size(); i += 3) {
    config::SubnetConfig into;
    if (!restore_accepted(good.substr(0, i), into)) ++refused;
    auto changed = good;
    changed[i] = '7';
    std::ignore = restore_accepted(changed, into);  // whatever comes of it
  }
  EXPECT_EQ(refused, (good.size() + 2) / 3);
  config::SubnetConfig into;
  EXPECT_FALSE(restore_accepted("{}", into));
}

/// Only what is wrong of partitions and groups may be wrong, and then all of it is left out.
TEST(RefusedPolicy, LeavesTheRestOfTheConfiguration) {
  const std::string lids = "[lids]\nfirst = 5\n";
  for (const auto& [toml, conf] : std::vector<std::pair<std::string, std::string>>{
           {"[partitions]\nfile = \"p\"\n", "X=0x10 : notaguid=full ;\n"},
           {"[partitions]\nenforcement = \"bth\"\n", ""},
           {"[partitions]\nenforcment = \"both\"\n", ""},
           {"[[partition]]\nname = \"a\"\npkey = 0x12\nfulll = [\"SELF\"]\n", ""},
           {"[[partition]]\nname = \"a\"\npkey = 0x12\n[[partition]]\nname = \"b\"\npkey = 0x12\n", ""},
           {"[[partition]]\nname = \"a\"\npkey = 0x10\n[partitions]\nfile = \"p\"\n", "X=0x10:ALL;\n"},
           {"[[group]]\nname = \"g\"\nmembers = [\"group:g\"]\n", ""}}) {
    EXPECT_FALSE(load(lids + toml, conf)) << toml;
    const auto config = load(lids + toml, conf, true);
    ASSERT_TRUE(config) << toml << to_string(config.error().front());
    EXPECT_EQ(config->base.lids.first, Lid{5});
    EXPECT_FALSE(config->base.partitions.refused.empty()) << toml;
    EXPECT_FALSE(config->subnets[0].partitions.refused.empty()) << toml;
    EXPECT_TRUE(config->base.partition.empty() && config->base.groups.empty()) << toml;
    EXPECT_FALSE(load("[lids]\nfirst = 0\n" + toml, conf, true)) << toml;
  }
  EXPECT_FALSE(load("[[partitoin]]\nname = \"a\"\n", "", true)) << "may be anything";
  EXPECT_FALSE(load("[[partition]\n", "", true)) << "nothing of the file is known";
  EXPECT_TRUE(load(kToml, kConf, true)->base.partitions.refused.empty());
}

}  // namespace
}  // namespace smd::policy
