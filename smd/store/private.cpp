// SPDX-License-Identifier: Apache-2.0
#include "smd/store/private.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "mad/base/descriptor.h"

namespace smd::store {
namespace {

constexpr mode_t kFolder = 0700, kFile = 0600, kAll = 0777;

}  // namespace

std::error_code make_private_directories(const std::filesystem::path& path) {
  std::error_code error;
  if (path.empty() || std::filesystem::is_directory(path, error)) return {};
  const auto parent = path.has_filename() ? path.parent_path() : path.parent_path().parent_path();
  if (parent != path) {
    if (error = make_private_directories(parent); error) return error;
  }
  if (::mkdir(path.c_str(), kFolder) == 0) {
    // The umask may have taken rights away, even the owner's.
    if (::chmod(path.c_str(), kFolder) == 0) return {};
    return {errno, std::generic_category()};
  }
  const int failed = errno;
  if (failed != EEXIST) return {failed, std::generic_category()};
  if (std::filesystem::is_directory(path, error)) return {};
  return {ENOTDIR, std::generic_category()};
}

void make_private_file(const std::filesystem::path& path, bool make) {
  // A file that is there is not opened: its close would end the locks that another connection of this process
  // has on it (fcntl(2)), and a program that looks into the file would take SQLite's log away when it ends.
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT || !make) return;
    const base::Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_CREAT, kFile));
    if (!file || ::fstat(file.get(), &info) != 0) return;
  }
  // Not allowed for another user's file, which is not ours to close.
  if (S_ISREG(info.st_mode) && (info.st_mode & kAll) != kFile)
    static_cast<void>(::chmod(path.c_str(), kFile));
}

}  // namespace smd::store
