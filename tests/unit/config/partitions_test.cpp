// SPDX-License-Identifier: Apache-2.0
// The merge of the sources of partitions, and who is a member.
#include "config/partitions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "config/import/partitions_conf.h"

namespace smd::config {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

PartitionSources conf_sources(std::string_view text, bool qos = false) {
  auto conf = read_partitions_conf(text, "p.conf", {.qos = qos});
  if (!conf) ADD_FAILURE() << to_string(conf.error()[0]);
  PartitionSources sources{.toml_file = "smd.toml", .conf_file = "p.conf"};
  if (conf) sources.conf = std::move(conf->definitions);
  return sources;
}

PortTerm guid(std::uint64_t value) { return {.kind = PortTermKind::guid, .first = Guid{value}}; }

PartitionDefinition own(std::string name, std::optional<std::uint16_t> pkey, PolicyOrigin origin,
                        unsigned line = 0) {
  PartitionDefinition definition{.name = std::move(name), .pkey = pkey};
  definition.source = {.origin = origin, .line = line};
  definition.members.push_back(
      {.ports = {{guid(0x11)}}, .membership = Membership::full, .source = definition.source});
  return definition;
}

MergedPartitions merged(const PartitionSources& sources) {
  auto found = merge_partitions(sources);
  if (found) return *std::move(found);
  for (const auto& error : found.error()) ADD_FAILURE() << to_string(error);
  return {};
}

std::vector<std::string> merge_errors_of(const PartitionSources& sources) {
  std::vector<std::string> lines;
  const auto found = merge_partitions(sources);
  if (found) return lines;
  for (const auto& error : found.error()) lines.push_back(to_string(error));
  return lines;
}

std::vector<std::string> warnings_of(const MergedPartitions& found) {
  std::vector<std::string> lines;
  for (const auto& warning : found.warnings) lines.push_back(to_string(warning));
  return lines;
}

/// "0x0001 A" and so on.
std::vector<std::string> names_of(const MergedPartitions& found) {
  std::vector<std::string> shown;
  for (const auto& one : found.policy.partitions) shown.push_back(fmt::format("{} {}", one.pkey, one.name));
  return shown;
}

/// The SM's host h0 (0x11), h1 (0x21) and the switch (0x30).
const std::vector<PortView>& three_ports() {
  static const std::vector<PortView> ports{
      {Guid{0x11}, Guid{0x10}, "h0", PortNum{1}, NodeType::ca, {}, {}, false, {}},
      {Guid{0x21}, Guid{0x20}, "h1", PortNum{1}, NodeType::ca, {}, {}, false, {}},
      {Guid{0x30}, Guid{0x30}, "s", PortNum{0}, NodeType::switch_, {}, {}, false, {}},
  };
  return ports;
}

/// The members of one partition, as "h0=full".
std::vector<std::string> members_of(const PartitionSources& sources, PKey pkey) {
  const auto found = merged(sources);
  const PortIndex index(three_ports());
  std::vector<std::string> shown;
  for (const auto& partition : resolve_partitions(found.policy, index, Guid{0x11})) {
    if (partition.pkey != pkey) continue;
    for (const auto& member : partition.members)
      shown.push_back(fmt::format("{}={}{}", three_ports()[member.port].node_name,
                                  to_string(member.membership), member.index0 ? "@0" : ""));
    for (const auto& pending : partition.pending)
      shown.push_back(
          fmt::format("pending {}={}", to_string(pending.member.term), to_string(pending.membership)));
  }
  return shown;
}

std::vector<std::string> members_of(std::string_view conf, PKey pkey, bool allow_both = false) {
  auto sources = conf_sources(conf);
  sources.allow_both_pkeys = allow_both;
  return members_of(sources, pkey);
}

std::vector<std::string> groups_of(const PolicyPartition& partition) {
  std::vector<std::string> shown;
  for (const auto& group : partition.groups)
    shown.push_back(fmt::format("{} mtu={} rate={} sl={} qkey={:#x} tclass={} flow={} hop={}", group.mgid,
                                std::to_underlying(group.mtu), group.rate, group.sl, group.qkey, group.tclass,
                                group.flow_label, group.hop_limit));
  return shown;
}

std::vector<std::string> groups_of(std::string_view conf, PKey pkey, bool qos = false) {
  const auto found = merged(conf_sources(conf, qos));
  const auto* partition = found.policy.find(pkey);
  return partition == nullptr ? std::vector<std::string>{"no partition"} : groups_of(*partition);
}

// --- the default partition

TEST(Partitions, WithoutAnySourceAllPortsAreFullMembersWithABroadcastGroup) {
  const auto found = merged({});

  EXPECT_FALSE(found.policy.configured);
  EXPECT_THAT(names_of(found), ElementsAre("0x7fff Default"));
  EXPECT_THAT(members_of(PartitionSources{}, kDefaultPartition), ElementsAre("h0=full", "h1=full", "s=full"));
  EXPECT_THAT(groups_of(found.policy.partitions[0]),
              ElementsAre("ff12:401b:ffff::ffff:ffff mtu=0 rate=0 sl=0 qkey=0xb1b tclass=0 flow=0 hop=0"));
}

TEST(Partitions, AFileWithoutADefaultPartitionLeavesLimitedMembersAndTheSmInIt) {
  EXPECT_THAT(members_of("A=1:0x21;", kDefaultPartition), ElementsAre("h0=full", "h1=limited", "s=limited"));
  EXPECT_THAT(groups_of("A=1:0x21;", kDefaultPartition), IsEmpty());
  PartitionSources toml{.toml_file = "smd.toml"};
  toml.toml.push_back(own("A", 1, PolicyOrigin::toml, 3));
  EXPECT_THAT(members_of(toml, kDefaultPartition), ElementsAre("h0=full", "h1=limited", "s=limited"));
}

/// As opensm has it: the file's rules come on top of ALL=limited.
TEST(Partitions, PortsThatTheDefaultPartitionDoesNotNameAreLimitedMembers) {
  EXPECT_THAT(members_of("Default=0x7fff:0x21=full;", kDefaultPartition),
              ElementsAre("h0=full", "h1=full", "s=limited"));
  EXPECT_THAT(members_of("Default:0x21=full;", kDefaultPartition),
              ElementsAre("h0=full", "h1=full", "s=limited"))
      << "a name without a P_Key is that of the partition";
}

TEST(Partitions, TheSmsPortIsAlwaysAFullMemberOfTheDefaultPartition) {
  EXPECT_THAT(members_of("Default=0x7fff:ALL=limited,SELF=limited;", kDefaultPartition),
              ElementsAre("h0=full", "h1=limited", "s=limited"));
  EXPECT_THAT(members_of("A=1:SELF=limited;", PKey{1}), ElementsAre("h0=limited"));
}

TEST(Partitions, PortsOfOtherSmsAreFullMembersOfTheDefaultPartitionOnly) {
  const auto found = merged(conf_sources("Default=0x7fff:ALL=limited;\nA=1:SELF=full,0x21;"));
  const PortIndex index(three_ports());
  const std::array sms{Guid{0x21}, Guid{0x99}};
  const auto resolved = resolve_partitions(found.policy, index, Guid{0x11}, sms);
  ASSERT_EQ(resolved.size(), 2U);
  for (const auto& one : resolved) {
    const bool is_default = one.pkey == kDefaultPartition;
    const auto at = std::ranges::find(one.members, 1U, &PartitionMember::port);
    ASSERT_NE(at, one.members.end());
    EXPECT_EQ(at->membership, is_default ? Membership::full : Membership::limited) << one.pkey.value();
  }
}

/// Creating a tenant by the API takes no host out of the default partition.
TEST(Partitions, PartitionsOfTheApiLeaveTheDefaultPartitionOpen) {
  PartitionSources sources;
  sources.api.push_back(own("tenant", 0x12, PolicyOrigin::api));

  EXPECT_TRUE(merged(sources).policy.configured);
  EXPECT_THAT(members_of(sources, kDefaultPartition), ElementsAre("h0=full", "h1=full", "s=full"));
}

// --- numbers

TEST(Partitions, NumbersAreGivenWhenAllOthersAreKnown) {
  const auto found = merged(conf_sources("A:ALL;B=1:ALL;C:ALL;D=3:ALL;:ALL;"));

  EXPECT_THAT(names_of(found),
              ElementsAre("0x0001 B", "0x0002 A", "0x0003 D", "0x0004 C", "0x0005 0005", "0x7fff Default"));
  EXPECT_TRUE(found.policy.find(PKey{2})->automatic);
  EXPECT_FALSE(found.policy.find(PKey{0x8003})->automatic);
  EXPECT_THAT(
      warnings_of(found),
      Contains(
          "p.conf:1: \"A\" has no P_Key and gets 0x0002, or keeps the one that it has got before; it may "
          "change with the lines before it; "
          "opensm gives 0x0001, which another definition has"));
}

TEST(Partitions, ANameWithoutAPKeyIsMergedWithThePartitionOfThatName) {
  const auto found = merged(conf_sources("auto1:0x21;\nauto1:0x11;\nA=9:0x21;\nA:0x30;\n"));

  EXPECT_THAT(names_of(found), ElementsAre("0x0001 auto1", "0x0009 A", "0x7fff Default"));
  EXPECT_THAT(members_of("auto1:0x21;\nauto1:0x11;", PKey{1}), ElementsAre("h0=limited", "h1=limited"));
  EXPECT_THAT(warnings_of(found),
              Contains("p.conf:4: \"A\" has no P_Key and is merged with the partition of that "
                       "name, 0x0009"));
}

/// A tenant that goes leaves the keys of the others, and its own to none of them.
TEST(Partitions, NumbersThatWereGivenAreKept) {
  PartitionSources sources;
  sources.toml = {own("b", {}, PolicyOrigin::toml), own("new", {}, PolicyOrigin::toml),
                  own("c", {}, PolicyOrigin::toml)};
  sources.kept_pkeys = {{"a", 1}, {"b", 2}, {"c", 3}};
  EXPECT_THAT(names_of(merged(sources)), ElementsAre("0x0002 b", "0x0003 c", "0x0004 new", "0x7fff Default"));

  sources.toml.push_back(own("fixed", 2, PolicyOrigin::toml));
  EXPECT_THAT(names_of(merged(sources)),
              ElementsAre("0x0002 fixed", "0x0003 c", "0x0004 b", "0x0005 new", "0x7fff Default"));

  sources.given_before = {4, 5};
  EXPECT_THAT(names_of(merged(sources)),
              ElementsAre("0x0002 fixed", "0x0003 c", "0x0006 b", "0x0007 new", "0x7fff Default"))
      << "explicit numbers of before";
}

/// An older version kept numbers of smd.toml by the name alone. One of the file comes first.
TEST(Partitions, NumbersOfSmdTomlAreKeptApartFromThoseOfTheFile) {
  PartitionSources sources;
  sources.toml = {own("a", {}, PolicyOrigin::toml)};
  sources.conf = {own("a", {}, PolicyOrigin::file), own("", {}, PolicyOrigin::file),
                  own("", {}, PolicyOrigin::file)};
  sources.kept_pkeys = {{"a", 5}, {"a\nsmd.toml", 4}, {"", 9}, {"\n2", 7}};
  const auto found = merged(sources);
  EXPECT_THAT(names_of(found),
              ElementsAre("0x0004 a", "0x0005 a", "0x0007 0007", "0x0009 0009", "0x7fff Default"));
  EXPECT_EQ(found.policy.partitions[0].sources.front().origin, PolicyOrigin::toml);

  sources.kept_pkeys = {{"a", 5}};
  sources.conf.clear();
  EXPECT_THAT(names_of(merged(sources)), ElementsAre("0x0005 a", "0x7fff Default"));
}

TEST(Partitions, ANameOfSmdTomlIsNoNameOfAnotherPartition) {
  PartitionSources sources{.toml_file = "smd.toml"};
  sources.toml = {own("Default", 0x12, PolicyOrigin::toml, 4), own("0x14", 0x13, PolicyOrigin::toml, 8)};
  EXPECT_THAT(
      merge_errors_of(sources),
      ElementsAre(HasSubstr("smd.toml:4: partition.name: \"Default\" is the name of"),
                  HasSubstr("smd.toml:8: partition.name: \"0x14\" is the P_Key of another partition")));
  sources.toml = {own("Default", 0x7fff, PolicyOrigin::toml), own("0x14", 0x14, PolicyOrigin::toml)};
  EXPECT_THAT(merge_errors_of(sources), IsEmpty());
}

/// It stores 31 characters, and compares all of the other name.
TEST(Partitions, LongNamesAreThoseOfOnePartitionAsForOpensm) {
  const std::string name(31, 'n');
  EXPECT_THAT(names_of(merged(conf_sources(name + "=0x11:0x21;\n" + name + ":0x11;\n"))),
              ElementsAre("0x0011 " + name, "0x7fff Default"));
  const std::string longer(40, 'n');
  EXPECT_EQ(names_of(merged(conf_sources(longer + "=0x11:0x21;\n" + longer + ":0x11;\n"))).size(), 3U);
}

TEST(Partitions, NumbersOfTheApiComeFromItsRange) {
  PartitionSources sources;
  sources.api_pkeys = {0x100, 0x101};
  sources.api = {own("a", {}, PolicyOrigin::api), own("b", 0x100, PolicyOrigin::api)};

  EXPECT_THAT(names_of(merged(sources)), ElementsAre("0x0100 b", "0x0101 a", "0x7fff Default"));
  sources.api.push_back(own("c", {}, PolicyOrigin::api));
  EXPECT_THAT(merge_errors_of(sources),
              ElementsAre("API: \"c\" gets no P_Key: none from 0x0100 to 0x0101 is free"));
}

// --- definitions of one P_Key

TEST(Partitions, DefinitionsOfOnePKeyInTheFileAreOnePartitionWithTheFirstName) {
  const auto found = merged(conf_sources("A=1,sl=3:0x11;\nB=0x8001:0x21=full;\n", true));
  const auto* partition = found.policy.find(PKey{1});

  ASSERT_NE(partition, nullptr);
  EXPECT_EQ(partition->name, "A");
  EXPECT_EQ(partition->sl, Sl{0}) << "the SL of the last definition counts, also where it has none";
  EXPECT_THAT(partition->sources, SizeIs(2));
  EXPECT_THAT(
      warnings_of(found),
      ElementsAre("p.conf:2: \"B\" has the P_Key 0x0001 of \"A\" (p.conf:1): merged, the first name stays",
                  "p.conf:2: SL 0 replaces SL 3 of p.conf:1, as opensm has it: the last definition counts"));
}

TEST(Partitions, TwoOfOneNameAreWarnedOf) {
  auto sources = conf_sources("red=0x20: ALL;\nred=0x21: ALL;\n", true);
  sources.toml.push_back(own("red", 0x22, PolicyOrigin::toml, 3));
  const auto found = merged(sources);

  EXPECT_THAT(
      warnings_of(found),
      ElementsAre("p.conf:2: \"red\" is the name of partition 0x0020 (p.conf:1), too: what names one of "
                  "them, as a token of a tenant or a rule, means both",
                  "smd.toml:3: \"red\" is the name of partition 0x0020 (p.conf:1), too: what names one "
                  "of them, as a token of a tenant or a rule, means both"));
}

TEST(Partitions, APartitionWithTheNameOfTheBuiltInOneIsWarnedOfAtALineOfTheFile) {
  const auto whats_meant = [](std::string_view line, std::string_view other) {
    return fmt::format(
        "{}: \"Default\" is the name of partition {}, too: what names one of them, as a token "
        "of a tenant or a rule, means both",
        line, other);
  };
  EXPECT_THAT(warnings_of(merged(conf_sources("Default=0x7f1f: ALL;\n"))),
              Contains(whats_meant("p.conf:1", "0x7fff (built in)")));
  EXPECT_THAT(warnings_of(merged(conf_sources("Default=0x7f1f: ALL;\nDefault=0x7fff: ALL;\n"))),
              Contains(whats_meant("p.conf:2", "0x7f1f (p.conf:1)")));
}

TEST(Partitions, TheSamePKeyInSmdTomlAndInTheFileIsRefusedWithBothLines) {
  auto sources = conf_sources("\nA=1:ALL;\n");
  sources.toml.push_back(own("a", 1, PolicyOrigin::toml, 12));
  EXPECT_THAT(merge_errors_of(sources),
              ElementsAre("p.conf:2: P_Key 0x0001 of \"A\" is defined in smd.toml:12 too"));

  PartitionSources twice{.toml_file = "smd.toml"};
  twice.toml = {own("a", 1, PolicyOrigin::toml, 3), own("b", 1, PolicyOrigin::toml, 7)};
  EXPECT_THAT(merge_errors_of(twice),
              ElementsAre("smd.toml:7: P_Key 0x0001 of \"b\" is defined in smd.toml:3 too"));
}

TEST(Partitions, AFileTakesAPartitionOfTheApiOver) {
  auto sources = conf_sources("A=1:0x21;");
  sources.api = {own("a", 1, PolicyOrigin::api), own("b", 2, PolicyOrigin::api)};
  const auto found = merged(sources);

  EXPECT_THAT(found.policy.taken_over,
              ElementsAre(TakenOver{"a", PKey{1}, {.origin = PolicyOrigin::file, .line = 1}}));
  EXPECT_THAT(members_of(sources, PKey{1}), ElementsAre("h1=limited"));
  EXPECT_THAT(members_of(sources, PKey{2}), ElementsAre("h0=full"));
  EXPECT_EQ(to_string(found.policy.find(PKey{2})->sources[0], found.policy), "API");
  EXPECT_EQ(to_string(found.policy.find(PKey{1})->sources[0], found.policy), "p.conf:1");
}

TEST(Partitions, APartitionOfTheFileWithoutMembersIsLeftOut) {
  const auto found = merged(conf_sources("A=1,ipoib:NONE;\nB=2:ALL;\n"));

  EXPECT_THAT(names_of(found), ElementsAre("0x0002 B", "0x7fff Default"));
  EXPECT_THAT(warnings_of(found), ElementsAre("p.conf:1: \"A\" has no members: left out, with its groups"));
}

// --- members

TEST(Partitions, LaterMembersReplaceEarlierOnes) {
  EXPECT_THAT(members_of("A=1:ALL=full,0x21=limited,0x21,0x30=limited;", PKey{1}),
              ElementsAre("h0=full", "h1=limited", "s=limited"));
  EXPECT_THAT(members_of("A=1:0x21=limited;A=1:ALL=full;", PKey{1}),
              ElementsAre("h0=full", "h1=full", "s=full"));
}

TEST(Partitions, BothIsFullUnlessBothKeysAreAllowed) {
  constexpr auto kConf = "A=1:ALL=both,0x21=limited,0x30=full;";
  EXPECT_THAT(members_of(kConf, PKey{1}), ElementsAre("h0=full", "h1=limited", "s=full"));
  EXPECT_THAT(members_of(kConf, PKey{1}, true), ElementsAre("h0=both", "h1=limited", "s=full"));
  EXPECT_THAT(members_of("A=1:0x21=full,0x21=both,0x11=both,0x11=full;", PKey{1}, true),
              ElementsAre("h0=full", "h1=both"));
  EXPECT_THAT(warnings_of(merged(conf_sources(kConf))),
              ElementsAre("p.conf:1: \"both\" in \"A\" is full while allow_both_pkeys is off"));
}

TEST(Partitions, AMemberThatIsNotThereIsPendingWithItsMembership) {
  EXPECT_THAT(members_of("A=1:0x21,0x99=full,h7/P1;", PKey{1}),
              ElementsAre("h1=limited", "pending 0x0000000000000099=full", "pending h7:1=limited"));
}

TEST(Partitions, TheLastRuleForIndex0Counts) {
  constexpr auto kConf = "A=1,indx0:0x11,0x21;B=2,indx0:0x21;C=3,indx0:0x30;C=3:0x30=full;";
  EXPECT_THAT(members_of(kConf, PKey{1}), ElementsAre("h0=limited@0", "h1=limited"));
  EXPECT_THAT(members_of(kConf, PKey{2}), ElementsAre("h1=limited@0"));
  EXPECT_THAT(members_of(kConf, PKey{3}), ElementsAre("s=full"))
      << "a later rule without indx0 takes it back";
  EXPECT_THAT(members_of("B=2,indx0:0x21;A=1,indx0:0x21;", PKey{2}), ElementsAre("h1=limited"));
}

/// The SM's port is made a full member of the default partition; that is no rule which comes later.
TEST(Partitions, TheLastRuleForIndex0CountsAtTheSmsPortToo) {
  constexpr auto kConf = "Default=0x7fff,indx0:ALL;A=1,indx0:0x11;";
  EXPECT_THAT(members_of(kConf, config::kDefaultPartition),
              ElementsAre("h0=full", "h1=limited@0", "s=limited@0"));
  EXPECT_THAT(members_of(kConf, PKey{1}), ElementsAre("h0=limited@0"));
}

TEST(Partitions, ReferencesOfMembersAreChecked) {
  PartitionSources sources{.toml_file = "smd.toml"};
  sources.groups["a"] = {{PortTerm{.kind = PortTermKind::partition, .name = "x"}}};
  auto one = own("blue", 1, PolicyOrigin::toml, 4);
  one.members = {{.ports = {{PortTerm{.kind = PortTermKind::group, .name = "b"}}}, .source = one.source}};
  auto two = own("red", 2, PolicyOrigin::toml, 8);
  two.members = {{.ports = {{PortTerm{.kind = PortTermKind::group, .name = "a"}}}, .source = two.source}};
  sources.toml = {one, two};

  EXPECT_THAT(merge_errors_of(sources),
              ElementsAre("smd.toml:4: blue: there is no group b",
                          HasSubstr("smd.toml:8: red: members of a partition cannot be those of another one, "
                                    "as the group \"a\" has them")));
}

// --- groups

TEST(Partitions, IpoibMakesABroadcastGroupForEachScope) {
  EXPECT_THAT(groups_of("A=0x12,ipoib:ALL;", PKey{0x12}),
              ElementsAre("ff12:401b:8012::ffff:ffff mtu=4 rate=3 sl=0 qkey=0xb1b tclass=0 flow=0 hop=0"));
  EXPECT_THAT(groups_of("A=0x12,ipoib,mtu=5,rate=16,sl=2,Q_Key=7,TClass=3,FlowLabel=4,scope=2,scope=5:ALL;",
                        PKey{0x12}, true),
              ElementsAre("ff12:401b:8012::ffff:ffff mtu=5 rate=16 sl=2 qkey=0x7 tclass=3 flow=4 hop=0",
                          "ff15:401b:8012::ffff:ffff mtu=5 rate=16 sl=2 qkey=0x7 tclass=3 flow=4 hop=255"));
  EXPECT_THAT(groups_of("A,ipoib:ALL;", PKey{1}), ElementsAre(HasSubstr("ff12:401b:8001::ffff:ffff")));
}

TEST(Partitions, AGroupOfIpGetsThePKeyAndTheScopeOfItsPartition) {
  EXPECT_THAT(
      groups_of(
          "A=0x12:\nmgid=ff15:401b::16\nmgid=ff12:601b:8012::2,scope=14\nmgid=ff12:401b:ffff::ffff:ffff\n"
          "mgid=ff1e::7\nALL;",
          PKey{0x12}),
      ElementsAre(HasSubstr("ff12:401b:8012::16 mtu=4 rate=3 sl=0 qkey=0xb1b"),
                  HasSubstr("ff1e:601b:8012::2 mtu=4 rate=3 sl=0 qkey=0xb1b tclass=0 flow=0 hop=255"),
                  HasSubstr("ff12:401b:8012::ffff:ffff"), HasSubstr("ff12::7 mtu=4 rate=3 sl=0 qkey=0x0")));
}

TEST(Partitions, AnIpGroupThatDoesNotSuitItsPartitionIsLeftOutAlone) {
  const auto refused = [](std::string_view group) {
    return warnings_of(merged(conf_sources(fmt::format("A=0x12:\nmgid=ff12::1\n{}\nALL;", group))));
  };
  EXPECT_THAT(
      refused("mgid=ff12:401b:0012::16"),
      ElementsAre(
          "p.conf:3: group ff12:401b:12::16 has the P_Key 0x0012, not 0 and not that of the partition, "
          "0x8012: left out"));
  EXPECT_THAT(refused("mgid=ff12:401b::16,rate=7"),
              ElementsAre("p.conf:3: group ff12:401b::16 has the rate 40 Gb/s (code 7), its partition has 10 "
                          "Gb/s (code 3): left out"));
  EXPECT_THAT(refused("mgid=ff12:601b::16,mtu=5"),
              ElementsAre("p.conf:3: group ff12:601b::16 has the MTU 4096 (code 5), its partition has "
                          "2048 (code 4): left out"));
  EXPECT_THAT(refused("mgid=ff12::1"), ElementsAre("p.conf:3: group ff12::1 is there already: left out"));
  EXPECT_THAT(
      refused("mgid=ff12:a01b::5"),
      ElementsAre("p.conf:3: group ff12:a01b::5 has the signature a01b, by which the SA names link-local "
                  "groups itself: left out"));
  EXPECT_THAT(refused("mgid=ff12:a01b::5,scope=5"), IsEmpty());
  EXPECT_THAT(refused("mgid=ff15:a01b::5,scope=2,scope=5"),
              ElementsAre(HasSubstr("p.conf:3: group ff12:a01b::5 has the signature a01b")));
  EXPECT_THAT(groups_of("A=0x12,scope=2:\nmgid=ff15:a01b::5,scope=5\nALL;", PKey{0x12}),
              ElementsAre(HasSubstr("ff15:a01b::5 ")));
  EXPECT_THAT(refused("mgid=ff22:1234::77"),
              ElementsAre("p.conf:3: group ff22:1234::77 has a flag that is reserved: left out"));
  EXPECT_THAT(refused("mgid=ff42::9"), ElementsAre(HasSubstr("p.conf:3: group ff42::9 has a flag")));
  EXPECT_THAT(
      refused("mgid=ff12:401b::16,rate=7\nmgid=ff12::3\nmgid=ff12:401b::17,rate=8"),
      ElementsAre(HasSubstr("p.conf:3: group ff12:401b::16 "), HasSubstr("p.conf:5: group ff12:401b::17 ")));
  EXPECT_THAT(refused("mgid=ff12::2,rate=7,mtu=5"), IsEmpty())
      << "only IP groups are bound to their partition";
}

// --- the policy as a value

TEST(Partitions, TheDigestIsOfWhatAFabricShows) {
  const auto digest = [](std::string_view conf) { return merged(conf_sources(conf)).policy.digest; };
  const auto base = digest("A=1:0x11,0x21=full;");

  EXPECT_EQ(digest("# a comment\n\nA = 0x8001 :\n 17,\n 0x21=f ;\n"), base);
  EXPECT_NE(digest("A=1:0x11,0x21;"), base);
  EXPECT_NE(digest("A=1:0x21=full,0x11;"), base);
  EXPECT_NE(digest("A=2:0x11,0x21=full;"), base);
  EXPECT_NE(digest("A=1,ipoib:0x11,0x21=full;"), base);
  EXPECT_NE(digest("A=1,indx0:0x11,0x21=full;"), base);
}

TEST(Partitions, AThousandPartitionsAreReadMergedAndResolvedAreCounted) {
  constexpr unsigned kPorts = 4176, kPartitions = 1000, kMembers = 100;
  std::vector<PortView> ports;
  for (unsigned i = 0; i < kPorts; ++i)
    ports.push_back({Guid{0x1000 + i}, Guid{0x100000 + i}, "h", PortNum{1}, NodeType::ca, {}, {}, false, {}});
  std::string conf;
  for (unsigned i = 0; i < kPartitions; ++i) {
    conf += fmt::format("p{}={:#x},ipoib:\n", i, i + 1);
    for (unsigned j = 0; j < kMembers; ++j)
      conf += fmt::format("{:#x},\n", 0x1000 + (i * 97 + j * 41) % kPorts);
    conf += ";\n";
  }

  const auto sources = conf_sources(conf);
  const auto found = merged(sources);
  const PortIndex index(ports);
  const auto resolved = resolve_partitions(found.policy, index, Guid{0x1000});

  ASSERT_THAT(resolved, SizeIs(kPartitions + 1));
  std::size_t members = 0;
  for (const auto& partition : resolved) members += partition.members.size();
  EXPECT_EQ(members, kPartitions * kMembers + kPorts);
}

}  // namespace
}  // namespace smd::config
