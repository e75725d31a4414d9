// SPDX-License-Identifier: Apache-2.0
#include "config/blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/describe.h"
#include "config/difference.h"
#include "tests/unit/config/golden_errors.h"
#include "tests/unit/config/item_schema.h"
#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

/// What is read where [[item]] and [[sm.level]] are kept, of a text that is right.
Config with_items(std::string_view text) {
  auto config = load_text(text, "smd.toml", {}, context_with(), item_schema());
  if (config) return *std::move(config);
  for (const auto& error : config.error()) ADD_FAILURE() << to_string(error);
  return {};
}

Config routes_of(std::string_view text, const std::vector<std::string>& overrides = {}) {
  auto config = load_text(text, "smd.toml", overrides, context_with());
  if (config) return *std::move(config);
  for (const auto& error : config.error()) ADD_FAILURE() << to_string(error);
  return {};
}

std::vector<Item> items_of(const std::string& toml) {
  const auto context = context_with();
  std::vector<ConfigError> errors;
  const auto found = item_codec().read(value_of(toml),
                                       {.file = "text", .key = "item", .context = context, .errors = errors});
  EXPECT_THAT(errors, IsEmpty());
  return found.value_or(std::vector<Item>());
}

TEST(Blocks, EachErrorNamesTheBlockTheLineAndTheKey) {
  const auto count = expect_golden_errors("blocks.txt", [](const GoldenCase& one) {
    std::vector<std::string> lines;
    const auto config = load_text(one.toml, "smd.toml", one.overrides, context_with(), item_schema());
    if (config) return lines;
    for (const auto& error : config.error()) lines.push_back(to_string(error));
    return lines;
  });
  EXPECT_GE(count, 50U);
}

TEST(Blocks, KeysFillTheirMembersAndOthersKeepTheirDefaults) {
  EXPECT_THAT(items_of(R"([{ name = "a", low = 2, high = 3, enabled = false, wait = "2s", ports = ["0x1"] },
                           { name = "b" }])"),
              ElementsAre(Item{.name = "a",
                               .low = 2,
                               .high = 3,
                               .enabled = false,
                               .wait = std::chrono::seconds(2),
                               .ports = {Guid{1}}},
                          Item{.name = "b"}));
}

TEST(Blocks, WhatIsShownReadsAsTheSame) {
  const std::vector<Item> items{
      {.name = "a", .low = 2}, {.name = "b", .ports = {Guid{1}, Guid{2}}}, {.name = "c"}};
  const auto shown = item_codec().show(items);

  EXPECT_EQ(shown,
            "[{name = \"a\", low = 2}, {name = \"b\", ports = [\"0x0000000000000001\", "
            "\"0x0000000000000002\"]}, {name = \"c\"}]");
  EXPECT_EQ(items_of(shown), items);
  EXPECT_EQ(item_codec().show({}), "[]");
}

TEST(Blocks, HeadingsAndInlineTablesAreTheSame) {
  const auto headings = with_items("[[item]]\nname = \"a\"\nlow = 2\n[[item]]\nname = \"b\"\n");

  EXPECT_EQ(headings, with_items("item = [{ name = \"a\", low = 2 }, { name = \"b\" }]\n"));
  EXPECT_EQ(headings.base.names.map, "[{name = \"a\", low = 2}, {name = \"b\"}]");
}

TEST(Blocks, ASubnetWithoutBlocksHasThoseOutsideWhereverTheyStand) {
  const auto config =
      with_items("[[subnet]]\nname = \"east\"\n[[item]]\nname = \"a\"\n[[sm.level]]\nsl = 3\n");

  EXPECT_EQ(config.subnets.at(0).names.map, "[{name = \"a\"}]");
  EXPECT_EQ(config.subnets.at(0).routing.tables_file, "[{sl = 3}]");
}

