// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts that go on between two Snapshots, also on a fabric in which nothing changes.

#include <cstdint>

#include "mad/base/published.h"
#include "smd/schedule/violations.h"

namespace smd::sm::inline snapshots {

/// Since the start of the manager.
struct Activity {
  std::uint64_t traps = 0;  ///< generic ones
  std::uint64_t smps = 0;   ///< Gets and Sets that were sent
  std::uint64_t smp_timeouts = 0;
  ViolationCounts violations;
};
using PublishedActivity = base::Published<Activity>;

}  // namespace smd::sm::inline snapshots
