// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd token`: who may call the API over the network.

#include <cstdint>
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
struct TokenOptions {
  std::string what;  ///< "list" where it is empty
  std::string name;
  std::string role;
  std::string expires;
  std::vector<std::string> partitions;
};

/// The options of the subcommand, which fill in `options`.
void add_token_options(CLI::App& command, TokenOptions& options);

/// What is wrong with how the command is used; empty: nothing.
std::string misuse_of(const TokenOptions& options);

/// Secrets are made here and shown once: the daemon gets their hash. `as_json`: as JSON, with the secret.
/// misuse_of() is empty.
Done token_command(const Conversation& daemon, const TokenOptions& options, bool as_json, std::ostream& out,
                   std::ostream& err);

}  // namespace smd::cli
