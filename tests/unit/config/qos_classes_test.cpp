// SPDX-License-Identifier: Apache-2.0
// [[qos.class]] and presets: SLs, shares, rules, and what is refused.
#include "config/qos_classes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/partition_sources.h"
#include "config/qos_sources.h"
#include "tests/unit/config/golden_errors.h"
#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Config classes_from(const std::string& text, std::map<std::string, std::string> files = {}) {
  auto config = load_text("[qos]\nenabled = true\n" + text, "smd.toml", {}, context_with(std::move(files)));
  if (config) return *std::move(config);
  for (const auto& error : config.error()) ADD_FAILURE() << to_string(error);
  return {};
}

/// "storage SL 1 40.0 %", the standard class first; "!": high priority.
std::vector<std::string> shown(const Config& config) {
  std::vector<std::string> lines;
  for (const auto& one : qos_classes_of(config.subnets[0]).all)
    lines.push_back(fmt::format("{}{} SL {} {:.1f} %", one.name, one.high ? "!" : "", one.sl,
                                one.share * 100.0 / kWholeShare));
  return lines;
}

TEST(QosClasses, HaveTheLowestFreeSlsInTheOrderOfTheFile) {
  EXPECT_THAT(
      shown(classes_from(R"(
[[qos.class]]
name = "storage"
share = "40 %"
[[qos.class]]
name = "mpi"
sl = 1
[[qos.class]]
name = "backup"
minimum = 10
)")),
      ElementsAre("default SL 0 16.7 %", "storage SL 2 40.0 %", "mpi SL 1 16.7 %", "backup SL 3 26.7 %"));
}

TEST(QosClasses, SharesThatAreAllGivenAreOfTheWholeLink) {
  EXPECT_THAT(shown(classes_from("[[qos.class]]\nname = \"a\"\nshare = 30\n[[qos.class]]\nname = \"b\"\n"
                                 "share = \"30%\"\ndefault = true\n")),
              ElementsAre("b SL 0 50.0 %", "a SL 1 50.0 %"));
}

TEST(QosClasses, HighPriorityHasALimitInPacketsForEachOfLow) {
  const auto limit = [](std::string_view key) {
    const auto config =
        classes_from(fmt::format("[[qos.class]]\nname = \"a\"\nhigh_priority = true\n{}", key));
    return qos_classes_of(config.subnets[0]).high_limit;
  };
  EXPECT_EQ(limit(""), 0) << "one packet";
  EXPECT_EQ(limit("share = 50"), 0);
  EXPECT_EQ(limit("share = 75"), 3);
  EXPECT_EQ(limit("share = 70"), 2) << "the nearest";
  EXPECT_EQ(limit("minimum = 70"), 3) << "at least";
  EXPECT_EQ(limit("share = 99"), 99);
}

TEST(QosClasses, PartitionsHaveTheSlOfTheirClass) {
  const auto config = classes_from(R"(
[[qos.class]]
name = "a"
partitions = ["blue", "0x0020"]
[[qos.class]]
name = "b"
[[partition]]
name = "blue"
pkey = 0x10
[[partition]]
name = "green"
pkey = 0x20
[[partition]]
name = "red"
qos_class = "b"
[[partition]]
name = "white"
)");
  std::vector<std::string> sls;
  for (const auto& one : partition_sources(config.subnets[0]).toml)
    sls.push_back(fmt::format("{} {}", one.name, one.settings.sl));
  EXPECT_THAT(sls, ElementsAre("blue 1", "green 1", "red 2", "white 0"));
}

TEST(QosClasses, MatchByPKeyThenProtocolThenPortsInTheOrderOfTheFile) {
  const auto policy = qos_policy_of(classes_from(R"(
[[qos.class]]
name = "ports"
ports = ["io*"]
ulps = ["nvmeof", "gpfs:1191"]
[[qos.class]]
name = "tenant"
partitions = ["blue", "0x8020"]
service_id = ["0x10"]
[[partition]]
name = "blue"
)")
                                        .subnets[0]);
  std::vector<std::string> rules;
  for (const auto& rule : policy.rules)
    rules.push_back(fmt::format("{} {} {} {} {}{}", rule.level, fmt::join(rule.partitions, ","),
                                to_string(rule.pkeys, true), to_string(rule.service_ids, true),
                                rule.source_ports.terms.size(), rule.destination_ports.terms.size()));
  EXPECT_THAT(rules, ElementsAre("class:tenant blue 0x20  00", "class:ports   0x1061144, 0x10604a7 00",
                                 "class:tenant   0x10 00", "class:ports    10", "class:ports    01"));
  ASSERT_THAT(policy.classes, SizeIs(3));
  EXPECT_EQ(policy.find_level("DEFAULT"), nullptr) << "or partitions would lose their SLs";
}

TEST(QosClasses, PresetsAreClasses) {
  EXPECT_THAT(shown(classes_from("preset = \"storage+compute\"\n")),
              ElementsAre("compute SL 0 60.0 %", "storage SL 1 40.0 %"));
  EXPECT_THAT(shown(classes_from("preset = \"management-guard\"\n")),
              ElementsAre("default SL 0 100.0 %", "management! SL 1 100.0 %"));
  EXPECT_THAT(
      shown(classes_from("preset = \"tenants-equal\"\n[partitions]\nfile = \"p.conf\"\n"
                         "[[partition]]\nname = \"c\"\n",
                         {{"p.conf", "Default=0x7fff:ALL=full;\na=0x1:ALL;\nb=0x2:ALL;\na=0x1:SELF;\n"}})),
      ElementsAre("default SL 0 25.0 %", "a SL 1 25.0 %", "b SL 2 25.0 %", "c SL 3 25.0 %"));
}

/// Of classes by name, as the store keeps their SLs from one configuration to the next.
class KeptSls : public testing::Test {
 protected:
  /// "a 1, b 2" of a configuration whose classes have these names; "NAME=SL": it gives the SL.
  std::string next(const std::vector<std::string>& names) {
    SubnetConfig subnet;
    subnet.qos.kept_sls = kept_;
    for (const auto& name : names) {
      const auto at = name.find('=');
      auto& block = subnet.qos.traffic_classes.emplace_back(ConfiguredQosClass{.name = name.substr(0, at)});
      if (at != std::string::npos) block.sl = static_cast<std::uint8_t>(std::stoi(name.substr(at + 1)));
    }
    const auto classes = qos_classes_of(subnet);
    kept_ = class_sls(classes, kept_);
    std::string text;
    for (const auto& one : classes.all) {
      if (!one.standard) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.name, one.sl);
    }
    return text;
  }
  ClassSls kept_;
};

