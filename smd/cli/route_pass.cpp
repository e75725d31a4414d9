// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/route_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>
#include <utility>

#include "routing/repair/repair.h"
#include "routing/verify/changes.h"
#include "routing/verify/verify.h"
#include "smd/base/stopwatch.h"
#include "smd/decide/decide.h"
#include "smd/decide/lids.h"
#include "smd/decide/links.h"
#include "smd/decide/settings.h"
#include "smd/decide/topology.h"
#include "smd/offline/offline.h"

namespace smd::cli {
namespace {

/// What both ways to tables need.
struct Job {
  const base::Fabric& fabric;
  const sm::Subnet& subnet;
  const config::SubnetConfig& config;
  const routing::Parallel& parallel;
};

std::expected<sm::Decision, Failure> compute(const Job& job, const sm::Stored& stored) {
  auto decision = sm::decide({.subnet = job.subnet,
                              .config = job.config,
                              .stored = stored,
                              .parallel = job.parallel,
                              .file_order = sm::file_order(job.fabric)});
  if (!decision) return std::unexpected(Failure{1, routing::to_string(decision.error())});
  return std::move(*decision);
}

/// LIDs, links and topology as ever, no tables yet.
struct Prepared {
  sm::Decision decision;
  std::shared_ptr<sm::RoutePart> part;
};

Prepared prepare(const Job& job, const sm::Stored& stored) {
  Prepared made;
  auto& decision = made.decision;
  sm::Stopwatch lap;
  const auto lid_options = sm::lid_options(job.config.lids);
  auto lids = std::make_shared<sm::LidPart>(sm::decide_lids(job.subnet, lid_options, stored));
  decision.times.lids_ms = lap();
  made.part = std::make_shared<sm::RoutePart>();
  auto& part = *made.part;
  part.input = sm::topology_input(job.subnet, lids->top, job.config.routing, sm::file_order(job.fabric));
  part.topology = std::make_shared<const routing::Topology>(part.input);
  part.lid_map = std::make_shared<const routing::LidMap>(sm::lid_map(part.input, *part.topology, *lids));
  decision.times.topology_ms = lap();
  part.top = lids->top;
  decision.decided.links =
      std::make_shared<sm::LinkPart>(sm::decide_links(job.subnet, job.config.links, stored));
  decision.decided.lids = std::move(lids);
  decision.decided.settings = std::make_shared<const sm::SettingsPart>(sm::decide_settings(job.config));
  return made;
}

/// `before`: tables that are proven already, of which these are a repair; null where there are none.
sm::Decision finish(Prepared made, const Job& job, routing::Routes routes, std::string engine,
                    const sm::RoutePart* before = nullptr) {
  auto& part = *made.part;
  for (routing::SwitchIndex s = 0; s < part.topology->switches(); ++s) {
    part.rows.push_back({part.topology->guid(s), routes.rows[s]});
  }
  sm::Stopwatch lap;
  if (before == nullptr) {
    part.verification = routing::verify_routes({*part.topology, *part.lid_map, job.parallel}, routes);
  } else {
    std::vector<std::shared_ptr<const routing::LftRow>> rows;
    for (const auto& row : before->rows) rows.push_back(row.row);
    const routing::Proven proven{*before->topology, *before->lid_map, rows, before->layers,
                                 before->verification};
    part.verification = routing::verify_after(proven, {*part.topology, *part.lid_map, job.parallel}, routes);
  }
  made.decision.times.verify_ms = lap();
  part.layers = routes.layers;
  part.engine = std::move(engine);
  made.decision.decided.routes = std::move(made.part);
  return std::move(made.decision);
}

/// The dump's tables in place of computed ones, no engine.
sm::Decision take(const Job& job, const sm::LftDump& dump) {
  auto made = prepare(job, {});
  routing::Routes routes;
  for (routing::SwitchIndex s = 0; s < made.part->topology->switches(); ++s) {
    const auto row = dump.rows.find(made.part->topology->guid(s));
    routes.rows.push_back(row != dump.rows.end() ? row->second : nullptr);
  }
  return finish(std::move(made), job, std::move(routes), "lfts");
}

/// The complete fabric's tables repaired; nothing where that cannot be, with a note.
std::optional<sm::Decision> repair(const Job& job, const sm::Stored& stored, const sm::RoutePart& complete,
                                   std::vector<std::string>& notes) {
  auto made = prepare(job, stored);
  std::vector<routing::OldRow> old;
  for (const auto& row : complete.rows) old.push_back({row.node, row.row});
  const auto reference = routing::merge({}, *complete.topology);
  const auto* const engine = routing::find_engine(complete.engine);
  const routing::Before before{*complete.topology, *complete.lid_map};
  sm::Stopwatch lap;
  auto repaired =
      routing::repair_routes({.context = {*made.part->topology, *made.part->lid_map, job.parallel},
                              .old = old,
                              .reference = reference,
                              .engine = *engine,
                              .options = sm::routing_options(job.config.routing),
                              .before = &before});
  made.decision.times.route_ms = lap();
  if (!repaired) {
    notes.push_back("no repair, routed afresh: " + routing::to_string(repaired.error()));
    return std::nullopt;
  }
  auto decision = finish(std::move(made), job, std::move(repaired->routes), complete.engine, &complete);
  const auto& part = *decision.decided.routes;
  if (part.verification.clean()) return decision;
  notes.push_back("no repair, routed afresh: " + routing::describe(part.verification, *part.topology));
  return std::nullopt;
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
    notes.push_back(fmt::format("{}: {} of its {} tables are of switches that are not in the fabric", file,
                                dump.rows.size() - found, dump.rows.size()));
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
    pass.notes.push_back(fmt::format("{} end ports have no LID: {} to {} are too few for them:{}{}",
                                     lids.without_lid.size(), pass.config.lids.first, pass.config.lids.last,
                                     ports, lids.without_lid.size() > 4 ? " ..." : ""));
  }
  pass.left_out = !pass.subnet.duplicates.empty() || !lids.without_lid.empty();
}

/// The complete fabric's decision: its LIDs are kept, its tables compared with.
std::expected<sm::Decided, Failure> decide_complete(const base::Fabric& fabric, const RoutePass& pass,
                                                    const routing::Parallel& parallel) {
  const auto subnet = sm::offline_subnet(fabric);
  auto decision = compute({fabric, subnet, pass.config, parallel}, {});
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
  const auto& fabric = input->without ? *input->without : input->complete;
  pass.subnet = sm::offline_subnet(fabric);
  pass.rates = sm::foreign_rates(fabric);
  pass.ms.load = lap();
  const Job job{fabric, pass.subnet, pass.config, parallel};
  if (input->lfts) {
    fill(pass, take(job, *input->lfts), false);
    note_rows(*input->lfts, *pass.decided.routes, options.lfts, pass.notes);
    note_left_out(pass);
    return pass;
  }
  sm::Stored stored;
  std::optional<sm::Decided> complete;
  if (input->without) {
    auto decided = decide_complete(input->complete, pass, parallel);
    if (!decided) return std::unexpected(decided.error());
    stored = *sm::remember(std::make_shared<const sm::Stored>(), pass.subnet, *decided);
    complete = std::move(*decided);
  }
  std::optional<sm::Decision> repaired;
  if (complete && options.reroute == "repair") repaired = repair(job, stored, *complete->routes, pass.notes);
  if (!repaired) {
    auto decision = compute(job, stored);
    if (!decision) return std::unexpected(decision.error());
    repaired = std::move(*decision);
  }
  fill(pass, *std::move(repaired), true);
  if (complete) pass.changed = changed_entries(*complete->routes, *pass.decided.routes);
  note_left_out(pass);
  return pass;
}

}  // namespace smd::cli
