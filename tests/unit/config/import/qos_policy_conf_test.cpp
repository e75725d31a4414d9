// SPDX-License-Identifier: Apache-2.0
// OpenSM's qos-policy.conf, point by point as opensm reads it.
#include "config/import/qos_policy_conf.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/import/qos_ulps.h"
#include "tests/unit/config/golden_errors.h"

namespace smd::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kShortest =
    "qos-levels\n qos-level\n  name: DEFAULT\n  sl: 0\n end-qos-level\nend-qos-levels\n";

QosPolicyConf qos_conf(std::string_view text) {
  auto conf = read_qos_policy_conf(text, "q.conf");
  if (conf) return *std::move(conf);
  for (const auto& error : conf.error()) ADD_FAILURE() << to_string(error);
  return {.policy = {.groups = {{}}, .levels = {{}}, .rules = {{}}, .ulps = {{}}}};
}

std::vector<std::string> qos_warnings(std::string_view text) {
  std::vector<std::string> lines;
  for (const auto& warning : qos_conf(text).warnings) lines.push_back(to_string(warning));
  return lines;
}

QosGroup group_of(std::string_view lines) {
  const auto text = fmt::format("port-groups\nport-group\nname: A\n{}\nend-port-group\nend-port-groups\n{}",
                                lines, kShortest);
  return qos_conf(text).policy.groups.at(0);
}

QosLevel level_of(std::string_view lines) {
  return qos_conf(
             fmt::format("qos-levels\nqos-level\nname: DEFAULT\n{}\nend-qos-level\nend-qos-levels\n", lines))
      .policy.levels.at(0);
}

QosRule rule_of(std::string_view lines) {
  const auto text = fmt::format(
      "port-groups\nport-group\nname: A\nend-port-group\nport-group\nname: My Group\nend-port-group\n"
      "end-port-groups\n{}qos-match-rules\nqos-match-rule\nqos-level-name: default\n{}\nend-qos-match-rule\n"
      "end-qos-match-rules\n",
      kShortest, lines);
  return qos_conf(text).policy.rules.at(0);
}

QosUlp ulp_of(std::string_view line) {
  return qos_conf(fmt::format("qos-ulps\ndefault : 0\n{}\nend-qos-ulps\n", line)).policy.ulps.at(0);
}

// --- sections and lines

