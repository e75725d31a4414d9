// SPDX-License-Identifier: Apache-2.0
// [qos] of smd.toml as one policy.
#include "config/qos_sources.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "config/partition_sources.h"
#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kDefaultLevel =
    "qos-levels\nqos-level\nname: DEFAULT\nsl: 2\nend-qos-level\nend-qos-levels\n";

Config qos_from(std::string_view text, std::map<std::string, std::string> files = {}) {
  auto config = load_text(text, "smd.toml", {}, context_with(std::move(files)));
  if (config) return *std::move(config);
  for (const auto& error : config.error()) ADD_FAILURE() << to_string(error);
  return {};
}

QosPolicy policy_from(std::string_view text) { return qos_policy_of(qos_from(text).subnets[0]); }

std::vector<std::string> warnings_from(std::string_view text, std::map<std::string, std::string> files = {}) {
  std::vector<std::string> lines;
  for (const auto& warning : qos_from(text, std::move(files)).warnings) lines.push_back(to_string(warning));
  return lines;
}

TEST(QosSources, WithoutAnyThereIsNoPolicy) {
  EXPECT_TRUE(policy_from("").empty());
  EXPECT_FALSE(qos_from("").subnets[0].qos.enabled);
}

TEST(QosSources, BlocksAreAPolicyWithTheirLines) {
  const auto policy = policy_from(R"(
[qos]
enabled = true
[[group]]
name = "disks"
members = ["io*"]
[[qos.level]]
name = "storage"
use = "disks"
sl = 2
mtu_limit = 2048
rate_limit = 100
packet_life = 17
pkey = [0x8012, "0x20-0x2f"]
[[qos.rule]]
level = "Storage"
source = ["group:disks"]
destination = ["partition:blue", "h1:1"]
qos_class = [1, "7-9"]
service_id = ["0x0000000001060000-0x000000000106ffff"]
pkey = [0x8012]
)");

  ASSERT_THAT(policy.levels, SizeIs(1));
  EXPECT_EQ(policy.levels[0], (QosLevel{.name = "storage",
                                        .use = "disks",
                                        .sl = Sl{2},
                                        .mtu_limit = Mtu::m2048,
                                        .rate_limit = 16,
                                        .packet_life = 17,
                                        .pkeys = {{0x12, 0x12}, {0x20, 0x2f}},
                                        .source = {.origin = PolicyOrigin::toml}}));
  EXPECT_EQ(policy.levels[0].source.line, 7U);
  ASSERT_THAT(policy.rules, SizeIs(1));
  EXPECT_EQ(to_string(policy.rules[0].destination_ports), "partition:blue, h1:1");
  EXPECT_EQ(policy.rules[0].qos_classes, (QosRanges{{1, 1}, {7, 9}}));
  EXPECT_EQ(policy.rules[0].service_ids, (QosRanges{{0x1060000, 0x106ffff}}));
  EXPECT_EQ(policy.rules[0].pkeys, (QosRanges{{0x12, 0x12}}));
  EXPECT_EQ(policy.file, "smd.toml");
}

TEST(QosSources, EachProtocolIsKnownByName) {
  struct Case {
    std::string_view lines;
    QosUlpKey by;
    QosRanges ranges;
  };
  using enum QosUlpKey;
  const std::vector<Case> cases{
      {"name = \"sdp\"", service_id, {{0x10000, 0x1ffff}}},
      {"name = \"rds\"", service_id, {{0x10648CA, 0x10648CA}}},
      {"name = \"iser\"\nport_num = [900]", service_id, {{0x1060384, 0x1060384}}},
      {"name = \"lustre\"", service_id, {{0x10603DB, 0x10603DB}}},
      {"name = \"nvmeof\"", service_id, {{0x1061144, 0x1061144}}},
      {"name = \"nvmeof\"\nport_num = [\"4420-4422\"]", service_id, {{0x1061144, 0x1061146}}},
      {"name = \"nfsrdma\"", service_id, {{0x1064E51, 0x1064E51}}},
      {"name = \"gpfs\"\nport_num = [1191]", service_id, {{0x10604A7, 0x10604A7}}},
      {"name = \"beegfs\"\nport_num = [8003]", service_id, {{0x1061F43, 0x1061F43}}},
      {"name = \"ipoib\"", pkey, {{0x7fff, 0x7fff}}},
      {"name = \"any\"\npkey = [0x8001]", pkey, {{1, 1}}},
      {"name = \"any\"\nservice_id = [1]", service_id, {{1, 1}}},
      {"name = \"any\"\nsource = [\"h0\"]", source, {}},
      {"name = \"any\"\nsource_target = [\"h0\"]", source_target, {}},
      {"name = \"srp\"\ntarget = [\"h0\"]", target, {}},
  };
  for (const auto& one : cases) {
    const auto policy = policy_from(fmt::format("[[qos.ulp]]\nsl = 1\n{}\n", one.lines));
    ASSERT_THAT(policy.ulps, SizeIs(1)) << one.lines;
    EXPECT_EQ(policy.ulps[0].by, one.by) << one.lines;
    EXPECT_EQ(policy.ulps[0].ranges, one.ranges) << one.lines;
    EXPECT_EQ(policy.ulps[0].ports.terms.empty(), one.by < target) << one.lines;
  }
  EXPECT_EQ(policy_from("[[qos.ulp]]\nname = \"default\"\nsl = 3\n").default_ulp->sl, Sl{3});
}

