// SPDX-License-Identifier: Apache-2.0
#pragma once
// How often one node may make us look at it: at once after quiet, more and more seldom while it goes on for
// longer than a burst.

#include <algorithm>
#include <chrono>
#include <map>

#include "mad/base/id.h"
#include "mad/clock.h"

namespace smd::sm::inline common {

class Damping {
 public:
  /// `burst`: looks in a row that keep to `first`; 1: the second one doubles it already.
  Damping(mad::Duration first, mad::Duration longest, unsigned burst = 1)
      : first_(first), longest_(std::max(first, longest)), burst_(burst) {}

  /// The earliest time of the next look at the node.
  mad::TimePoint due(Guid node) const {
    const auto it = seen_.find(node);
    return it == seen_.end() ? mad::TimePoint{} : it->second.last + it->second.window;
  }
  /// It is being looked at. After a burst of looks each one that follows soon upon the last doubles the time
  /// to the next.
  void looked(Guid node, mad::TimePoint now) {
    const auto [it, is_new] = seen_.try_emplace(node, Seen{now, first_});
    if (!is_new) {
      auto& seen = it->second;
      const bool soon = now - seen.last < 4 * seen.window;
      if (!soon) seen = {now, first_};
      if (soon && ++seen.looks > burst_) seen.window = std::min(2 * seen.window, longest_);
      seen.last = now;
    }
    std::erase_if(seen_, [&](const auto& entry) { return now - entry.second.last > 4 * longest_; });
  }

 private:
  struct Seen {
    mad::TimePoint last;
    mad::Duration window;
    unsigned looks = 1;
  };
  mad::Duration first_, longest_;
  unsigned burst_;
  std::map<Guid, Seen> seen_;
};

}  // namespace smd::sm::inline common