TEST_F(KeptSls, NoClassMovesWhenOthersComeGoOrAreOrderedOtherwise) {
  EXPECT_EQ(next({"a", "b", "c"}), "a 1, b 2, c 3");
  EXPECT_EQ(next({"new", "a", "b", "c"}), "new 4, a 1, b 2, c 3") << "one before them";
  EXPECT_EQ(next({"c", "new", "b", "a"}), "c 3, new 4, b 2, a 1") << "in another order";
  EXPECT_EQ(next({"c", "a"}), "c 3, a 1") << "without two";
  EXPECT_EQ(next({"other", "c", "B", "a"}), "other 5, c 3, B 2, a 1")
      << "one that comes back has the SL that it had; names are compared as those of levels";
  EXPECT_EQ(next({}), "");
  EXPECT_EQ(next({"c", "a"}), "c 3, a 1") << "after a time without classes";
}

TEST_F(KeptSls, AnSlThatIsGivenComesBeforeOneThatIsKept) {
  EXPECT_EQ(next({"a", "b"}), "a 1, b 2");
  EXPECT_EQ(next({"a", "b", "new=1"}), "a 3, b 2, new 1");
  EXPECT_EQ(next({"a", "b"}), "a 3, b 2");
}

TEST_F(KeptSls, OnesOfFormerClassesAreTakenWhereThereAreNoOthers) {
  std::vector<std::string> names;
  for (int i = 1; i <= 10; ++i) names.push_back(fmt::format("old{}", i));
  next(names);
  for (int i = 1; i <= 9; ++i) names[static_cast<std::size_t>(i)] = fmt::format("new{}", i);

  EXPECT_EQ(next(names),
            "old1 1, new1 11, new2 12, new3 13, new4 14, new5 15, new6 10, new7 9, new8 8, new9 7");
  EXPECT_EQ(kept_.size(), 15U);
  EXPECT_FALSE(kept_.contains("old10")) << "its SL is another class's";
  EXPECT_TRUE(kept_.contains("old2"));
}