TEST(Blocks, BlocksOfASubnetReplaceAllOutside) {
  const auto config = with_items(R"(
[[item]]
name = "a"
[[item]]
name = "b"
[[sm.level]]
sl = 1
[[subnet]]
name = "east"
port = "mlx5_0:1"
[[subnet.item]]
name = "c"
[[subnet.sm.level]]
sl = 2
[[subnet]]
name = "west"
port = "mlx5_1:1"
item = []
[subnet.sm]
level = []
)");

  EXPECT_EQ(config.base.names.map, "[{name = \"a\"}, {name = \"b\"}]");
  EXPECT_EQ(config.subnets.at(0).names.map, "[{name = \"c\"}]");
  EXPECT_EQ(config.subnets.at(0).routing.tables_file, "[{sl = 2}]");
  EXPECT_EQ(config.subnets.at(1).names.map, "[]");
  EXPECT_EQ(config.subnets.at(1).routing.tables_file, "[]");
  const auto said = describe_changed(config, item_schema());
  EXPECT_EQ(said.text, R"(subnet east, on port mlx5_0:1
  [[sm.level]] 1 block, which replaces the one outside of [[subnet]] (default none)
    [0] sl = 2
  [[item]] 1 block, which replaces all 2 outside of [[subnet]] (default none)
    [0] name = "c"
subnet west, on port mlx5_1:1
  [[sm.level]] none, which replaces the one outside of [[subnet]]
  [[item]] none, which replaces all 2 outside of [[subnet]]
)");
  EXPECT_EQ(said.keys, 2U);
  EXPECT_THAT(describe(config, item_schema()),
              HasSubstr("\n* [[item]] 1 block, which replaces all 2 outside of [[subnet]] (default none)\n"));
}

TEST(Blocks, ASubnetThatReplacesNothingDoesNotSaySo) {
  const auto config =
      with_items("[[subnet]]\nname = \"east\"\n[[subnet.item]]\nname = \"a\"\nenabled = false\n");

  EXPECT_EQ(describe_changed(config, item_schema()).text,
            "subnet east, on the first usable port\n"
            "  [[item]] 1 block (default none)\n"
            "    [0] name = \"a\", enabled = false (does not count)\n");
}

TEST(Blocks, ManyAreCountedAndAllAreShownWhenAskedFor) {
  std::string text;
  for (const char c : std::string("abcdefghij")) {
    text += std::string("[[item]]\nname = \"") + c + "\"\n[[item]]\nname = \"" + c + c + "\"\n";
  }
  const auto config = with_items(text);

  EXPECT_THAT(describe_changed(config, item_schema()).text,
              HasSubstr("    [9] name = \"ee\"\n    and 10 more\n"));
  EXPECT_THAT(describe(config, item_schema()), HasSubstr("    [19] name = \"jj\"\n"));
}

TEST(Blocks, AReloadNamesWhatChangedByTheUniqueKey) {
  const auto changes = [](std::string_view before, std::string_view after) {
    return differences(with_items(before).base, with_items(after).base, item_schema());
  };
  constexpr std::string_view kTwo = "[[item]]\nname = \"a\"\n[[item]]\nname = \"b\"\nlow = 3\n";

  EXPECT_THAT(changes(kTwo, kTwo), IsEmpty());
  EXPECT_THAT(changes(kTwo, "[[item]]\nname = \"c\"\n[[item]]\nname = \"b\"\nhigh = 4\n"),
              ElementsAre("item[\"c\"] added", "item[\"b\"].low 3 -> 1", "item[\"b\"].high 10 -> 4",
                          "item[\"a\"] removed"));
  EXPECT_THAT(changes(kTwo, "[[item]]\nname = \"b\"\nlow = 3\n[[item]]\nname = \"a\"\n"),
              ElementsAre("item in another order"));
  EXPECT_THAT(changes("", kTwo), ElementsAre("item[\"a\"] added", "item[\"b\"] added"));
}

TEST(Blocks, AReloadOfManyChangesIsOneLineOfBoundedLength) {
  std::string text;
  for (const char a : std::string("abcdef")) {
    for (const char b : std::string("abcdef")) text += std::string("[[item]]\nname = \"") + a + b + "\"\n";
  }
  const auto changes = differences(with_items("").base, with_items(text).base, item_schema());

  ASSERT_THAT(changes, SizeIs(21));
  EXPECT_EQ(changes.back(), "16 more changes of item");
}

