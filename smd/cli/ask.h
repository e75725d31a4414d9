// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd status`, `ports`, `partitions`, `sms`, `handover`, `priority`, `resweep`, `sweep`, `port`, `accept`,
// `log`, `dump`, `token`, and those of fabric_commands.h: asking and telling a running daemon.

#include <iosfwd>
#include <string>

#include "smd/cli/event_command.h"
#include "smd/cli/fabric_commands.h"
#include "smd/cli/order_commands.h"
#include "smd/cli/partition_commands.h"
#include "smd/cli/port_command.h"
#include "smd/cli/token_commands.h"
#include "smd/cli/wait_command.h"

namespace CLI {
class App;
}

namespace smd::cli {

/// Empty texts are options that were not given.
struct AskOptions {
  std::string socket, subnet;
  unsigned timeout = 0;  ///< seconds; 0: the usual time
  std::string color;     ///< "auto", "always" or "never"
  bool json = false;
  bool check = false;       ///< status
  bool nagios = false;      ///< status
  bool not_active = false;  ///< ports
  bool lost = false;        ///< ports, accept
  bool degraded = false;    ///< ports
  bool all = false;         ///< ports
  std::string ports_of;     ///< ports: a node
  PartitionOptions partitions;
  TokenOptions tokens;
  FabricOptions fabric;
  EventOptions events;
  WaitOptions wait;
  std::string why;  ///< why: a port
  PortOptions port;
  std::string node;            ///< accept; empty: all that is lost
  OrderOptions orders;         ///< handover, priority, resweep, sweep
  std::string level, subject;  ///< log
  std::string folder, files;   ///< dump
};

/// The subcommands, all of them filling in `options`, which must live as long as `app`.
void add_ask_commands(CLI::App& app, AskOptions& options);

/// Runs the subcommand that was given; does nothing where none was. 0 done, 1 failed, 2 bad usage; of `status
/// --check` 3: a subnet is neither up nor a standby of a master that answers, or its sweeps are off; of
/// `status --nagios` what a Nagios plugin returns; of `wait` 3: not in time.
int ask(const CLI::App& app, const AskOptions& options, std::ostream& out, std::ostream& err);
bool is_ask(const CLI::App& app);  ///< one of these subcommands was given

}  // namespace smd::cli
