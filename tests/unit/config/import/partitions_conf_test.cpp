// SPDX-License-Identifier: Apache-2.0
// OpenSM's partitions.conf, point by point as opensm reads it.
#include "config/import/partitions_conf.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/import/c_number.h"
#include "tests/unit/config/golden_errors.h"

namespace smd::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

PartitionsConf conf_of(std::string_view text, const PartitionsConfOptions& options = {}) {
  auto conf = read_partitions_conf(text, "p.conf", options);
  if (conf) return *std::move(conf);
  for (const auto& error : conf.error()) ADD_FAILURE() << to_string(error);
  return {.definitions = std::vector<PartitionDefinition>(4), .warnings = {}};
}

PartitionDefinition one(std::string_view text, const PartitionsConfOptions& options = {}) {
  return conf_of(text, options).definitions.at(0);
}

/// "0x...=full" and so on, in their order.
std::vector<std::string> members_of(const PartitionDefinition& definition) {
  std::vector<std::string> shown;
  for (const auto& rule : definition.members) {
    auto text = to_string(rule.ports);
    if (text.starts_with("0x") && !text.contains('-'))
      text = fmt::format("{:#x}", rule.ports.terms[0].first.value());
    shown.push_back(fmt::format("{}={}{}", text, to_string(rule.membership), rule.index0 ? "@0" : ""));
  }
  return shown;
}

std::vector<std::string> members(std::string_view text) { return members_of(one(text)); }

std::vector<std::string> warnings_of(std::string_view text, const PartitionsConfOptions& options = {}) {
  std::vector<std::string> lines;
  for (const auto& warning : conf_of(text, options).warnings) lines.push_back(to_string(warning));
  return lines;
}

std::vector<std::string> errors_of_conf(std::string_view text) {
  std::vector<std::string> lines;
  const auto conf = read_partitions_conf(text, "p.conf");
  if (conf) return lines;
  for (const auto& error : conf.error()) lines.push_back(to_string(error));
  return lines;
}

// --- lines and definitions

TEST(PartitionsConf, ADefinitionEndsWithASemicolonAndMaySpanLines) {
  const auto conf =
      conf_of("A=1 : 0x10, # comment ; with a semicolon\n\t 0x11\n0x12=full ; B=2:0x20;C=3:0x30;\n");

  ASSERT_THAT(conf.definitions, SizeIs(3));
  EXPECT_THAT(members_of(conf.definitions[0]), ElementsAre("0x10=limited", "0x11=limited", "0x12=full"));
  EXPECT_EQ(conf.definitions[1].name, "B");
  EXPECT_THAT(members_of(conf.definitions[2]), ElementsAre("0x30=limited"));
  EXPECT_EQ(conf.definitions[2].source, (PolicySource{.origin = PolicyOrigin::file, .line = 3}));
  EXPECT_EQ(conf.definitions[0].members[1].source.line, 2U);
  EXPECT_THAT(conf.warnings, IsEmpty());
}

/// opensm skips the ';' and takes B for a member of A.
TEST(PartitionsConf, ASemicolonThatBeginsALineEndsTheDefinitionUnlikeWithOpensm) {
  const auto conf = conf_of("A=1:0x10\n; B=2:0x20;\nC=3:0x30\n;\n");

  ASSERT_THAT(conf.definitions, SizeIs(3));
  ASSERT_THAT(conf.warnings, SizeIs(1));
  EXPECT_EQ(to_string(conf.warnings[0]),
            "p.conf:2: opensm does not end a definition by a ';' that begins a line; begin a new line after "
            "the ';'");
}

TEST(PartitionsConf, ALineMayHave4094Bytes) {
  const std::string start = "A=1:0x10", end = ";";
  const std::string longest = start + std::string(4094 - start.size() - end.size(), ' ') + end;

  EXPECT_THAT(members(longest), ElementsAre("0x10=limited"));
  EXPECT_THAT(
      errors_of_conf(" " + longest),
      ElementsAre("p.conf:1: a line of 4095 bytes, opensm reads at most 4094; split it behind a comma"));
}

TEST(PartitionsConf, TheLastDefinitionNeedsNoSemicolon) {
  EXPECT_THAT(members("A=1 : 0x10"), ElementsAre("0x10=limited"));
  EXPECT_THAT(warnings_of("A=1 : 0x10\n"), ElementsAre("p.conf:1: no ';' ends the definition of line 1"));
}

