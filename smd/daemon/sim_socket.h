// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where simulated fabrics are served by default.

#include <filesystem>

namespace smd::daemon {

/// /run/smd/sim.sock where that folder can be written (made where it can be), else smd-sim.sock in
/// $XDG_RUNTIME_DIR; empty where there is neither.
std::filesystem::path sim_socket_to_serve();
/// /run/smd/sim.sock where it is there or $XDG_RUNTIME_DIR is not set, else smd-sim.sock in that.
std::filesystem::path sim_socket_to_use();

}  // namespace smd::daemon
