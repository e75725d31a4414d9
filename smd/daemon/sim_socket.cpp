// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/sim_socket.h"

#include <unistd.h>

#include <cstdlib>
#include <system_error>

namespace smd::daemon {
namespace {

const std::filesystem::path kFolder = "/run/smd";

std::filesystem::path of_user() {
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  return folder == nullptr || *folder == 0 ? std::filesystem::path()
                                           : std::filesystem::path(folder) / "smd-sim.sock";
}

}  // namespace

std::filesystem::path sim_socket_to_serve() {
  std::error_code ignored;
  std::filesystem::create_directory(kFolder, ignored);
  return ::access(kFolder.c_str(), W_OK) == 0 ? kFolder / "sim.sock" : of_user();
}

std::filesystem::path sim_socket_to_use() {
  const auto common = kFolder / "sim.sock", own = of_user();
  std::error_code ignored;
  return !own.empty() && !std::filesystem::exists(common, ignored) ? own : common;
}

}  // namespace smd::daemon
