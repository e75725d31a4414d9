// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/import_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <expected>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <utility>

#include "mad/real_clock.h"
#include "mad/umad/port.h"
#include "mad/umad/transport.h"
#include "smd/cli/fail.h"
#include "smd/cli/path_sl_import.h"
#include "smd/cli/words.h"

namespace smd::cli {
namespace {

/// A port whose GSI is open, and where its SA is.
struct SaPort {
  std::unique_ptr<umad::Transport> gsi;
  mad::LidRoute sa;
};

std::expected<SaPort, std::string> open_port(asio::io_context& io, const umad::PortSelection& selection) {
  const auto ports = umad::list_ports();
  const auto usable = umad::usable_ports(ports, selection);
  if (!usable) return std::unexpected(usable.error().text);
  std::string reason;
  for (const auto& port : *usable) {
    const auto entry = std::ranges::find_if(ports, [&](const umad::PortEntry& one) {
      return one.device == port.device && one.port == port.port;
    });
    if (entry == ports.end()) continue;
    if (entry->sm_lid == Lid{}) {
      reason =
          fmt::format("port {}:{} has no SM LID: no subnet manager has set it up", port.device, port.port);
      continue;
    }
    auto opened = umad::Transport::open(
        io, port, {{.mgmt_class = wire::MgmtClass::sa, .version = wire::kSaClassVersion, .rmpp_version = 1}});
    if (!opened) {
      reason = opened.error().what;
      continue;
    }
    return SaPort{.gsi = *std::move(opened),
                  .sa = {.lid = entry->sm_lid, .sl = entry->sm_sl, .qp = 1, .qkey = mad::kQp1QKey}};
  }
  return std::unexpected(reason);
}

void print(const base::PathSlFile& file, std::ostream& out) {
  for (const auto& [source, row] : file) {
    for (std::size_t lid = 1; lid < row.size(); ++lid) {
      if (row[lid] != base::kNoSlSaid) out << fmt::format("{} {} {}\n", source, lid, row[lid]);
    }
  }
}

/// A new file takes the place of an old one when all of it is written.
std::expected<void, std::string> write(const base::PathSlFile& paths, const std::string& name) {
  const auto unfinished = name + ".new";
  std::ofstream file(unfinished);
  if (file) print(paths, file);
  file.close();
  std::error_code moved;
  if (file) std::filesystem::rename(unfinished, name, moved);
  if (file && !moved) return {};
  const auto why = moved ? moved.message() : std::string(std::strerror(errno));
  std::filesystem::remove(unfinished, moved);
  return std::unexpected(fmt::format("{}: {}", name, why));
}

}  // namespace

const CLI::App* add_import_command(CLI::App& app, ImportOptions& options) {
  auto* command = app.add_subcommand("import", "takes over data of the present subnet manager");
  command->require_subcommand(1);
  auto* paths = command->add_subcommand(
      "path-sl", "asks it for the SL of every path: the file of adopt.path_sl, and of ibdmchk -c");
  paths->add_option("--port", options.port, "local port to ask through (default: the first usable one)")
      ->type_name("DEV[:N]");
  paths->add_option("--output", options.output, "the file to write (default: standard output)")
      ->type_name("FILE");
  paths->add_option("--wait", options.seconds, "how long an answer may take (default 60)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1U, 3'600U));
  return paths;
}

int import_path_sl(const ImportOptions& options, std::ostream& out, std::ostream& err) {
  const auto failed = [&](int status, std::string_view why) {
    return fail_with(err, status, fmt::format("import path-sl: {}", why));
  };
  umad::PortSelection selection = umad::AnyPort{};
  if (!options.port.empty()) {
    const auto named = umad::parse_port(options.port);
    if (!named)
      return failed(2, fmt::format("--port \"{}\": not a port; a device's name, or DEV:N", options.port));
    selection = *named;
  }
  asio::io_context io;
  mad::RealClock clock(io);
  auto port = open_port(io, selection);
  if (!port) return failed(1, port.error());
  std::optional<std::expected<ImportedPathSls, std::string>> found;
  {
    mad::SaClient client(io.get_executor(), clock, *port->gsi, std::random_device{}());
    asio::co_spawn(io, ask_path_sls(&client, port->sa, std::chrono::seconds(options.seconds)),
                   [&](const std::exception_ptr& thrown, std::expected<ImportedPathSls, std::string> result) {
                     if (!thrown) found = std::move(result);
                     io.stop();
                   });
    io.run();
  }
  if (!found) return failed(1, "stopped");
  if (!*found) return failed(1, fmt::format("SA at LID {}: {}", port->sa.lid, found->error()));
  if ((*found)->paths == 0) return failed(1, fmt::format("SA at LID {}: it has no paths", port->sa.lid));
  if (options.output.empty()) {
    print((*found)->file, out);
  } else if (const auto written = write((*found)->file, options.output); !written) {
    return failed(1, written.error());
  }
  err << fmt::format("{} of {}, from the SA at LID {}\n", counted((*found)->paths, "path"),
                     counted((*found)->sources, "port"), port->sa.lid);
  if ((*found)->without != 0)
    err << fmt::format("{} no paths: they may share no partition with this port\n",
                       counted((*found)->without, "port has", "ports have"));
  return 0;
}

}  // namespace smd::cli
