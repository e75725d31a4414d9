// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd nodes`, `node`, `switches`, `links`, `path`, `groups`, `services`, `qos`, `balance`: the fabric as it
// was swept last.

#include <array>
#include <iosfwd>
#include <string>
#include <string_view>

#include "smd/cli/conversation.h"

namespace CLI {
class App;
}

namespace smd::cli {

/// Empty texts are options that were not given.
struct FabricOptions {
  std::string type, match;  ///< nodes; type also of links and ports, match of switches and services
  std::string state;        ///< links, ports
  std::string node;         ///< node, links, services, balance
  std::string from, to;     ///< path
  std::string sl, pkey;     ///< path; pkey also of services and groups
  std::string level;        ///< switches
  bool degraded = false;    ///< links
};

/// The commands, by name.
inline constexpr std::array<std::string_view, 9> kFabricCommands{
    "nodes", "node", "switches", "links", "path", "groups", "services", "qos", "balance"};
/// What the command does, for its help.
std::string_view summary_of(std::string_view command);
/// The options of one of the commands, which fill in `options`.
void add_fabric_options(std::string_view name, CLI::App& command, FabricOptions& options);

/// --type and --state, which fill in `options`.
void add_filter_options(CLI::App& command, FabricOptions& options, const char* type, const char* state);

/// Runs one of the commands. `as_json`: the daemon's answers as they are.
Done fabric_command(std::string_view name, const Conversation& daemon, const FabricOptions& options,
                    bool as_json, std::ostream& out);

}  // namespace smd::cli
