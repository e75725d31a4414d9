// SPDX-License-Identifier: Apache-2.0
#pragma once
// When Sets that failed, those skipped after them, and those held since a standstill are planned again: soon,
// for the same nodes each time later, and not sooner than the sweep took. Nodes that refuse or stay silent
// must not keep the manager busy.

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "mad/base/id.h"
#include "mad/clock.h"

namespace smd::sm::inline scheduling {

class RepairWait {
 public:
  static constexpr mad::Duration kFirst = std::chrono::milliseconds(50);
  static constexpr mad::Duration kLongest = std::chrono::minutes(5);

  /// A sweep that took `took` has ended at `now`, and Sets are left; they failed at `nodes`.
  void failed(std::set<Guid> nodes, mad::TimePoint now, mad::Duration took) {
    const bool same = wait_ != mad::Duration{} && covers(nodes);
    wait_ = same ? std::min(std::max(2 * wait_, took), kLongest) : kFirst;
    nodes_ = std::move(nodes);
    next_ = now + wait_;
  }
  /// A sweep has left no Set.
  void succeeded() {
    nodes_.clear();
    wait_ = {};
  }
  /// A sweep begins that plans them again.
  void begun() { next_.reset(); }

  /// When they are to be planned again; nothing: none is left, or begun() was called.
  std::optional<mad::TimePoint> next() const { return next_; }
  const std::set<Guid>& nodes() const { return nodes_; }  ///< of the last failed()
  /// All of `nodes`, ascending, have failed before.
  bool covers(const std::set<Guid>& nodes) const { return std::ranges::includes(nodes_, nodes); }

 private:
  std::optional<mad::TimePoint> next_;
  mad::Duration wait_{};  ///< before next_
  std::set<Guid> nodes_;
};

}  // namespace smd::sm::inline scheduling
