// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "mad/base/fabric_spec.h"
#include "mad/base/split.h"
#include "smd/cli/route.h"

namespace smd::cli {
namespace {

/// What stands between commas. CLI11 leaves out what is empty: "updn,,minhop" would be two names.
std::vector<std::string> names_of(std::span<const std::string> lists) {
  std::vector<std::string> names;
  for (const auto& list : lists) {
    for (const auto name : base::split_list(list)) names.emplace_back(name);
  }
  return names;
}

}  // namespace

void add_route_options(CLI::App& command, RouteOptions& options) {
  const auto text = [&](const char* name, std::string& value, const char* type, const char* help) {
    return command.add_option(name, value, help)->type_name(type);
  };
  text("--topology", options.topology, "FABRIC", "a file of ibnetdiscover or ibsim, or a spec as ft3:8")
      ->required();
  auto* engines = command.add_option_function<std::vector<std::string>>(
      "--engine", [&options](const auto& lists) { options.engines = names_of(lists); },
      "engines in order of preference, instead of the configuration's");
  engines->type_name("A[,B...]");
  command
      .add_option(
          "--vls", options.vls,
          "VLs between switches that layered engines may use, 1 to 15; default 8; given, auto compares "
          "these engines, too")
      ->type_name("N")
      ->check(CLI::Range(1U, 15U));
  text("--lids", options.lids, "FILE", "LIDs of ports: 'GUID LID' a line, or OpenSM's guid2lid");
  auto* without = text("--without", options.without, "FILE",
                       "takes nodes and links away first: 'node NODE' or 'link NODE PORT' a line");
  text("--reroute", options.reroute, "repair|converge",
       "how the complete fabric's tables change: dead entries only, or to fresh ones")
      ->needs(without)
      ->check(CLI::IsMember({"repair", "converge"}));
  text("--config", options.config, "FILE", "the configuration; without one its defaults");
  auto* lfts = text("--lfts", options.lfts, "FILE",
                    "verifies the tables of an opensm-lfts.dump or opensm.fdbs instead of computing any");
  lfts->excludes(engines)->excludes("--reroute");
  text("--path-sl", options.path_sl, "FILE",
       "the SL of each path of these tables: 'SOURCE-GUID DLID SL' a line, as path-sl.txt")
      ->needs(lfts);
  text("--sl2vl", options.sl2vl, "FILE",
       "the VLs of SLs in these tables' switches, as sl2vl.txt or opensm-sl2vl.dump")
      ->needs(lfts);
  auto* folder = text("--dump-dir", options.dump_dir, "DIR", "writes dumps into this folder");
  text("--dump", options.dump, "LIST", "which dumps: file names with commas between")->needs(folder);
  command.add_flag("--quality", options.quality, "measures the balance of the routes");
  text("--rank-order", options.rank_order, "FILE",
       "writes the order of hosts in which shift patterns do not collide; - instead of the report");
  auto* health = command.add_flag("--health", options.health,
                                  "says what is wrong with the cabling; exit status 3 where something is");
  text("--accepted", options.accepted, "FILE",
       "deviations of the cabling that are known: 'KIND NODE' or 'KIND NODE PORT' a line")
      ->needs(health);
  command
      .add_option("--threads", options.threads, "threads that compute; else the configuration's, else all")
      ->type_name("N")
      ->check(CLI::Range(1U, 1024U));
  command.add_option("--repeat", options.repeat, "does it N times; times are the minimum and the median")
      ->type_name("N")
      ->check(CLI::Range(1U, 1'000'000U));
  command.footer(base::all_specs);
  command.add_flag("--json", options.json, "the report as one JSON object");
}

}  // namespace smd::cli
