// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd attach`: runs a program as if on a simulated node.

#include <iosfwd>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace smd::cli {

struct AttachOptions {
  std::string socket;
  std::vector<std::string> nodes, command;
};

/// Declares the subcommand; `options` must live as long as `app`.
CLI::App* add_attach_command(CLI::App& app, AttachOptions& options);

/// Does not return where the program starts. 1: no fabric, node or library; 126, 127 as shells have it.
int attach(const AttachOptions& options, std::ostream& err);

}  // namespace smd::cli