TEST(PartitionsConf, BlanksStandAroundEachSign) {
  const auto definition = one(" \t A\t= 0x8 , ipoib ,sl = 3 : 0x10 = full , 0x11\t; ", {.qos = true});

  EXPECT_EQ(definition.name, "A");
  EXPECT_EQ(definition.pkey, 8);
  EXPECT_TRUE(definition.ipoib);
  EXPECT_EQ(definition.settings.sl, Sl{3});
  EXPECT_THAT(members_of(definition), ElementsAre("0x10=full", "0x11=limited"));
}

// --- the header

TEST(PartitionsConf, TheNameMayBeMissingAndANumberAloneIsThePKey) {
  EXPECT_EQ(one("=8:ALL;").pkey, 8);
  EXPECT_EQ(one("=8:ALL;").name, "");
  EXPECT_EQ(one("0x8:ALL;").pkey, 8);
  EXPECT_EQ(one("0x8:ALL;").name, "");
  EXPECT_EQ(one("Eight:ALL;").pkey, std::nullopt);
  EXPECT_EQ(one(":ALL;").name, "");
  EXPECT_EQ(one("A=8,:ALL;").pkey, 8);
}

TEST(PartitionsConf, PKeysAreNumbersOfCWithTheLow15BitsCounting) {
  EXPECT_EQ(one("A=0x8001:ALL;").pkey, 1);
  EXPECT_EQ(one("A=010:ALL;").pkey, 8);
  EXPECT_EQ(one("A=32769:ALL;").pkey, 1);
  EXPECT_EQ(one("A=-1:ALL;").pkey, 0x7fff);
  EXPECT_EQ(one("A=0x18002:ALL;").pkey, 2);
  EXPECT_EQ(one("A=0x8000:ALL;").pkey, std::nullopt);
  EXPECT_EQ(one("A=0:ALL;").pkey, std::nullopt);
  EXPECT_THAT(warnings_of("A=0x18002:ALL;"),
              ElementsAre("p.conf:1: P_Key: of \"0x18002\" the low 15 bits count: 0x0002"));
}

// --- flags

TEST(PartitionsConf, FlagsAreTakenByTheirFirstLettersInTheOrderOfOpensm) {
  const auto settings = one("A=1,m=5,r=16,s=3,sc=5,Q=0x10,T=4,F=7,sl=2,i,d=full:0x10;", {.qos = true});

  EXPECT_EQ(settings.settings, (GroupSettings{.mtu = Mtu::m4096,
                                              .rate = 16,
                                              .sl = Sl{2},
                                              .scopes = (1U << 3U) | (1U << 5U),
                                              .qkey = 0x10,
                                              .tclass = 4,
                                              .flow_label = 7}));
  EXPECT_TRUE(settings.ipoib);
  EXPECT_THAT(members_of(settings), ElementsAre("0x10=full"));
}

TEST(PartitionsConf, WithoutFlagsAGroupHas10GigabitAnd2048Bytes) {
  EXPECT_EQ(one("A=1,ipoib:ALL;").settings, (GroupSettings{.mtu = Mtu::m2048, .rate = 3}));
}

TEST(PartitionsConf, QKeyTClassAndFlowLabelHaveTheirCase) {
  const auto conf = conf_of("A=1,q_key=1,tclass=1,flowlabel=1:ALL;");

  EXPECT_EQ(conf.definitions[0].settings.qkey, 0U);
  EXPECT_EQ(conf.definitions[0].settings.tclass, 0U);
  ASSERT_THAT(conf.warnings, SizeIs(3));
  EXPECT_EQ(to_string(conf.warnings[0]),
            "p.conf:1: flag: unknown flag \"q_key\": ignored; did you mean \"Q_Key\"?");
}

TEST(PartitionsConf, AnEmptyFlagIsMtuAndSetsNothing) {
  EXPECT_EQ(one("A=1,,ipoib:ALL;").settings.mtu, Mtu::m2048);
  EXPECT_THAT(warnings_of("A=1,,ipoib:ALL;"), IsEmpty());
  EXPECT_EQ(one("A=1,=5:ALL;").settings.mtu, Mtu::m4096);
}

