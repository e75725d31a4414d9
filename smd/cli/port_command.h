// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd port`: disables, enables and resets a port.

#include <iosfwd>
#include <string>

#include "smd/cli/conversation.h"

namespace CLI {
class App;
}

namespace smd::cli {

struct PortOptions {
  std::string action, port, confirm;
  bool dry_run = false;
};

/// Adds the arguments and flags, which fill in `options`; it must outlive `command`.
void add_port_options(CLI::App& command, PortOptions& options);

/// `as_json`: the daemon's answer as it is.
Done port_command(const Conversation& daemon, const PortOptions& options, bool as_json, std::ostream& out);

}  // namespace smd::cli
