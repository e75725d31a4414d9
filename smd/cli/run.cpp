// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/run.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <ostream>
#include <sstream>
#include <utility>

#include "mad/asio.h"
#include "smd/cli/configuration.h"
#include "smd/cli/plan_text.h"
#include "smd/cli/run_specs.h"
#include "smd/cli/screen.h"
#include "smd/dump/dumps.h"
#include "smd/offline/offline.h"

namespace smd::cli {
namespace {

double cpu_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

std::uint64_t peak_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss);
}

/// The process: waits for signals and for its subnets, and writes what they report. On the main thread.
class Daemon {
 public:
  Daemon(const RunOptions& options, sm::DumpList dumps, log::Log log, std::ostream& out, std::ostream& err,
         unsigned threads)
      : options_(options),
        dumps_(std::move(dumps)),
        log_(std::move(log)),
        out_(out),
        err_(err),
        compute_(threads) {}

  int run(std::vector<InstanceSpec> specs);

 private:
  struct Subnet {
    std::string fabric;  ///< of a simulated one
    std::string folder;  ///< of its dumps
    config::SubnetConfig config;
    std::unique_ptr<Instance> instance;
    std::optional<sm::SweepState> state;  ///< of the last sweep
    bool shown = false;
  };
  void start(std::size_t index, InstanceSpec spec);
  void swept(std::size_t index, const sm::Snapshot& snapshot);
  void ended();
  void show(Subnet& subnet, const sm::Snapshot& snapshot);
  void dump(const Subnet& subnet, const sm::Snapshot& snapshot);
  int status() const;

  const RunOptions& options_;
  sm::DumpList dumps_;
  log::Log log_;
  std::ostream& out_;
  std::ostream& err_;
  sm::PoolCompute compute_;
  asio::io_context io_{1};
  asio::signal_set signals_{io_};
  std::vector<Subnet> subnets_;
  std::size_t running_ = 0;
  bool interrupted_ = false, failed_ = false;
};

int Daemon::run(std::vector<InstanceSpec> specs) {
  signals_.add(SIGINT);
  signals_.add(SIGTERM);
  signals_.async_wait([this](const error_code& error, int) {
    if (error) return;
    interrupted_ = true;
    io_.stop();
  });
  subnets_.resize(specs.size());
  running_ = specs.size();
  for (std::size_t i = 0; i < specs.size(); ++i) start(i, std::move(specs[i]));
  sd_notify(0, "READY=1");
  const auto keep = asio::make_work_guard(io_);
  io_.run();
  sd_notify(0, "STOPPING=1");
  for (auto& subnet : subnets_) subnet.instance.reset();
  log_.finish();
  return status();
}

void Daemon::start(std::size_t index, InstanceSpec spec) {
  auto& subnet = subnets_[index];
  if (spec.fabric) subnet.fabric = spec.name;
  if (subnets_.size() > 1)
    subnet.folder = spec.name.empty() ? fmt::format("subnet-{}", index + 1) : spec.name;
  subnet.config = spec.config;
  spec.options.once = options_.once;
  spec.options.dry_run = options_.dry_run;
  spec.options.on_sweep = [this, index](const sm::Snapshot& snapshot) {
    asio::post(io_, [this, index, snapshot] { swept(index, snapshot); });
  };
  spec.options.on_plan = [this](const sm::Subnet& is, const sm::Decided& should_be, const sm::Plan& plan) {
    std::ostringstream text;
    print_plan(text, is, should_be, plan);
    asio::post(io_, [this, words = text.str()] { out_ << words << std::flush; });
  };
  subnet.instance = std::make_unique<Instance>(std::move(spec), compute_, log_,
                                               [this] { asio::post(io_, [this] { ended(); }); });
}

