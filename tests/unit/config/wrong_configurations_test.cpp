// SPDX-License-Identifier: Apache-2.0
// What an operator is told about a wrong configuration, word for word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

struct Wrong {
  std::string toml;
  std::vector<std::string> overrides;
  std::vector<std::string> errors;
};

std::vector<Wrong> wrong_configurations() {
  return {
      {"[lids\n", {}, {"smd.toml:1: found '[lids', allowed TOML (table header: expected ']', saw '\\n')"}},
      {"[lids]\nlmc 4\n",
       {},
       {"smd.toml:2: found 'lmc 4', allowed TOML (key-value pair: expected '=', saw '4')"}},
      {"[lids]\nlmc =\n",
       {},
       {"smd.toml:2: found 'lmc =', allowed TOML (key-value pair: expected value, saw '\\n')"}},
      {"[lids]\nlmc = 1\nlmc = 2\n",
       {},
       {"smd.toml:3: found 'lmc = 2', allowed TOML (each key and each table once)"}},
      {"[lids]\n[lids]\n", {}, {"smd.toml:2: found '[lids]', allowed TOML (each key and each table once)"}},
      {"[log]\nlevel = \"info\nformat = \"text\"\n",
       {},
       {"smd.toml:2: found 'level = \"info', allowed TOML (string: the closing quote is missing)"}},
      {"[routing]\nengines = [\"updn\"\nthreads = 2\n",
       {},
       {"smd.toml:3: found 'threads = 2', allowed TOML (array: expected comma or closing ']', saw 't')"}},
      {"[lids]\nlmc = 8\n", {}, {"smd.toml:2: lids.lmc: found 8, allowed a whole number from 0 to 7"}},
      {"[lids]\nlmc = \"1\"\n",
       {},
       {"smd.toml:2: lids.lmc: found \"1\", allowed a whole number from 0 to 7; write it without quotes"}},
      {"[lids]\nlmc = 1.5\n", {}, {"smd.toml:2: lids.lmc: found 1.5, allowed a whole number from 0 to 7"}},
      {"[lids]\nlmc = -1\n", {}, {"smd.toml:2: lids.lmc: found -1, allowed a whole number from 0 to 7"}},
      {"[lids]\nlcm = 1\n",
       {},
       {"smd.toml:2: lids.lcm: found a key that [lids] does not have, allowed lmc, first, last, reassign; "
        "did you mean \"lmc\"?"}},
      {"[lids]\nengines = [\"updn\"]\n",
       {},
       {"smd.toml:2: lids.engines: found a key that [lids] does not have, allowed lmc, first, last, "
        "reassign; did you mean \"routing.engines\"?"}},
      {"[sm]\nsm_priority = 3\n",
       {},
       {"smd.toml:2: sm.sm_priority: found a key that [sm] does not have, allowed priority, allowed_guids, "
        "subnet_prefix, force, key_file; OpenSM's sm_priority is \"sm.priority\" here"}},
      {"[rotuing]\nengines = [\"updn\"]\n",
       {},
       {"smd.toml:1: rotuing: found a table that does not exist, allowed [log], [sm], [mad], [sweep], "
        "[lids], [links], [routing], [names], [[subnet]]; did you mean \"routing\"?"}},
      {"lmc = 1\n",
       {},
       {"smd.toml:1: lmc: found a key outside of the tables, allowed [log], [sm], [mad], [sweep], [lids], "
        "[links], [routing], [names], [[subnet]]; did you mean \"lids.lmc\"?"}},
      {"[routing]\nengines = [\"updn\", \"fttree\", \"updn2\"]\n",
       {},
       {"smd.toml:2: routing.engines[1]: found \"fttree\", allowed one of the routing engines: minhop, updn",
        "smd.toml:2: routing.engines[2]: found \"updn2\", allowed one of the routing engines: minhop, updn; "
        "did you mean \"updn\"?"}},
      {"[routing]\nengines = \"updn\"\n",
       {},
       {"smd.toml:2: routing.engines: found \"updn\", allowed a list of routing engines, at least one; write "
        "[\"updn\"]"}},
      {"[routing]\nengines = []\n",
       {},
       {"smd.toml:2: routing.engines: found [], allowed a list of routing engines, at least one"}},
      {"[routing]\nengines = [\"updn\", \"updn\"]\n",
       {},
       {"smd.toml:2: routing.engines[1]: found \"updn\", allowed each name once"}},
      {"[routing]\nengines = [\"updn\", 3]\n",
       {},
       {"smd.toml:2: routing.engines[1]: found 3, allowed one of the routing engines: minhop, updn"}},
      {"[routing]\nroot_guids = [\"0x1\", \"1234\"]\n",
       {},
       {"smd.toml:2: routing.root_guids[1]: found \"1234\", allowed a GUID such as 0x0002c90300001234"}},
      {"[routing]\nroot_guids = [0x1234]\n",
       {},
       {"smd.toml:2: routing.root_guids[0]: found 0x1234, allowed a GUID such as 0x0002c90300001234; write "
        "it in quotes, as in \"0x0002c90300001234\""}},
      {"[routing]\nroot_guids = [\"0x1\", \"0x01\"]\n",
       {},
       {"smd.toml:2: routing.root_guids[1]: found \"0x01\", allowed each GUID once"}},
      {"[routing]\nroot_guids = \"none.guids\"\n",
       {},
       {"smd.toml:2: routing.root_guids: found \"none.guids\", allowed a file that can be read; none.guids: "
        "No such file or directory"}},
      {"[routing]\nroot_guids = \"bad.guids\"\n",
       {},
       {"bad.guids:2: found xyz, allowed a GUID such as 0x0002c90300001234"}},
      {"[routing]\nroot_guids = \"empty.guids\"\n",
       {},
       {"smd.toml:2: routing.root_guids: found \"empty.guids\", allowed a file with at least one GUID"}},
      {"[routing]\nroot_guids = 5\n",
       {},
       {"smd.toml:2: routing.root_guids: found 5, allowed a list of GUIDs, or the name of a file with one a "
        "line"}},
      {"[routing]\nallow_credit_loops = \"yes\"\n",
       {},
       {"smd.toml:2: routing.allow_credit_loops: found \"yes\", allowed true or false"}},
      {"[routing]\nallow_credit_loops = \"true\"\n",
       {},
       {"smd.toml:2: routing.allow_credit_loops: found \"true\", allowed true or false; write it without "
        "quotes"}},
      {"[routing]\nthreads = -1\n",
       {},
       {"smd.toml:2: routing.threads: found -1, allowed a whole number from 0 to 4096"}},
      {"[mad]\ntimeout = 200\n",
       {},
       {"smd.toml:2: mad.timeout: found 200, allowed a time from \"1ms\" to \"1m\"; write the unit, as in "
        "\"200s\" or \"200ms\""}},
      {"[mad]\ntimeout = \"200\"\n",
       {},
       {"smd.toml:2: mad.timeout: found \"200\", allowed a time from \"1ms\" to \"1m\"; write the unit, as "
        "in \"200s\" or \"200ms\""}},
      {"[mad]\ntimeout = \"200 sec\"\n",
       {},
       {"smd.toml:2: mad.timeout: found \"200 sec\", allowed a time from \"1ms\" to \"1m\""}},
      {"[mad]\ntimeout = \"2m\"\n",
       {},
       {"smd.toml:2: mad.timeout: found \"2m\", allowed a time from \"1ms\" to \"1m\""}},
      {"[mad]\nmax_outstanding = 385\n",
       {},
       {"smd.toml:2: mad.max_outstanding: found 385, allowed a whole number from 1 to 384"}},
      {"[sweep]\ninterval = \"1ms\"\n",
       {},
       {"smd.toml:2: sweep.interval: found \"1ms\", allowed a time from \"100ms\" to \"24h\", or \"0s\" (no "
        "light sweeps)"}},
      {"[sweep]\non_trap = 1\n", {}, {"smd.toml:2: sweep.on_trap: found 1, allowed true or false"}},
      {"[links]\nmtu = 2000\n",
       {},
       {"smd.toml:2: links.mtu: found 2000, allowed \"auto\", 256, 512, 1024, 2048 or 4096"}},
      {"[links]\nmtu = \"atuo\"\n",
       {},
       {"smd.toml:2: links.mtu: found \"atuo\", allowed \"auto\", 256, 512, 1024, 2048 or 4096; did you mean "
        "\"auto\"?"}},
      {"[links]\noperational_vls = 5\n",
       {},
       {"smd.toml:2: links.operational_vls: found 5, allowed \"auto\", 1, 2, 4, 8 or 15"}},
      {"[links]\nspeed = \"EDT\"\n",
       {},
       {"smd.toml:2: links.speed: found \"EDT\", allowed \"auto\", \"SDR\", \"DDR\", \"QDR\", \"FDR10\", "
        "\"FDR\", \"EDR\", \"HDR\", \"NDR\" or \"XDR\"; did you mean \"EDR\"?"}},
      {"[links]\nwidth = \"4\"\n",
       {},
       {"smd.toml:2: links.width: found \"4\", allowed \"auto\", \"1x\", \"2x\", \"4x\", \"8x\" or \"12x\"; "
        "did you mean \"4x\"?"}},
      {"[links]\nhoq_life = 32\n",
       {},
       {"smd.toml:2: links.hoq_life: found 32, allowed a whole number from 0 to 31"}},
      {"[links]\nvl_stall_count = 0\n",
       {},
       {"smd.toml:2: links.vl_stall_count: found 0, allowed a whole number from 1 to 7"}},
      {"[log]\nlevel = \"warning\"\n",
       {},
       {"smd.toml:2: log.level: found \"warning\", allowed \"error\", \"warn\", \"info\" or \"debug\"; did "
        "you mean \"warn\"?"}},
      {"[log]\ntarget = \"stdout\"\n",
       {},
       {"smd.toml:2: log.target: found \"stdout\", allowed \"stderr\", \"journal\" or a file's path (with a "
        "'/')"}},
      {"[log]\ntarget = \"jornal\"\n",
       {},
       {"smd.toml:2: log.target: found \"jornal\", allowed \"stderr\", \"journal\" or a file's path (with a "
        "'/'); did you mean \"journal\"?"}},
      {"[log]\nmodules = [\"swep\"]\n",
       {},
       {"smd.toml:2: log.modules[0]: found \"swep\", allowed one of the log modules: mad, port, sweep; did "
        "you mean \"sweep\"?"}},
      {"[log]\nguids = [\"0x12345678901234567\"]\n",
       {},
       {"smd.toml:2: log.guids[0]: found \"0x12345678901234567\", allowed a GUID such as "
        "0x0002c90300001234"}},
      {"[names]\nmap = \"map\"\n",
       {},
       {"map:2: found 0x1 \"b\", allowed one name for a GUID; line 1 calls it \"a\"",
        "map:3: found 0x2 leaf, allowed a GUID and a name, as in 0x0002c90300001234 \"leaf 1\""}},
      {"[names]\nmap = \"gone\"\n",
       {},
       {"smd.toml:2: names.map: found \"gone\", allowed a file that can be read; gone: No such file or "
        "directory"}},
      {"[sm]\nkey_file = \"key\"\n",
       {},
       {"smd.toml:2: sm.key_file: found \"key\", allowed a file that holds one number of 64 bits"}},
      {"[sm]\nsubnet_prefix = 0xfe80\n",
       {},
       {"smd.toml:2: sm.subnet_prefix: found 0xfe80, allowed 64 bits, not all of them 0, in hexadecimal and "
        "in quotes, as in \"0xfe80000000000000\""}},
      {"[sm]\nsubnet_prefix = \"fe80::\"\n",
       {},
       {"smd.toml:2: sm.subnet_prefix: found \"fe80::\", allowed 64 bits, not all of them 0, in hexadecimal "
        "and in quotes, as in \"0xfe80000000000000\""}},
      {"[sm]\npriority = 16\n",
       {},
       {"smd.toml:2: sm.priority: found 16, allowed a whole number from 0 to 15"}},
      {"[lids]\nfirst = 100\nlast = 50\n",
       {},
       {"smd.toml:3: lids.last: found 50, allowed lids.first (100) or more"}},
      {"[lids]\nlast = 5\nlmc = 3\n",
       {},
       {"smd.toml:3: lids.lmc: found 3, allowed an LMC whose 8 LIDs, beginning at a multiple of 8, fit "
        "between lids.first (1) and lids.last (5)"}},
      {"[subnet]\nname = \"a\"\n",
       {},
       {"smd.toml:1: subnet: found a table, allowed one or more blocks, each beginning with [[subnet]]"}},
      {"[[subnet]]\nname = \"a\"\nport = \"mlx5_0:1\"\n[[subnet]]\nname = \"a\"\nport = \"mlx5_0:1\"\n",
       {},
       {"smd.toml:5: subnet[1].name: found \"a\", allowed one that no other subnet has; line 2 has it "
        "already",
        "smd.toml:6: subnet[1].port: found \"mlx5_0:1\", allowed one that no other subnet has; line 3 has it "
        "already"}},
      {"[[subnet]]\nport = \"mlx5_0:1\"\nport_guid = \"0x1\"\n",
       {},
       {"smd.toml:3: subnet[0].port_guid: found \"0x1\", allowed only one of port and port_guid"}},
      {"[[subnet]]\nname = \"a/b\"\n",
       {},
       {"smd.toml:2: subnet[0].name: found \"a/b\", allowed letters, digits and . _ : - (no dot first)"}},
      {"[[subnet]]\nport = \"mlx5_0:0\"\n",
       {},
       {"smd.toml:2: subnet[0].port: found \"mlx5_0:0\", allowed a device and a port number from 1 to 254, "
        "as in \"mlx5_0:1\""}},
      {"[[subnet]]\nname = \"a\"\n[[subnet]]\nname = \"b\"\n",
       {},
       {"smd.toml:1: subnet[0]: found neither port nor port_guid, allowed a port or a port_guid, as there "
        "are several subnets",
        "smd.toml:3: subnet[1]: found neither port nor port_guid, allowed a port or a port_guid, as there "
        "are several subnets"}},
      {"[[subnet]]\n[subnet.log]\nlevel = \"debug\"\n",
       {},
       {"smd.toml:2: subnet[0].log: found a table, allowed only outside of [[subnet]]: [log] is for the "
        "whole process"}},
      {"[[subnet]]\nnmae = \"x\"\n[subnet.rooting]\nengines = [\"updn\"]\n[subnet.lids]\nlmc = 9\n",
       {},
       {"smd.toml:2: subnet[0].nmae: found a key that [subnet] does not have, allowed name, port, port_guid; "
        "did you mean \"name\"?",
        "smd.toml:3: subnet[0].rooting: found a table that does not exist, allowed [sm], [mad], [sweep], "
        "[lids], [links], [routing], [names]; did you mean \"routing\"?",
        "smd.toml:6: subnet[0].lids.lmc: found 9, allowed a whole number from 0 to 7"}},
      {"[[lids]]\nlmc = 1\n",
       {},
       {"smd.toml:1: lids: found a list of tables, allowed a table, written once as [lids]"}},
      {"lids = 3\n", {}, {"smd.toml:1: lids: found 3, allowed a table, written once as [lids]"}},
      {"[lids.lmc]\nx = 1\n",
       {},
       {"smd.toml:1: lids.lmc: found a table, allowed a whole number from 0 to 7"}},
      {"", {"lids.lmc=9"}, {"--set: lids.lmc: found 9, allowed a whole number from 0 to 7"}},
      {"", {"lids.lmc"}, {"--set: found lids.lmc, allowed KEY=VALUE with a key such as lids.lmc"}},
      {"",
       {"lmc=1"},
       {"--set: found lmc=1, allowed KEY=VALUE with a key such as lids.lmc; did you mean \"lids.lmc\"?"}},
      {"",
       {"lids.lcm=1"},
       {"--set: lids.lcm: found a key that [lids] does not have, allowed lmc, first, last, reassign; did you "
        "mean \"lmc\"?"}},
      {"",
       {"lid.lmc=1"},
       {"--set: lid.lmc: found a table that does not exist, allowed [log], [sm], [mad], [sweep], [lids], "
        "[links], [routing], [names], [[subnet]]; did you mean \"lids\"?"}},
      {"",
       {"routing.engines=updn,fttree"},
       {"--set: routing.engines[1]: found fttree, allowed one of the routing engines: minhop, updn"}},
      {"", {"sweep.on_trap=maybe"}, {"--set: sweep.on_trap: found maybe, allowed true or false"}},
      {"",
       {"mad.timeout=200"},
       {"--set: mad.timeout: found 200, allowed a time from \"1ms\" to \"1m\"; write the unit, as in "
        "\"200s\" or \"200ms\""}},
      {"", {"lids.first=10", "lids.last=9"}, {"--set: lids.last: found 9, allowed lids.first (10) or more"}},
      {"",
       {"subnet.name=x"},
       {"--set: subnet.name: found x, allowed only in the file; --port names subnets on the command line"}},
      {"",
       {"routing.root_guids=0x1,zz"},
       {"--set: routing.root_guids[1]: found zz, allowed a GUID such as 0x0002c90300001234"}},
      {"[lids]\nlmc = 9\nfirst = \"x\"\n[mad]\nretries = 21\n[foo]\na = 1\n[log]\nlevel \"x\"\n",
       {},
       {"smd.toml:2: lids.lmc: found 9, allowed a whole number from 0 to 7",
        "smd.toml:3: lids.first: found \"x\", allowed a whole number from 1 to 49151",
        "smd.toml:5: mad.retries: found 21, allowed a whole number from 0 to 20",
        "smd.toml:6: foo: found a table that does not exist, allowed [log], [sm], [mad], [sweep], [lids], "
        "[links], [routing], [names], [[subnet]]",
        "smd.toml:9: found 'level \"x\"', allowed TOML (key-value pair: expected '=', saw '\"')"}},
      {"[log]\nlevel = 1979-05-27\n",
       {},
       {"smd.toml:2: log.level: found 1979-05-27, allowed \"error\", \"warn\", \"info\" or \"debug\""}},
  };
}

