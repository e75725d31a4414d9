// SPDX-License-Identifier: Apache-2.0
// Values of one SM's files, put in force at another.
#include "config/fabric_settings.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace smd::config {
namespace {

constexpr std::string_view kTorus =
    "torus 4 4 2\nxp_link 1 2\nxm_link 1 3\nyp_link 1 4\nym_link 1 5\nzp_link 1 6\n";

ConfigContext context_of(std::vector<std::string> engines = {"auto", "updn", "torus-2QoS", "file"}) {
  ConfigContext context;
  context.engines = std::move(engines);
  context.rooted_engines = {"updn"};
  context.read = [](const std::filesystem::path& path) {
    return std::string(path.filename() == "roots" ? "0x17\n0x18\n" : kTorus);
  };
  return context;
}

SubnetConfig config_of(const std::string& text) {
  const auto loaded = load_text(text, "/etc/smd/smd.toml", {}, context_of());
  EXPECT_TRUE(loaded) << (loaded ? "" : to_string(loaded.error().front()));
  return loaded ? loaded->base : SubnetConfig{};
}

SubnetConfig masters() {
  return config_of(
      "[lids]\nlmc = 2\nfirst = 100\nreassign = true\n[links]\nmtu = 2048\n"
      "[routing]\nengines = [\"torus-2QoS\", \"updn\"]\npath_sl = \"asked\"\nroot_guids = \"roots\"\n"
      "torus_file = \"torus.conf\"\nthreads = 5\nconverge_after = \"7s\"\n"
      "[multicast]\nconsolidate_ipv6_snm = true\n[sm]\npriority = 9\n");
}

TEST(FabricSettings, AreInForceElsewhereAsTheyWere) {
  const auto from = masters();
  SubnetConfig into = config_of("[sm]\npriority = 3\n[routing]\nthreads = 2\n");

  const auto restored = restore_fabric_settings(fabric_settings(from), context_of(), into);

  ASSERT_TRUE(restored) << restored.error();
  EXPECT_EQ(fabric_settings(into), fabric_settings(from));
  EXPECT_EQ(into.lids.lmc, 2);
  EXPECT_EQ(into.lids.first, Lid{100});
  EXPECT_EQ(into.links, from.links);
  EXPECT_EQ(into.multicast, from.multicast);
  EXPECT_EQ(into.routing.engines, from.routing.engines);
  EXPECT_EQ(into.routing.root_guids, (std::vector{Guid{0x17}, Guid{0x18}}));
  EXPECT_EQ(into.routing.torus, from.routing.torus);
  EXPECT_EQ(into.routing.converge_after, std::chrono::seconds(7));
}

TEST(FabricSettings, WhatIsOfOneMachineStays) {
  SubnetConfig into = config_of("[sm]\npriority = 3\n[routing]\nthreads = 2\n");
  ASSERT_TRUE(restore_fabric_settings(fabric_settings(masters()), context_of(), into));
  EXPECT_EQ(into.routing.threads, 2U);
  EXPECT_FALSE(into.lids.reassign) << "what an operator said to one SM";
  EXPECT_EQ(into.sm.priority, 3);
}

TEST(FabricSettings, FilesOfTheSameContentsKeepTheirNames) {
  auto into = config_of(
      "[routing]\npath_sl = \"asked\"\nroot_guids = \"/here/roots\"\ntorus_file = \"/here/t.conf\"\n");
  ASSERT_TRUE(restore_fabric_settings(fabric_settings(masters()), context_of(), into));
  EXPECT_EQ(into.routing.root_guids_file, "/here/roots");
  EXPECT_EQ(into.routing.torus_file, "/here/t.conf");
}

TEST(FabricSettings, KeysOfALaterVersionAreLeftOut) {
  auto settings = fabric_settings(masters());
  settings.values["routing.not_yet"] = "1";
  SubnetConfig into;
  EXPECT_TRUE(restore_fabric_settings(settings, context_of(), into));
}

TEST(FabricSettings, WhatThisVersionCannotDoChangesNothing) {
  const auto own = config_of("[lids]\nlmc = 1\n");
  const auto refused = [&](const FabricSettings& settings, const ConfigContext& context) {
    auto into = own;
    const auto restored = restore_fabric_settings(settings, context, into);
    EXPECT_EQ(into, own);
    return restored ? std::string("none") : restored.error();
  };
  EXPECT_NE(refused(fabric_settings(masters()), context_of({"auto", "updn"})).find("torus-2QoS"),
            std::string::npos);
  auto wrong = fabric_settings(masters());
  wrong.torus = "torus\n";
  EXPECT_NE(refused(wrong, context_of()).find("three sizes"), std::string::npos);
  wrong = fabric_settings(masters());
  wrong.values["lids.lmc"] = "9";
  EXPECT_NE(refused(wrong, context_of()).find("lids.lmc"), std::string::npos);
  wrong = fabric_settings(masters());
  wrong.values["routing.engines"] = "[\"file\"]";
  EXPECT_NE(refused(wrong, context_of()).find("tables_file"), std::string::npos);
}

}  // namespace
}  // namespace smd::config