TEST(QosClasses, TenantsOfTheApiHaveClassesAsThoseOfFiles) {
  auto config = classes_from("preset = \"tenants-equal\"\n[[partition]]\nname = \"a\"\npkey = 0x1\n");
  auto& subnet = config.subnets[0];
  subnet.qos.api_tenants = {
      {.name = "b", .pkey = 2}, {.name = "Default", .pkey = 0x7fff}, {.name = "x", .pkey = 1}};
  EXPECT_THAT(shown(config), ElementsAre("default SL 0 33.3 %", "a SL 1 33.3 %", "b SL 2 33.3 %"))
      << "a file has taken over x's P_Key";
  const auto classes = qos_classes_of(subnet);
  EXPECT_EQ(class_of_partition(classes, {}, "b", 2)->name, "b");
  EXPECT_EQ(class_of_partition(classes, {}, "c", 3)->name, "default");

  subnet.qos.kept_sls = class_sls(classes, {});
  subnet.qos.api_tenants = {{.name = "aa", .pkey = 9}, {.name = "b", .pkey = 2}};
  EXPECT_THAT(shown(config),
              ElementsAre("default SL 0 25.0 %", "a SL 1 25.0 %", "aa SL 3 25.0 %", "b SL 2 25.0 %"));
  subnet.qos.preset = QosPreset::none;
  EXPECT_THAT(shown(config), IsEmpty());
}

/// A policy that is in force instead of that of the files goes on taking tenants.
TEST(QosClasses, TenantsOfTheApiAreAddedToAnAcceptedPolicy) {
  const auto config = classes_from("preset = \"tenants-equal\"\n[[partition]]\nname = \"a\"\npkey = 0x1\n");
  auto with_files = config.subnets[0];
  SubnetConfig accepted;
  accepted.qos.accepted = std::make_shared<const QosPolicy>(qos_policy_of(with_files));
  EXPECT_EQ(qos_policy_of(accepted), qos_policy_of(with_files));
  for (auto* subnet : {&with_files, &accepted}) {
    subnet->qos.api_tenants = {{.name = "b", .pkey = 2}, {.name = "a", .pkey = 3}};
    subnet->qos.kept_sls = {{"a", Sl{1}}, {"b", Sl{7}}};
  }

  const auto policy = qos_policy_of(accepted);

  EXPECT_EQ(policy, qos_policy_of(with_files));
  ASSERT_THAT(policy.classes, SizeIs(4));
  EXPECT_EQ(policy.classes[2].sl, Sl{7});
  EXPECT_EQ(policy.classes[3].name, "a 0x0003") << "the name is that of another class";
  EXPECT_EQ(policy.rules.back().pkeys, (QosRanges{{3, 3}}));
}

