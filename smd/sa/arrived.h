// SPDX-License-Identifier: Apache-2.0
#pragma once
// A request as it has arrived.

#include "mad/clock.h"
#include "mad/transport.h"

namespace smd::sa {

struct Arrived {
  mad::Received mad{};
  mad::TimePoint at{};
};

}  // namespace smd::sa
