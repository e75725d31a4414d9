// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <string>
#include <vector>

#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// The configuration of a text that is right.
Config good(std::string_view text, const std::vector<std::string>& overrides = {},
            std::map<std::string, std::string> files = {}) {
  auto config = load_text(text, "conf/smd.toml", overrides, context_with(std::move(files)));
  if (!config) {
    for (const auto& error : config.error()) ADD_FAILURE() << to_string(error);
    return {};
  }
  return *std::move(config);
}

TEST(Load, NoFileIsTheDefaults) {
  const auto config = load(std::nullopt, {}, context_with());

  ASSERT_TRUE(config);
  EXPECT_EQ(*config, Config{});
  EXPECT_THAT(config->subnets, SizeIs(1));
}

TEST(Load, AnEmptyFileIsTheDefaults) { EXPECT_EQ(good(""), Config{}); }

TEST(Load, EachKeySetsItsMember) {
  const auto config = good(R"(
[log]
level = "debug"
format = "json"
modules = ["mad", "sweep"]
guids = ["0002:c903:0000:1234"]
[sm]
priority = 15
subnet_prefix = "0xfe80000000000001"
[mad]
timeout = "1s"
retries = 0
[sweep]
interval = "0s"
on_trap = false
[lids]
lmc = 3
first = 0x10
last = 1_000
[links]
mtu = 2048
operational_vls = 4
speed = "hdr"
width = "4x"
[routing]
engines = ["minhop"]
threads = 2
)");
  const auto& subnet = config.subnets.at(0);

  EXPECT_EQ(config.log.level, LogLevel::debug);
  EXPECT_EQ(config.log.format, LogFormat::json);
  EXPECT_THAT(config.log.modules, ElementsAre("mad", "sweep"));
  EXPECT_THAT(config.log.guids, ElementsAre(Guid{0x0002c90300001234}));
  EXPECT_EQ(subnet.sm.priority, 15);
  EXPECT_EQ(subnet.sm.subnet_prefix, 0xfe80000000000001U);
  EXPECT_EQ(subnet.mad.timeout, seconds(1));
  EXPECT_EQ(subnet.mad.retries, 0U);
  EXPECT_EQ(subnet.sweep.interval, Duration::zero());
  EXPECT_FALSE(subnet.sweep.on_trap);
  EXPECT_EQ(subnet.lids, (LidsConfig{.lmc = 3, .first = Lid{16}, .last = Lid{1000}}));
  EXPECT_EQ(subnet.links.mtu, Mtu::m2048);
  EXPECT_EQ(subnet.links.operational_vls, 4);
  EXPECT_EQ(subnet.links.speed, LinkSpeed::hdr);
  EXPECT_EQ(subnet.links.width, LinkWidth::x4);
  EXPECT_THAT(subnet.routing.engines, ElementsAre("minhop"));
  EXPECT_EQ(subnet.routing.threads, 2U);
  EXPECT_EQ(config.base, subnet);
}

/// What stands outside is for those subnets whose engines use it.
TEST(Load, AnOptionOfEnginesIsUsedByOneSubnetAtLeast) {
  const std::string subnets = R"(
[routing]
root_guids = ["0x1"]
[[subnet]]
name = "a"
port = "mlx5_0:1"
[[subnet]]
name = "b"
port = "mlx5_1:1"
[subnet.routing]
engines = ["dor"]
)";
  EXPECT_THAT(errors_of(subnets), IsEmpty());
  EXPECT_THAT(errors_of(subnets + "[[subnet]]\nname = \"c\"\nport = \"mlx5_2:1\"\n[subnet.routing]\n"
                                  "engines = [\"minhop\"]\nroot_guids = [\"0x2\"]\n"),
              SizeIs(1));
}

TEST(Load, KeysAreReadByTheirOldNamesWithAWarning) {
  const auto config = good(R"(
[links]
hoq_life = 11
leaf_hoq_life = 12
phy_errors = 3
overrun_errors = 4
[multicast]
share_solicited_nodes = true
[sa]
silent_grace = "1m"
[ha]
retries = 3
[lids]
import = "a"
[[subnet]]
[subnet.routing]
engines = ["file"]
tables = "b"
)");
  const auto now = good(R"(
[links]
hoq_lifetime = 11
leaf_hoq_lifetime = 12
local_phy_errors_threshold = 3
overrun_errors_threshold = 4
[multicast]
consolidate_ipv6_snm = true
[sa]
keep_silent = "1m"
[ha]
losses = 4
[lids]
import_guid2lid = "a"
[[subnet]]
[subnet.routing]
engines = ["file"]
tables_file = "b"
)");

  EXPECT_EQ(config.base, now.base);
  EXPECT_EQ(config.subnets, now.subnets);
  EXPECT_THAT(config.warnings, SizeIs(9));
  EXPECT_THAT(now.warnings, IsEmpty());
  EXPECT_EQ(
      to_string(config.warnings.at(0)),
      "conf/smd.toml:3: links.hoq_life: called hoq_lifetime now; the next release knows the new name only");
}

