// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where simulated fabrics are served by default.

#include <filesystem>

namespace smd::daemon {

/// /run/smd/sim.sock where that folder can be written (made where it can be), else smd-sim.sock in
/// $XDG_RUNTIME_DIR; empty where there is neither.
std::filesystem::path sim_socket_to_serve();
/// The first of them that is there, else the first.
std::filesystem::path sim_socket_to_use();

}  // namespace smd::daemon
