// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/attach.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <ostream>

#include "mad/sim/attach/protocol.h"
#include "mad/sim/umad_server/ask.h"
#include "smd/cli/fail.h"
#include "smd/daemon/sim_socket.h"

namespace smd::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibrary = "libsmd-attach.so";

/// Beside the program: as it is installed, or as it is built.
fs::path library() {
  std::error_code ignored;
  const auto folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto* place : {"../lib/smd", "../lib"}) {
    auto file = (folder / place / kLibrary).lexically_normal();
    if (fs::exists(file, ignored)) return file;
  }
  return {};
}

void set_environment(const fs::path& library, const fs::path& socket, const std::string& places) {
  std::string preload = library.string();
  if (const char* before = std::getenv("LD_PRELOAD"); before != nullptr && *before != 0)
    preload += fmt::format(":{}", before);
  ::setenv("LD_PRELOAD", preload.c_str(), 1);
  ::setenv(sim::attach::kSocketVariable, socket.c_str(), 1);
  ::setenv(sim::attach::kPlacesVariable, places.c_str(), 1);
}

}  // namespace

CLI::App* add_attach_command(CLI::App& app, AttachOptions& options) {
  auto* command = app.add_subcommand("attach", "runs a program as if on a node of a simulated fabric");
  command->add_option("--socket", options.socket, "where the fabric is served (default: /run/smd/sim.sock)")
      ->type_name("PATH");
  command->add_option("--node", options.nodes, "the node, and its port; may be repeated: an HCA each")
      ->type_name("NAME[:PORT]")
      ->required()
      ->allow_extra_args(false);
  command->add_option("CMD", options.command, "the program and its arguments, behind --")->required();
  return command;
}

int attach(const AttachOptions& options, std::ostream& err) {
  std::string places;
  for (const auto& node : options.nodes) places += node + '\n';
  std::error_code ignored;
  const auto socket =
      fs::absolute(options.socket.empty() ? daemon::sim_socket_to_use() : fs::path(options.socket), ignored);
  const auto answer = sim::ask_places(socket, places);
  if (!answer) return fail_with(err, 1, answer.error());
  if (!answer->done) return fail_with(err, 1, answer->text);
  const auto preload = library();
  if (preload.empty())
    return fail_with(
        err, 1, fmt::format("{}: neither in ../lib/smd nor in ../lib of this program's folder", kLibrary));
  set_environment(preload, socket, places);
  std::vector<char*> arguments;
  auto words = options.command;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  return fail_with(err, errno == ENOENT ? 127 : 126,
                   fmt::format("{}: {}", words.front(), std::strerror(errno)));
}

}  // namespace smd::cli