TEST(Load, AnOverrideMayHaveAnOldName) {
  const std::vector<std::string> overrides{"ha.retries=0", "lids.import=/a/guid2lid"};
  const auto config = load_text("[[subnet]]\nport = \"mlx5_0\"\n", "smd.toml", overrides, context_with());

  ASSERT_TRUE(config);
  EXPECT_EQ(config->base.ha.losses, 1U);
  EXPECT_EQ(config->subnets.at(0).lids.import_guid2lid, "/a/guid2lid");
  ASSERT_THAT(config->warnings, SizeIs(2));
  EXPECT_EQ(
      to_string(config->warnings[0]),
      "--set: ha.retries: called losses now, whose value is 1 more; the next release knows the new name "
      "only");
}

/// As with a certificate that cannot be used: the fabric has its SM, and the state is not copied.
TEST(Load, AKeyForPeersThatCannotBeReadIsAWarning) {
  constexpr auto kText = "[ha]\nlisten = \"127.0.0.1:7650\"\npsk_file = \"key\"\npeers = [\"sm2:7650\"]\n";
  const auto warnings = [&](std::map<std::string, std::string> files) {
    std::vector<std::string> lines;
    const auto config = load_text(kText, "smd.toml", {}, context_with(std::move(files)));
    if (!config) return std::vector{to_string(config.error().front())};
    EXPECT_EQ(config->base.ha.psk_file, "key");
    EXPECT_EQ(config->base.ha.psk.empty(), !config->warnings.empty());
    for (const auto& warning : config->warnings) lines.push_back(to_string(warning));
    return lines;
  };
  EXPECT_THAT(warnings({{"key", std::string(64, '7')}}), IsEmpty());
  EXPECT_THAT(
      warnings({{"key", "77"}}),
      ElementsAre("smd.toml:3: ha.psk_file: key: does not hold 32 to 512 hexadecimal digits: the state is "
                  "not copied; correct it, then restart"));
  EXPECT_THAT(warnings({}),
              ElementsAre("smd.toml:3: ha.psk_file: key: No such file or directory: the state is not "
                          "copied; correct it, then restart"));
}

TEST(Load, ACopyInOneDirectionIsWarnedOf) {
  const auto warnings = [](const std::string& ha) {
    std::vector<std::string> lines;
    const auto config = load_text("[ha]\npsk_file = \"key\"\n" + ha, "smd.toml", {},
                                  context_with({{"key", std::string(64, '7')}}));
    if (!config) return std::vector{to_string(config.error().front())};
    for (const auto& warning : config->warnings) lines.push_back(to_string(warning));
    return lines;
  };
  const std::string listen = "listen = \"[::]:7650\"\n", peers = "peers = [\"sm2:7650\"]\n";
  EXPECT_THAT(warnings(listen + peers), IsEmpty());
  EXPECT_THAT(warnings(listen),
              ElementsAre("smd.toml:3: ha.listen: without ha.peers this SM copies nothing while it is "
                          "standby; set both, at each SM"));
  EXPECT_THAT(warnings(peers),
              ElementsAre("smd.toml:3: ha.peers: without ha.listen no standby copies the state of this SM "
                          "while it is master; set both, at each SM"));
  // What [ha] lacks each [[subnet]] may have.
  EXPECT_THAT(warnings(listen + "[[subnet]]\nport = \"mlx5_0\"\n[subnet.ha]\n" + peers), IsEmpty());
}

TEST(Load, ASubnetStartsFromTheTablesWhereverTheyStand) {
  const auto config = good(R"(
[[subnet]]
name = "east"
port = "mlx5_0:1"
[subnet.routing]
engines = ["minhop"]
[[subnet]]
name = "west"
port_guid = "0x1"
[subnet.lids]
lmc = 2
[lids]
lmc = 1
[routing]
threads = 7
)");

  ASSERT_THAT(config.subnets, SizeIs(2));
  const auto& east = config.subnets[0];
  const auto& west = config.subnets[1];
  EXPECT_EQ(east.name, "east");
  EXPECT_EQ(east.port, "mlx5_0:1");
  EXPECT_EQ(west.port_guid, Guid{1});
  EXPECT_THAT(east.routing.engines, ElementsAre("minhop"));
  EXPECT_THAT(west.routing.engines, ElementsAre("auto"));
  EXPECT_EQ(east.routing.threads, 7U);
  EXPECT_EQ(east.lids.lmc, 1);
  EXPECT_EQ(west.lids.lmc, 2);
  EXPECT_EQ(config.base.lids.lmc, 1);
  EXPECT_EQ(config.base.name, "");
}

TEST(Load, AnOverrideWinsOverTheFileAndOverEachSubnet) {
  const auto config =
      good("[lids]\nlmc = 1\n[[subnet]]\nname = \"a\"\n[subnet.lids]\nlmc = 2\n", {"lids.lmc=3"});

  EXPECT_EQ(config.base.lids.lmc, 3);
  EXPECT_EQ(config.subnets.at(0).lids.lmc, 3);
  EXPECT_EQ(config.subnets.at(0).name, "a");
}

