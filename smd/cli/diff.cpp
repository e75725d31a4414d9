// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/diff.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <ostream>
#include <system_error>

#include "smd/report/json.h"

namespace smd::cli {
namespace {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

/// LIDs by the port that they leave by.
std::size_t most_of(const routing::LftRow& row) {
  std::array<std::size_t, 256> loads{};
  for (const auto port : row) ++loads.at(port);
  loads.back() = 0;  // no route
  return *std::ranges::max_element(loads);
}

SwitchDifference switch_difference(Guid guid, const routing::LftRow& before, const routing::LftRow& after,
                                   std::size_t& entries) {
  SwitchDifference found{.guid = guid};
  for (std::size_t lid = 0; lid < std::max(before.size(), after.size()); ++lid) {
    const auto was = routing::entry(&before, Lid{static_cast<std::uint16_t>(lid)});
    const auto is = routing::entry(&after, Lid{static_cast<std::uint16_t>(lid)});
    if (was != routing::kNoRoute || is != routing::kNoRoute) ++entries;
    if (was == is) continue;
    if (was == routing::kNoRoute) {
      ++found.added;
    } else if (is == routing::kNoRoute) {
      ++found.removed;
    } else {
      ++found.changed;
    }
  }
  found.most_before = most_of(before);
  found.most_after = most_of(after);
  return found;
}

Json difference_json(const LftDifference& found) {
  const auto guids = [](const std::vector<Guid>& list) {
    JsonArray array;
    for (const auto guid : list) array.emplace_back(fmt::format("{}", guid));
    return Json(std::move(array));
  };
  JsonArray switches;
  for (const auto& one : found.switches)
    switches.push_back(Json(JsonObject{{"guid", fmt::format("{}", one.guid)},
                                       {"changed", one.changed},
                                       {"added", one.added},
                                       {"removed", one.removed},
                                       {"most_lids_of_a_port_before", one.most_before},
                                       {"most_lids_of_a_port_after", one.most_after}}));
  return Json(JsonObject{{"switches_compared", found.compared},
                         {"entries", found.entries},
                         {"entries_differing", found.differing()},
                         {"only_before", guids(found.only_before)},
                         {"only_after", guids(found.only_after)},
                         {"switches", Json(std::move(switches))}});
}

void print_difference(const LftDifference& found, std::ostream& out) {
  for (const auto guid : found.only_before) out << fmt::format("{} is only in the first\n", guid);
  for (const auto guid : found.only_after) out << fmt::format("{} is only in the second\n", guid);
  if (!found.switches.empty())
    out << fmt::format("{:18} {:>8} {:>8} {:>8}  most LIDs of a port\n", "switch", "changed", "added",
                       "removed");
  for (const auto& one : found.switches) {
    out << fmt::format("{} {:>8} {:>8} {:>8}  {} -> {}\n", one.guid, one.changed, one.added, one.removed,
                       one.most_before, one.most_after);
  }
  out << fmt::format("{} of {} entries differ, on {} of {} switches\n", found.differing(), found.entries,
                     found.switches.size(), found.compared);
}

}  // namespace

std::size_t LftDifference::differing() const {
  std::size_t all = 0;
  for (const auto& one : switches) all += one.all();
  return all;
}

LftDifference difference(const sm::LftDump& before, const sm::LftDump& after) {
  LftDifference found;
  for (const auto& [guid, row] : before.rows) {
    const auto other = after.rows.find(guid);
    if (other == after.rows.end()) {
      found.only_before.push_back(guid);
      continue;
    }
    ++found.compared;
    const auto one = switch_difference(guid, *row, *other->second, found.entries);
    if (one.all() != 0) found.switches.push_back(one);
  }
  for (const auto& [guid, row] : after.rows) {
    if (!before.rows.contains(guid)) found.only_after.push_back(guid);
  }
  return found;
}

const CLI::App* add_diff_command(CLI::App& app, DiffOptions& options) {
  auto* command = app.add_subcommand("diff", "compares the forwarding tables of two dumps");
  command
      ->add_option("before", options.before,
                   "opensm-lfts.dump, opensm.fdbs, what dump_fts prints, or a folder of smd dump")
      ->type_name("DUMP")
      ->required();
  command->add_option("after", options.after, "the same, later")->type_name("DUMP")->required();
  command->add_flag("--json", options.json, "as JSON");
  return command;
}

namespace {

/// A folder is one of `smd dump`.
std::string tables_in(const std::string& dump) {
  std::error_code error;
  return std::filesystem::is_directory(dump, error) ? dump + "/opensm-lfts.dump" : dump;
}

}  // namespace

int diff(const DiffOptions& options, std::ostream& out, std::ostream& err) {
  const auto before = sm::load_lfts(tables_in(options.before));
  const auto after = before ? sm::load_lfts(tables_in(options.after)) : before;
  if (!after) {
    err << "smd diff: " << to_string(after.error()) << '\n';
    return 2;
  }
  const auto found = difference(*before, *after);
  if (options.json) {
    out << sm::to_text(difference_json(found)) << '\n';
  } else {
    print_difference(found, out);
  }
  return found.none() ? 0 : 1;
}

}  // namespace smd::cli
