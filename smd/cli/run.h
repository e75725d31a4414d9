// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd run`: the subnet manager of one subnet or several.

#include <iosfwd>

#include "smd/daemon/run_options.h"

namespace CLI {
class App;
}

namespace smd::cli {

using daemon::RunOptions;

/// Declares the options of the subcommand; `options` must live as long as `command`.
void add_run_options(CLI::App& command, RunOptions& options);

/// The whole command. Returns the exit status: 0 done, 1 failed, 2 bad usage or configuration, 3 ended with a
/// fabric not fully up or routes not verified.
int run(const RunOptions& options, std::ostream& out, std::ostream& err);

}  // namespace smd::cli
