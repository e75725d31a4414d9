// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/route.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <ostream>
#include <system_error>
#include <thread>
#include <utility>

#include "routing/chain/chain.h"
#include "routing/engines/engine.h"
#include "routing/quality/quality.h"
#include "smd/base/peak_memory.h"
#include "smd/base/stopwatch.h"
#include "smd/cli/memory_bandwidth.h"
#include "smd/cli/route_health.h"
#include "smd/cli/route_pass.h"
#include "smd/cli/route_quality.h"
#include "smd/daemon/configuration.h"
#include "smd/dump/dumps.h"
#include "smd/offline/offline.h"
#include "smd/report/description.h"

namespace smd::cli {
namespace {

std::expected<config::SubnetConfig, Failure> load_config(const RouteOptions& options, std::ostream& err) {
  auto loaded = daemon::load_configuration(options.config, {});
  if (!loaded) return std::unexpected(loaded.error());
  for (const auto& warning : loaded->warnings) err << config::to_string(warning) << '\n';
  for (const auto& name : options.engines) {
    if (name == routing::kAuto || routing::find_engine(name) != nullptr) continue;
    std::string names(routing::kAuto);
    for (const auto& engine : routing::all_engines()) {
      names += ", " + std::string(engine.name);
    }
    return std::unexpected(Failure{2, fmt::format("--engine \"{}\": not an engine ({})", name, names)});
  }
  if (options.engines.size() > 1 &&
      std::ranges::find(options.engines, routing::kAuto) != options.engines.end())
    return std::unexpected(Failure{2, "--engine: \"auto\" alone: it stands for all engines"});
  auto& subnet = loaded->base;
  if (!options.engines.empty()) subnet.routing.engines = options.engines;
  const bool automatic = subnet.routing.engines.front() == routing::kAuto;
  if (automatic && options.vls.value_or(1) > 1) subnet.routing.path_sl = config::PathSl::asked;
  if (options.threads != 0) subnet.routing.threads = options.threads;
  if (subnet.routing.threads == 0) subnet.routing.threads = std::max(1U, std::thread::hardware_concurrency());
  return std::move(subnet);
}

/// Tables are as large as the fabric and made again with each repetition: what was given back to the kernel
/// in between would come back page by page, cleared, for half of the time that all the rest takes.
void keep_memory() {
#ifdef __GLIBC__
  constexpr int kArenas = 1, kTrim = 1 << 30, kMmap = 32 << 20;
  mallopt(M_ARENA_MAX, kArenas);
  mallopt(M_TRIM_THRESHOLD, kTrim);
  mallopt(M_MMAP_THRESHOLD, kMmap);
#endif
}

/// Cables with both ends in the fabric.
std::uint64_t links(const sm::Subnet& subnet) {
  std::uint64_t ends = 0;
  for (const auto& node : subnet.nodes) {
    ends += static_cast<std::uint64_t>(
        std::ranges::count_if(node->ports, [](const sm::Port& port) { return port.peer.has_value(); }));
  }
  return ends / 2;
}

sm::RouteReport report_of(const RouteOptions& options, const RoutePass& pass) {
  const auto& part = *pass.decided.routes;
  sm::RouteReport report;
  report.fabric = options.topology;
  report.switches = static_cast<std::uint64_t>(
      std::ranges::count_if(pass.subnet.nodes, [](const sm::NodePtr& node) { return node->is_switch(); }));
  report.hosts = routing::hosts_in_file_order(*part.topology).size();
  report.lids = part.lid_map->size();
  report.links = links(pass.subnet);
  report.threads = pass.config.routing.threads;
  report.engine = part.engine;
  report.shape = part.shape;
  report.why = part.why;
  for (const auto& refusal : part.fell_back_from) {
    report.fell_back_from.push_back(fmt::format("{}: {}", refusal.engine, refusal.reason));
  }
  report.verify = part.verification;
  if (!part.verification.ok()) report.faults = routing::describe(part.verification, *part.topology);
  report.no_path = routing::describe_left_out(
      part.verification, *part.topology, [&](Guid guid) { return sm::description_of(pass.subnet, guid); });
  report.changed = pass.changed;
  return report;
}

/// The whole command up to the printing; `pass` and the times of all passes.
struct Work {
  RoutePass pass;
  std::vector<sm::RouteTimes> times;
  std::optional<routing::Quality> quality;
};

std::expected<Work, Failure> repeat(const RouteOptions& options, const config::SubnetConfig& config,
                                    const routing::Parallel& parallel) {
  Work work;
  for (unsigned i = 0; i < options.repeat; ++i) {
    work.pass = {};  // before the next is made: one fabric in memory at a time
    auto pass = run_pass(options, config, parallel);
    if (!pass) return std::unexpected(pass.error());
    work.pass = std::move(*pass);
    if (options.quality) {
      sm::Stopwatch lap;
      const auto& routes = *work.pass.decided.routes;
      work.quality = measure(routes, parallel, rank_order(routes, work.pass.config, parallel));
      work.pass.ms.quality = lap();
    }
    work.times.push_back(work.pass.ms);
  }
  return work;
}

std::expected<void, Failure> dump(const RouteOptions& options, sm::DumpList list, Work& work,
                                  const routing::Parallel& parallel) {
  sm::Stopwatch lap;
  const auto& pass = work.pass;
  if (options.dump.empty()) list = sm::default_dumps(pass.decided.routes->layers.count > 1);
  const auto subnet = sm::settled(pass.subnet, pass.decided);
  const sm::DumpView view(subnet, pass.decided, pass.rates);
  auto written = sm::write_dumps(options.dump_dir, list, view, parallel);
  if (!written) return std::unexpected(Failure{1, written.error()});
  work.times.back().dump = lap();
  return {};
}

/// `--rank-order`. "-" is for `out`.
std::expected<void, Failure> write_rank_order(const RouteOptions& options, const RoutePass& pass,
                                              const routing::Parallel& parallel, std::ostream& out) {
  const auto& part = *pass.decided.routes;
  const auto text =
      rank_order_text(pass.subnet, part, rank_order(part, pass.config, parallel), part.engine == "ftree");
  if (options.rank_order == "-") {
    out << text << std::flush;
    return {};
  }
  std::ofstream file(options.rank_order, std::ios::binary);
  file << text << std::flush;
  if (file) return {};
  return std::unexpected(
      Failure{1, fmt::format("{}: {}", options.rank_order, std::generic_category().message(errno))});
}

std::expected<sm::RouteReport, Failure> work_through(const RouteOptions& options, std::ostream& out,
                                                     std::ostream& err) {
  auto list = options.dump.empty() ? sm::default_dumps() : sm::parse_dump_list(options.dump, "--dump");
  if (!list) return std::unexpected(Failure{2, list.error()});
  auto config = load_config(options, err);
  if (!config) return std::unexpected(config.error());
  const routing::Threads parallel(config->routing.threads);
  auto work = repeat(options, *config, parallel);
  if (!work) return std::unexpected(work.error());
  for (const auto& note : work->pass.notes) err << note << '\n';
  if (!options.dump_dir.empty()) {
    if (auto done = dump(options, *std::move(list), *work, parallel); !done)
      return std::unexpected(done.error());
  }
  if (!options.rank_order.empty()) {
    if (auto done = write_rank_order(options, work->pass, parallel, out); !done)
      return std::unexpected(done.error());
  }
  auto report = report_of(options, work->pass);
  report.notes = work->pass.notes;
  if (work->quality) add_quality(work->pass.subnet, *work->pass.decided.routes, *work->quality, report);
  if (options.health) {
    report.health = examine(work->pass.subnet, *work->pass.decided.routes);
    std::vector<std::string> notes;
    report.accepted = take_accepted(work->pass.accepted, options.accepted, *report.health, notes);
    for (const auto& note : notes) err << note << '\n';
    std::ranges::move(notes, std::back_inserter(report.notes));
    if (!report.health->left_out.empty()) report.notes.push_back(report.health->left_out);
  }
  report.left_out = work->pass.left_out;
  report.ms = sm::minimum(work->times);
  if (options.repeat > 1) report.ms_median = sm::median(work->times);
  report.peak_rss_kb = sm::peak_rss_kb();  // before the yardstick, which is as large as the tables
  const auto& part = *work->pass.decided.routes;
  report.memset_ms = memset_ms(part.rows.size() * part.lid_map->row_size(), parallel);
  return report;
}

}  // namespace

int route(const RouteOptions& options, std::ostream& out, std::ostream& err) {
  keep_memory();
  const auto report = work_through(options, out, err);
  if (!report) {
    err << report.error().text << '\n';
    return report.error().status;
  }
  if (options.rank_order != "-")
    out << (options.json ? sm::to_json(*report) + "\n" : sm::to_text(*report)) << std::flush;
  const bool healthy = !report->health || std::ranges::none_of(report->health->findings, routing::is_fault);
  return report->verify.ok() && healthy && !report->left_out ? 0 : 3;
}

}  // namespace smd::cli
