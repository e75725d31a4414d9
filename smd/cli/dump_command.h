// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd dump`: the daemon's dumps, as files.

#include <iosfwd>
#include <string>

#include "smd/cli/conversation.h"

namespace smd::cli {

/// Into `folder`, a folder in it for each of several subnets. `list`: file names with commas between; empty:
/// the usual ones. Prints the path of each file.
Done dump_command(const Conversation& daemon, const std::string& folder, const std::string& list,
                  std::ostream& out);

}  // namespace smd::cli
