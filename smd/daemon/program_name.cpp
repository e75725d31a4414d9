// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/program_name.h"

#include <algorithm>
#include <cstdlib>

namespace smd::daemon {

std::string program_name(const std::filesystem::path& program, std::string_view path,
                         const std::filesystem::path& folder) {
  std::error_code error;
  while (!path.empty()) {
    const auto end = std::min(path.find(':'), path.size());
    const auto there = std::filesystem::path(path.substr(0, end)) / "smd";
    path.remove_prefix(std::min(end + 1, path.size()));
    // The first one is what the shell takes.
    if (!there.is_absolute() || !std::filesystem::exists(there, error)) continue;
    if (std::filesystem::equivalent(there, program, error)) return "smd";
    break;
  }
  const auto relative = program.lexically_relative(folder);
  return relative.empty() || *relative.begin() == ".." ? program.string() : relative.string();
}

std::string program_name() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "smd";
  const char* path = std::getenv("PATH");
  return program_name(program, path != nullptr ? path : "", std::filesystem::current_path(error));
}

}  // namespace smd::daemon
