// SPDX-License-Identifier: Apache-2.0
// The only file of config/ that accesses the file system.
#include "mad/base/file.h"

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "config/load.h"

namespace smd::config {
namespace {

/// The group of this process, root's, or that of the packaged daemon: `smd check` is run by root, too.
bool is_own_group(gid_t group) {
  if (group == 0 || group == getegid()) return true;
  ::group found{};
  ::group* entry = nullptr;
  std::array<char, 4096> names{};
  getgrnam_r("smd", &found, names.data(), names.size(), &entry);
  return entry != nullptr && entry->gr_gid == group;
}

bool is_credential(const std::filesystem::path& path) {
  const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
  return folder != nullptr && *folder != '\0' && path.parent_path() == std::filesystem::path(folder);
}

/// Why the mode of a key's file is refused; empty: it is not.
std::string too_open(const struct stat& file) {
  const unsigned mode = file.st_mode & 07777U;
  if ((mode & S_IRWXO) != 0)
    return fmt::format("mode {:04o}: all users have rights to it (chmod 0600)", mode);
  if ((mode & (S_IWGRP | S_IXGRP)) != 0)
    return fmt::format("mode {:04o}: its group can write it (chmod 0640)", mode);
  if ((mode & S_IRGRP) != 0 && !is_own_group(file.st_gid))
    return fmt::format("mode {:04o}: group {} can read it, which is not smd's (chgrp smd, or chmod 0600)",
                       mode, file.st_gid);
  return {};
}

/// A pipe or a device. A shell's pipes, and what stands on standard input, end.
bool may_never_end(const std::filesystem::path& path) {
  const auto name = path.string();
  if (name == "/dev/null" || name == "/dev/stdin" || name.starts_with("/dev/fd/") ||
      name.starts_with("/proc/self/fd/"))
    return false;
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

}  // namespace

std::expected<std::string, std::string> read_file(const std::filesystem::path& path) {
  if (may_never_end(path)) return std::unexpected("it is no regular file");
  const auto file = base::open_for_reading(path);
  if (!file) return std::unexpected(file.error());
  return base::read_to_end(file->get());
}

std::expected<std::string, std::string> read_secret_file(const std::filesystem::path& path) {
  const auto file = base::open_for_reading(path);
  if (!file) return std::unexpected(file.error());
  struct stat info{};
  if (fstat(file->get(), &info) != 0) return std::unexpected(std::generic_category().message(errno));
  if (auto why = too_open(info); !why.empty() && !is_credential(path)) return std::unexpected(std::move(why));
  return base::read_to_end(file->get());
}

}  // namespace smd::config
