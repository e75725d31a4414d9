// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd import`: takes over data of the present subnet manager, for a takeover.

#include <iosfwd>
#include <string>

namespace CLI {
class App;
}

namespace smd::cli {

struct ImportOptions {
  std::string port;       ///< "DEV[:N]"; empty: the first usable one
  std::string output;     ///< a file; empty: standard output
  unsigned seconds = 60;  ///< for each answer
};

/// The subcommand `import path-sl`, which fills in `options`; the caller keeps both.
const CLI::App* add_import_command(CLI::App& app, ImportOptions& options);

/// Writes path-sl.txt. The exit status: 0, 1 there is no port or no answer, 2 wrong use.
int import_path_sl(const ImportOptions& options, std::ostream& out, std::ostream& err);

}  // namespace smd::cli
