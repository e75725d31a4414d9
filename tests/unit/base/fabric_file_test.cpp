// SPDX-License-Identifier: Apache-2.0
#include "mad/base/fabric_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "mad/base/fabric_spec.h"
#include "mad/base/file.h"
#include "mad/base/parse.h"
#include "tests/support/source_file.h"

namespace smd::base {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Fabric read_sample(const std::string& name) {
  auto fabric = read_fabric_file(test::source_file("tests/fabrics/" + name));
  if (!fabric) ADD_FAILURE() << to_string(fabric.error());
  return fabric.value_or(Fabric{});
}

std::vector<std::string> lines_of_errors(std::string_view text) {
  const auto fabric = read_fabric(text, "f");
  std::vector<std::string> lines;
  if (fabric) return lines;
  for (const auto& error : fabric.error()) lines.push_back(to_string(error));
  return lines;
}

Peer peer(const Fabric& fabric, NodeIndex node, unsigned port) {
  return fabric.nodes.at(node).ports.at(port).peer.value_or(Peer{999, kNoPort});
}

Peer at(NodeIndex node, std::uint8_t port) { return {node, PortNum{port}}; }

TEST(FabricFile, GuidsOfAnySpellingAreRead) {
  const auto fabric = read_sample("vendors.net");

  ASSERT_EQ(fabric.nodes.size(), 5U);
  EXPECT_EQ(fabric.nodes[0].guid, Guid{0x5442ba00003080});
  EXPECT_EQ(fabric.nodes[0].system_image, Guid{0x5442ba00003000});
  EXPECT_EQ(port_guid(fabric.nodes[0], PortNum{7}), Guid{0x5442ba00003081})
      << "what stands in () is that of port 0";
  EXPECT_EQ(fabric.nodes[1].guid, Guid{0x8f10400410015});
  EXPECT_EQ(port_guid(fabric.nodes[1], PortNum{7}), Guid{0x8f10400410015});
  EXPECT_EQ(fabric.nodes[2].ports[1].guid, Guid{}) << "node GUID + port needs no place";
  EXPECT_EQ(port_guid(fabric.nodes[2], PortNum{1}), Guid{0x8f10403961355});
  EXPECT_EQ(port_guid(fabric.nodes[2], PortNum{2}), Guid{0x8f10403960000});
  EXPECT_EQ(port_guid(fabric.nodes[4], PortNum{1}), Guid{0xb8599f0300123456});
}

TEST(FabricFile, NamesKeepSpacesHashesAndQuotes) {
  const auto fabric = read_sample("vendors.net");

  EXPECT_EQ(fabric.nodes[0].name, "ISR9024 \"old\" Voltaire #2");
  EXPECT_EQ(fabric.nodes[4].name, "Mellanox Technologies Aggregation Node");
}

TEST(FabricFile, TypesVendorsLidsAndPort0AreRead) {
  const auto fabric = read_sample("vendors.net");
  const auto& sw = fabric.nodes[0];

  EXPECT_EQ(sw.type, NodeType::switch_);
  EXPECT_EQ(sw.port_count(), 24U);
  EXPECT_EQ(sw.vendor_id, 0x8f1U);
  EXPECT_EQ(sw.device_id, 0x5a06);
  EXPECT_TRUE(sw.enhanced_port0);
  EXPECT_FALSE(fabric.nodes[1].enhanced_port0);
  EXPECT_EQ(sw.ports[0].lid, Lid{6});
  EXPECT_EQ(fabric.nodes[3].type, NodeType::router);
  EXPECT_EQ(fabric.nodes[2].ports[1].lid, Lid{4});
  EXPECT_EQ(fabric.nodes[2].ports[1].lmc, 1);
}

TEST(FabricFile, RatesAreReadAndUnknownOnesKept) {
  const auto fabric = read_sample("vendors.net");
  const auto& ports = fabric.nodes[0].ports;

  EXPECT_EQ(ports[22].rate, (LinkRate{LinkWidth::x4, LinkSpeed::sdr, ""}));
  EXPECT_EQ(ports[1].rate, (LinkRate{LinkWidth::x4, LinkSpeed::unknown, "4xFOO"}));
  EXPECT_EQ(ports[6].rate, (LinkRate{LinkWidth::x12, LinkSpeed::qdr, ""}));
  EXPECT_EQ(ports[10].rate, (LinkRate{LinkWidth::x2, LinkSpeed::xdr, ""}));
  EXPECT_EQ(ports[12].rate, (LinkRate{LinkWidth::x8, LinkSpeed::fdr10, ""}));
  EXPECT_EQ(ports[24].rate, (LinkRate{LinkWidth::unknown, LinkSpeed::sdr, ""}));
}

TEST(FabricFile, GroupedAndFullListingsAreRead) {
  const auto fabric = read_sample("grouped.net");

  ASSERT_EQ(fabric.nodes.size(), 3U);
  EXPECT_EQ(peer(fabric, 0, 3), at(1, 1));
  EXPECT_EQ(peer(fabric, 2, 1), at(1, 24));
  EXPECT_EQ(fabric.nodes[0].ports[3].rate, (LinkRate{LinkWidth::x4, LinkSpeed::ddr, ""}));
  EXPECT_EQ(fabric.nodes[2].name, "host");
  EXPECT_EQ(fabric.nodes[2].ports[1].lid, Lid{9});
}

TEST(FabricFile, IbsimsDialectIsRead) {
  const auto fabric = read_sample("ibsim.net");

  ASSERT_EQ(fabric.nodes.size(), 4U);
  EXPECT_EQ(fabric.nodes[0].name, "main switch");
  EXPECT_EQ(fabric.nodes[0].ports[0].lid, Lid{1});
  EXPECT_EQ(fabric.nodes[1].name, "Hca1");
  EXPECT_EQ(fabric.nodes[2].name, "second");
  EXPECT_EQ(peer(fabric, 1, 1), at(0, 1)) << "no port given: port 1";
  EXPECT_EQ(peer(fabric, 3, 4), at(0, 4));
}

TEST(FabricFile, NodesWithoutGuidsGetThoseThatIbsimGives) {
  const auto fabric = read_sample("ibsim.net");

  EXPECT_EQ(fabric.nodes[0].guid, Guid{0x200000});
  EXPECT_EQ(fabric.nodes[1].guid, Guid{0x500});
  EXPECT_EQ(fabric.nodes[2].guid, Guid{0x503}) << "the one before has two ports";
  EXPECT_EQ(fabric.nodes[3].guid, Guid{0x200001});
}

TEST(FabricFile, IbsimsOptionsGiveTheBestRateOfBothEnds) {
  const auto fabric = read_sample("ibsim.net");
  const auto& sw = fabric.nodes[0];

  EXPECT_EQ(sw.ports[1].rate, (LinkRate{LinkWidth::x4, LinkSpeed::qdr, ""}));
  EXPECT_EQ(sw.ports[2].rate, LinkRate{});
  EXPECT_EQ(sw.ports[3].rate, (LinkRate{LinkWidth::x12, LinkSpeed::hdr, ""}));
  EXPECT_EQ(sw.ports[4].rate, (LinkRate{LinkWidth::x12, LinkSpeed::unknown, ""}));
  EXPECT_EQ(fabric.nodes[3].ports[4].rate, sw.ports[4].rate);
}

TEST(FabricFile, IbsimsModulesAndAliasesAreRead) {
  const auto fabric = read_sample("modules.net");

  ASSERT_EQ(fabric.nodes.size(), 3U);
  EXPECT_EQ(fabric.nodes[0].id, "box1#leaf");
  EXPECT_EQ(fabric.nodes[2].id, "box2#leaf");
  EXPECT_EQ(peer(fabric, 0, 1), at(2, 1));
  EXPECT_EQ(peer(fabric, 0, 3), at(2, 2));
  EXPECT_EQ(peer(fabric, 2, 4), at(2, 3));
}

TEST(FabricFile, LinesThatOnlyOneEndHasAreMadeUp) {
  const auto fabric = read_sample("one_sided_crlf.net");

  EXPECT_EQ(peer(fabric, 1, 7), at(0, 1));
  EXPECT_EQ(fabric.nodes[1].ports[7].lid, Lid{8});
  EXPECT_EQ(port_guid(fabric.nodes[1], PortNum{7}), Guid{0x77});
  EXPECT_EQ(fabric.nodes[1].ports[7].rate, (LinkRate{LinkWidth::x4, LinkSpeed::edr, ""}));
  EXPECT_EQ(peer(fabric, 0, 2), at(0, 2)) << "a port may be linked to itself";
  EXPECT_EQ(peer(fabric, 2, 1), at(2, 254));
  EXPECT_EQ(fabric.nodes[2].name, "");
}

TEST(FabricFile, DuplicateGuidsStay) {
  const auto fabric =
      read_fabric("caguid=0x5\nCa 1 \"H-1\"\ncaguid=0x5\nCa 1 \"H-2\"\n[1] \"H-1\"[1]\n", "f");

  ASSERT_TRUE(fabric);
  EXPECT_EQ(fabric->nodes[0].guid, fabric->nodes[1].guid);
}

TEST(FabricFile, TheGuidInAnIdCountsWhereNoOtherIsGiven) {
  const auto fabric = read_fabric("Switch 4 \"S-00000000000000ab\"\nSwitch 4 \"S-00000000000000zz\"\n", "f");

  ASSERT_TRUE(fabric);
  EXPECT_EQ(fabric->nodes[0].guid, Guid{0xab});
  EXPECT_EQ(fabric->nodes[1].guid, Guid{0x200000});
}

TEST(FabricFile, HeadingsInFrontOfTheFirstNodeArePassedOver) {
  EXPECT_TRUE(read_fabric("\xEF\xBB\xBFsomebody's topology, 2024\n\nCa 1 \"H-1\"\n", "f"));
}

TEST(FabricFile, EveryBadLineIsNamed) {
  const auto text = read_file(test::source_file("tests/fabrics/bad.net"));
  ASSERT_TRUE(text);

  EXPECT_THAT(lines_of_errors(*text),
              ElementsAre("f:1: lmc is '9': a number from 0 to 7 is needed",  //
                          "f:5: port 1 was already in line 4",                //
                          "f:6: port 5: 'a' has ports 1 to 4",                //
                          "f:7: port 0: 'a' has ports 1 to 4",                //
                          "f:9: port GUID 'xyz': up to 16 hexadecimal digits in '()' are needed",
                          "f:10: the id of the node at the other end, in quotes, is needed",
                          "f:12: lid is '70000': a number from 0 to 65535 is needed",
                          "f:14: 'q=7' behind the link: only w=, s= and e= are known here",
                          "f:15: node 'b' was already in line 11",
                          "f:17: 255 ports: a number from 1 to 254 is needed",
                          "f:18: the number of ports is needed behind the node's type",
                          "f:19: the node's id in quotes is needed behind the number of ports",
                          "f:20: 0 ports: a number from 1 to 254 is needed",
                          "f:21: GUID '0x12345678901234567': up to 16 hexadecimal digits are needed",
                          "f:22: vendid = '0x1000000': a number from 0 to 0xffffff is needed",
                          "f:23: 'garbage that is no line' is no line of a fabric file",
                          "f:24: 'do' runs a command of ibsim's console: it cannot be followed here",
                          "f:25: include: only a fabric that is read from a file can include others",
                          "f:8: a link to port 9 of 'b': it has ports 1 to 4"));
}

TEST(FabricFile, ContradictionsNameBothLines) {
  const auto text = read_file(test::source_file("tests/fabrics/contradiction.net"));
  ASSERT_TRUE(text);

  EXPECT_THAT(
      lines_of_errors(*text),
      ElementsAre(
          "f:2: \"a\"[1] is linked to \"b\"[1] here, but line 7 says that \"b\"[1] is linked to \"c\"[1]",
          "f:3: a link to 'nowhere': no node has this id",
          "f:4: a link to port 9 of 'b': it has ports 1 to 4",
          "f:12: \"c\"[2] is linked to \"b\"[2] here, but line 8 says that \"b\"[2] is linked to \"c\"[3]"));
}

TEST(FabricFile, TwoLinesForOnePortWithoutALineAreAContradiction) {
  EXPECT_THAT(
      lines_of_errors("Ca 1 \"a\"\n[1] \"c\"[1]\nCa 1 \"b\"\n[1] \"c\"[1]\nCa 1 \"c\"\n"),
      ElementsAre(
          "f:4: \"b\"[1] is linked to \"c\"[1] here, but line 2 says that \"c\"[1] is linked to \"a\"[1]"));
}

TEST(FabricFile, AnErrorsNumberIsLimited) {
  std::string text = "Ca 1 \"a\"\n";
  for (int i = 0; i < 60; ++i) text += "nonsense\n";

  const auto errors = lines_of_errors(text);

  EXPECT_EQ(errors.size(), 51U);
  EXPECT_EQ(errors.back(), "f: and 10 more errors");
}

TEST(FabricFile, AFileWithoutNodesIsAnError) {
  EXPECT_THAT(lines_of_errors("[log]\nlevel = \"info\"\n"), ElementsAre(HasSubstr("no node in it")));
  EXPECT_THAT(lines_of_errors("[1] \"a\"[1]\n"),
              ElementsAre("f:1: a port line without a node in front of it"));
  EXPECT_THAT(lines_of_errors("hello\n"), ElementsAre(HasSubstr("no node in it")));
}

class TempFolder : public testing::Test {
 protected:
  TempFolder() : path_(std::filesystem::temp_directory_path() / "smd-base-XXXXXX") {
    std::string name = path_.string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempFolder() override { std::filesystem::remove_all(path_); }
  std::string put(const std::string& name, const std::string& text) {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::filesystem::path path_;
};

using FabricFileOnDisk = TempFolder;

TEST_F(FabricFileOnDisk, IncludesAreFollowedBesideTheFile) {
  put("inner.net", "Hca 1 \"h\"\n");
  const auto fabric =
      read_fabric_file(put("outer.net", "include \"inner.net\"\nSwitch 2 \"s\"\n[1] \"h\"[1]\n"));

  ASSERT_TRUE(fabric) << to_string(fabric.error());
  EXPECT_EQ(peer(*fabric, 0, 1), at(1, 1));
}

TEST_F(FabricFileOnDisk, ErrorsInIncludesNameTheirFile) {
  put("inner.net", "Hca 1 \"h\"\n[2] \"s\"[1]\n");
  const auto outer = put("outer.net", "Switch 2 \"s\"\ninclude \"inner.net\"\ninclude \"none.net\"\n");
  const auto fabric = read_fabric_file(outer);

  ASSERT_FALSE(fabric);
  EXPECT_EQ(to_string(fabric.error()), "inner.net:2: port 2: 'h' has ports 1 to 1\n" + outer +
                                           ":3: include 'none.net': No such file or directory");
}

TEST_F(FabricFileOnDisk, AFileThatIncludesItselfIsAnError) {
  put("a.net", "include \"b.net\"\n");
  put("b.net", "include \"a.net\"\nHca 1 \"h\"\n");
  const auto fabric = read_fabric_file((path_ / "a.net").string());

  ASSERT_FALSE(fabric);
  EXPECT_THAT(to_string(fabric.error()), HasSubstr("includes itself"));
}

TEST_F(FabricFileOnDisk, AMissingFileIsOneLine) {
  EXPECT_EQ(to_string(load_fabric("/nowhere/at.all").error()), "/nowhere/at.all: No such file or directory");
  EXPECT_EQ(to_string(load_fabric(path_.string()).error()), path_.string() + ": Is a directory");
  EXPECT_THAT(to_string(load_fabric("ftree:8").error()),
              HasSubstr("neither a file nor a spec (ft2, ft3, torus"));
}

TEST(FabricWriter, WritesWhatItReadsOfIbnetdiscover) {
  const auto file = test::source_file("tests/fabrics/ibnetdiscover.net");
  const auto text = read_file(file);
  const auto fabric = read_sample("ibnetdiscover.net");
  const auto body = [](std::string_view all) { return std::string(all.substr(all.find("\nvendid"))); };

  EXPECT_EQ(body(write_fabric(fabric)), body(*text));
}

TEST(FabricWriter, SamplesAreStable) {
  for (const auto* name : {"vendors.net", "grouped.net", "ibsim.net", "modules.net", "one_sided_crlf.net"}) {
    const auto fabric = read_sample(name);
    const auto text = write_fabric(fabric);
    const auto again = read_fabric(text, name);

    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(*again, fabric) << name;
    EXPECT_EQ(write_fabric(*again), text) << name;
  }
}

TEST(FabricWriter, ControlCharactersInNamesBecomeSpaces) {
  Fabric fabric;
  auto& node = fabric.nodes.emplace_back();
  node.id = "H-1";
  node.name = "a\nb\x01 c";
  node.ports.resize(2);

  const auto again = read_fabric(write_fabric(fabric), "f");

  ASSERT_TRUE(again);
  EXPECT_EQ(again->nodes[0].name, "a b  c");
}

}  // namespace
}  // namespace smd::base