TEST(QosSources, AFileIsThePolicy) {
  const auto config =
      qos_from("[qos]\nenabled = true\npolicy_file = \"q.conf\"\n", {{"q.conf", std::string(kDefaultLevel)}});
  const auto policy = qos_policy_of(config.subnets[0]);

  ASSERT_THAT(policy.levels, SizeIs(1));
  EXPECT_EQ(policy.levels[0].sl, Sl{2});
  EXPECT_EQ(policy.file, "q.conf");
  EXPECT_THAT(config.warnings, IsEmpty());
}

TEST(QosSources, WrongBlocksAreNamedWithTheirLine) {
  const auto ulp = [](std::string_view lines) {
    return errors_of(fmt::format("[[qos.ulp]]\nsl = 1\n{}\n", lines));
  };

  EXPECT_THAT(ulp("name = \"lustr\""), ElementsAre(HasSubstr("smd.toml:3: qos.ulp[0].name: got \"lustr\"")));
  EXPECT_THAT(ulp("name = \"gpfs\""), ElementsAre("smd.toml:1: qos.ulp[0]: \"gpfs\" needs port_num"));
  EXPECT_THAT(ulp("name = \"any\""),
              ElementsAre("smd.toml:1: qos.ulp[0]: \"any\" needs one of service_id, pkey, target, source, "
                          "source_target"));
  EXPECT_THAT(ulp("name = \"any\"\npkey = [1]\nservice_id = [1]"),
              ElementsAre(HasSubstr("qos.ulp[0]: only one of service_id")));
  EXPECT_THAT(ulp("name = \"sdp\"\npkey = [1]"),
              ElementsAre("smd.toml:4: qos.ulp[0].pkey: \"sdp\" has only port_num"));
  EXPECT_THAT(ulp("name = \"default\"\npkey = [1]"),
              ElementsAre("smd.toml:4: qos.ulp[0].pkey: \"default\" has a name and an sl only"));
  EXPECT_THAT(errors_of("[[qos.level]]\nname = \"a\"\nsl = 16\n"),
              ElementsAre("smd.toml:3: qos.level[0].sl: 16 is out of range (0 to 15)"));
  EXPECT_THAT(
      errors_of("[[qos.level]]\nname = \"a\"\nsl = 1\n[[qos.rule]]\nlevel = \"aa\"\nqos_class = [1]\n"),
      ElementsAre("smd.toml:5: qos.rule[0].level: there is no level \"aa\"; did you mean \"a\"?"));
  EXPECT_THAT(
      errors_of("[[qos.level]]\nname = \"a\"\nsl = 1\n[[qos.rule]]\nlevel = \"a\"\nqos_class = [4096]\n"),
      ElementsAre(HasSubstr("smd.toml:6: qos.rule[0].qos_class[0]: got 4096, expected a list of QoS "
                            "classes from 0 to 4095")));
}

