// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd events`: what has happened in the fabric.

#include <iosfwd>
#include <string>

#include "smd/cli/conversation.h"

namespace CLI {
class App;
}

namespace smd::cli {

struct EventOptions {
  std::string match;    ///< empty: all
  std::string since{};  ///< a time, how long ago, or the id of an event; empty: the latest ones
  unsigned limit = 0;   ///< 0: the usual number, and with `since` all
  bool follow = false;
};

/// The options of the subcommand, which fill in `options`.
void add_event_options(CLI::App& command, EventOptions& options);

/// `as_json`: an event a line, as JSON. With `follow` it goes on until `out` takes no more: a daemon that
/// ends is waited for (a line to `err`), and the events go on after the last one that was shown.
Done event_command(const Conversation& daemon, const EventOptions& options, bool as_json, std::ostream& out,
                   std::ostream& err);

}  // namespace smd::cli
