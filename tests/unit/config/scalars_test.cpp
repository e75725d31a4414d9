// SPDX-License-Identifier: Apache-2.0
#include "config/scalars.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "config/guid_list.h"
#include "config/name_map.h"
#include "config/suggest.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

TEST(Scalars, GuidsAreReadInTheSpellingsThatPeopleUse) {
  EXPECT_EQ(parse_guid("0x0002c90300001234"), Guid{0x0002c90300001234});
  EXPECT_EQ(parse_guid("0X1f"), Guid{0x1f});
  EXPECT_EQ(parse_guid("0002C90300001234"), Guid{0x0002c90300001234});
  EXPECT_EQ(parse_guid("0002:c903:0000:1234"), Guid{0x0002c90300001234});
  EXPECT_EQ(parse_guid("0xffffffffffffffff"), Guid{0xffffffffffffffff});
}

TEST(Scalars, WhatIsNoGuidIsRefused) {
  for (const std::string text :
       {"", "0x", "0x0", "1234", "0x12345678901234567", "0xg", "0002:c903:00001234", "0x1 ", "-1",
        "0000000000000000", "0002:c903:0000:12345", "+002c90300001234"}) {
    EXPECT_FALSE(parse_guid(text)) << text;
  }
}

TEST(Scalars, DurationsHaveAUnit) {
  EXPECT_EQ(parse_duration("200ms"), milliseconds(200));
  EXPECT_EQ(parse_duration("2 m"), minutes(2));
  EXPECT_EQ(parse_duration("0s"), Duration::zero());
  EXPECT_EQ(parse_duration("1h30m"), minutes(90));
  EXPECT_EQ(parse_duration("7d"), std::chrono::hours(7 * 24));
  EXPECT_EQ(parse_duration("1d 2h 1ms"), std::chrono::hours(26) + milliseconds(1));
  for (const std::string text : {"", "10", "s", "10 sec", "-1s", "1.5s", "99999999999999999999s",
                                 "9999999999h", "30m1h", "1h30", "1m1m", "0s1", "h1", "1h-1m", "200000d"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Scalars, DurationsAreShownAsTheyAreRead) {
  for (const auto* const text : {"0s", "1us", "1500us", "200ms", "10s", "90s", "2m", "24h"}) {
    EXPECT_EQ(show_duration(parse_duration(text).value_or(Duration(1))), text);
  }
}

TEST(Scalars, AnAddressHasADecimalPort) {
  for (const auto* good : {"10.0.0.1:80", "sm2:65535", "[::]:8443"}) EXPECT_TRUE(is_address(good)) << good;
  for (const auto* bad : {"sm2", "sm2:0", "sm2:0x50", "sm2:65536", "::1:80", ":80", "[]:80"})
    EXPECT_FALSE(is_address(bad)) << bad;
}

TEST(Suggest, ANearWordIsMeant) {
  const std::vector<std::string> words{"minhop", "updn", "ftree", "dor"};
  EXPECT_EQ(nearest("fttree", words), "ftree");
  EXPECT_EQ(nearest("udpn", words), "updn");
  EXPECT_EQ(nearest("MINHOP", words), "minhop");
  EXPECT_EQ(nearest("lash", words), std::nullopt);
  EXPECT_EQ(nearest("", words), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'x'), words), std::nullopt);
}

TEST(Suggest, DistancesAreThoseOfOptimalStringAlignment) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);
  EXPECT_EQ(edit_distance("abcd", "acbd"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(GuidList, GivesEachGuidOnceInTheOrderOfTheFile) {
  const auto guids = read_guid_list("# roots\r\n0x3\r\n\r\n  0x1 # x\n0x3\n0000000000000002", "roots");

  ASSERT_TRUE(guids);
  EXPECT_EQ(*guids, (std::vector{Guid{3}, Guid{1}, Guid{2}}));
}

TEST(GuidList, NamesEachWrongLine) {
  const auto guids = read_guid_list("0x1\n12\n\n0xzz\n", "roots");

  ASSERT_FALSE(guids);
  ASSERT_EQ(guids.error().size(), 2U);
  EXPECT_EQ(to_string(guids.error()[0]), "roots:2: got 12, expected a GUID such as 0x0002c90300001234");
  EXPECT_EQ(guids.error()[1].line, 4U);
}

TEST(NameMap, ReadsWhatInfinibandDiagsRead) {
  const auto names = read_name_map(
      "# IB1\n# Line cards\n0x0008f104003f125c \"IB1 (Rack 11 slot 1   ) sLB-24D\"\n0x2\t\"two\"  # "
      "spine\n0x2 \"two\"\n",
      "map");

  ASSERT_TRUE(names);
  EXPECT_EQ(names->at(Guid{0x0008f104003f125c}), "IB1 (Rack 11 slot 1   ) sLB-24D");
  EXPECT_EQ(names->at(Guid{2}), "two");
}

TEST(NameMap, NamesEachWrongLine) {
  const auto names = read_name_map("0x1 \"a\nx \"b\"\n0x3 \"\"\n0x4 \"c\" d\n", "map");

  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().size(), 4U);
}

TEST(TomlReader, EveryErrorThatLiesInItsLineIsFound) {
  const auto document = read_toml("[lids]\nlmc 4\nfirst = 2\nlast = =\nreassign = true\n", "f");

  ASSERT_EQ(document.errors.size(), 2U);
  EXPECT_EQ(document.errors[0].line, 2U);
  EXPECT_EQ(document.errors[1].line, 4U);
  ASSERT_EQ(document.root.items.size(), 1U);
  EXPECT_EQ(document.root.items[0].items.size(), 2U);
}

TEST(TomlReader, AnErrorThatComesFromAnEarlierLineIsOneError) {
  EXPECT_EQ(read_toml("[routing]\nengines = [\"updn\"\nthreads = 2\nx = 1\ny = 2\n", "f").errors.size(), 1U);
}

TEST(TomlReader, ValuesAreSpelledAsTheyWereWritten) {
  const auto document = read_toml("[a]\n\"é\" = [ 0x1F, 'q', 1.50 ] # c\ny = [\n 1,\n]\n", "f");
  const auto& items = document.root.items.at(0).items;

  EXPECT_EQ(items.at(0).spelled, "[ 0x1F, 'q', 1.50 ]");
  EXPECT_EQ(items.at(0).items.at(0).spelled, "0x1F");
  EXPECT_EQ(items.at(0).items.at(2).spelled, "1.50");
  EXPECT_EQ(items.at(1).spelled, "[...");
  EXPECT_EQ(items.at(1).items.at(0).line, 4U);
}

}  // namespace
}  // namespace smd::config
