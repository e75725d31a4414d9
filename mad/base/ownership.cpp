// SPDX-License-Identifier: Apache-2.0
#include "mad/base/ownership.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <array>

namespace smd::base {
namespace {

/// Room for an entry of passwd or group; where one is longer, its number is shown.
using Room = std::array<char, 16384>;

std::string name_of_user(uid_t id) {
  Room room{};
  passwd entry{};
  passwd* found = nullptr;
  const bool known = getpwuid_r(id, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
  return known ? std::string(entry.pw_name) : std::to_string(id);
}

std::string name_of_group(gid_t id) {
  Room room{};
  group entry{};
  group* found = nullptr;
  const bool known = getgrgid_r(id, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
  return known ? std::string(entry.gr_name) : std::to_string(id);
}

}  // namespace

std::optional<Ownership> ownership_of(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Ownership{.user = name_of_user(status.st_uid),
                   .group = name_of_group(status.st_gid),
                   .mode = static_cast<unsigned>(status.st_mode) & 07777U};
}

std::string to_string(const Ownership& ownership) {
  return fmt::format("{}:{} mode {:04o}", ownership.user, ownership.group, ownership.mode);
}

}  // namespace smd::base
