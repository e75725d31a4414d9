// SPDX-License-Identifier: Apache-2.0
#include "smd/dump/lft_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace smd::sm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

unsigned entry_of(const LftDump& dump, std::uint64_t sw, std::uint16_t lid) {
  const auto row = dump.rows.find(Guid{sw});
  return routing::entry(row == dump.rows.end() ? nullptr : row->second.get(), Lid{lid});
}

std::string first_error(std::string_view text) {
  const auto read = read_lfts(text, "x");
  return read ? "no error" : base::to_string(read.error().front());
}

constexpr std::string_view kLfts =
    "Unicast lids [0-77] of switch Lid 3 guid 0xb8599f0300aaaa00 ('sw A guid 0x1'):\n"
    "0x0001 001 # Channel Adapter portguid 0x0000000000000021: 'host portguid 0x99 two'\n"
    "0x0003 000 # Switch portguid 0xb8599f0300aaaa00: 'sw A'\n"
    "0x004d 007 # unknown node and type\n"
    "77 lids dumped\n"
    "Unicast lids [0-77] of switch Lid 2 guid 0xb8599f0300bbbb00 ('sw B'):\n"
    "0x0001 036 # Channel Adapter portguid 0x0000000000000021: 'host two'\n"
    "77 lids dumped\n";

TEST(LftDump, ReadsOpensmsLftsWithTheOwnersOfLids) {
  const auto dump = read_lfts(kLfts, "x");

  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->rows.size(), 2);
  EXPECT_EQ(entry_of(*dump, 0xb8599f0300aaaa00, 1), 1);
  EXPECT_EQ(entry_of(*dump, 0xb8599f0300aaaa00, 2), routing::kNoRoute);
  EXPECT_EQ(entry_of(*dump, 0xb8599f0300aaaa00, 3), 0);
  EXPECT_EQ(entry_of(*dump, 0xb8599f0300aaaa00, 77), 7);
  EXPECT_EQ(entry_of(*dump, 0xb8599f0300bbbb00, 1), 36);
  EXPECT_EQ(entry_of(*dump, 0xb8599f0300bbbb00, 77), routing::kNoRoute);
  EXPECT_EQ(dump->rows.begin()->second->size() % routing::kLftBlock, 0);
  EXPECT_THAT(dump->owners,
              ElementsAre(std::pair(Lid{1}, Guid{0x21}), std::pair(Lid{3}, Guid{0xb8599f0300aaaa00})));
}

TEST(LftDump, ReadsWhatDumpFtsPrints) {
  const auto dump = read_lfts(
      "Unicast lids [0x0-0x2c] of switch DR path slid 0; dlid 0; 0,1,5,8 guid 0x0002c90000000080 (leaf007):\n"
      "  Lid  Out   Destination\n"
      "       Port     Info \n"
      "0x0001 005 : (Channel Adapter portguid 0x0002c900000000d1: 'h00000')\r\n"
      "1 valid lids dumped \n",
      "x");

  ASSERT_TRUE(dump);
  EXPECT_EQ(entry_of(*dump, 0x0002c90000000080, 1), 5);
  EXPECT_EQ(dump->owners.at(Lid{1}), Guid{0x0002c900000000d1});
}

TEST(LftDump, ReadsOpensmsFdbs) {
  const auto dump = read_lfts(
      "osm_ucast_mgr_dump_ucast_routes: Switch 0x0002c90000000010\n"
      "LID    : Port : Hops : Optimal\n"
      "0x0001 : 001  : 01   : yes\n"
      "0x0002 : UNREACHABLE\n"
      "0x0003 : 008  : HOPS UNKNOWN\n"
      "0x000A : 005  : 03   : No 2 hop path possible via port 6!",
      "x");

  ASSERT_TRUE(dump) << base::to_string(dump.error());
  EXPECT_EQ(entry_of(*dump, 0x0002c90000000010, 1), 1);
  EXPECT_EQ(entry_of(*dump, 0x0002c90000000010, 2), routing::kNoRoute);
  EXPECT_EQ(entry_of(*dump, 0x0002c90000000010, 3), 8);
  EXPECT_EQ(entry_of(*dump, 0x0002c90000000010, 10), 5);
  EXPECT_TRUE(dump->owners.empty());
}

TEST(LftDump, NamesFileAndLineOfWhatIsWrong) {
  const std::string header = "dump_ucast_routes: Switch 0x10\n";

  EXPECT_EQ(first_error(""), "x: no forwarding table in it: opensm-lfts.dump or opensm.fdbs is needed");
  EXPECT_THAT(first_error("\n\nvendid=0x2c9\n"), HasSubstr("x:3: \"vendid=0x2c9\": a line 'Unicast lids"));
  EXPECT_THAT(first_error("dump_ucast_routes: Switch leaf\n"), HasSubstr("x:1: "));
  EXPECT_THAT(first_error(header + "0x0001 : 256 : 01 : yes\n"),
              HasSubstr("x:2: \"0x0001 : 256 : 01 : yes\": port \"256\""));
  EXPECT_THAT(first_error(header + "0xC000 : 001 : 01 : yes\n"), HasSubstr("LID \"0xC000\": a number from"));
  EXPECT_THAT(first_error(header + "0x0001 001\n"), HasSubstr("x:2: "));
  EXPECT_THAT(first_error(header + header), HasSubstr("x:2: switch 0x0000000000000010 for the second time"));
  EXPECT_THAT(first_error(header + std::string(kLfts)), HasSubstr("x:2: a second format in one file"));
  EXPECT_THAT(first_error(header + "\x1b[2J : 001\n"), HasSubstr("?[2J"));
}

TEST(LftDump, RefusesTwoPortsForOneLidOfASwitch) {
  const std::string header = "dump_ucast_routes: Switch 0x10\n", other = "dump_ucast_routes: Switch 0x20\n";
  const std::string one = "0x0001 : 001 : 01 : yes\n", two = "0x0001 : 002 : 01 : yes\n";

  EXPECT_EQ(
      first_error(header + one + two),
      "x:3: LID 0x0001 of switch 0x0000000000000010 has port 2 here and port 1 in a line above: one of them "
      "is wrong");
  EXPECT_THAT(first_error(header + "0x0001 : UNREACHABLE\n" + one), HasSubstr("x:3: LID 0x0001 of switch"));
  EXPECT_THAT(first_error(header + one + other + two + two), "no error");
  auto lfts = std::string(kLfts);
  lfts.insert(lfts.find("0x0003"), "0x0001 002 # Channel Adapter portguid 0x0000000000000021: 'host two'\n");
  EXPECT_THAT(first_error(lfts), HasSubstr("x:3: LID 0x0001 of switch 0xb8599f0300aaaa00 has port 2 here"));
}

TEST(LftDump, ReportsManyMistakesAtOnceButNotAllOfAForeignFile) {
  std::string text = "dump_ucast_routes: Switch 0x10\n";
  for (int i = 0; i < 100; ++i) text += "0x0001 : x : 01 : yes\n";

  EXPECT_EQ(read_lfts(text, "x").error().size(), 20);
  EXPECT_EQ(read_lfts("a\nb\nc\n", "x").error().size(), 1);
}

TEST(LftDump, SaysWhyAFileCannotBeRead) {
  const auto read = load_lfts("/nonexistent/opensm.fdbs");

  ASSERT_FALSE(read);
  EXPECT_EQ(base::to_string(read.error()), "/nonexistent/opensm.fdbs: No such file or directory");
}

}  // namespace
}  // namespace smd::sm
