// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/route_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "smd/base/stopwatch.h"
#include "smd/cli/foreign_lids.h"
#include "smd/cli/route_service_levels.h"
#include "smd/decide/decide.h"
#include "smd/decide/route_chain.h"
#include "smd/offline/offline.h"
#include "smd/report/description.h"

namespace smd::cli {
namespace {

/// What both ways to tables need.
struct Job {
  const base::Fabric& fabric;
  const sm::Subnet& subnet;
  const config::SubnetConfig& config;
  const routing::Parallel& parallel;
  unsigned vls = 1;
};

unsigned vls_of(const RouteOptions& options) { return options.vls.value_or(sm::kOfflineVls); }

/// By the daemon's decide(): with `previous` its tables are repaired, with `given` these are taken.
std::expected<sm::Decision, Failure> compute(const Job& job, const sm::Stored& stored,
                                             const sm::Decided* previous = nullptr,
                                             const sm::GivenTables* given = nullptr) {
  auto decision = sm::decide({.subnet = job.subnet,
                              .config = job.config,
                              .stored = stored,
                              .given = given,
                              .previous = previous,
                              .parallel = job.parallel,
                              .vl_budget = job.vls,
                              .file_order = sm::file_order(job.fabric)});
  if (!decision) return std::unexpected(Failure{1, routing::to_string(decision.error())});
  return std::move(*decision);
}

void note_rows(const sm::LftDump& dump, const sm::RoutePart& routes, const std::string& file,
               std::vector<std::string>& notes) {
  const auto found = static_cast<std::size_t>(
      std::ranges::count_if(routes.rows, [](const auto& row) { return row.row != nullptr; }));
  if (found < routes.rows.size()) {
    notes.push_back(fmt::format("{}: no table for {} of the fabric's {} switches", file,
                                routes.rows.size() - found, routes.rows.size()));
  }
  if (found < dump.rows.size()) {
    const auto others = dump.rows.size() - found;
    notes.push_back(others == 1
                        ? fmt::format("{}: 1 of its {} tables is of a switch that is not in the fabric", file,
                                      dump.rows.size())
                        : fmt::format("{}: {} of its {} tables are of switches that are not in the fabric",
                                      file, others, dump.rows.size()));
  }
}

void fill(RoutePass& pass, sm::Decision decision, bool computed) {
  const auto& times = decision.times;
  pass.ms.topology = times.lids_ms + times.links_ms + times.topology_ms;
  if (computed) pass.ms.route = times.route_ms;
  pass.ms.verify = times.verify_ms;
  pass.decided = std::move(decision.decided);
}

std::string place_text(const sm::Subnet& subnet, const sm::PeerPort& place) {
  const auto* node = subnet.find(place.node);
  return node != nullptr ? sm::port_text(*node, place.port)
                         : fmt::format("{} port {}", place.node, place.port);
}

/// A file may show several fabrics, and what is taken away may part one: no path joins their hosts.
void note_parts(RoutePass& pass) {
  const auto& topology = *pass.decided.routes->topology;
  struct Part {
    std::size_t switches = 0, hosts = 0;
    routing::SwitchIndex leaf = routing::kNoSwitch;
  };
  std::vector<Part> parts(topology.components());
  for (routing::SwitchIndex s = 0; s < topology.switches(); ++s) {
    auto& part = parts[topology.component(s)];
    ++part.switches;
    part.hosts += topology.hosts(s);
    if (part.leaf == routing::kNoSwitch && topology.leaf(s)) part.leaf = s;
  }
  std::erase_if(parts, [](const Part& part) { return part.hosts == 0; });
  if (parts.size() < 2) return;
  std::ranges::sort(parts, [](const Part& a, const Part& b) {
    return std::pair{b.hosts, a.leaf} < std::pair{a.hosts, b.leaf};
  });
  std::string text;
  for (const auto& part : parts | std::views::take(4)) {
    const auto guid = topology.guid(part.leaf);
    auto name = sm::description_of(pass.subnet, guid);
    if (name.empty()) name = fmt::format("{}", guid);
    text += fmt::format("{}{} host{} at {} switch{} ({}{})", text.empty() ? "" : ", ", part.hosts,
                        part.hosts == 1 ? "" : "s", part.switches, part.switches == 1 ? "" : "es", name,
                        part.switches == 1 ? "" : " is one");
  }
  pass.notes.push_back(
      fmt::format("the fabric is in {} parts that no cable joins, hosts of different parts have no routes to "
                  "each other: {}{}",
                  parts.size(), text, parts.size() > 4 ? ", ..." : ""));
}

/// What the tables do not serve, each with its reason.
void note_left_out(RoutePass& pass) {
  for (const auto& duplicate : pass.subnet.duplicates) {
    std::string places;
    for (const auto& place : duplicate.places) {
      places += (places.empty() ? "" : ", ") + place_text(pass.subnet, place);
    }
    pass.notes.push_back(fmt::format("GUID {} is shown at {} places, which are kept out of service: {}",
                                     duplicate.guid, duplicate.places.size(), places));
  }
  const auto& lids = *pass.decided.lids;
  if (!lids.without_lid.empty()) {
    std::string ports;
    for (const auto guid : lids.without_lid | std::views::take(4)) ports += fmt::format(" {}", guid);
    const auto count = lids.without_lid.size();
    pass.notes.push_back(fmt::format("{} end port{} no LID: {} to {} are too few for {}:{}{}", count,
                                     count == 1 ? " has" : "s have", pass.config.lids.first,
                                     pass.config.lids.last, count == 1 ? "it" : "them", ports,
                                     count > 4 ? " ..." : ""));
  }
  note_parts(pass);
  pass.left_out = !pass.subnet.duplicates.empty() || !lids.without_lid.empty();
}

/// The complete fabric's decision: its LIDs are kept, its tables compared with.
std::expected<sm::Decided, Failure> decide_complete(const base::Fabric& fabric, const RoutePass& pass,
                                                    const routing::Parallel& parallel, unsigned vls) {
  const auto subnet = sm::offline_subnet(fabric, vls);
  auto decision = compute({fabric, subnet, pass.config, parallel, vls}, {});
  if (!decision) return std::unexpected(decision.error());
  return std::move(decision->decided);
}

}  // namespace

sm::ChangedEntries changed_entries(const sm::RoutePart& before, const sm::RoutePart& now) {
  sm::ChangedEntries changed;
  const unsigned top = std::max(before.top, now.top).value();
  for (const auto& row : now.rows) {
    const auto* old = before.find(row.node);
    if (old == nullptr || *old == row.row) continue;
    std::size_t last_block = static_cast<std::size_t>(-1);
    for (unsigned value = 1; value <= top; ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (routing::entry(old->get(), lid) == routing::entry(row.row.get(), lid)) continue;
      const auto block = value / routing::kLftBlock;
      ++changed.lft_entries;
      if (block != last_block) ++changed.lft_blocks;
      last_block = block;
    }
  }
  return changed;
}

std::expected<RoutePass, Failure> run_pass(const RouteOptions& options, const config::SubnetConfig& config,
                                           const routing::Parallel& parallel) {
  RoutePass pass;
  sm::Stopwatch lap;
  auto input = load_input(options);
  if (!input) return std::unexpected(input.error());
  pass.config = config;
  pass.config.lids.lmc = std::max(config.lids.lmc.value_or(0), input->lmc);
  pass.notes = std::move(input->notes);
  pass.accepted = std::move(input->accepted);
  const auto& fabric = input->without ? *input->without : input->complete;
  pass.subnet = sm::offline_subnet(fabric, vls_of(options));
  pass.rates = sm::foreign_rates(fabric);
  pass.ms.load = lap();
  const Job job{fabric, pass.subnet, pass.config, parallel, vls_of(options)};
  if (input->lfts) {
    auto decision = compute(job, {}, nullptr, &input->lfts->rows);
    if (!decision) return std::unexpected(decision.error());
    fill(pass, *std::move(decision), false);
    note_rows(*input->lfts, *pass.decided.routes, options.lfts, pass.notes);
    if (auto note = foreign_lids(*input, *pass.decided.routes, options.lfts); !note.empty())
      pass.notes.push_back(std::move(note));
    note_left_out(pass);
    if (auto done = check_given_levels(options, parallel, pass); !done) return std::unexpected(done.error());
    return pass;
  }
  sm::Stored stored;
  std::optional<sm::Decided> complete;
  if (input->without) {
    auto decided = decide_complete(input->complete, pass, parallel, vls_of(options));
    if (!decided) return std::unexpected(decided.error());
    stored = *sm::remember(std::make_shared<const sm::Stored>(), pass.subnet, *decided);
    complete = std::move(*decided);
  }
  const bool repairs = complete && options.reroute == "repair";
  const auto held = repairs ? sm::with_tables(pass.subnet, *complete->routes) : pass.subnet;
  auto decision =
      compute({fabric, held, pass.config, parallel, vls_of(options)}, stored, repairs ? &*complete : nullptr);
  if (!decision) return std::unexpected(decision.error());
  fill(pass, *std::move(decision), true);
  const auto& not_repaired = pass.decided.routes->not_repaired;
  if (!not_repaired.empty()) pass.notes.push_back("no repair, recomputed: " + not_repaired);
  if (auto unused = sm::options_without_use(*pass.decided.routes); !unused.empty())
    pass.notes.push_back(std::move(unused));
  if (complete) pass.changed = changed_entries(*complete->routes, *pass.decided.routes);
  note_left_out(pass);
  return pass;
}

}  // namespace smd::cli
