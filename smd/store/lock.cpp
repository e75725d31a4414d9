// SPDX-License-Identifier: Apache-2.0
#include "smd/store/lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace smd::store {
namespace {

std::string system_error() {
  std::array<char, 128> buffer{};
  return strerror_r(errno, buffer.data(), buffer.size());
}

/// What the holder has written. It may be about to.
std::string holder(int descriptor) {
  std::array<char, 32> text{};
  const auto size = pread(descriptor, text.data(), text.size() - 1, 0);
  std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (pid.ends_with('\n')) pid.pop_back();
  return pid.empty() ? "another process" : "process " + pid;
}

void write_pid(int descriptor) {
  const auto text = fmt::format("{}\n", getpid());
  // For the reader's sake only: a full disk is no reason to go without the lock.
  const bool written = ftruncate(descriptor, 0) == 0 && pwrite(descriptor, text.data(), text.size(), 0) > 0;
  static_cast<void>(written);
}

}  // namespace

std::expected<FileLock, LockError> FileLock::take(const std::filesystem::path& path) {
  return lock(path, LOCK_EX | LOCK_NB);
}

std::expected<FileLock, LockError> FileLock::wait(const std::filesystem::path& path) {
  return lock(path, LOCK_EX);
}

std::expected<FileLock, LockError> FileLock::lock(const std::filesystem::path& path, int how) {
  base::Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return std::unexpected(LockError{.held = false, .text = system_error()});
  static_cast<void>(fchmod(file.get(), 0600));  // whatever the umask has left of it
  if (flock(file.get(), how) == 0) {
    write_pid(file.get());
    return FileLock(std::move(file));
  }
  const bool held = errno == EWOULDBLOCK;
  return std::unexpected(LockError{held, held ? holder(file.get()) : system_error()});
}

}  // namespace smd::store
