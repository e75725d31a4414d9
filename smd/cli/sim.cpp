// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/sim.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "mad/asio.h"
#include "mad/base/fabric_file.h"
#include "mad/base/fabric_spec.h"
#include "mad/base/file.h"
#include "mad/sim/console/control.h"
#include "mad/sim/drivers/live.h"
#include "mad/sim/packets/pcap.h"
#include "mad/sim/state/words.h"
#include "smd/cli/fail.h"
#include "smd/cli/sim_ctl.h"
#include "smd/cli/words.h"
#include "smd/daemon/sim_socket.h"

namespace smd::cli {
namespace {

constexpr int kFailed = 1, kBadUsage = 2;

std::string count_of(const base::Fabric& fabric) {
  std::size_t switches = 0;
  for (const auto& node : fabric.nodes) switches += node.type == NodeType::switch_ ? 1 : 0;
  return fmt::format("{}, {}", counted(switches, "switch", "switches"),
                     counted(fabric.nodes.size() - switches, "other node"));
}

/// Each program that is attached has some descriptors open here.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

using Script = std::vector<sim::TimedCommand>;

/// The fabric's own is not made yet: a wrong script must start nothing.
std::expected<Script, std::string> load_script(const std::string& file, const base::Fabric& description,
                                               const sim::Options& options) {
  if (file.empty()) return Script{};
  const auto text = base::read_file(file);
  if (!text) return std::unexpected(base::to_string(text.error()));
  sim::Fabric rehearsal(description, options);
  auto script = sim::read_script(*text, file, rehearsal);
  if (script) return *std::move(script);
  std::string lines;
  for (const auto& line : script.error()) lines += (lines.empty() ? "" : "\n") + line;
  return std::unexpected(lines);
}

/// Each command at its time, counted from now; what it says goes out, what is wrong with it to `err`.
void play(sim::Live& live, Script script, const std::string& file, std::ostream& out, std::ostream& err) {
  live.with([&](sim::Fabric& fabric) {
    const auto start = std::chrono::steady_clock::now();
    for (auto& each : script) {
      const auto time = start + each.at;
      fabric.at(time, [&fabric, &file, &out, &err, each = std::move(each)] {
        const auto done = sim::control(fabric, each.command);
        // Checked before, but the fabric may have changed since.
        if (!done) err << fmt::format("smd: {}:{}: {}", file, each.line, done.error()) << std::endl;
        if (done && !done->empty()) out << *done << std::endl;
      });
    }
  });
}

/// "5-30", or "10" for each link; seconds.
std::optional<sim::Training> training_of(std::string_view text) {
  constexpr double kMost = 3600;
  const auto dash = text.find('-');
  const auto shortest = sim::number(text.substr(0, dash), kMost);
  const auto longest = dash == std::string_view::npos ? shortest : sim::number(text.substr(dash + 1), kMost);
  if (!shortest || !longest || *longest < *shortest) return std::nullopt;
  const auto seconds = [](double value) { return sim::Duration{static_cast<std::int64_t>(value * 1e9)}; };
  return sim::Training{.shortest = seconds(*shortest), .longest = seconds(*longest)};
}

std::string wrong_training(const std::string& text) {
  if (training_of(text)) return {};
  return fmt::format("found {}, allowed MIN-MAX in seconds, 0 to 3600, such as 5-30", sim::quoted(text));
}

/// A choice that firmware makes, by the name that --firmware has for it.
struct Choice {
  std::string_view name;
  void (*make)(sim::Firmware& firmware);
};
constexpr std::array kChoices{
    Choice{"down-retrains", [](sim::Firmware& made) { made.down_retrains = true; }},
    Choice{"vls-at-once", [](sim::Firmware& made) { made.vls_at_once = true; }},
    Choice{"level-traps", [](sim::Firmware& made) { made.edge_traps = false; }},
    Choice{"restless-down-ports", [](sim::Firmware& made) { made.restless_down_ports = true; }},
    Choice{"active-once", [](sim::Firmware& made) { made.refuses_active_again = true; }},
    Choice{"data-activates", [](sim::Firmware& made) { made.data_activates = true; }},
    Choice{"shows-speed-off", [](sim::Firmware& made) { made.shows_speed_off = true; }},
    Choice{"sleep", [](sim::Firmware& made) { made.down_default = PhysState::sleep; }},
    Choice{"mft-top", [](sim::Firmware& made) { made.multicast_top = sim::MulticastTop::zero_is_all; }},
    Choice{"mft-top-0-is-none",
           [](sim::Firmware& made) { made.multicast_top = sim::MulticastTop::zero_is_none; }}};

std::vector<std::string> choices() {
  std::vector<std::string> names;
  for (const auto& choice : kChoices) names.emplace_back(choice.name);
  return names;
}

sim::Options options_of(const SimOptions& options) {
  sim::Options made;
  made.seed = options.seed;
  const auto microseconds = [](double value) {
    return sim::Duration{static_cast<std::int64_t>(value * 1e3)};
  };
  made.latency = {.hop = microseconds(options.hop_us), .service = microseconds(options.service_us)};
  if (options.first_lid == "0xffff") made.lid_after_reset = sim::LidAfterReset::permissive;
  if (options.first_lid == "kept") made.lid_after_reset = sim::LidAfterReset::kept;
  if (!options.no_flow_control) made.kernel = sim::kLinuxPlaces;
  if (const auto training = training_of(options.training)) made.training = *training;
  for (const auto& choice : kChoices) {
    if (std::ranges::find(options.firmware, choice.name) != options.firmware.end())
      choice.make(made.firmware);
  }
  return made;
}

int serve(const SimOptions& options, std::ostream& out, std::ostream& err) {
  auto fabric = base::load_fabric(options.fabric);
  if (!fabric) {
    for (const auto& error : fabric.error()) err << base::to_string(error) << '\n';
    return kBadUsage;
  }
  auto script = load_script(options.script, *fabric, options_of(options));
  if (!script) {
    err << script.error() << '\n';
    return kBadUsage;
  }
  const auto socket =
      options.socket.empty() ? daemon::sim_socket_to_serve() : std::filesystem::path(options.socket);
  if (socket.empty())
    return fail_with(err, kFailed,
                     "no place for a socket: neither /run/smd nor XDG_RUNTIME_DIR; give --socket");
  auto server = sim::Server::at(socket);
  if (!server) return fail_with(err, kFailed, server.error());
  std::unique_ptr<sim::Pcap> pcap;
  if (!options.pcap.empty()) {
    auto made = sim::Pcap::create(options.pcap);
    if (!made) return fail_with(err, kFailed, made.error());
    pcap = std::move(*made);
  }
  raise_descriptor_limit();
  asio::io_context io;
  asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&io](auto, int) { io.stop(); });
  sim::Live live(io.get_executor(), *fabric, options_of(options));
  if (pcap) live.with([&](sim::Fabric& nodes) { nodes.watch_packets(pcap->watcher()); });
  live.serve(std::move(*server));
  out << fmt::format("{}: {}\nserved at {}", options.fabric, count_of(*fabric), socket.string()) << std::endl;
  play(live, std::move(*script), options.script, out, err);
  io.run();
  return 0;
}

