// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd route`: routes a fabric from a file or a spec, without one to talk to.

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace smd::cli {

/// Empty texts are options that were not given.
struct RouteOptions {
  std::string topology{};
  std::vector<std::string> engines{};  ///< instead of the configuration's
  std::string lids{}, without{}, config{}, lfts{}, accepted{};
  std::string path_sl{}, sl2vl{};  ///< files that say the layers of `lfts`
  std::string dump_dir{}, dump{};
  std::string rank_order{};  ///< a file; "-": standard output, instead of the report
  std::string reroute{};     ///< "repair" or "converge": how the tables of the whole fabric change
  bool quality = false, health = false, json = false;
  /// Layers that engines may use, 1 to 15; nothing: 8. Given, "auto" compares engines with layers, too.
  std::optional<unsigned> vls{};
  unsigned threads = 0;  ///< 0: as the configuration says
  unsigned repeat = 1;
};

/// Declares the options of the subcommand; `options` must live as long as `command`.
void add_route_options(CLI::App& command, RouteOptions& options);

/// The whole command. Returns the exit status: 0 done, 1 failed, 2 bad usage, configuration or input file,
/// 3 routes not verified, or with `health` a fault of the cabling that is not accepted.
int route(const RouteOptions& options, std::ostream& out, std::ostream& err);

}  // namespace smd::cli
