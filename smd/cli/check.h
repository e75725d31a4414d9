// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd check`: validates a configuration and describes it.

#include <CLI/App.hpp>
#include <iosfwd>
#include <string>
#include <vector>

#include "smd/cli/check_qos.h"

namespace smd::cli {

struct CheckOptions {
  std::string config;
  std::vector<std::string> set;
  bool all = false;      ///< every key, not only those that differ from their defaults
  bool host = false;     ///< looks at the machine, too
  bool running = false;  ///< asks the daemon instead, at `socket`
  bool json = false;     ///< of `running`, or of `qos.asked`: for scripts
  std::string socket;
  unsigned timeout = 60;  ///< seconds of a daemon that does not answer
  QosCheck qos;
  std::string unit = "smd.service";
};

/// `smd check`, filling in `options`, which must live as long as `app`.
CLI::App* add_check_command(CLI::App& app, CheckOptions& options);

/// Writes what the configuration means to `out`, or each error on a line of its own to `err`. Returns the
/// exit status: 0, 1 where a picture cannot be written or a daemon does not answer, 2 for a wrong
/// configuration or a subnet that it does not have, 3 where the machine keeps smd from what it says.
int check(const CheckOptions& options, std::ostream& out, std::ostream& err);

}  // namespace smd::cli