TEST(WrongConfigurations, EachIsNamedWithItsLineItsValueAndWhatIsAllowed) {
  const std::map<std::string, std::string> files{{"bad.guids", "0x1\nxyz\n"},
                                                 {"empty.guids", "# none\n"},
                                                 {"map", "0x1 \"a\"\n0x1 \"b\"\n0x2 leaf\n"},
                                                 {"key", "secret\n"}};
  for (const auto& wrong : wrong_configurations()) {
    SCOPED_TRACE(wrong.toml);
    EXPECT_THAT(errors_of(wrong.toml, wrong.overrides, files), testing::ElementsAreArray(wrong.errors));
  }
}

/// Texts that toml++ 3.3 answers with an assertion or with undefined behaviour.
TEST(WrongConfigurations, WhatTheLibraryCannotBearIsAnErrorInItsLine) {
  EXPECT_THAT(errors_of("[lids]\nlmc = 9\n[(x]\n[sm]\npriority = 77\n"),
              testing::ElementsAre("smd.toml:2: lids.lmc: found 9, allowed a whole number from 0 to 7",
                                   "smd.toml:3: found '[(x]', allowed TOML (a key, a table or a comment)",
                                   "smd.toml:5: sm.priority: found 77, allowed a whole number from 0 to 15"));
  EXPECT_THAT(
      errors_of("gr\u00f6\u00dfe = 3\n"),
      testing::ElementsAre(testing::StartsWith("smd.toml:1: found 'gr\u00f6\u00dfe = 3', allowed TOML (")));
}

