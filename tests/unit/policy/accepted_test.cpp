// SPDX-License-Identifier: Apache-2.0
// The policy of files as the store keeps it.
#include "smd/policy/accepted.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "config/kept_names.h"
#include "config/load.h"
#include "config/partition_sources.h"
#include "config/partitions.h"
#include "config/qos_sources.h"
#include "smd/policy/policies.h"

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

TEST(AcceptedPolicy, HasClassesAsTheyWereWritten) {
  const auto config =
      load("[qos]\nenabled = true\n[[qos.class]]\nname = \"ip\"\nulps = [\"ipoib\", \"nvmeof\"]\n", "");
  ASSERT_TRUE(config) << to_string(config.error().front());
  config::SubnetConfig other;
  const auto restored = restore_accepted(accepted_text(config->base), other);
  ASSERT_TRUE(restored) << restored.error();
  ASSERT_TRUE(other.qos.accepted);
  EXPECT_EQ(*other.qos.accepted, config::qos_policy_of(config->base));
  EXPECT_TRUE(other.qos.accepted->rules.back().no_service);
}

TEST(AcceptedPolicy, IsReadAsItWasWritten) {
  const auto config = load(kToml, kConf);
  ASSERT_TRUE(config) << to_string(config.error().front());
  const auto text = accepted_text(config->base);
  config::SubnetConfig other;

  const auto restored = restore_accepted(text, other);

  ASSERT_TRUE(restored) << restored.error();
  EXPECT_EQ(accepted_text(other), text);
  EXPECT_EQ(config::merge_partitions(config::partition_sources(other))->policy,
            config::merge_partitions(config::partition_sources(config->base))->policy);
  EXPECT_EQ(other.partitions.enforcement, config::Enforcement::out);
  EXPECT_TRUE(other.partitions.enforcement_required);
  EXPECT_EQ(other.partitions.api_pkeys, std::pair(std::uint16_t{0x100}, std::uint16_t{0x1ff}));
}

TEST(AcceptedPolicy, KeepsTheNumbersThatPartitionsHaveGot) {
  const auto before = load("[[partition]]\nname = \"a\"\n[[partition]]\nname = \"b\"\n", "");
  ASSERT_TRUE(before) << to_string(before.error().front());
  Policies policies;
  const auto merged = merged_policy(before->base, policies);
  policies.accepted = accepted_text(before->base, merged.get());
  EXPECT_EQ(accepted_pkeys(policies.accepted).chosen.at(config::KeptNames::of_toml("b")), 2);

  const auto after = load("[[partition]]\nname = \"b\"\n", "");
  const auto kept = merged_policy(after->base, policies);
  ASSERT_NE(kept->find(PKey{2}), nullptr);
  EXPECT_EQ(kept->find(PKey{2})->name, "b");
  EXPECT_TRUE(accepted_pkeys("no JSON").chosen.empty());
}

/// Of the file, of smd.toml, and those that have none, also after others have come and gone.
TEST(AcceptedPolicy, KeepsTheNumbersOfPartitionsThatShareTheirName) {
  const std::string toml =
      "[partitions]\nfile = \"p.conf\"\n[[partition]]\nname = \"Foo\"\nfull = [\"0x3\"]\n";
  const auto numbers_of = [](const config::PartitionPolicy& policy) {
    std::map<std::string, std::uint16_t> numbers;  // by the first member
    for (const auto& partition : policy.partitions) {
      if (partition.automatic) numbers[to_string(partition.members[0].ports)] = partition.pkey.value();
    }
    return numbers;
  };
  const std::string shared = "Foo:0x1;\n :0x2;\nFix=0x2:0x9;\n :NONE;\n :0x4;\n";
  Policies policies;
  std::map<std::string, std::uint16_t> first;
  for (const std::string& conf : {shared, shared, "New:0x5;\n" + shared, shared}) {
    const auto loaded = load(toml, conf);
    ASSERT_TRUE(loaded) << to_string(loaded.error().front());
    const auto merged = merged_policy(loaded->base, policies);
    ASSERT_NE(merged, nullptr);
    auto numbers = numbers_of(*merged);
    numbers.erase("0x0000000000000005");
    if (first.empty()) first = numbers;
    EXPECT_THAT(numbers, testing::SizeIs(4));
    EXPECT_EQ(numbers, first) << conf;
    policies.accepted = accepted_text(loaded->base, merged.get());
  }
}

