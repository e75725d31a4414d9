// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <boost/json.hpp>
#include <string>
#include <vector>

#include "smd/report/json.h"
#include "smd/report/partitions.h"
#include "smd/report/route_report.h"
#include "smd/report/sweep_summary.h"

namespace smd::sm {
namespace {

std::vector<std::string> keys(const boost::json::value& value) {
  std::vector<std::string> keys;
  for (const auto& member : value.as_object()) keys.emplace_back(member.key());
  return keys;
}
using Keys = std::vector<std::string>;

TEST(Json, WritesWhatAParserReadsBack) {
  const auto text = to_text(Json(JsonObject{{"a \"quoted\" key", 1.25},
                                            {"list", JsonArray{true, std::uint64_t{7}, Json{}}},
                                            {"name", std::string("tab\t, bell\x07, \xC3\xA4, \xFF")},
                                            {"large", 1e300},
                                            {"nothing", 0.0 / 0.0}}));

  const auto read = boost::json::parse(text).as_object();

  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(read.at("a \"quoted\" key").as_double(), 1.25);
  EXPECT_EQ(read.at("list").as_array().size(), 3);
  EXPECT_EQ(read.at("name").as_string(), "tab\t, bell\x07, \xC3\xA4, \xEF\xBF\xBD");
  EXPECT_EQ(read.at("large").as_double(), 1e300);
  EXPECT_TRUE(read.at("nothing").is_null());
}

TEST(Json, NeverWritesBytesThatAreNoUtf8) {
  for (const std::string bad : {"\x80", "\xC0\xAF", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xE2\x82",
                                "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x9F\x98"}) {
    EXPECT_NO_THROW(boost::json::parse(to_text(Json(bad)))) << ::testing::PrintToString(bad);
  }
  EXPECT_EQ(to_text(Json(std::string("\xF0\x9F\x98\x80"))), "\"\xF0\x9F\x98\x80\"");
}

TEST(SweepSummary, HasTheContractsKeysInItsOrder) {
  const Keys contract{
      "subnet",     "sweep",        "reason",           "switches",    "cas",         "routers",
      "links",      "lids",         "smps_get",         "smps_set",    "sets_failed", "timeouts",
      "retries",    "unresponsive", "lids_changed",     "discover_ms", "decide_ms",   "route_ms",
      "verify_ms",  "apply_ms",     "total_ms",         "engine",      "lft_blocks",  "lft_entries_changed",
      "mft_blocks", "ports_active", "ports_not_active", "sm_lid",      "state"};
  SweepSummary summary;
  summary.subnet = "ft2:8";
  summary.reason = "trap 128";
  summary.total_ms = 12.3456;
  summary.sm_lid = Lid{7};
  summary.state = SweepState::up;

  const auto read = boost::json::parse(to_json(summary));
  const auto line = to_line(summary);

  EXPECT_EQ(keys(read), contract);
  EXPECT_EQ(read.at("total_ms").as_double(), 12.346);
  EXPECT_EQ(read.at("sm_lid").as_int64(), 7);
  EXPECT_EQ(read.at("state").as_string(), "up");
  EXPECT_TRUE(line.starts_with("subnet=ft2:8 sweep=heavy reason=\"trap 128\" switches=0 ")) << line;
  EXPECT_TRUE(line.ends_with(" sm_lid=7 state=up")) << line;
}

TEST(RouteReport, HasTheContractsKeys) {
  RouteReport report;
  report.fabric = "ft2:8";
  report.fell_back_from = {"ftree: not a tree"};
  report.ms.load = 1.23456;
  report.quality = routing::Quality{};
  report.changed = ChangedEntries{.lft_entries = 3, .lft_blocks = 2};

  const auto read = boost::json::parse(to_json(report));

  EXPECT_EQ(keys(read), (Keys{"fabric", "switches", "hosts", "lids", "links", "threads", "engine",
                              "fell_back_from", "shape", "why", "ms", "memset_ms", "peak_rss_kb", "verify",
                              "quality", "changed", "health", "notes"}));
  EXPECT_EQ(keys(read.at("ms")), (Keys{"load", "topology", "route", "verify", "quality", "dump"}));
  EXPECT_EQ(read.at("ms").at("load").as_double(), 1.235);
  EXPECT_TRUE(read.at("ms").at("dump").is_null());
  // Those of the contract, and some that say more of why it is not ok.
  EXPECT_EQ(keys(read.at("verify")),
            (Keys{"ok", "host_pairs_unreachable", "aggregation_pairs_unreachable", "left_out",
                  "unrouted_by_rule", "unreachable_switch_pairs", "loops", "dead_ends", "credit_loops",
                  "management_credit_loops", "vls", "layers", "fixed_sl_ok", "reverse_ok"}));
  EXPECT_EQ(keys(read.at("quality")),
            (Keys{"max_link_paths", "mean_link_paths", "shift_max", "shift_mean", "random_permutation_mean",
                  "ebb", "shift_rank_max", "shift_rank_mean", "max_link_time", "leaf_bound", "of_leaf_bound",
                  "levels", "hottest"}));
  EXPECT_EQ(keys(read.at("changed")), (Keys{"lft_entries", "lft_blocks"}));
}

TEST(RouteReport, WithRepeatShowsTheMinimumAndTheMedian) {
  std::vector<RouteTimes> passes(3);
  for (std::size_t i = 0; i < 3; ++i) {
    passes[i].load = std::array{3.0, 1.0, 2.0}[i];
    passes[i].route = std::array{5.0, 9.0, 7.0}[i];
  }
  RouteReport report;
  report.ms = minimum(passes);
  report.ms_median = median(passes);

  const auto read = boost::json::parse(to_json(report));

  EXPECT_EQ(report.ms.load, 1.0);
  EXPECT_EQ(report.ms.route, 5.0);
  EXPECT_EQ(report.ms_median->load, 2.0);
  EXPECT_EQ(report.ms_median->route, 7.0);
  EXPECT_FALSE(report.ms.quality);
  EXPECT_EQ(read.at("ms_median").at("load").to_number<double>(), 2.0);
}

TEST(RouteReport, TellsHumansWhatIsWrong) {
  RouteReport report;
  report.fabric = "x.net";
  report.switches = 1;
  report.verify.loops = 3;
  report.faults = "3 loops, as sw A port 2 LID 7";

  const auto text = to_text(report);

  EXPECT_NE(text.find("x.net: 1 switch, 0 hosts"), std::string::npos) << text;
  EXPECT_NE(text.find("NOT verified: 3 loops"), std::string::npos) << text;
}

TEST(SlsOfClasses, NameThePartitionBothSlsAndTheWaysOut) {
  EXPECT_EQ(
      to_string(config::SlOfClass{.name = "p9", .pkey = PKey{0x39}, .asked = Sl{5}, .sl = Sl{0}}),
      "partition p9 of the API (P_Key 0x0039) asks for SL 5 and has SL 0, that of its traffic class: put "
      "it without an SL, or list it in a [[qos.class]] with SL 5");
}

TEST(SharedNames, AreOfTheApiAndOfAFile) {
  using enum config::PolicyOrigin;
  config::PartitionPolicy policy;
  policy.toml_file = "smd.toml";
  const auto add = [&](std::string name, std::uint16_t key, config::PolicyOrigin origin, unsigned line) {
    policy.partitions.push_back({.name = std::move(name), .pkey = PKey{key}, .sources = {{origin, line}}});
  };
  add("red", 0x13, api, 0);
  add("red", 0x14, toml, 7);
  add("twice", 0x15, file, 1);
  add("twice", 0x16, file, 2);
  add("blue", 0x17, api, 0);

  const auto shared = shared_names(policy);

  ASSERT_EQ(shared.size(), 1U);
  EXPECT_EQ(shared[0],
            (SharedName{.name = "red", .of_api = PKey{0x13}, .of_file = PKey{0x14}, .source = "smd.toml:7"}));
  EXPECT_EQ(
      to_string(shared[0]),
      "partition red of the API (P_Key 0x0013) and 0x0014 of smd.toml:7 have one name: that of the API can "
      "only be deleted until one of the two has another");
}

}  // namespace
}  // namespace smd::sm