TEST(WrongConfigurations, AKeyOfThousandsOfPartsIsRefusedBeforeItIsRead) {
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";

  EXPECT_THAT(
      errors_of(deep + " = 1\n"),
      testing::ElementsAre("smd.toml:1: found a key of very many parts, allowed a key of two or three"));
}

TEST(WrongConfigurations, AFileThatIsMissingIsNamed) {
  const auto config = load("/etc/smd/none.toml", {}, context_with());

  ASSERT_FALSE(config);
  ASSERT_EQ(config.error().size(), 1U);
  EXPECT_EQ(to_string(config.error()[0]), "/etc/smd/none.toml: No such file or directory");
}

TEST(WrongConfigurations, AFolderIsNoFile) {
  auto context = context_with();
  context.read = read_file;
  const auto config = load(testing::TempDir(), {}, context);

  ASSERT_FALSE(config);
  EXPECT_THAT(to_string(config.error().at(0)), testing::HasSubstr("Is a directory"));
}

TEST(WrongConfigurations, TheSmKeyNeverShows) {
  const auto errors = errors_of("[sm]\nkey_file = \"key\"\n", {}, {{"key", "0xdeadbeefdeadbeefdead"}});

  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0], testing::Not(testing::HasSubstr("dead")));
}

}  // namespace
}  // namespace smd::config