TEST(AcceptedPolicy, OfNoPartitionsIsOneToo) {
  config::SubnetConfig other;
  ASSERT_TRUE(restore_accepted(accepted_text({}), other));
  EXPECT_FALSE(config::merge_partitions(config::partition_sources(other))->policy.configured);
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

TEST(AcceptedPolicy, HasValuesOfLidsLinksAndRouting) {
  config::ConfigContext context;
  context.engines = {"auto", "updn", "ftree"};
  const auto load_with = [&](std::string_view toml) {
    return config::load_text(toml, "smd.toml", {}, context)->base;
  };
  const auto from = load_with("[lids]\nlmc = 1\n[routing]\nengines = [\"updn\"]\n[links]\nmtu = 2048\n");
  auto into = load_with("[routing]\nengines = [\"ftree\"]\n");
  const auto text = accepted_text(from);

  const auto found = accepted_differences(text, accepted_text(into));
  const auto restored = restore_accepted_settings(text, context, into);

  EXPECT_THAT(found.keys, testing::ElementsAre("lids.lmc", "links.mtu", "routing.engines"));
  EXPECT_THAT(found.values, testing::Contains("routing.engines [\"updn\"] -> [\"ftree\"]"));
  ASSERT_TRUE(restored) << restored.error();
  EXPECT_EQ(accepted_text(into), text);
  EXPECT_TRUE(restore_accepted_settings("{}", context, into)) << "of an older version";
  EXPECT_EQ(accepted_text(into), text);
  EXPECT_FALSE(restore_accepted_settings("{", context, into));
}

config::SubnetConfig with_m_keys(std::optional<std::uint64_t> secret, std::uint8_t level, bool per_port) {
  config::SubnetConfig config;
  config.keys.m_key = secret;
  config.keys.m_key_level = level;
  config.keys.m_key_per_port = per_port;
  return config;
}

/// A takeover writes no key of another file: all ports would get another one.
TEST(AcceptedPolicy, LeavesMKeysAsTheyAreWhereTheSecretIsAnotherOne) {
  constexpr std::uint64_t kSecret = 0x1122334455667788;
  const auto text = accepted_text(with_m_keys(kSecret, 2, true));
  for (const auto other : {std::optional<std::uint64_t>(0x99), std::optional<std::uint64_t>()}) {
    auto into = with_m_keys(other, 1, false);

    const auto found = accepted_differences(text, accepted_text(into));
    const auto restored = restore_accepted_settings(text, {}, into);

    EXPECT_THAT(found.keys, testing::ElementsAre("keys.m_key_file"));
    EXPECT_THAT(found.values, testing::IsEmpty());
    ASSERT_TRUE(restored) << restored.error();
    EXPECT_FALSE(into.keys.m_key);
    EXPECT_EQ(into.keys.former_m_key, other) << "ports may have keys by it";
    ASSERT_TRUE(restore_accepted_settings(text, {}, into));
    EXPECT_EQ(into.keys.former_m_key, other) << "also when that is done again";
  }
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("1122334455667788")));
}

TEST(AcceptedPolicy, HasLevelAndFormOfTheSameMKeys) {
  const auto text = accepted_text(with_m_keys(7, 2, true));
  auto into = with_m_keys(7, 1, false);

  const auto found = accepted_differences(text, accepted_text(into));
  const auto restored = restore_accepted_settings(text, {}, into);

  EXPECT_THAT(found.keys, testing::ElementsAre("keys.m_key_level", "keys.m_key_per_port"));
  EXPECT_THAT(found.values,
              testing::ElementsAre("keys.m_key_level 2 -> 1", "keys.m_key_per_port true -> false"));
  ASSERT_TRUE(restored) << restored.error();
  EXPECT_EQ(accepted_text(into), text);
  EXPECT_EQ(into.keys.former_m_key, 7);
  EXPECT_FALSE(into.keys.former_per_port);
  auto same = with_m_keys(7, 1, true);
  ASSERT_TRUE(restore_accepted_settings(text, {}, same));
  EXPECT_FALSE(same.keys.former_m_key);
  EXPECT_THAT(accepted_differences(accepted_text({}), accepted_text({})).keys, testing::IsEmpty());
}