TEST(QosSources, ASecondDefaultIsRefusedWithTheLinesOfBoth) {
  constexpr std::string_view kTwo =
      "[[{0}]]\nname = \"default\"\nsl = 1\n[[{0}]]\nname = \"sdp\"\nsl = 2\n[[{0}]]\nname = "
      "\"default\"\nsl = 3\n";

  EXPECT_THAT(errors_of(fmt::format(kTwo, "qos.ulp")),
              ElementsAre("smd.toml:7: qos.ulp[2]: only one \"default\"; line 1 has it already"));
  EXPECT_THAT(errors_of("[[subnet]]\nname = \"a\"\n" + fmt::format(kTwo, "subnet.qos.ulp")),
              ElementsAre("smd.toml:9: subnet[0].qos.ulp[2]: only one \"default\"; line 3 has it already"));
}

/// With what there is: a file of hundreds of rules is long.
TEST(QosSources, AReferenceThatLeadsNowhereIsNamedWithItsKeyAndItsLine) {
  const std::string head =
      "[[group]]\nname = \"disks\"\nmembers = []\n[[qos.level]]\nname = \"storage\"\nsl = 1\n";
  const auto rule = [&](std::string_view lines) {
    return errors_of(fmt::format("{}[[qos.rule]]\nuse = \"x\"\n{}\n", head, lines));
  };

  EXPECT_THAT(
      rule("level = \"storage\"\nsource = [\n\"h0\",\n\"group:disk\"]\ndestination = [\"group:nope\"]"),
      ElementsAre("smd.toml:12: qos.rule[0].source[1]: there is no group \"disk\"; did you mean "
                  "\"disks\"?",
                  "smd.toml:13: qos.rule[0].destination[0]: there is no group \"nope\"; groups are "
                  "\"disks\""));
  EXPECT_THAT(
      rule("source = [\"h0\"]\nlevel = \"sto\""),
      ElementsAre("smd.toml:10: qos.rule[0].level: there is no level \"sto\"; levels are \"storage\""));
  EXPECT_THAT(
      errors_of(head + "[[qos.ports]]\nhigh_limit = 1\nports = [\"ALL\", \"group:io\"]\n"),
      ElementsAre("smd.toml:9: qos.ports[0].ports[1]: there is no group \"io\"; groups are \"disks\""));
  EXPECT_THAT(
      errors_of("[[qos.ulp]]\nname = \"srp\"\nsl = 1\ntarget = [\"group:io\"]\n"),
      ElementsAre("smd.toml:4: qos.ulp[0].target[0]: there is no group \"io\"; no groups are defined"));
  EXPECT_THAT(errors_of("[[qos.class]]\nname = \"a\"\n[[partition]]\nname = \"p\"\nqos_class = \"b\"\n"),
              ElementsAre("smd.toml:5: partition[0].qos_class: got \"b\", expected the name of a class "
                          "(\"default\", \"a\")"));
}

TEST(QosSources, AReferenceOfASubnetHasTheKeyOfTheSubnet) {
  EXPECT_THAT(
      errors_of("[[subnet]]\nname = \"a\"\nport = \"p\"\n[[subnet.qos.rule]]\nuse = \"x\"\nlevel = \"l\"\n"
                "[[subnet]]\nname = \"b\"\nport = \"q\"\n"),
      ElementsAre("smd.toml:6: subnet[0].qos.rule[0].level: there is no level \"l\"; no levels are "
                  "defined"));
  EXPECT_THAT(errors_of("[[subnet]]\nname = \"a\"\nport = \"p\"\n[[subnet]]\nname = \"b\"\nport = \"q\"\n"
                        "[[qos.rule]]\nuse = \"x\"\nlevel = \"l\"\n"),
              ElementsAre(HasSubstr("smd.toml:9: qos.rule[0].level: ")))
      << "both have the rule";
}

TEST(QosSources, AFileAndBlocksAtOnceAreRefused) {
  EXPECT_THAT(
      errors_of("[qos]\npolicy_file = \"q.conf\"\n[[qos.level]]\nname = \"a\"\nsl = 1\n", {},
                {{"q.conf", std::string(kDefaultLevel)}}),
      ElementsAre("smd.toml:3: qos.level: the QoS policy is in qos.policy_file already (q.conf): have "
                  "one of the two"));
}

TEST(QosSources, AWrongFileIsRefusedAsAWhole) {
  const std::string head = "[qos]\nenabled = true\n";
  EXPECT_THAT(errors_of(head + "policy_file = \"q.conf\"\n", {}, {{"q.conf", "qos-levels\nfoo\n"}}),
              ElementsAre(HasSubstr("q.conf:2: got \"foo\""), HasSubstr("q.conf:1: no \"end-qos-levels\"")));
  EXPECT_THAT(errors_of(head + "policy_file = \"none\"\n"),
              ElementsAre(HasSubstr("smd.toml:3: qos.policy_file: ")));
}

