// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file descriptor that is closed with its owner.

#include <unistd.h>

#include <utility>

namespace smd::base {

/// A file descriptor with one owner, closed by the destructor; errors of close() are ignored.
class Descriptor {
 public:
  Descriptor() = default;
  /// Owns `fd`; a negative number is no descriptor.
  explicit Descriptor(int fd) : fd_(fd) {}
  /// Leaves `other` without a descriptor.
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  /// The descriptors change places: the old one is closed when `other` dies.
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }  ///< false: no descriptor

 private:
  int fd_ = -1;
};

}  // namespace smd::base
