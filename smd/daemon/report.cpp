// SPDX-License-Identifier: Apache-2.0
// What a sweep leaves behind for people: dumps, the summary, the screen. Only the latest counts.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <sys/resource.h>

#include <ostream>
#include <sstream>
#include <utility>

#include "mad/base/file.h"
#include "smd/base/peak_memory.h"
#include "smd/daemon/bringup_screen.h"
#include "smd/daemon/daemon.h"
#include "smd/daemon/plan_text.h"
#include "smd/daemon/program_name.h"
#include "smd/offline/offline.h"
#include "smd/report/disruption.h"

namespace smd::daemon {
namespace {

double cpu_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

}  // namespace

/// Only the latest snapshot counts, so that a gap needs no care.
void Daemon::subscribe() {
  const auto hear = [this](const events::Event& event) {
    for (const auto& subnet : subnets_) {
      auto snapshot = subnet->instance->snapshot();
      if (snapshot && snapshot->summary.subnet == event.subnet) swept(subnet, std::move(snapshot));
    }
  };
  const events::Wants wants{.kinds = events::kinds_of<events::SweepEnded, events::SubnetSettled>};
  subscriber_.emplace(io_.get_executor(), *events_, wants, events::Subscriber::Calls{.event = hear});
}

/// Of a dry run.
void Daemon::show_plan(const sm::Snapshot& snapshot) {
  disrupts_ = disrupts_ || sm::disruption_of(*snapshot.subnet, snapshot.decided, *snapshot.plan).any();
  print_plan(parts_.out, *snapshot.subnet, snapshot.decided, *snapshot.plan);
  parts_.out << std::flush;
}

void Daemon::swept(const SubnetPtr& subnet, std::shared_ptr<const sm::Snapshot> snapshot) {
  subnet->state = snapshot->summary.state;
  subnet->why = snapshot->summary.why;
  if (parts_.options.json) subnet->summary = sm::to_json(snapshot->summary);
  if (snapshot->plan) show_plan(*snapshot);
  subnet->latest = std::move(snapshot);
  if (!std::exchange(subnet->reporting, true)) reports_.spawn(report(subnet));
}

asio::awaitable<void> Daemon::report(SubnetPtr subnet) {
  const auto& options = parts_.options;
  while (subnet->latest) {
    const auto snapshot = std::exchange(subnet->latest, nullptr);
    const bool decided = snapshot->decided.routes != nullptr;
    const bool dumps = decided && !options.dump_dir.empty();
    const bool show = decided && !options.json && !subnet->fabric.empty() && !subnet->shown &&
                      snapshot->state == wire::SmState::master;
    if (!dumps && !show) continue;
    subnet->shown = subnet->shown || show;
    std::string failure;
    std::string text;
    co_await writing_.execute([&] {
      if (show) text = screen(*subnet, *snapshot);
      if (!dumps) return;
      const auto shown =
          options.dry_run ? sm::settled(*snapshot->subnet, snapshot->decided) : *snapshot->subnet;
      const sm::DumpView view(shown, snapshot->decided, {},
                              options.dry_run ? sm::Marks::none : sm::Marks::not_written);
      const bool layered = snapshot->decided.routes->layers.count > 1;
      const auto dumps_of = parts_.dumps.empty() ? sm::default_dumps(layered) : parts_.dumps;
      const auto written = sm::write_dumps(folder_of(*snapshot), dumps_of, view, compute_.parallel());
      if (!written) failure = written.error();
    });
    parts_.out << text << std::flush;
    if (failure.empty()) continue;
    failed_ = true;
    parts_.err << fmt::format("smd run: {}\n", failure);
  }
  subnet->reporting = false;
}

std::filesystem::path Daemon::folder_of(const sm::Snapshot& snapshot) const {
  const std::filesystem::path folder = parts_.options.dump_dir;
  return subnets_.size() > 1 ? folder / base::file_name_of(snapshot.summary.subnet) : folder;
}

std::string Daemon::screen(const Subnet& subnet, const sm::Snapshot& snapshot) const {
  const double cpu = cpu_ms();
  const double nodes = std::chrono::duration<double, std::milli>(subnet.instance->nodes_cpu()).count();
  const auto peak = sm::peak_rss_kb();
  const auto& part = *snapshot.decided.routes;
  routing::Routes routes{.rows = {}, .layers = part.layers};
  for (const auto& row : part.rows) routes.rows.push_back(row.row);
  const auto quality = routing::measure({*part.topology, *part.lid_map, compute_.parallel()}, routes,
                                        routing::hosts_in_file_order(*part.topology));
  std::ostringstream out;
  print_screen(out, {.snapshot = snapshot,
                     .quality = quality,
                     .fabric = subnet.fabric,
                     .nodes_cpu_ms = nodes,
                     .own_cpu_ms = cpu - nodes,
                     .peak_kb = peak});
  const auto smd = program_name();
  const auto say = [&](std::string_view lead, const std::string& command, std::string_view what) {
    fmt::print(out, "  {:<8}  {} {:<42}  {}\n", lead, smd, command, what);
  };
  say("try next", "run --once --json --sim torus:4x4x4:1", "another fabric, figures for a script");
  say("", "run --dry-run --sim ft3:8", "what would be written, and nothing sent");
  say("", "route --topology FILE --quality", "your own fabric, from ibnetdiscover");
  if (!parts_.options.once) {
    const auto socket =
        parts_.options.socket.empty() ? "" : fmt::format(" --socket {}", parts_.options.socket);
    say("", "status" + socket, "how it is now");
    say("", "dump DIR" + socket, "the map (topology.net) and the tables");
  }
  if (const auto hint = subnet.instance->attach_hint(); !hint.empty()) {
    say("", fmt::format("attach {} -- ibnetdiscover", hint), "any tool on one of its nodes");
    say("", fmt::format("sim ctl {} help", hint.substr(0, hint.find(" --node"))), "what can be broken in it");
  }
  out << '\n';
  if (!parts_.options.once) out << "  running; Ctrl-C ends it\n";
  return out.str();
}

}  // namespace smd::daemon