TEST(PartitionsConf, OnlyIndx0HasToBeWholeAndCountsForItsDefinition) {
  const auto conf = conf_of("A=1,indx0:0x10;A=1:0x11;");

  EXPECT_THAT(members_of(conf.definitions[0]), ElementsAre("0x10=limited@0"));
  EXPECT_THAT(members_of(conf.definitions[1]), ElementsAre("0x11=limited"));
  EXPECT_THAT(members("A=1,indx:0x10;"), ElementsAre("0x10=limited"));
}

TEST(PartitionsConf, AnUnknownFlagIsIgnoredAndNamedWithTheNearest) {
  EXPECT_THAT(warnings_of("A=1,ipoip,foo=3:ALL;"),
              ElementsAre("p.conf:1: flag: unknown flag \"ipoip\": ignored; did you mean \"ipoib\"?",
                          "p.conf:1: flag: unknown flag \"foo\": ignored"));
}

TEST(PartitionsConf, ValuesThatOpensmSkipsAreSkippedWithAWarning) {
  EXPECT_EQ(one("A=1,scope=0,scope=16,scope=4:ALL;").settings.scopes, 1U << 4U);
  EXPECT_EQ(one("A=1,sl=2,sl=16,sl=x,sl:ALL;", {.qos = true}).settings.sl, Sl{2});
  EXPECT_EQ(one("A=1,FlowLabel=0xfffff,FlowLabel=0x100000:ALL;").settings.flow_label, 0xfffffU);
  EXPECT_THAT(warnings_of("A=1,scope=0,sl=16,FlowLabel=0x100000,mtu:ALL;"),
              ElementsAre("p.conf:1: scope: \"0\" is no scope from 1 to 15: ignored",
                          "p.conf:1: sl: \"16\" is no SL from 0 to 15: ignored",
                          "p.conf:1: FlowLabel: \"0x100000\" is no flow label from 0 to 0xfffff: ignored",
                          "p.conf:1: mtu: a flag without a value: ignored"));
}

TEST(PartitionsConf, TextBehindANumberIsDropped) {
  EXPECT_EQ(one("A=1,mtu=4k:ALL;").settings.mtu, Mtu::m2048);
  EXPECT_THAT(warnings_of("A=1,mtu=4k:ALL;"),
              ElementsAre("p.conf:1: mtu: \"4k\" is read as 4, as opensm does"));
  EXPECT_EQ(one("A=1,Q_Key=0xDEADBEEF:ALL;").settings.qkey, 0xdeadbeefU);
  EXPECT_EQ(one("A=1,TClass=0x101:ALL;").settings.tclass, 1U);
  EXPECT_THAT(warnings_of("A=1,Q_Key=0x123456789:ALL;"),
              ElementsAre("p.conf:1: Q_Key: of \"0x123456789\" the low 32 bits count: 0x23456789"));
  EXPECT_THAT(
      warnings_of("A=1,ipoib=no,indx0=1:ALL;"),
      ElementsAre(
          "p.conf:1: ipoib: takes no value, \"no\" is ignored, as opensm does: the group is made",
          "p.conf:1: indx0: takes no value, \"1\" is ignored, as opensm does: the key belongs at index 0"));
  EXPECT_TRUE(one("A=1,ipoib=no:ALL;").ipoib);
}

TEST(PartitionsConf, TheSlIs0WhileQosIsOff) {
  EXPECT_EQ(one("A=1,sl=3:ALL;").settings.sl, Sl{0});
  EXPECT_EQ(one("A=1,sl=3:ALL;", {.qos = true}).settings.sl, Sl{3});
  EXPECT_THAT(warnings_of("A=1,sl=3:ALL;"),
              ElementsAre("p.conf:1: sl: SL 3 is 0 while QoS is off, as opensm has it"));
}

TEST(PartitionsConf, DefmemberIsLimitedUnlessItSaysMore) {
  EXPECT_THAT(members("A=1:0x10;"), ElementsAre("0x10=limited"));
  EXPECT_THAT(members("A=1,defmember=f:0x10,0x11=lim,0x12=b;"),
              ElementsAre("0x10=full", "0x11=limited", "0x12=both"));
  EXPECT_THAT(members("A=1,defmember=both:0x10;"), ElementsAre("0x10=both"));
  EXPECT_THAT(members("A=1,defmember=:0x10;"), ElementsAre("0x10=full"));
  EXPECT_THAT(members("A=1,defmember=Full:0x10;"), ElementsAre("0x10=limited"));
  EXPECT_THAT(warnings_of("A=1,defmember=Full:0x10;"),
              ElementsAre("p.conf:1: defmember: \"Full\" is not full, limited or both: ignored"));
}

