// SPDX-License-Identifier: Apache-2.0
#pragma once
// While this is held the port says IsSM to the fabric.

#include <expected>
#include <utility>

#include "mad/transport.h"

namespace smd::umad {

/// Given back when it dies, and by the kernel if we do.
class IsSm {
 public:
  /// EBUSY: another SM holds it on this port. Never blocks.
  static std::expected<IsSm, mad::TransportError> hold(const mad::LocalPort& port);
  IsSm(IsSm&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  IsSm& operator=(IsSm&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~IsSm();

 private:
  explicit IsSm(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace smd::umad
