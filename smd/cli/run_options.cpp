// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include "smd/cli/run.h"

namespace smd::cli {

void add_run_options(CLI::App& command, RunOptions& options) {
  command
      .add_option("--config", options.config, "configuration (default: /etc/smd/smd.toml where it exists)")
      ->type_name("FILE");
  command.add_option("--port", options.ports, "local port to manage a fabric through; may be repeated")
      ->type_name("DEV[:N]")
      ->allow_extra_args(false);
  command.add_option("--port-guid", options.port_guids, "the same by port GUID; may be repeated")
      ->type_name("GUID")
      ->allow_extra_args(false);
  command
      .add_option("--sim", options.sims, "a simulated fabric inside smd: a file or a spec; may be repeated")
      ->type_name("FABRIC")
      ->allow_extra_args(false);
  command
      .add_option(
          "--sim-socket", options.sim_socket,
          "where the first simulated fabric is served to smd attach (default: /run/smd/sim.sock, where "
          "no other process serves one)")
      ->type_name("PATH")
      ->needs("--sim");
  command.add_option("--set", options.set, "overrides one key of the configuration; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--state-dir", options.state_dir,
                  "keep what must survive a restart there ([store] directory; with --sim: nowhere)")
      ->type_name("DIR");
  command.add_option("--dump-dir", options.dump_dir, "write dumps there after each full sweep")
      ->type_name("DIR");
  command.add_option("--dump", options.dump, "which dumps, file names with commas between")
      ->type_name("LIST")
      ->needs("--dump-dir");
  command.add_option("--socket", options.socket, "Unix socket of the API (default: /run/smd/smd.sock)")
      ->type_name("PATH");
  auto* once = command.add_flag("--once", options.once, "one full sweep, then exit");
  command.add_flag("--dry-run", options.dry_run, "read and compute only, print the plan");
  command
      .add_option(
          "--wait", options.wait,
          "with --once or --dry-run: give up after so many seconds without a usable port (default 10; 0: "
          "at once)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0U, 86'400U));
  command.add_flag("--json", options.json, "with --once: the summary as one JSON object on stdout")
      ->needs(once);
  command
      .add_flag("--fail-on-disruption", options.fail_on_disruption,
                "with --dry-run: exit 3 if LIDs or routes in use would change, or links be taken down")
      ->needs("--dry-run");
}

}  // namespace smd::cli
