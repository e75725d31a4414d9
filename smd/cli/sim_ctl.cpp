// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/sim_ctl.h"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "mad/sim/umad_server/ask.h"
#include "smd/daemon/sim_socket.h"

namespace smd::cli {
namespace {

/// The words as one line; those with spaces in quotes. A command in one word is taken as it is.
std::string line_of(const std::vector<std::string>& words) {
  if (words.size() == 1) return words.front();
  std::string line;
  for (const auto& word : words) {
    const bool quoted = word.empty() || word.find(' ') != std::string::npos;
    line += fmt::format("{}{}{}{}", line.empty() ? "" : " ", quoted ? "\"" : "", word, quoted ? "\"" : "");
  }
  return line;
}

}  // namespace

int sim_ctl(const SimOptions& options, std::ostream& out, std::ostream& err) {
  const auto line = line_of(options.command);
  if (line.find_first_not_of(' ') == std::string::npos) {
    err << "smd: found \"\", allowed is a command: smd sim ctl help\n";
    return 2;
  }
  const auto socket =
      options.socket.empty() ? daemon::sim_socket_to_use() : std::filesystem::path(options.socket);
  const auto answer = sim::ask_command(socket, line);
  if (!answer) {
    err << "smd: " << answer.error() << '\n';
    return 1;
  }
  if (!answer->done) {
    err << "smd: " << answer->text << '\n';
    return 2;
  }
  if (!answer->text.empty()) out << answer->text << '\n';
  return 0;
}

}  // namespace smd::cli