/// CLI11 takes -1 for the largest number of 64 bits.
std::string wrong_seed(const std::string& text) {
  if (sim::whole(text, ~std::uint64_t{0})) return {};
  return fmt::format("found {}, allowed {}", sim::quoted(text), sim::kAny64);
}

}  // namespace

CLI::App* add_sim_command(CLI::App& app, SimOptions& options) {
  auto* command = app.add_subcommand("sim", "a simulated fabric for unmodified tools");
  command->add_option("FABRIC", options.fabric, "a file or a spec, as with run --sim");
  command->add_option("--socket", options.socket, "where it is served (default: /run/smd/sim.sock)")
      ->type_name("PATH");
  command->add_option("--script", options.script, "lines SECONDS COMMAND, carried out at their times")
      ->type_name("FILE");
  command->add_option("--pcap", options.pcap, "every MAD goes into this file, for Wireshark")
      ->type_name("FILE");
  command->add_option("--seed", options.seed, "of all chance (default 1)")->type_name("N")->check(wrong_seed);
  command->add_option("--hop", options.hop_us, "microseconds that a hop takes (default 0)")
      ->type_name("US")
      ->check(CLI::Range(0.0, 1e9));
  command->add_option("--service", options.service_us, "microseconds that a node takes to answer (default 0)")
      ->type_name("US")
      ->check(CLI::Range(0.0, 1e9));
  command
      ->add_option("--first-lid", options.first_lid,
                   "what adapters show for their LID after a reset: 0, 0xffff or kept (default 0)")
      ->check(CLI::IsMember({"0", "0xffff", "kept"}));
  command
      ->add_option("--training", options.training,
                   "seconds from Down to Init when a link comes up again, each link its own (default 2-5)")
      ->type_name("MIN-MAX")
      ->check(wrong_training);
  command
      ->add_option("--firmware", options.firmware,
                   fmt::format("what devices do where firmware differs, separated by commas: {}",
                               fmt::join(choices(), ", ")))
      ->type_name("CHOICE")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(choices()));
  command->add_flag("--no-flow-control", options.no_flow_control,
                    "programs have a kernel of before 2025: all their requests are sent at once");
  command->footer(base::all_specs);
  auto* ctl = command->add_subcommand("ctl", "a command to a fabric that is served; \"help\" lists them");
  ctl->add_option("--socket", options.socket, "where it is served (default: /run/smd/sim.sock)")
      ->type_name("PATH");
  ctl->add_option("COMMAND", options.command, "and its words")->required();
  return command;
}

int sim(const CLI::App& command, const SimOptions& options, std::ostream& out, std::ostream& err) {
  if (command.got_subcommand("ctl")) return sim_ctl(options, out, err);
  if (options.fabric.empty()) return fail_with(err, kBadUsage, "sim: FABRIC is missing: a file or a spec");
  return serve(options, out, err);
}

}  // namespace smd::cli
