// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd sim`: a simulated fabric for programs outside; `smd sim ctl`: what happens in it.

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace smd::cli {

/// Empty texts are options that were not given.
struct SimOptions {
  std::string fabric, socket, script, pcap;
  std::uint64_t seed = 1;
  double hop_us = 0, service_us = 0;
  std::string first_lid = "0";
  bool no_flow_control = false;
  std::string training = "2-5";       ///< seconds, shortest and longest
  std::vector<std::string> firmware;  ///< choices, by the names of --help
  std::vector<std::string> command;   ///< of ctl
};

/// Declares `sim` with its `ctl`; `options` must live as long as `app`.
CLI::App* add_sim_command(CLI::App& app, SimOptions& options);

/// Until SIGINT or SIGTERM. 0 done, 1 failed, 2 bad usage.
int sim(const CLI::App& command, const SimOptions& options, std::ostream& out, std::ostream& err);

}  // namespace smd::cli
