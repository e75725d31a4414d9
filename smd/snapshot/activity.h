// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts that go on between two Snapshots, also on a fabric in which nothing changes.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "mad/base/published.h"
#include "mad/base/tally.h"
#include "smd/report/sweep_summary.h"
#include "smd/schedule/trap_counts.h"
#include "smd/schedule/violations.h"

namespace smd::sm::inline snapshots {

/// What sweeps have done together.
struct SweepTotals {
  std::uint64_t sweeps = 0;
  std::map<SweepKind, double> last_ms{};  ///< how long the last one of each kind took
  friend bool operator==(const SweepTotals&, const SweepTotals&) = default;
};

/// Since the start of the manager.
struct Activity {
  /// SMPs that were not answered in time, by attribute.
  struct Timeouts {
    std::uint16_t attribute = 0;
    std::uint64_t count = 0;
  };

  std::uint64_t traps = 0;  ///< generic ones
  std::uint64_t smps = 0;   ///< Gets and Sets that were sent
  std::uint64_t smp_timeouts = 0;
  ViolationCounts violations;
  SweepTotals sweeps{};
  std::uint64_t lft_blocks = 0;                             ///< of forwarding tables, that were written
  std::shared_ptr<const std::vector<Timeouts>> timeouts{};  ///< ascending; null: none
  // These go on changing:
  std::shared_ptr<const base::Tally> smps_open{};  ///< that wait for their answer; null: not known
  std::shared_ptr<const TrapCounts> traps_by{};    ///< null: not known
};
using PublishedActivity = base::Published<Activity>;

}  // namespace smd::sm::inline snapshots