TEST(QosClasses, TheClassOfTheSmIsWhereHostsAskIt) {
  const auto sl = [](const std::string& text) { return master_sm_sl(classes_from(text).subnets[0]); };
  EXPECT_EQ(sl("preset = \"management-guard\"\n"), Sl{1});
  EXPECT_EQ(sl("preset = \"storage+compute\"\n"), Sl{0});
  EXPECT_EQ(sl("preset = \"storage+compute\"\nsm_sl = 1\n"), Sl{1});
}

TEST(QosClasses, APartitionThatNoFileDefinesIsAWarning) {
  const auto config =
      classes_from("[[qos.class]]\nname = \"a\"\npartitions = [\"bleu\"]\n[[partition]]\nname = \"blue\"\n");
  ASSERT_THAT(config.warnings, SizeIs(1));
  EXPECT_EQ(to_string(config.warnings[0]),
            "smd.toml:3: no file defines the partition \"bleu\" of the class \"a\"; did you mean \"blue\"?");
}

/// As one by name is. Each form of a P_Key is one of the partition.
TEST(QosClasses, APKeyThatNoPartitionHasIsAWarning) {
  const auto warnings = [](std::string_view items) {
    std::vector<std::string> lines;
    const auto config = classes_from(fmt::format(
        "[[qos.class]]\nname = \"a\"\npartitions = [{}]\n[[partition]]\nname = \"blue\"\npkey = 0x12\n",
        items));
    for (const auto& warning : config.warnings) lines.push_back(to_string(warning));
    return lines;
  };
  EXPECT_THAT(warnings("\"0x13\", \"0x8014\""),
              ElementsAre("smd.toml:3: no file defines the partition 0x0013 of the class \"a\"",
                          "smd.toml:3: no file defines the partition 0x0014 of the class \"a\""));
  EXPECT_THAT(warnings("\"0x12\""), IsEmpty());
  EXPECT_THAT(warnings("\"0x8012\""), IsEmpty());
  EXPECT_THAT(warnings("\"0x7fff\""), IsEmpty()) << "the default partition is always there";
  EXPECT_THAT(warnings("\"0XFFFF\""), IsEmpty());
  EXPECT_THAT(warnings("\"0xyz\""), ElementsAre(HasSubstr("no file defines the partition \"0xyz\"")))
      << "a name";
}

TEST(QosClasses, TenantsOfAPresetAreNotWarnedOf) {
  const auto config =
      classes_from("preset = \"tenants-equal\"\n[[partition]]\nname = \"blue\"\npkey = 0x12\n");
  EXPECT_THAT(config.warnings, IsEmpty());
}

TEST(QosClasses, AClassThatNothingBelongsToIsAWarning) {
  const auto config = classes_from(R"(
[[qos.class]]
name = "empty"
share = "20 %"
[[qos.class]]
name = "mpi"
sl = 5
[[qos.class]]
name = "guard"
high_priority = true
ulps = ["sm"]
[[qos.class]]
name = "tenant"
[[partition]]
name = "blue"
qos_class = "tenant"
)");
  ASSERT_THAT(config.warnings, SizeIs(1));
  EXPECT_EQ(to_string(config.warnings[0]),
            "smd.toml:4: nothing belongs to the class \"empty\": it names no partition, protocol, service ID "
            "or port, "
            "and no partition names it; its VL and its part of each link are for programs that set SL 1 "
            "themselves; "
            "sl = 1 says that this is meant");
}

TEST(QosClasses, WhatAnEarlierClassHasIsAWarning) {
  const auto config = classes_from(R"(
[[qos.class]]
name = "a"
ulps = ["nvmeof"]
partitions = ["0x8021"]
[[qos.class]]
name = "b"
ulps = ["nvmeof", "lustre"]
partitions = ["0x0021"]
[[partition]]
name = "blue"
pkey = 0x21
)");
  std::vector<std::string> lines;
  for (const auto& warning : config.warnings) lines.push_back(to_string(warning));
  EXPECT_THAT(lines,
              testing::UnorderedElementsAre(
                  HasSubstr("smd.toml:8: the class \"b\" never has P_Key 0x21: the class \"a\" is first"),
                  HasSubstr("never has service ID 0x1061144: the class \"a\" is first")));
}

