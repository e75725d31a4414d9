// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `smd run` is given on the command line.

#include <optional>
#include <string>
#include <vector>

namespace smd::daemon {

/// A run that is to end gives up after so many seconds without a usable port.
inline constexpr unsigned kWaitForPort = 10;

/// Empty texts are options that were not given.
struct RunOptions {
  std::string config;
  std::vector<std::string> ports, port_guids, sims;  ///< subnets named here replace those of the file
  std::vector<std::string> set;                      ///< KEY=VALUE
  std::string dump_dir, dump;
  std::string socket;               ///< of the API
  std::string sim_socket;           ///< of the first simulated fabric
  bool fail_on_disruption = false;  ///< dry_run: exit 3 where traffic would be disturbed
  std::string state_dir;            ///< instead of [store] directory, and also for simulated fabrics
  bool once = false, dry_run = false, json = false;
  std::optional<unsigned> wait;  ///< once, dry_run: seconds without a usable port; default kWaitForPort
};

}  // namespace smd::daemon