constexpr std::string_view kQosToml = R"(
[[group]]
name = "disks"
members = ["io*"]
[[qos.level]]
name = "DEFAULT"
sl = 1
[[qos.level]]
name = "storage"
use = "disks"
sl = 2
mtu_limit = 2048
rate_limit = 100
packet_life = 17
pkey = [0x8012, "0x20-0x2f"]
[[qos.rule]]
level = "storage"
use = "to disks"
source = ["ALL"]
destination = ["group:disks", "h1:1"]
qos_class = [1, "7-9"]
service_id = ["0x10-0xffffffffffffffff"]
pkey = [0x8012]
[[qos.ulp]]
name = "lustre"
sl = 3
[[qos.ulp]]
name = "any"
source_target = ["io*"]
sl = 4
[[qos.ulp]]
name = "default"
sl = 5
)";
constexpr std::string_view kClassesToml = R"(
[qos]
enabled = true
[[qos.class]]
name = "storage"
share = "40 %"
ulps = ["nvmeof", "gpfs:1191"]
ports = ["h1"]
[[qos.class]]
name = "tenant"
partitions = ["blue", "0x8020"]
[[qos.class]]
name = "guard"
high_priority = true
share = 75
sl = 15
ulps = ["sm"]
[[partition]]
name = "blue"
pkey = 0x10
[[partition]]
name = "green"
qos_class = "storage"
)";
constexpr std::string_view kQosConf =
    "port-groups\nport-group\nname: A\nuse: a\nport-guid: 1-2\nport-name: n/P1\npartition: p\npkey: 3\n"
    "node-type: ALL,SELF\nend-port-group\nend-port-groups\nqos-levels\nqos-level\nname: L\nsl: 1\npath-bits: "
    "1\n"
    "end-qos-level\nend-qos-levels\nqos-match-rules\nqos-match-rule\nsource: A\ndestination: a\n"
    "qos-level-name: L\nend-qos-match-rule\nend-qos-match-rules\nqos-ulps\ndefault : 7\nsdp : 1\n"
    "any, target-port-guid 5 : 2\nend-qos-ulps\n";

TEST(AcceptedPolicy, HasTheQosPolicyOfBlocksAndOfAFile) {
  for (const auto& [toml, conf] :
       {std::pair(kQosToml, std::string_view("")), std::pair(kClassesToml, std::string_view("")),
        std::pair(std::string_view("[qos]\npolicy_file = \"q\"\n"), kQosConf)}) {
    const auto config = load(toml, conf);
    ASSERT_TRUE(config) << to_string(config.error().front());
    const auto text = accepted_text(config->base);
    config::SubnetConfig other;

    ASSERT_TRUE(restore_accepted(text, other));
    ASSERT_TRUE(knows_qos(text));
    ASSERT_TRUE(restore_accepted_tables(text, {}, other));

    EXPECT_EQ(accepted_text(other), text);
    const auto policy = config::qos_policy_of(config->base);
    EXPECT_EQ(config::qos_policy_of(other), policy);
    for (std::size_t i = 0; i < text.size(); i += 3) {
      EXPECT_FALSE(knows_qos(text.substr(0, i)));
      auto changed = text;
      changed[i] = '7';
      std::ignore = knows_qos(changed);  // whatever comes of it
    }
  }
}

TEST(AcceptedPolicy, OfAnOlderVersionWithoutQosHasNoneToGoOnWith) {
  auto text = accepted_text({});
  EXPECT_TRUE(knows_qos(text)) << "without a rule is a policy too";

  const std::string key = "\"qos.enabled\"";
  text.replace(text.find(key), key.size(), "\"lids.former\"");
  const auto restored = knows_qos(text);

  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error(), "");
}

/// Two SMs may have the same configuration in files of different names.
TEST(AcceptedPolicy, TheNameOfTheFileIsNoDifference) {
  constexpr auto kText = "[qos]\nenabled = true\n[[qos.level]]\nname = \"DEFAULT\"\nsl = 1\n";
  const auto load_as = [&](const char* file) {
    return config::load_text(kText, file, {}, config::ConfigContext())->base;
  };
  EXPECT_THAT(accepted_differences(accepted_text(load_as("a.toml")), accepted_text(load_as("b.toml"))).keys,
              testing::IsEmpty());
}

/// The files are as they were; what was in force is not.
TEST(AcceptedPolicy, IsWhatAReloadComparesWithAfterATakeover) {
  constexpr std::string_view kClass = "[[qos.class]]\nname = \"{}\"\nshare = \"{} %\"\nulps = [\"{}\"]\n";
  const auto files_of = [&](bool turned, const std::string& tail) {
    const auto s = fmt::format(fmt::runtime(kClass), "s", 30, "lustre"),
               n = fmt::format(fmt::runtime(kClass), "n", 20, "nvmeof");
    return load("[qos]\nenabled = true\n" + (turned ? n + s : s + n) + tail, "")->base;
  };
  const auto masters = files_of(false, "[lids]\nfirst = 100\n"), ours = files_of(true, "");
  Policies policies{.accepted = accepted_text(masters)};
  policies.class_sls = {{"n", Sl{2}}, {"s", Sl{1}}};
  auto in_force = ours;
  ASSERT_TRUE(restore_accepted(policies.accepted, in_force));
  config::ConfigContext context;
  context.engines = {"auto"};
  ASSERT_TRUE(restore_accepted_settings(policies.accepted, context, in_force));

  EXPECT_THAT(reload_differences(in_force, ours, policies),
              testing::UnorderedElementsAre("lids.first 100 -> 1",
                                            "qos: as in the files instead of the master's before"));
  EXPECT_THAT(reload_differences(in_force, files_of(false, ""), policies),
              testing::ElementsAre("lids.first 100 -> 1"))
      << "our classes are the master's now";
  EXPECT_THAT(reload_differences(ours, ours, policies), testing::IsEmpty()) << "in force are ours";
  in_force.qos.refused = "a line of ours is wrong";
  EXPECT_THAT(reload_differences(in_force, ours, policies),
              testing::Each(testing::Not(testing::HasSubstr("master"))));
}

