// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/route_service_levels.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "mad/base/sl_files.h"
#include "routing/verify/service_levels.h"
#include "smd/dump/mapped_file.h"

namespace smd::cli {
namespace {

using routing::ServiceLevels;

/// The contents of a file, by one of the readers of sl_files.h.
template <class Contents>
std::expected<Contents, Failure> load(const std::string& path,
                                      std::expected<Contents, base::FileErrors> (*read)(std::string_view,
                                                                                        const std::string&)) {
  const auto file = sm::MappedFile::open(path);
  if (!file) return std::unexpected(Failure{2, fmt::format("{}: {}", path, file.error())});
  auto contents = read(file->bytes(), path);
  if (!contents) return std::unexpected(Failure{2, base::to_string(contents.error())});
  return *std::move(contents);
}

void take_path_sls(const base::PathSlFile& file, const sm::RoutePart& part, ServiceLevels& levels) {
  const auto& ends = part.topology->end_ports();
  levels.path_sl.assign(ends.size(), {});
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (const auto* row = base::sls_from(file, ends[i].guid, ends[i].node)) levels.path_sl[i] = *row;
  }
}

/// Switches of which the file says nothing: their packets are on VL 0.
std::size_t switches_without_map(const base::SlToVlFile& file, const routing::Topology& topology) {
  std::size_t without = 0;
  for (routing::SwitchIndex s = 0; s < topology.switches(); ++s)
    without += file.contains(topology.guid(s)) ? 0 : 1;
  return without;
}

std::size_t take_maps(const base::SlToVlFile& file, const sm::RoutePart& part, ServiceLevels& levels) {
  const auto& topology = *part.topology;
  levels.sl_to_vl.resize(topology.switches());
  std::size_t foreign = 0;
  for (routing::SwitchIndex s = 0; s < topology.switches(); ++s) {
    const std::size_t ports = topology.ports(s) + 1U;
    levels.sl_to_vl[s].resize(ports * ports);
  }
  for (const auto& [guid, maps] : file) {
    const auto s = topology.find(guid);
    if (s == routing::kNoSwitch) ++foreign;
    for (const auto& [ports, map] : maps) {
      const auto [in, out] = ports;
      if (s == routing::kNoSwitch || std::max(in, out).value() > topology.ports(s)) continue;
      levels.sl_to_vl[s][in.value() * (topology.ports(s) + 1U) + out.value()] = map;
    }
  }
  return foreign;
}

}  // namespace

std::expected<void, Failure> check_given_levels(const RouteOptions& options,
                                                const routing::Parallel& parallel, RoutePass& pass) {
  if (options.path_sl.empty() && options.sl2vl.empty()) return {};
  auto part = std::make_shared<sm::RoutePart>(*pass.decided.routes);
  ServiceLevels levels;
  if (!options.path_sl.empty()) {
    const auto file = load<base::PathSlFile>(options.path_sl, base::read_path_sl);
    if (!file) return std::unexpected(file.error());
    take_path_sls(*file, *part, levels);
  }
  if (!options.sl2vl.empty()) {
    const auto file = load<base::SlToVlFile>(options.sl2vl, base::read_sl_to_vl);
    if (!file) return std::unexpected(file.error());
    if (const auto foreign = take_maps(*file, *part, levels); foreign != 0)
      pass.notes.push_back(
          fmt::format("{}: {} of its switches are not in the topology", options.sl2vl, foreign));
    if (const auto without = switches_without_map(*file, *part->topology); without != 0)
      pass.notes.push_back(
          fmt::format("{}: it has no rows of {} of {} switches; all SLs are taken to use VL 0 there",
                      options.sl2vl, without, part->topology->switches()));
  }
  if (options.sl2vl.empty()) pass.notes.emplace_back("without --sl2vl all SLs are taken to use one VL");
  routing::Routes routes{.rows = {}, .layers = {}};
  for (const auto& row : part->rows) routes.rows.push_back(row.row);
  const auto found =
      routing::check_service_levels({*part->topology, *part->lid_map, parallel}, routes, levels);
  if (found.not_said != 0 && !options.path_sl.empty())
    pass.notes.push_back(fmt::format("{}: it says no SL of {} of {} paths; they are taken to use SL 0",
                                     options.path_sl, found.not_said, found.paths));
  if (found.dropped != 0)
    pass.notes.push_back(
        fmt::format("{} of {} paths have an SL that a hop maps to VL 15, which drops packets", found.dropped,
                    found.paths));
  if (found.credit_loops == 0 && found.reverse_loops != 0)
    pass.notes.emplace_back(
        "each path is free of credit loops on its own SL, and not with its way back on it");
  auto& verification = part->verification;
  verification.host_pairs_unreachable += found.dropped;
  verification.vls = found.vls;
  verification.layers = found.sls;
  verification.credit_loops = found.reverse_loops;
  verification.management_credit_loops = 0;
  verification.fixed_sl_ok = found.fixed_loops == 0;
  verification.reverse_ok = found.reverse_loops == 0;
  verification.credit_loop_example = found.example;
  pass.decided.routes = std::move(part);
  return {};
}

}  // namespace smd::cli