void Daemon::swept(std::size_t index, const sm::Snapshot& snapshot) {
  auto& subnet = subnets_[index];
  subnet.state = snapshot.summary.state;
  const auto& s = snapshot.summary;
  sd_notifyf(0, "STATUS=%s: %s, %s, %llu switches, %llu CAs", s.subnet.c_str(),
             std::string(to_string(snapshot.state)).c_str(), std::string(to_string(s.state)).c_str(),
             static_cast<unsigned long long>(s.switches), static_cast<unsigned long long>(s.cas));
  if (!options_.dump_dir.empty() && snapshot.decided.routes) dump(subnet, snapshot);
  if (options_.json) out_ << sm::to_json(s) << '\n' << std::flush;
  const bool master = snapshot.state == wire::SmState::master && snapshot.decided.routes;
  if (!options_.json && !subnet.fabric.empty() && master && !std::exchange(subnet.shown, true))
    show(subnet, snapshot);
}

void Daemon::show(Subnet& subnet, const sm::Snapshot& snapshot) {
  const double cpu = cpu_ms();
  const double nodes = std::chrono::duration<double, std::milli>(subnet.instance->nodes_cpu()).count();
  const auto peak = peak_kb();
  const auto& part = *snapshot.decided.routes;
  routing::Routes routes{.rows = {}, .layers = part.layers};
  for (const auto& row : part.rows) routes.rows.push_back(row.row);
  const auto quality = routing::measure(*part.topology, *part.lid_map, routes,
                                        routing::hosts_in_file_order(*part.topology), compute_.parallel());
  print_screen(out_, {.snapshot = snapshot,
                      .quality = quality,
                      .fabric = subnet.fabric,
                      .nodes_cpu_ms = nodes,
                      .own_cpu_ms = cpu - nodes,
                      .peak_kb = peak});
  out_ << "  try next  ./dev run --once --json --sim torus:4x4x4:1     another fabric, figures for a script\n"
          "            ./dev run --dry-run --sim ft3:8                 what would be written, and nothing "
          "sent\n"
          "            build/release/bin/smd route --topology FILE --quality   your own fabric, from "
          "ibnetdiscover\n\n";
  if (!options_.once) out_ << "  running; Ctrl-C ends it\n";
  out_ << std::flush;
}

void Daemon::dump(const Subnet& subnet, const sm::Snapshot& snapshot) {
  const auto folder = std::filesystem::path(options_.dump_dir) / subnet.folder;
  const auto shown =
      options_.dry_run ? sm::settled(*snapshot.subnet, snapshot.decided, subnet.config) : *snapshot.subnet;
  const sm::DumpView view(shown, snapshot.decided);
  const auto written = sm::write_dumps(folder, dumps_, view, compute_.parallel());
  if (written) return;
  failed_ = true;
  err_ << "smd run: " << written.error() << '\n';
}

void Daemon::ended() {
  if (--running_ == 0) io_.stop();
}

int Daemon::status() const {
  if (failed_) return 1;
  if (!options_.once && !options_.dry_run) return 0;
  if (interrupted_) return 3;
  for (const auto& subnet : subnets_) {
    const bool good = options_.dry_run ? subnet.state && *subnet.state != sm::SweepState::failed
                                       : subnet.state == sm::SweepState::up;
    if (!good) return 3;
  }
  return 0;
}

int fail(std::ostream& err, const Failure& failure) {
  err << failure.text << '\n';
  return failure.status;
}

}  // namespace

int run(const RunOptions& options, std::ostream& out, std::ostream& err) {
  auto dumps = options.dump.empty() ? sm::default_dumps() : sm::parse_dump_list(options.dump);
  if (!dumps) return fail(err, {2, dumps.error()});
  auto config = load_configuration(configuration_file(options.config), options.set);
  if (!config) return fail(err, config.error());
  auto specs = instance_specs(options, *config);
  if (!specs) return fail(err, specs.error());
  auto log = log::Log::open(config->log);
  if (!log) return fail(err, {1, log.error()});
  unsigned threads = 0;
  for (const auto& spec : *specs) threads = std::max(threads, spec.config.routing.threads);
  Daemon daemon(options, std::move(*dumps), std::move(*log), out, err, threads);
  return daemon.run(std::move(*specs));
}

}  // namespace smd::cli
