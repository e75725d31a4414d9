// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd why PORT`: why a port is as it is.

#include <iosfwd>
#include <string>

#include "smd/cli/conversation.h"

namespace smd::cli {

/// `port`: a node by GUID, port GUID, LID or name, perhaps with ":PORT". `as_json`: the ports and events, an
/// object a subnet. What other subnets say of it does not count where one has it.
Done why_command(const Conversation& daemon, const std::string& port, bool as_json, std::ostream& out);

}  // namespace smd::cli
