// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd wait`: until the fabric is up, until a standby has the state, or until a restart takes the fabric its
// SM for no moment.

#include <boost/json/value.hpp>
#include <cstdint>
#include <expected>
#include <iosfwd>
#include <string>

#include "smd/cli/conversation.h"

namespace CLI {
class App;
}

namespace smd::cli {

struct WaitOptions {
  std::string what;       ///< "up", "replica", "restart"
  unsigned timeout = 60;  ///< seconds
};

/// The options of the subcommand, which fill in `options`.
void add_wait_options(CLI::App& command, WaitOptions& options);

/// What is waited for, as the daemon's answers show it.
struct Readiness {
  bool ready = false;
  std::string why;  ///< one line, of either
};
/// `status`: of one subnet, `sms`: its SMs. The error: waiting does not help. "replica": the state of the
/// master is current here, or at the standby that gets the fabric when this SM ends. "restart": that, or
/// another SM is master.
std::expected<Readiness, std::string> readiness(const std::string& what, const boost::json::value& status,
                                                const boost::json::value& sms);

/// `ready`: whether what is waited for came within the time, in all subnets.
Done wait_command(const Conversation& daemon, const WaitOptions& options, bool* ready, std::ostream& out);

}  // namespace smd::cli
