// SPDX-License-Identifier: Apache-2.0
// The shipped file and the documentation say what the schema says. SMD_UPDATE_GOLDEN=1 writes them anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "config/describe.h"
#include "config/schema.h"
#include "tests/support/source_file.h"
#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

using testing::HasSubstr;
using testing::Not;

void expect_file(const std::string& name, const std::string& wanted) {
  const auto path = test::source_file(name);
  if (std::getenv("SMD_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << wanted;
  EXPECT_EQ(read_file(path).value_or("not there"), wanted) << name;
}

/// Every key uncommented: "#key = value" is one, "# text" is not.
std::string uncommented(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const bool key = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    out += (key ? line.substr(1) : line) + "\n";
  }
  return out;
}

TEST(Documents, TheShippedFileIsTheSchemas) { expect_file("config/smd.toml", shipped_file()); }

TEST(Documents, TheKeysInTheDocumentationAreTheSchemas) {
  expect_file("docs/configuration.md", schema_markdown());
}

TEST(Documents, TheManPageIsTheSchemas) { expect_file("docs/man/smd.toml.5", schema_man()); }

TEST(Documents, TheShippedFileChangesNothing) {
  const auto config = load_text(shipped_file(), "smd.toml", {}, context_with());

  ASSERT_TRUE(config);
  EXPECT_EQ(*config, Config{});
}

TEST(Documents, TheShippedFileUncommentedIsTheDefaults) {
  const auto config = load_text(uncommented(shipped_file()), "smd.toml", {}, context_with());

  ASSERT_TRUE(config) << to_string(config.error().at(0));
  EXPECT_EQ(*config, Config{});
}

/// Blocks are examples: lines behind "#   ". [[qos.class]] is refused beside the other blocks of [qos], so
/// that either it or they are left out.
std::string examples(bool with_classes) {
  std::istringstream in(shipped_file());
  std::string text;
  bool left_out = false;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("#   ")) continue;
    line.erase(0, 4);
    if (line.starts_with("[["))
      left_out = line.starts_with("[[qos.") && (line == "[[qos.class]]") != with_classes;
    if (!left_out) text += line + "\n";
  }
  return text;
}

TEST(Documents, TheExamplesOfTheShippedFileAreRight) {
  for (const bool with_classes : {false, true}) {
    const auto config = load_text(examples(with_classes), "smd.toml", {}, context_with());

    ASSERT_TRUE(config) << to_string(config.error().at(0));
    for (const auto& key : make_schema().keys) {
      const bool of_classes = key.path() == "qos.class";
      if (!key.is_array() || (key.path().starts_with("qos.") && of_classes != with_classes)) continue;
      EXPECT_THAT(key.show_blocks({.api = config->api, .subnet = config->base}), testing::SizeIs(1))
          << key.path();
    }
  }
}

TEST(Documents, TheShippedFileHasEveryKey) {
  const auto text = uncommented(shipped_file());
  for (const auto& key : make_schema().keys) {
    const auto line = key.form == Form::blocks ? "#   " + heading(key) : std::string(key.name) + " = ";
    EXPECT_THAT(text, HasSubstr("\n" + line)) << key.path();
  }
}

TEST(Documents, EveryRowIsWhole) {
  const auto schema = make_schema();
  std::set<std::string> paths;
  for (const auto& key : schema.keys) {
    EXPECT_TRUE(schema.has_table(key.table) || (key.table.empty() && key.is_array())) << key.path();
    EXPECT_TRUE(paths.insert(key.path()).second) << key.path();
    EXPECT_FALSE(key.doc.empty()) << key.path();
    EXPECT_TRUE(key.doc.ends_with('.')) << key.path();
    EXPECT_FALSE(key.allowed.empty()) << key.path();
    for (const auto& inner : key.block_keys) {
      EXPECT_TRUE(inner.doc.ends_with('.')) << key.path() << " " << inner.name;
      EXPECT_FALSE(inner.allowed.empty()) << key.path() << " " << inner.name;
    }
  }
}