/// QoS is off by default, too.
TEST(QosSources, AWrongFileIsAWarningWhereQosIsOff) {
  const auto context = context_with({{"q.conf", "qos-levels\nfoo\n"}});
  const std::string off = "enabled = false\n";
  for (const std::string file : {"q.conf", "none"}) {
    for (const auto& head : {off, std::string()}) {
      const auto config =
          load_text("[qos]\n" + head + "policy_file = \"" + file + "\"\n", "smd.toml", {}, context);
      ASSERT_TRUE(config) << head << file;
      EXPECT_FALSE(config->warnings.empty()) << head << file;
      EXPECT_TRUE(config->subnets[0].qos.policy_file.empty());
      EXPECT_EQ(config->subnets[0].qos.refused, "");
    }
  }
  EXPECT_FALSE(load_text("[qos]\nenabled = false\nvlarb_low = \"x\"\n", "smd.toml", {}, context));
}

TEST(QosSources, AWrongFileThatIsNotUsedHidesNoOtherError) {
  const std::string wrong = "[qos]\npolicy_file = \"none\"\n";
  EXPECT_THAT(errors_of("[qos]\npolicy_file = 3\n"),
              ElementsAre("smd.toml:2: qos.policy_file: got 3, expected the name of a file"));
  EXPECT_THAT(errors_of(wrong + "[[qos.rule]]\nlevel = \"a\"\n"),
              ElementsAre(HasSubstr("there is no level \"a\"")));
  EXPECT_THAT(errors_of(wrong + "enabled = 1\n"), SizeIs(2)) << "it may be in use";
  EXPECT_THAT(errors_of("[[subnet]]\nname = \"a\"\nport = \"p\"\n[subnet.qos]\nenabled = true\n"
                        "[[subnet]]\nname = \"b\"\nport = \"q\"\n" +
                        wrong),
              ElementsAre(HasSubstr("smd.toml:10: qos.policy_file: ")))
      << "one of two subnets uses it";
}

TEST(QosSources, AWrongPolicyLeavesTheRestOfTheConfiguration) {
  auto context = context_with({{"q.conf", "foo\n"}});
  context.may_refuse_policy = true;
  const auto config = load_text("[sm]\npriority = 3\n[qos]\nenabled = true\npolicy_file = \"q.conf\"\n",
                                "smd.toml", {}, context);

  ASSERT_TRUE(config);
  EXPECT_EQ(config->subnets[0].sm.priority, 3);
  EXPECT_TRUE(config->subnets[0].qos.enabled);
  EXPECT_TRUE(config->subnets[0].qos.policy_file.empty());
  EXPECT_THAT(config->subnets[0].qos.refused, HasSubstr("q.conf:1: got \"foo\""));
}

/// As it takes them.
TEST(QosSources, ListsOfOpenSmMayBeShortOrNull) {
  const auto qos =
      qos_from("[qos]\nsl2vl = \"3,1\"\nca_sl2vl = \"(null)\"\nvlarb_low = \"(null)\"\n").subnets[0].qos;
  ASSERT_TRUE(qos.all.sl2vl);
  EXPECT_EQ((*qos.all.sl2vl)[0], Vl{3});
  EXPECT_EQ((*qos.all.sl2vl)[1], Vl{1});
  EXPECT_EQ((*qos.all.sl2vl)[2], Vl{0});
  EXPECT_FALSE(qos.classes[static_cast<std::size_t>(PortClass::ca)].sl2vl);
  EXPECT_FALSE(qos.all.vlarb_low);
}

TEST(QosSources, NumbersOfListsAreReadAsOpenSmDoes) {
  const auto qos = qos_from("[qos]\nvlarb_low = \"0x1:010,2:0x40\"\n").subnets[0].qos;
  ASSERT_TRUE(qos.all.vlarb_low);
  EXPECT_EQ(*qos.all.vlarb_low, (ArbitrationList{{Vl{1}, 8}, {Vl{2}, 64}}));
}