// --- members

TEST(PartitionsConf, KeywordsAreTakenByTheirFirstLettersInTheOrderOfOpensm) {
  EXPECT_THAT(members("A=1:A=full,AL,ALL,ALL_,ALL_C,ALL_CAS,ALL_S,ALL_SWITCHES,ALL_R,S,SE,SELF;"),
              ElementsAre("ALL=full", "ALL=limited", "ALL=limited", "ALL_CAS=limited", "ALL_CAS=limited",
                          "ALL_CAS=limited", "ALL_SWITCHES=limited", "ALL_SWITCHES=limited",
                          "ALL_ROUTERS=limited", "SELF=limited", "SELF=limited", "SELF=limited"));
  EXPECT_THAT(members("A=1:,N,NONE=full, ,=full,;"), IsEmpty());
}

TEST(PartitionsConf, GuidsAreNumbersOfC) {
  EXPECT_THAT(members("A=1:0x10,17,020=full;"), ElementsAre("0x10=limited", "0x11=limited", "0x10=full"));
}

TEST(PartitionsConf, AnUnknownMembershipIsLimited) {
  EXPECT_THAT(members("A=1,defmember=full:0x10=Full,0x11=lim,0x12=;"),
              ElementsAre("0x10=limited", "0x11=limited", "0x12=full"));
  EXPECT_THAT(
      warnings_of("A=1:0x10=ful1,0x12=;"),
      ElementsAre(
          "p.conf:1: member: membership \"ful1\" is read as limited, as opensm does; did you mean \"full\"?",
          "p.conf:1: member: an empty membership is full, as opensm has it"));
}

TEST(PartitionsConf, WhatNvidiaAddsIsTaken) {
  EXPECT_THAT(members("A=1:0x10-0x1f=full,h00001 HCA-1/P2,leaf/1/p3=both,ALL_SWITCH_TO_SWITCH;"),
              ElementsAre("0x0000000000000010-0x000000000000001f=full", "h00001 HCA-1:2=limited",
                          "leaf/1:3=both", "ALL_SWITCH_TO_SWITCH=limited"));
}

// --- groups

TEST(PartitionsConf, AnMgidTakesTheRestOfItsLineAndInheritsAllButTClass) {
  const auto definition =
      one("A=1,ipoib,mtu=5,rate=16,sl=3,Q_Key=9,TClass=8,FlowLabel=7,scope=5:0x10,mgid=ff12:401b::16,sl=1,"
          "scope=6\n"
          "mgid=ff12::1\nALL=full;",
          {.qos = true});

  ASSERT_THAT(definition.groups, SizeIs(2));
  EXPECT_EQ(to_string(definition.groups[0].mgid), "ff12:401b::16");
  EXPECT_EQ(definition.groups[0].settings, (GroupSettings{.mtu = Mtu::m4096,
                                                          .rate = 16,
                                                          .sl = Sl{1},
                                                          .scopes = (1U << 5U) | (1U << 6U),
                                                          .qkey = 9,
                                                          .tclass = 0,
                                                          .flow_label = 7}));
  EXPECT_EQ(definition.groups[1].settings.sl, Sl{3});
  EXPECT_EQ(definition.groups[1].source.line, 2U);
  EXPECT_THAT(members_of(definition), ElementsAre("0x10=limited", "ALL=full"));
}

TEST(PartitionsConf, AMemberBehindAnMgidIsAnUnknownFlag) {
  EXPECT_THAT(members("A=1:mgid=ff12::1,ALL=full;"), IsEmpty());
  EXPECT_THAT(
      warnings_of("A=1:mgid=ff12::1,ALL=full;"),
      ElementsAre("p.conf:1: mgid: unknown flag \"ALL\": ignored; members stand on lines of their own"));
}

TEST(PartitionsConf, WhatFollowsAnMgidsSemicolonIsReadUnlikeByOpensm) {
  const auto conf = conf_of("A=1:mgid=ff12::1;B=2:0x10;\n");

  EXPECT_THAT(conf.definitions, SizeIs(2));
  ASSERT_THAT(conf.warnings, SizeIs(1));
  EXPECT_THAT(to_string(conf.warnings[0]), HasSubstr("opensm takes what follows on this line for flags"));
}

// --- files

