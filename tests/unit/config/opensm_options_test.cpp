// SPDX-License-Identifier: Apache-2.0
// Options of OpenSM about routing: each is answered by one line that says what it is here, or why it is not,
// and docs/routing.md has a row for it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>

#include "tests/support/source_file.h"
#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// As `opensm -c` of 3.3.23 writes them under ROUTING OPTIONS, and an older name.
constexpr std::string_view kRoutingOptions[] = {"port_profile_switch_nodes",
                                                "port_prof_ignore_file",
                                                "hop_weights_file",
                                                "port_search_ordering_file",
                                                "dimn_ports_file",
                                                "routing_engine",
                                                "avoid_throttled_links",
                                                "connect_roots",
                                                "use_ucast_cache",
                                                "lid_matrix_dump_file",
                                                "lfts_file",
                                                "root_guid_file",
                                                "cn_guid_file",
                                                "io_guid_file",
                                                "quasi_ftree_indexing",
                                                "max_reverse_hops",
                                                "ids_guid_file",
                                                "guid_routing_order_file",
                                                "do_mesh_analysis",
                                                "lash_start_vl",
                                                "nue_max_num_vls",
                                                "nue_include_switches",
                                                "port_shifting",
                                                "scatter_ports",
                                                "guid_routing_order_no_scatter",
                                                "torus_config",
                                                "no_fallback"};

auto answered(std::string_view option) {
  return AllOf(HasSubstr(fmt::format("; OpenSM's {} ", option)), HasSubstr(" here"),
               Not(HasSubstr("its keys are")));
}

TEST(OpensmOptions, EachOfRoutingIsAnsweredWhereverItStands) {
  for (const auto option : kRoutingOptions) {
    EXPECT_THAT(errors_of(fmt::format("[routing]\n{} = 1\n", option)), ElementsAre(answered(option)));
    EXPECT_THAT(errors_of(fmt::format("{} = 1\n", option)), ElementsAre(answered(option)));
    EXPECT_THAT(errors_of("", {fmt::format("routing.{}=1", option)}), ElementsAre(answered(option)));
    EXPECT_THAT(errors_of("", {fmt::format("{}=1", option)}), ElementsAre(answered(option)));
  }
}

TEST(OpensmOptions, TheNameWithoutFileIsKnownToo) {
  EXPECT_THAT(errors_of("", {"routing.hop_weights=1"}),
              ElementsAre("--set: unknown key \"hop_weights\" in [routing]; OpenSM's hop_weights_file has no "
                          "key here: the engines for trees share routes by the rates of cables, and auto "
                          "compares by them"));
  EXPECT_THAT(errors_of("", {"routing.root_guid=1"}),
              ElementsAre(HasSubstr("; OpenSM's root_guid_file is \"routing.root_guids\" here")));
  EXPECT_THAT(errors_of("", {"routing.lfts=1"}),
              ElementsAre(HasSubstr("; OpenSM's lfts_file is \"routing.tables_file\" here")));
}

TEST(OpensmOptions, WhatIsNoneOfThemIsAnsweredByTheKeysThereAre) {
  EXPECT_THAT(errors_of("", {"routing.hop_weight_of_all=1"}),
              ElementsAre(HasSubstr("; its keys are engines, ")));
  EXPECT_THAT(errors_of("", {"routing._file=1"}), ElementsAre(HasSubstr("; its keys are engines, ")));
}

/// Whether a row of a table has the option in its first cell, and something in the two cells after it.
bool has_row(std::string_view text, std::string_view option) {
  std::istringstream lines{std::string(text)};
  const auto wanted = fmt::format("`{}`", option);
  for (std::string line; std::getline(lines, line);) {
    const auto second = line.find(" | ");
    const auto third = second == std::string::npos ? second : line.find(" | ", second + 3);
    if (line.starts_with("| ") && third != std::string::npos &&
        std::string_view(line).substr(0, second).contains(wanted))
      return true;
  }
  return false;
}

TEST(OpensmOptions, TheDocumentationHasARowForEach) {
  const auto text = read_file(test::source_file("docs/routing.md")).value_or("");
  for (const auto option : kRoutingOptions) EXPECT_TRUE(has_row(text, option)) << option;
  EXPECT_FALSE(has_row(text, "hop_weight_of_all"));
}

}  // namespace
}  // namespace smd::config