TEST(QosSources, AFileThatMayNeverEndIsNotRead) {
  const auto text = read_file("/dev/zero");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error(), "it is no regular file");
  const auto nothing = read_file("/dev/null");
  ASSERT_TRUE(nothing);
  EXPECT_EQ(*nothing, "");
}

TEST(QosSources, APolicyThatIsNotInForceIsWarnedOf) {
  EXPECT_THAT(warnings_from("[[qos.level]]\nname = \"a\"\nsl = 1\n"),
              ElementsAre("smd.toml: this QoS policy has no effect while qos.enabled is false"));
}

/// opensm does so without a word.
TEST(QosSources, ADefaultThatOverridesAPartitionsSlIsWarnedOf) {
  const std::string file(kDefaultLevel);
  const std::string head = "[qos]\nenabled = true\npolicy_file = \"q.conf\"\n";

  EXPECT_THAT(
      warnings_from(head + "[[partition]]\nname = \"blue\"\npkey = 0x30\nsl = 4\n", {{"q.conf", file}}),
      ElementsAre("q.conf:2: paths of the partition \"blue\" (0x0030) that no rule matches get SL 2 of the "
                  "level DEFAULT, not the partition's SL 4; a rule with the pkey 0x0030 keeps it"));
  EXPECT_THAT(
      warnings_from(head + "[[partition]]\nname = \"blue\"\npkey = 0x30\nsl = 2\n", {{"q.conf", file}}),
      IsEmpty());
  EXPECT_THAT(warnings_from(head + "[[partition]]\nname = \"blue\"\npkey = 0x30\nsl = 4\n",
                            {{"q.conf", file + "qos-ulps\nany, pkey 0x8030 : 4\nend-qos-ulps\n"}}),
              IsEmpty());
  const auto with_rule = [&](const std::string& criteria) {
    return warnings_from(
        head + "[[partition]]\nname = \"blue\"\npkey = 0x30\nsl = 4\n",
        {{"q.conf", file + "qos-match-rules\nqos-match-rule\n" + criteria +
                        "qos-level-name: DEFAULT\nend-qos-match-rule\nend-qos-match-rules\n"}});
  };
  EXPECT_THAT(with_rule("pkey: 0x8030\n"), IsEmpty());
  EXPECT_THAT(with_rule("pkey: 0x8030\nservice-id: 0x1061144\n"),
              ElementsAre(HasSubstr("that no rule matches get SL 2")))
      << "paths of other services";
}

/// A list that a script left empty would widen the rule to all paths.
/// Without a path to the SM nothing in the fabric works.
TEST(QosSources, AnSlOfTheSmThatIsDroppedIsWarnedOf) {
  const auto warnings = [](const std::string& keys) {
    return warnings_from("[qos]\nenabled = true\n" + keys);
  };
  const std::string drops = "\"0,1,2,15\"\n";
  EXPECT_THAT(warnings("sm_sl = 3\nsl2vl = " + drops),
              ElementsAre("smd.toml:3: qos.sm_sl: got 3, expected an SL that qos.sl2vl does not map to VL "
                          "15: hosts ask the SM "
                          "on it, and what they ask is dropped"));
  EXPECT_THAT(warnings("sm_sl = 3\nsl2vl = \"0\"\nswe_sl2vl = " + drops),
              ElementsAre(HasSubstr("that qos.swe_sl2vl does not")));
  EXPECT_THAT(warnings("sm_sl = 3\n[[qos.ports]]\nports = [\"ALL\"]\nsl2vl = " + drops),
              ElementsAre(HasSubstr("that qos.ports[0].sl2vl does not")));
  EXPECT_THAT(warnings("sm_sl = 2\nsl2vl = " + drops), IsEmpty());
  EXPECT_THAT(warnings("sm_sl = 3\n"), IsEmpty()) << "the default map drops none";
}

TEST(QosSources, ARuleWhoseOnlyCriterionIsEmptyIsRefused) {
  const std::string head = "[[qos.level]]\nname = \"a\"\nsl = 1\n[[qos.rule]]\nlevel = \"a\"\n";
  EXPECT_THAT(
      errors_of(head + "source = []\n"),
      ElementsAre("smd.toml:6: qos.rule[0].source: got [], expected one item at least, as the rule has no "
                  "other criterion; leave the key out in a rule for all paths"));
  EXPECT_THAT(errors_of(head), IsEmpty());
  EXPECT_THAT(errors_of(head + "source = []\npkey = [0x12]\n"), IsEmpty());
}

