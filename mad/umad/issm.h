// SPDX-License-Identifier: Apache-2.0
#pragma once
// While this is held the port says IsSM to the fabric.

#include <expected>
#include <utility>

#include "mad/base/descriptor.h"
#include "mad/transport.h"

namespace smd::umad {

/// Given back when it dies, and by the kernel if we do.
class IsSm {
 public:
  /// EBUSY: another SM holds it on this port. Never blocks.
  static std::expected<IsSm, mad::TransportError> hold(const mad::LocalPort& port);

 private:
  explicit IsSm(base::Descriptor device) : device_(std::move(device)) {}
  base::Descriptor device_;
};

}  // namespace smd::umad
