// SPDX-License-Identifier: Apache-2.0
#pragma once
// One writer for a subnet's state: a lock that the kernel takes back when its holder dies.

#include <expected>
#include <filesystem>
#include <string>
#include <utility>

#include "mad/base/descriptor.h"

namespace smd::store {

struct LockError {
  bool held = false;  ///< by another process; else the file could not be had
  std::string text;   ///< "process 1234", or "Permission denied"
};

/// A locked file that holds the holder's process ID. Released when destroyed and when the process ends.
class FileLock {
 public:
  /// Makes the file where it is missing; never waits for another holder.
  static std::expected<FileLock, LockError> take(const std::filesystem::path& path);
  /// Sleeps while another process has it: for what takes milliseconds.
  static std::expected<FileLock, LockError> wait(const std::filesystem::path& path);

 private:
  static std::expected<FileLock, LockError> lock(const std::filesystem::path& path, int how);
  explicit FileLock(base::Descriptor file) : file_(std::move(file)) {}
  base::Descriptor file_;
};

}  // namespace smd::store
