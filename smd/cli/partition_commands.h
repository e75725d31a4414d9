// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd partitions`: what it asks and changes.

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "smd/cli/conversation.h"

namespace CLI {
class App;
}

namespace smd::cli {

/// Empty texts are options that were not given.
struct PartitionOptions {
  std::string what;       ///< "list" where it is empty
  std::string partition;  ///< of reindex: the ports
  std::vector<std::string> members;
  std::vector<std::string> full, limited, both;  ///< create
  std::string pkey, sl, mtu, rate, qkey;         ///< create
  std::vector<std::string> scopes;               ///< create
  std::string membership;                        ///< create, add
  bool ipoib = false;                            ///< create
  bool index0 = false;                           ///< create, add
  std::optional<double> timeout;                 ///< wait; seconds
};

/// The options of the subcommand, which fill in `options`.
void add_partition_options(CLI::App& command, PartitionOptions& options);

/// What is wrong with how the command is used; empty: nothing.
std::string misuse_of(const PartitionOptions& options);

/// `as_json`: the daemon's answers as they are. `wait` sleeps. misuse_of() is empty. Sets `misused` where the
/// daemon refuses a value that was given as none, as misuse_of() would if it knew them all.
Done partition_command(const Conversation& daemon, const PartitionOptions& options, bool as_json,
                       std::ostream& out, bool* misused);

}  // namespace smd::cli
