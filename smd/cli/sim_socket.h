// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `smd sim` and `smd attach` share: where fabrics are served by default, and how
// they fail.

#include <filesystem>
#include <iosfwd>
#include <string_view>

namespace smd::cli {

/// /run/smd/sim.sock where that folder can be written (made where it can be), else smd-sim.sock in
/// $XDG_RUNTIME_DIR; empty where there is neither.
std::filesystem::path sim_socket_to_serve();
/// The first of them that is there, else the first.
std::filesystem::path sim_socket_to_use();

/// Says why; `status`, for the program to end with.
int fail_with(std::ostream& err, int status, std::string_view why);

}  // namespace smd::cli