TEST(AcceptedPolicy, HasTheTablesOfQos) {
  const std::string groups =
      "[[group]]\nname = \"disks\"\nmembers = [\"io*\", \"group:other\"]\n"
      "[[group]]\nname = \"other\"\nmembers = [\"ALL_CAS\"]\n";
  const auto from = load(groups +
                             "[qos]\nenabled = true\nsm_sl = 2\nca_vlarb_low = \"0:7,1:9\"\nhigh_limit = 3\n"
                             "[[qos.ports]]\nports = [\"group:disks\", \"h0*\"]\nvlarb_high = \"0:64\"\n",
                         "");
  ASSERT_TRUE(from) << to_string(from.error().front());
  const auto text = accepted_text(from->base);
  auto into = load(groups, "")->base;

  const auto found = accepted_differences(text, accepted_text(into));
  const auto restored = restore_accepted_tables(text, {}, into);

  EXPECT_THAT(found.keys, testing::IsSupersetOf({"qos.enabled", "qos.ca_vlarb_low", "qos.ports"}));
  ASSERT_TRUE(restored) << restored.error();
  EXPECT_EQ(into.qos, from->base.qos);
}

/// No file may have such a block any more, but the policy of an earlier smd's files goes on.
TEST(AcceptedPolicy, OfAnEarlierReleaseMayHaveTablesOfNoPort) {
  const auto from =
      load("[qos]\nenabled = true\n[[qos.ports]]\nports = [\"node:{\\\"h\"]\nhigh_limit = 3\n", "");
  ASSERT_TRUE(from) << to_string(from.error().front());
  auto earlier = from->base;
  config::QosPorts none;
  none.high_limit = 9;
  earlier.qos.ports = {none, from->base.qos.ports.front(), none};
  auto into = load("", "")->base;

  const auto restored = restore_accepted_tables(accepted_text(earlier), {}, into);

  ASSERT_TRUE(restored) << restored.error();
  EXPECT_EQ(into.qos, from->base.qos);
  into = load("", "")->base;
  earlier.qos.ports = {none};
  ASSERT_TRUE(restore_accepted_tables(accepted_text(earlier), {}, into));
  EXPECT_TRUE(into.qos.ports.empty());
}

/// Partitions and groups never depend on it.
TEST(RefusedPolicy, OfQosLeavesPartitionsAsTheFilesHaveThem) {
  const std::string head =
      "[[partition]]\nname = \"a\"\npkey = 0x12\n[[group]]\nname = \"g\"\nmembers = [\"h0\"]\n";
  for (const auto& [toml, conf] : std::vector<std::pair<std::string, std::string>>{
           {"[qos]\nenabled = true\npolicy_file = \"q\"\n", "qos-ulps\nfoo : 1\nend-qos-ulps\n"},
           {"[[qos.level]]\nname = \"a\"\nsl = 16\n", ""},
           {"[[qos.rule]]\nlevel = \"a\"\n", ""},
           {"[[qos.ulp]]\nname = \"gpfs\"\nsl = 1\n", ""},
           {"[[qos.level]]\nname = \"a\"\nsll = 1\nsl = 1\n", ""},
           {"[qos]\nvlarb_low = \"99:1\"\n", ""},
           {"[qos]\nsm_sl = 16\n", ""},
           {"[qos]\nenabledd = true\n", ""},
           {"[[qos.ports]]\nports = [\"group:none\"]\n", ""}}) {
    EXPECT_FALSE(load(head + toml, conf)) << toml;
    const auto config = load(head + toml, conf, true);
    ASSERT_TRUE(config) << toml << to_string(config.error().front());
    const auto& subnet = config->subnets[0];
    EXPECT_FALSE(subnet.qos.refused.empty()) << toml;
    EXPECT_TRUE(config::qos_policy_of(subnet).empty()) << toml;
    EXPECT_TRUE(subnet.partitions.refused.empty()) << toml;
    EXPECT_EQ(subnet.partition.size(), 1U) << toml;
    EXPECT_EQ(subnet.groups.size(), 1U) << toml;
  }
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