TEST(QosPolicyConf, TheShortestFileHasTheDefaultLevelOnly) {
  const auto [policy, warnings] = qos_conf(kShortest);

  ASSERT_THAT(policy.levels, SizeIs(1));
  EXPECT_EQ(policy.levels[0].name, "DEFAULT");
  EXPECT_EQ(policy.levels[0].sl, Sl{0});
  EXPECT_EQ(policy.levels[0].source.line, 2U);
  EXPECT_EQ(policy.levels[0].source.origin, PolicyOrigin::file);
  EXPECT_EQ(policy.file, "q.conf");
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(QosPolicyConf, CommentsBlanksAndQuotesAreAsInOpensm) {
  const auto policy = qos_conf(
                          "# first\n\t qos-levels # of paths\n\nqos-level\nname :\t\"DEFAULT\" # x\n"
                          "use:  for \"all # that\" is left \nsl: 0x3\nend-qos-level\n  end-qos-levels  ")
                          .policy;

  ASSERT_THAT(policy.levels, SizeIs(1));
  EXPECT_EQ(policy.levels[0].name, "DEFAULT");
  EXPECT_EQ(policy.levels[0].use, "for all # that is left");
  EXPECT_EQ(policy.levels[0].sl, Sl{3});
}

TEST(QosPolicyConf, AListGoesOnBehindACommaInTheNextLine) {
  EXPECT_EQ(group_of("port-guid: 0x1,\n 0x2 \n,0x3").port_guids, (QosRanges{{1, 1}, {2, 2}, {3, 3}}));
  EXPECT_EQ(ulp_of("any, service-id 1,\n2 : 3").ranges, (QosRanges{{1, 1}, {2, 2}}));
}

/// As opensm's lexer has it: the text ends with its line.
TEST(QosPolicyConf, AUseThatEndsWithACommaTakesNoKeyOfTheNextLine) {
  const auto level = level_of("use: for disks,\nsl: 3");

  EXPECT_EQ(level.use, "for disks,");
  EXPECT_EQ(level.sl, Sl{3});
}

TEST(QosPolicyConf, SectionsMayComeInAnyOrderAndMoreThanOnce) {
  const auto policy = qos_conf(fmt::format("qos-ulps\nsdp : 1\nend-qos-ulps\n{}qos-setup\nend-qos-setup\n"
                                           "qos-ulps\nrds : 2\nend-qos-ulps\nqos-levels\nend-qos-levels\n"
                                           "qos-match-rules\nend-qos-match-rules\n",
                                           kShortest))
                          .policy;

  EXPECT_THAT(policy.ulps, SizeIs(2));
}

TEST(QosPolicyConf, ASetupIsReadAndForgotten) {
  const auto conf = qos_conf(fmt::format(
      "qos-setup\nvlarb-tables\nvlarb-scope\ngroup: A\nacross: B, C\nvlarb-high: 0:255, 1:127\n"
      "vlarb-low: 8:255\nvl-high-limit: 10\nend-vlarb-scope\nend-vlarb-tables\nsl2vl-tables\nsl2vl-scope\n"
      "across-to: S\nacross-from: T\nfrom: *\nto: 1-5,7\nsl2vl-table: 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7\n"
      "end-sl2vl-scope\nend-sl2vl-tables\nend-qos-setup\n{}",
      kShortest));

  EXPECT_THAT(conf.policy.groups, IsEmpty());
  EXPECT_THAT(conf.warnings, IsEmpty());
}

// --- port groups

TEST(QosPolicyConf, AGroupHasAllThatItsLinesName) {
  const auto group = group_of(
      "use: our \"disks\"\nport-guid: 0x10, 5-0x9\nport-guid: 16\nport-name: \"vs1 HCA-1/P1\", a/b/p2\n"
      "partition: Blue, \"My, Part\"\npkey: 0x8012\nnode-type: ca , Self\nnode-type: ROUTER");

  EXPECT_EQ(group.use, "our disks");
  EXPECT_EQ(group.port_guids, (QosRanges{{0x10, 0x10}, {5, 9}, {16, 16}}));
  EXPECT_THAT(group.port_names, ElementsAre(QosPortName{"vs1 HCA-1", 1}, QosPortName{"a/b", 2}));
  EXPECT_THAT(group.partitions, ElementsAre("Blue", "My, Part"));
  EXPECT_EQ(group.pkeys, (QosRanges{{0x12, 0x12}}));
  EXPECT_TRUE(group.cas && group.routers && group.self && !group.switches);
}

TEST(QosPolicyConf, AllMeansEveryNodeType) {
  const auto group = group_of("node-type: All");

  EXPECT_TRUE(group.cas && group.switches && group.routers && !group.self);
}

/// opensm leaves the blanks out and looks for "vs1HCA-1".
TEST(QosPolicyConf, APortNameKeepsItsBlanksAndIsWarnedOf) {
  const auto text = fmt::format(
      "port-groups\nport-group\nname: A\nport-name: vs1 HCA-1/P1\nend-port-group\nend-port-groups\n{}",
      kShortest);

  EXPECT_THAT(qos_conf(text).policy.groups[0].port_names, ElementsAre(QosPortName{"vs1 HCA-1", 1}));
  EXPECT_THAT(
      qos_warnings(text),
      ElementsAre("q.conf:4: port-name: opensm leaves out the blanks of \"vs1 HCA-1/P1\" and finds no "
                  "such node; write it in quotes"));
}

/// opensm looks for the node first, and says nothing of one that it does not find.
TEST(QosPolicyConf, APortThatNoNodeHasIsWarnedOf) {
  const auto named = [](std::string_view name) {
    return fmt::format("port-groups\nport-group\nname: A\nport-name: {}\nend-port-group\nend-port-groups\n{}",
                       name, kShortest);
  };
  EXPECT_THAT(qos_conf(named("nosuch/P300")).policy.groups[0].port_names,
              ElementsAre(QosPortName{"nosuch", 300}));
  EXPECT_THAT(
      qos_warnings(named("nosuch/P300")),
      ElementsAre("q.conf:4: port-name: \"nosuch/P300\" names no port, as no node has more than 254: "
                  "opensm leaves it out, or refuses the file where there is a node of this description"));
  EXPECT_THAT(qos_warnings(named("nosuch/P254")), testing::IsEmpty());
}

TEST(QosPolicyConf, APKeyThatNoPartitionHasIsWarnedOf) {
  EXPECT_THAT(qos_warnings("qos-ulps\ndefault: 0\nany,pkey 0: 1\nany, pkey 0x8000: 2\nend-qos-ulps\n"),
              testing::IsSupersetOf(
                  {std::string("q.conf:3: P_Key 0x0000 is no partition's: this rule never counts"),
                   std::string("q.conf:4: P_Key 0x0000 is no partition's: this rule never counts")}));
}

// --- levels

TEST(QosPolicyConf, ALevelHasItsLimits) {
  const auto level =
      level_of("sl: 15\nmtu-limit: 4\nrate-limit: 16\npacket-life: 0x12\npkey: 0x8001-0x8010,5\npkey: 9");

  EXPECT_EQ(level.sl, Sl{15});
  EXPECT_EQ(level.mtu_limit, Mtu::m2048);
  EXPECT_EQ(level.rate_limit, 16);
  EXPECT_EQ(level.packet_life, 0x12);
  EXPECT_EQ(level.pkeys, (QosRanges{{1, 0x10}, {5, 5}, {9, 9}}));
}

TEST(QosPolicyConf, WhatOpensmDoesSilentlyIsAWarning) {
  const auto in_level = [](std::string_view line) {
    return qos_warnings(fmt::format(
        "qos-levels\nqos-level\nname: DEFAULT\nsl: 0\n{}\nend-qos-level\nend-qos-levels\n", line));
  };

  EXPECT_THAT(in_level("path-bits: 1-3"),
              ElementsAre("q.conf:5: path-bits: opensm reads it and does nothing with it: ignored"));
  EXPECT_THAT(in_level("pkey: 0x18001"),
              ElementsAre("q.conf:5: pkey: of 0x18001 the low 15 bits count, as opensm has it: 0x1"));
  EXPECT_THAT(
      in_level("pkey: 0x7ff0-0x8010"),
      ElementsAre(HasSubstr("of 0x7ff0-0x8010 the low 15 bits count, as opensm has it: 0x10-0x7ff0")));
  EXPECT_THAT(in_level("mtu-limit: 04"),
              ElementsAre("q.conf:5: mtu-limit: \"04\" begins with 0 and is octal, as opensm has it: 4"));
  EXPECT_THAT(
      qos_warnings("qos-ulps\ndefault: 1\ndefault: 2\nsdp, port-num 9-5 : 1\nend-qos-ulps\n"),
      ElementsAre("q.conf:3: default: replaces that of line 2, as opensm has it: the last one counts",
                  "q.conf:4: port-num: \"9-5\" ends before it begins: both ends are swapped, as opensm "
                  "does"));
}

TEST(QosPolicyConf, OfTwoLevelsOfOneNameTheFirstCounts) {
  const auto text =
      "qos-levels\nqos-level\nname: Default\nsl: 1\nend-qos-level\nqos-level\nname: DEFAULT\nsl: 2\n"
      "end-qos-level\nend-qos-levels\nqos-ulps\ndefault : 3\nend-qos-ulps\n";

  EXPECT_EQ(qos_conf(text).policy.find_level("default")->sl, Sl{1});
  EXPECT_THAT(
      qos_warnings(text),
      ElementsAre("q.conf:6: qos-level \"DEFAULT\" never counts: q.conf:2 has the name already",
                  "q.conf:12: \"default\" of the ULPs never counts: q.conf:2 defines the level DEFAULT"));
}

// --- rules

TEST(QosPolicyConf, ARuleHasItsCriteria) {
  const auto rule = rule_of(
      "use: by all\nsource: a, MYGROUP\ndestination: \"my group\"\nqos-class: 7-9,11\n"
      "service-id: 22, 0x10000000000008-0xffffffffffffffff\npkey: 0x0F00-0x0FFF");

  EXPECT_THAT(rule.source_groups, ElementsAre("a", "MYGROUP"));
  EXPECT_THAT(rule.destination_groups, ElementsAre("my group"));
  EXPECT_EQ(rule.qos_classes, (QosRanges{{7, 9}, {11, 11}}));
  EXPECT_EQ(rule.service_ids, (QosRanges{{22, 22}, {0x10000000000008, ~std::uint64_t{0}}}));
  EXPECT_EQ(rule.pkeys, (QosRanges{{0xF00, 0xFFF}}));
  EXPECT_EQ(rule.level, "default");
}

// --- protocols

TEST(QosPolicyConf, EachProtocolIsWhatOpensmTakesItFor) {
  struct Case {
    std::string_view line, name;
    QosUlpKey by;
    QosRanges ranges;
  };
  using enum QosUlpKey;
  const std::vector<Case> cases{
      {"sdp : 1", "sdp", service_id, {{0x10000, 0x1FFFF}}},
      {"SDP,port-num 30000:1", "sdp", service_id, {{0x17530, 0x17530}}},
      {"sdp , port-num 0-5, 0xffff : 1", "sdp", service_id, {{0x10000, 0x10005}, {0x1FFFF, 0x1FFFF}}},
      {"rds : 1", "rds", service_id, {{0x10648CA, 0x10648CA}}},
      {"Rds, port-num 1 : 1", "rds", service_id, {{0x1060001, 0x1060001}}},
      {"iser : 1", "iser", service_id, {{0x1060CBC, 0x1060CBC}}},
      {"iSER, port-num 900-901 : 1", "iser", service_id, {{0x1060384, 0x1060385}}},
      {"srp, target-port-guid 0x1234 : 1", "srp", target, {{0x1234, 0x1234}}},
      {"ipoib : 1", "ipoib", pkey, {{0x7fff, 0x7fff}}},
      {"IPoIB, pkey 0x8001, 2 : 1", "ipoib", pkey, {{1, 1}, {2, 2}}},
      {"any, service-id 0x6234 : 1", "any", service_id, {{0x6234, 0x6234}}},
      {"any, pkey 0x0ABC : 1", "any", pkey, {{0xABC, 0xABC}}},
      {"ANY, target-port-guid 1-2 : 1", "any", target, {{1, 2}}},
      {"any, source-port-guid 3 : 1", "any", source, {{3, 3}}},
      {"any, source-target-port-guid 4 : 1", "any", source_target, {{4, 4}}},
  };
  for (const auto& one : cases) {
    const auto ulp = ulp_of(one.line);
    EXPECT_EQ(ulp.name, one.name) << one.line;
    EXPECT_EQ(ulp.by, one.by) << one.line;
    EXPECT_EQ(ulp.ranges, one.ranges) << one.line;
    EXPECT_EQ(ulp.sl, Sl{1}) << one.line;
    EXPECT_EQ(ulp.source.line, 3U) << one.line;
  }
}

TEST(QosPolicyConf, TheDefaultOfProtocolsIsAPolicy) {
  const auto policy = qos_conf("qos-ulps\nDefault:5\nend-qos-ulps\n").policy;

  ASSERT_TRUE(policy.default_ulp);
  EXPECT_EQ(policy.default_ulp->sl, Sl{5});
  EXPECT_FALSE(policy.empty());
}

// --- wrong files

/// tests/golden/config/wrong_qos_policies.txt, which SMD_UPDATE_GOLDEN=1 writes anew.
TEST(QosPolicyConf, EachWrongFileIsNamedWithItsLineItsValueAndWhatIsAllowed) {
  const auto count = expect_golden_errors("wrong_qos_policies.txt", [](const GoldenCase& wrong) {
    std::vector<std::string> lines;
    const auto conf = read_qos_policy_conf(wrong.toml, "q.conf");
    if (conf) return lines;
    for (const auto& error : conf.error()) lines.push_back(to_string(error));
    return lines;
  });
  EXPECT_GE(count, 60U);
}

TEST(QosPolicyConf, AtMostFiftyErrorsAreListed) {
  std::string text = "qos-ulps\n";
  for (int i = 0; i < 60; ++i) text += "nothing\n";
  const auto conf = read_qos_policy_conf(text + "end-qos-ulps\n", "q.conf");

  ASSERT_FALSE(conf);
  EXPECT_THAT(conf.error(), SizeIs(51));
  EXPECT_EQ(to_string(conf.error().back()), "q.conf: and 10 more errors");
}

TEST(QosPolicyConf, CarriageReturnsAndNulBytesAreRefused) {
  const auto error = [](std::string_view text) {
    const auto conf = read_qos_policy_conf(text, "q.conf");
    return conf ? std::string("none") : to_string(conf.error().front());
  };

  EXPECT_EQ(error("qos-levels\r\nend-qos-levels\r\n"),
            "q.conf:1: a carriage return, which opensm does not take for a blank; convert the file to Unix "
            "line ends");
  EXPECT_EQ(error(std::string_view("\n\0", 2)), "q.conf:2: a NUL byte");
  EXPECT_EQ(error("qos-ulps # \f\n default : 0\v\nend-qos-ulps\n"),
            "q.conf:2: a vertical tab or a form feed, which are no blanks");
  EXPECT_THAT(error(std::string(10'240, ' ')), HasSubstr("opensm reads at most 10239"));
}

TEST(QosPolicyConf, NamesAreComparedAsOpensmDoes) {
  EXPECT_TRUE(same_qos_name("Virtual Servers", "VIRTUALSERVERS"));
  EXPECT_TRUE(same_qos_name(" a", "A\t"));
  EXPECT_FALSE(same_qos_name("a", "ab"));
  EXPECT_FALSE(same_qos_name("", "a"));
}

}  // namespace
}  // namespace smd::config
