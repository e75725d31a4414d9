// SPDX-License-Identifier: Apache-2.0
#pragma once
// What readers on other threads see: the state after the last sweep, immutable.

#include <memory>
#include <mutex>
#include <vector>

#include "mad/wire/sm_info.h"
#include "smd/decide/decided.h"
#include "smd/ha/election.h"
#include "smd/report/sweep_summary.h"
#include "smd/sweep/subnet.h"

namespace smd::sm {

struct Snapshot {
  std::shared_ptr<const Subnet> subnet;
  Decided decided;
  DecideTimes times;
  SweepSummary summary;
  wire::SmState state = wire::SmState::discovering;
  SmRank rank;  ///< ours
  /// Ports of adapters and routers that this sweep has found in Init, and brought up.
  std::vector<Guid> came_up;
};

/// The latest value, from any thread. The only lock in the daemon (libstdc++ 12's atomic<shared_ptr> is not
/// clean under TSan).
template <class T>
class Published {
 public:
  std::shared_ptr<const T> get() const {
    const std::scoped_lock lock(mutex_);
    return value_;
  }
  void set(std::shared_ptr<const T> value) {
    const std::scoped_lock lock(mutex_);
    value_.swap(value);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace smd::sm