TEST(PartitionsConf, TheDocumentedExamplesAreRead) {
  const auto conf = conf_of(R"(
 Default=0x7fff : ALL, SELF=full ;
 Default=0x7fff : ALL, ALL_SWITCHES=full, SELF=full ;
 NewPartition , ipoib : 0x123456=full, 0x3456789034=limi, 0x2134af2306 ;
 YetAnotherOne = 0x300 : SELF=full ;
 YetAnotherOne = 0x300 : ALL=limited ;
 ShareIO = 0x80 , defmember=full : 0x123451, 0x123452;
 # 0x123453, 0x123454 will be limited
 ShareIO = 0x80 : 0x123453, 0x123454, 0x123455=full;
 ShareIO = 0x80 , defmember=limited : 0x123456, 0x123457, 0x123458=full;
 ShareIO = 0x80 , defmember=full : 0x123459, 0x12345a;
 ShareIO = 0x80 , defmember=full : 0x12345b, 0x12345c=limited, 0x12345d;
 Default=0x7fff,ipoib:
        mgid=ff12:401b::0707,sl=1 # random IPv4 group
        mgid=ff12:601b::16    # MLDv2-capable routers
        mgid=ff12::1,sl=1,Q_Key=0xDEADBEEF,rate=3,mtu=2 # random group
        ALL=full;
)");

  ASSERT_THAT(conf.definitions, SizeIs(11));
  EXPECT_THAT(conf.warnings, IsEmpty());
  EXPECT_THAT(members_of(conf.definitions[2]),
              ElementsAre("0x123456=full", "0x3456789034=limited", "0x2134af2306=limited"));
  EXPECT_THAT(members_of(conf.definitions[9]),
              ElementsAre("0x12345b=full", "0x12345c=limited", "0x12345d=full"));
  EXPECT_THAT(conf.definitions[10].groups, SizeIs(3));
  EXPECT_EQ(conf.definitions[10].groups[2].settings.qkey, 0xdeadbeefU);
  EXPECT_EQ(conf.definitions[10].groups[2].settings.mtu, Mtu::m512);
}

TEST(PartitionsConf, AWrongFileIsRefusedAsAWholeWithALineForEachMistake) {
  EXPECT_THAT(errors_of_conf("X=0x10 : notaguid=full ;\nY=0x11 : 0x10 ;\nZ=0x1g : 0x10,\n0xzz ;\n"),
              ElementsAre("p.conf:1: member: got \"notaguid\", expected a port GUID such as "
                          "0x0002c90300001234, ALL, ALL_CAS, "
                          "ALL_SWITCHES, ALL_ROUTERS or SELF",
                          "p.conf:3: P_Key: got \"0x1g\", expected a number such as 0x8001 or 12"));
}

TEST(PartitionsConf, SixtyWrongFilesAreNamedWordForWord) {
  const auto count = expect_golden_errors("wrong_partitions.txt", [](const GoldenCase& wrong) {
    auto lines = errors_of_conf(wrong.toml);
    EXPECT_THAT(lines, testing::Not(IsEmpty())) << wrong.toml;
    return lines;
  });
  EXPECT_GE(count, 60U);
}

TEST(PartitionsConf, NoMoreThan50ErrorsAreListed) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "wrong;\n";

  const auto errors = errors_of_conf(text);
  ASSERT_THAT(errors, SizeIs(51));
  EXPECT_EQ(errors.back(), "p.conf: and 10 more errors");
}

TEST(CNumbers, AreReadAsStrtoulReadsThem) {
  const auto number = [](std::string_view text) {
    const auto read = read_c_number(text);
    return fmt::format("{:#x} {} {}", read.value, read.digits, read.rest);
  };
  EXPECT_EQ(number("12"), "0xc true ");
  EXPECT_EQ(number(" \t-1x"), "0xffffffffffffffff true x");
  EXPECT_EQ(number("0x"), "0x0 true x");
  EXPECT_EQ(number("08"), "0x0 true 8");
  EXPECT_EQ(number("0"), "0x0 true ");
  EXPECT_EQ(number("+0X1fg"), "0x1f true g");
  EXPECT_EQ(number(""), "0x0 false ");
  EXPECT_EQ(number("x1"), "0x0 false x1");
  EXPECT_EQ(number("99999999999999999999"), "0xffffffffffffffff true ");
}

}  // namespace
}  // namespace smd::config
