// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd resweep`, `sweep`, `handover` and `priority`: what an SM is told to do.

#include <iosfwd>
#include <string>

#include "smd/cli/conversation.h"

namespace CLI {
class App;
}

namespace smd::cli {

/// Empty texts are options that were not given.
struct OrderOptions {
  std::string sweep;            ///< resweep: the kind
  bool engine = false;          ///< resweep converge
  std::string sweeps, off_for;  ///< sweep: "off" or "on", and how long
  std::string sm;               ///< handover: port GUID; empty: the standby that is to get it
  bool force = false;           ///< handover: whatever that lacks
  unsigned priority = 0;        ///< priority
  bool dry_run = false;
};

/// The options of each subcommand, which fill in `options`.
void add_resweep_options(CLI::App& command, OrderOptions& options);
void add_sweep_options(CLI::App& command, OrderOptions& options);
void add_handover_options(CLI::App& command, OrderOptions& options);
void add_priority_options(CLI::App& command, OrderOptions& options);
/// Of `smd sweep`: what is wrong with how it is used; empty: nothing.
std::string misuse_of(const OrderOptions& options);

/// Each subcommand, in the subnet that was named or in all. `as_json`: the daemon's answers as they are.
Done resweep_command(const Conversation& daemon, const OrderOptions& options, bool as_json,
                     std::ostream& out);
Done sweep_command(const Conversation& daemon, const OrderOptions& options, bool as_json, std::ostream& out);
Done handover_command(const Conversation& daemon, const OrderOptions& options, bool as_json,
                      std::ostream& out);
Done priority_command(const Conversation& daemon, const OrderOptions& options, bool as_json,
                      std::ostream& out);

}  // namespace smd::cli