TEST(Load, OverridesAreWrittenAsOnACommandLine) {
  const auto config =
      good("", {"routing.engines=minhop,updn", "sweep.on_trap=false", "mad.timeout=1s", "links.mtu=4096",
                "links.speed=EDR", "log.level=\"warn\"", "routing.root_guids=0x1, 0x2",
                "sm.allowed_guids=[\"0x3\"]", "lids.first=0x20", "log.modules="});
  const auto& subnet = config.subnets.at(0);

  EXPECT_THAT(subnet.routing.engines, ElementsAre("minhop", "updn"));
  EXPECT_FALSE(subnet.sweep.on_trap);
  EXPECT_EQ(subnet.mad.timeout, seconds(1));
  EXPECT_EQ(subnet.links.mtu, Mtu::m4096);
  EXPECT_EQ(subnet.links.speed, LinkSpeed::edr);
  EXPECT_EQ(config.log.level, LogLevel::warn);
  EXPECT_THAT(subnet.routing.root_guids, ElementsAre(Guid{1}, Guid{2}));
  EXPECT_THAT(subnet.sm.allowed_guids, ElementsAre(Guid{3}));
  EXPECT_EQ(subnet.lids.first, Lid{32});
  EXPECT_THAT(config.log.modules, IsEmpty());
}

TEST(Load, TheLastOfTwoOverridesCounts) {
  EXPECT_EQ(good("", {"lids.lmc=1", "lids.lmc=2"}).base.lids.lmc, 2);
}

TEST(Load, FilesAreLookedForBesideTheConfiguration) {
  const auto config =
      good("[routing]\nroot_guids = \"roots\"\n[names]\nmap = \"/names\"\n[sm]\nkey_file = \"key\"\n", {},
           {{"conf/roots", "# spines\n0x2\n\n0x1 # the first\n"},
            {"/names", "0x5 \"leaf #5\" # comment\n"},
            {"conf/key", "0x1234\n"}});
  const auto& subnet = config.subnets.at(0);

  EXPECT_THAT(subnet.routing.root_guids, ElementsAre(Guid{2}, Guid{1}));
  EXPECT_EQ(subnet.routing.root_guids_file, "conf/roots");
  EXPECT_THAT(subnet.names.nodes, ElementsAre(testing::Pair(Guid{5}, "leaf #5")));
  EXPECT_EQ(subnet.sm.sm_key, 0x1234U);
}

TEST(Load, AListAfterAFileForgetsTheFile) {
  const auto config =
      good("[routing]\nroot_guids = \"roots\"\n", {"routing.root_guids=0x7"}, {{"conf/roots", "0x1"}});

  EXPECT_THAT(config.base.routing.root_guids, ElementsAre(Guid{7}));
  EXPECT_EQ(config.base.routing.root_guids_file, "");
}

TEST(Load, ALogFileStandsBesideTheConfigurationToo) {
  EXPECT_EQ(good("[log]\ntarget = \"./smd.log\"\n").log.target, "conf/./smd.log");
  EXPECT_EQ(good("[log]\ntarget = \"/var/log/smd.log\"\n").log.target, "/var/log/smd.log");
}

TEST(Load, WindowsLineEndsAndAByteOrderMarkAreNoMatter) {
  EXPECT_EQ(good("\xEF\xBB\xBF[lids]\r\nlmc = 1\r\n").base.lids.lmc, 1);
}

TEST(Load, DottedKeysAndInlineTablesAreTheSame) {
  EXPECT_EQ(good("lids.lmc = 1\nsweep = { settle = \"5ms\" }\n").base.sweep.settle, milliseconds(5));
}

/// The time was that of the line's length for each of its values: half a minute for a partition of all hosts.
TEST(Load, ALineOfManyValuesIsReadOnce) {
  constexpr std::size_t kHosts = 40'000;
  std::string text = "[[partition]]\nname = \"blue\"\npkey = 0x12\nfull = [";
  for (std::size_t i = 0; i < kHosts; ++i) text += fmt::format("\"h{:06}\", ", i);
  text += "]\n";
  const auto began = std::clock();
  const auto config = good(text);
  const auto took = std::clock() - began;

  ASSERT_THAT(config.base.partition, SizeIs(1));
  EXPECT_THAT(config.base.partition[0].full, SizeIs(kHosts));
  EXPECT_LT(took, 8 * CLOCKS_PER_SEC) << "of the processor";
}

/// Keys of tables are not read in the order of the text.
TEST(Load, WhatIsWrongInALineOfTablesIsQuotedAsItStands) {
  const auto config = load_text(
      "[[partition]]\nname = \"blue\"\npkey = 0x12\n"
      "members = [{ports = [\"h\u00fc\"], membership = \"full\"}, {ports = [\"h\u00e4\", \"all\"], "
      "membership = \"ful\", index0 = 7}]\n",
      "smd.toml", {}, context_with());

  ASSERT_FALSE(config);
  std::string errors;
  for (const auto& error : config.error()) errors += to_string(error) + "\n";
  for (const auto* found : {"got \"all\"", "got \"ful\"", "got 7"})
    EXPECT_THAT(errors, testing::HasSubstr(found)) << errors;
}

}  // namespace
}  // namespace smd::config