TEST(Blocks, DocumentsHaveASectionForEachArray) {
  const auto shipped = shipped_file(item_schema());
  const auto example = shipped.find("#   [[item]]\n#   name = \"a\"\n#   low = 1\n");

  ASSERT_NE(example, std::string::npos) << shipped;
  EXPECT_LT(shipped.find("#   [[sm.level]]\n#   sl = 0\n"), shipped.find("\n[sa]\n"));
  EXPECT_LT(example, shipped.find("#[[subnet]]\n"));
  const auto sm = shipped.find("\n[sm]\n");
  EXPECT_THAT(shipped.substr(sm, shipped.find("\n[sa]\n") - sm), testing::Not(HasSubstr("#level = ")));
  EXPECT_THAT(shipped, HasSubstr("#   wait = \"2s\"\n"));
  EXPECT_THAT(
      shipped,
      HasSubstr("# wait: How long it waits. Allowed: a time from \"1ms\" to \"1h\". Default: \"1s\".\n"));
  EXPECT_THAT(schema_markdown(item_schema()),
              HasSubstr("\n| `name` | required | letters | What it is called. |  |\n| `low` | `1` | "));
  EXPECT_THAT(schema_man(item_schema()), HasSubstr("\n.SH [[item]]\nItems of a test.\n.PP\n[[item]] may be"));
}

TEST(PrefixRoutes, BlocksAndTextsAreTheSame) {
  const auto blocks = routes_of(R"(
[[sa.prefix_routes]]
prefix = "fec0:0:0:2::"
router = "0x0002c90300001234"
[[sa.prefix_routes]]
prefix = "*"
router = "*"
)");
  constexpr std::string_view kTexts =
      "[sa]\nprefix_routes = [\"fec0:0:0:2:: 0x0002c90300001234\", \"* *\"]\n";

  EXPECT_EQ(blocks, routes_of(kTexts));
  EXPECT_EQ(blocks, routes_of("[sa]\nprefix_routes = [\"fec0:0:0:2:: 0x0002c90300001234\", "
                              "{ prefix = \"*\", router = \"*\" }]\n"));
  EXPECT_THAT(blocks.base.sa.prefix_routes,
              ElementsAre(PrefixRoute{.prefix = 0xfec0000000000002, .router = Guid{0x0002c90300001234}},
                          PrefixRoute{}));
}

TEST(PrefixRoutes, OfASubnetReplaceAllOutsideAndAnOverrideReplacesBoth) {
  constexpr std::string_view kText = R"(
[[sa.prefix_routes]]
prefix = "fec0:0:0:2::"
router = "0x1"
[[subnet]]
name = "east"
[[subnet.sa.prefix_routes]]
prefix = "*"
router = "0x2"
)";

  EXPECT_EQ(describe_changed(routes_of(kText)).text,
            "subnet east, on the first usable port\n"
            "  [[sa.prefix_routes]] 1 block, which replaces the one outside of [[subnet]] (default none)\n"
            "    [0] prefix = \"*\" (any subnet), router = \"0x0000000000000002\"\n");
  const auto config = routes_of(kText, {"sa.prefix_routes=fec0:0:0:3:: *"});
  const std::vector<PrefixRoute> routes{{.prefix = 0xfec0000000000003, .router = {}}};
  EXPECT_EQ(config.base.sa.prefix_routes, routes);
  EXPECT_EQ(config.subnets.at(0).sa.prefix_routes, routes);
}

TEST(PrefixRoutes, AReloadNamesThemByTheirIndex) {
  const auto before = routes_of("[sa]\nprefix_routes = [\"fec0:0:0:2:: 0x1\", \"* *\"]\n");
  const auto after = routes_of("[sa]\nprefix_routes = [\"fec0:0:0:2:: 0x1\", \"* 0x2\"]\n");

  EXPECT_THAT(differences(before.base, after.base),
              ElementsAre("sa.prefix_routes[1].router \"*\" -> \"0x0000000000000002\""));
  EXPECT_THAT(differences(before.base, {}), ElementsAre("sa.prefix_routes 2 blocks -> none"));
}

}  // namespace
}  // namespace smd::config