TEST(QosClasses, WhatAnEarlierClassHasByAnotherNameIsNamedToo) {
  const auto config = classes_from(R"(
[[qos.class]]
name = "a"
partitions = ["blue", "0x7fff", "0x0022"]
[[qos.class]]
name = "b"
partitions = ["0x8021", "red", "0x23"]
ulps = ["ipoib"]
[[partition]]
name = "blue"
pkey = 0x21
[[partition]]
name = "red"
pkey = 0x22
[[partition]]
name = "other"
pkey = 0x23
)");
  std::vector<std::string> lines;
  for (const auto& warning : config.warnings) lines.push_back(to_string(warning));
  EXPECT_THAT(
      lines,
      testing::UnorderedElementsAre(
          HasSubstr("the class \"b\" never has P_Key 0x21, partition \"red\": the class \"a\" is first"),
          HasSubstr("the class \"b\" never has P_Key 0x7fff: the class \"a\" is first")));
}

/// However often the two name it.
TEST(QosClasses, WhatAnEarlierClassHasIsNamedOnce) {
  const auto config = classes_from(R"(
[[qos.class]]
name = "a"
ulps = ["nvmeof"]
service_id = ["0x1061144"]
[[qos.class]]
name = "b"
ulps = ["nvmeof", "nvmeof"]
service_id = ["0x1061144"]
)");
  ASSERT_THAT(config.warnings, SizeIs(1));
  EXPECT_THAT(to_string(config.warnings[0]),
              testing::EndsWith("the class \"b\" never has service ID 0x1061144: the class \"a\" is first"));
}

TEST(QosClasses, TenantsBeyondFourteenHaveTheDefaultClass) {
  std::string text = "preset = \"tenants-equal\"\n";
  for (unsigned i = 1; i <= 16; ++i)
    text += fmt::format("[[partition]]\nname = \"t{}\"\npkey = {}\nfull = [\"ALL\"]\n", i, i);
  const auto config = classes_from(text);
  ASSERT_THAT(config.warnings, SizeIs(1));
  EXPECT_THAT(to_string(config.warnings[0]), HasSubstr("in the default class are \"t15\", \"t16\""));
  EXPECT_THAT(qos_classes_of(config.subnets[0]).all, SizeIs(15));
}

TEST(QosClasses, AShareOfHighPriorityIsNeverExceeded) {
  for (const auto& [share, limit] : {std::pair(50, 0), {66, 0}, {67, 2}, {74, 2}, {75, 3}, {99, 99}})
    EXPECT_EQ(qos_classes_of(classes_from(fmt::format("[[qos.class]]\nname = \"h\"\nhigh_priority = true\n"
                                                      "share = \"{} %\"\nulps = [\"sm\"]\n",
                                                      share))
                                 .subnets[0])
                  .high_limit,
              limit)
        << share;
}

TEST(QosClasses, WithoutAnyNothingChanges) {
  EXPECT_THAT(qos_classes_of(classes_from("").subnets[0]).all, IsEmpty());
  EXPECT_TRUE(qos_policy_of(classes_from("").subnets[0]).empty());
}

/// tests/golden/config/wrong_qos_classes.txt, which SMD_UPDATE_GOLDEN=1 writes anew: each is one line.
TEST(QosClasses, SixtyWrongFilesAreRefusedWithALineEach) {
  const auto count = expect_golden_errors("wrong_qos_classes.txt", [](const GoldenCase& wrong) {
    return errors_of(
        wrong.toml, wrong.overrides,
        {{"p.conf", "blue=0x1,sl=4:ALL;\n"}, {"q.conf", "qos-ulps\ndefault: 0\nend-qos-ulps\n"}});
  });
  EXPECT_GE(count, 60U);
}

}  // namespace
}  // namespace smd::config