TEST(QosSources, TablesOfNoPortAreRefused) {
  EXPECT_THAT(
      errors_of("[[qos.ports]]\nhigh_limit = 4\nports = []\n"),
      ElementsAre("smd.toml:3: qos.ports[0].ports: got [], expected one item at least, as the block is "
                  "for these ports alone; keys of [qos] are for all ports"));
  EXPECT_THAT(errors_of("[qos]\nports = []\n"), IsEmpty()) << "no block";
}

TEST(QosSources, RulesThatNeverCountAreWarnedOf) {
  const std::string head = "[qos]\nenabled = true\n[[qos.level]]\nname = \"a\"\nsl = 1\n";
  const auto rule = [](std::string_view criteria) {
    return fmt::format("[[qos.rule]]\nlevel = \"a\"\n{}\n", criteria);
  };
  const auto said = [&](const std::string& text) { return warnings_from(head + text); };
  const std::string ids = "service_id = [\"0x10-0x1f\"]", io = "source = [\"io*\"]";

  EXPECT_THAT(said(rule(ids) + rule("service_id = [\"0x12\", \"0x14-0x15\"]")),
              ElementsAre("smd.toml:9: this rule never counts: that of smd.toml:6 has all that it matches"));
  EXPECT_THAT(said(rule("service_id = [\"0x12\"]") + rule(ids)), IsEmpty()) << "the narrow one is first";
  EXPECT_THAT(said(rule(ids) + rule("service_id = [\"0x12\", \"0x20\"]")), IsEmpty());
  EXPECT_THAT(said(rule(ids) + rule(io)), IsEmpty()) << "they overlap";
  EXPECT_THAT(said(rule(io) + rule(io + "\n" + ids)), SizeIs(1));
  EXPECT_THAT(said(rule(io + "\n" + ids) + rule(io)), IsEmpty());
  EXPECT_THAT(said(rule("") + "[[qos.ulp]]\nname = \"sdp\"\nsl = 2\n"), SizeIs(1)) << "a rule of all paths";
  EXPECT_THAT(said("[[qos.ulp]]\nname = \"any\"\nsl = 2\ntarget = [\"io*\"]\n"
                   "[[qos.ulp]]\nname = \"srp\"\nsl = 3\ntarget = [\"io*\"]\n"),
              SizeIs(1));
  EXPECT_THAT(said("[[qos.ulp]]\nname = \"any\"\nsl = 2\ntarget = [\"io*\"]\n"
                   "[[qos.ulp]]\nname = \"any\"\nsl = 3\nsource = [\"io*\"]\n"),
              IsEmpty());
  std::string many;
  for (int i = 0; i < 14; ++i) many += rule("");
  EXPECT_THAT(said(many).back(), "smd.toml: 3 more rules never count");
}

TEST(QosSources, SlsOfPartitionsCountWhileQosIsEnabled) {
  const auto sl_of = [](std::string_view head) {
    const auto config =
        qos_from(fmt::format("{}[partitions]\nfile = \"p.conf\"\n[[partition]]\nname = \"blue\"\n"
                             "pkey = 0x30\nsl = 4\n",
                             head),
                 {{"p.conf", "A=0x31,sl=5:ALL;\n"}});
    const auto merged = merge_partitions(partition_sources(config.subnets[0]));
    return std::pair(merged->policy.find(PKey{0x30})->sl, merged->policy.find(PKey{0x31})->sl);
  };

  EXPECT_EQ(sl_of("[qos]\nenabled = true\n"), std::pair(Sl{4}, Sl{5}));
  EXPECT_EQ(sl_of(""), std::pair(Sl{0}, Sl{0}));
  EXPECT_THAT(warnings_from("[partitions]\nfile = \"p.conf\"\n", {{"p.conf", "A=0x31,sl=5:ALL;\n"}}),
              ElementsAre("p.conf:1: sl: SL 5 of \"A\" is 0 while qos.enabled is false"));
  EXPECT_THAT(warnings_from("[partitions]\nfile = \"p.conf\"\n",
                            {{"p.conf", "A=0x31,ipoib:\nmgid=ff12:401b::0707,sl=1\nALL;\n"}}),
              testing::Contains(HasSubstr("is 0 while qos.enabled is false")));
}

}  // namespace
}  // namespace smd::config