/// A row that reads one member and shows another would pass for right elsewhere.
TEST(Documents, WhatARowShowsIsWhatItReads) {
  const std::vector<std::string> changes{"log.level=\"debug\"",
                                         "log.format=\"json\"",
                                         "log.modules=[\"mad\"]",
                                         "sm.priority=3",
                                         "sm.allowed_guids=[\"0x0000000000000001\"]",
                                         "sm.subnet_prefix=\"0xfe80000000000009\"",
                                         "sm.force=true",
                                         "mad.max_outstanding=7",
                                         "mad.per_node=6",
                                         "mad.timeout=\"3s\"",
                                         "mad.retries=5",
                                         "sweep.interval=\"1m\"",
                                         "sweep.settle=\"9ms\"",
                                         "sweep.on_trap=false",
                                         "lids.lmc=2",
                                         "lids.first=8",
                                         "lids.last=4000",
                                         "lids.reassign=true",
                                         "lids.import_guid2lid=\"/var/cache/opensm/guid2lid\"",
                                         "store.directory=\"/srv/smd\"",
                                         "store.retry=\"3s\"",
                                         "links.mtu=512",
                                         "links.operational_vls=8",
                                         "links.speed=\"NDR\"",
                                         "links.width=\"2x\"",
                                         "links.packet_lifetime=17",
                                         "links.hoq_lifetime=16",
                                         "links.leaf_hoq_lifetime=15",
                                         "links.vl_stall_count=6",
                                         "links.leaf_vl_stall_count=5",
                                         "links.subnet_timeout=20",
                                         "links.local_phy_errors_threshold=9",
                                         "links.overrun_errors_threshold=10",
                                         "routing.engines=[\"minhop\"]",
                                         "routing.root_guids=[\"0x0000000000000002\"]",
                                         "routing.allow_credit_loops=true",
                                         "routing.threads=3"};
  const auto schema = make_schema();
  for (const auto& change : changes) {
    const auto config = load_text("", "smd.toml", std::vector{change}, context_with());
    ASSERT_TRUE(config) << change << ": " << to_string(config.error().at(0));
    const Settings settings{.log = config->log, .store = config->store, .subnet = config->base};
    for (const auto& key : schema.keys) {
      const bool changed = change.starts_with(key.path() + "=");
      const auto wanted = changed ? change.substr(key.path().size() + 1) : key.show(Settings{});
      EXPECT_EQ(key.show(settings), wanted) << change << " at " << key.path();
    }
  }
}

TEST(Describe, MarksWhatDiffersFromTheDefaults) {
  const auto config = load_text(
      "[lids]\nlmc = 2\n[links]\nhoq_lifetime = 20\n[[subnet]]\nname = \"east\"\nport = \"mlx5_0\"\n",
      "smd.toml", {}, context_with());
  ASSERT_TRUE(config);
  const auto text = describe(*config);

  EXPECT_THAT(text, HasSubstr("\nsubnet east, on port mlx5_0\n"));
  EXPECT_THAT(text,
              HasSubstr("\n* lmc = 2                                   4 LIDs a port (default \"keep\")\n"));
  EXPECT_THAT(text, HasSubstr("\n* hoq_lifetime = 20                         for ever (default 18)\n"));
  EXPECT_THAT(text, HasSubstr("\n  leaf_hoq_lifetime = 16                    268.4 ms\n"));
}

TEST(Describe, NamesOnlyWhatDiffersUnlessAllIsAskedFor) {
  const auto config =
      load_text("[log]\nlevel = \"debug\"\n[lids]\nlmc = 2\nlast = 49151\n[sweep]\ninterval = \"5s\"\n",
                "smd.toml", {}, context_with());
  ASSERT_TRUE(config);
  const auto changed = describe_changed(*config);

  EXPECT_EQ(changed.keys, 3U);
  EXPECT_EQ(changed.text,
            "  log.level = \"debug\"                       (default \"info\")\n"
            "subnet named by its port's GUID, on the first usable port\n"
            "  sweep.interval = \"5s\"                     (default \"10s\")\n"
            "  lids.lmc = 2                              4 LIDs a port (default \"keep\")\n");
  EXPECT_EQ(describe_changed({}).keys, 0U);
}

TEST(Describe, NeverShowsTheSmKey) {
  const auto config =
      load_text("[sm]\nkey_file = \"key\"\n", "smd.toml", {}, context_with({{"key", "48879"}}));
  ASSERT_TRUE(config);

  EXPECT_EQ(config->base.sm.sm_key, 48879U);
  EXPECT_THAT(describe(*config), Not(HasSubstr("48879")));
}

}  // namespace
}  // namespace smd::config
