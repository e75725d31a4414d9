// SPDX-License-Identifier: Apache-2.0
#pragma once
// Switches that have sent a trap 128 and may not send the next one before PortInfo.SubnetTimeOut is over: a
// link that changes meanwhile shows in SwitchInfo.PortStateChange only, so they are asked.

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "mad/base/id.h"
#include "mad/clock.h"

namespace smd::sm::inline scheduling {

class TrapGap {
 public:
  /// `timeout_code`: PortInfo.SubnetTimeOut, 0 to 31: 4.096 us * 2^code.
  void reported(Guid node, mad::TimePoint now, unsigned timeout_code) {
    constexpr mad::Duration kLongest = std::chrono::seconds(5);
    const mad::Duration unit = std::chrono::nanoseconds(4096);
    const auto gap = std::min(unit * (std::int64_t{1} << std::min(timeout_code, 31U)), kLongest);
    until_[node] = now + gap + kLook;
    if (!next_) next_ = now + kLook;
  }
  /// When they are to be asked; nothing: there is none.
  std::optional<mad::TimePoint> next() const { return next_; }
  /// Switches to ask now, ascending; those whose gap is over are forgotten.
  std::set<Guid> take(mad::TimePoint now) {
    std::erase_if(until_, [&](const auto& entry) { return entry.second < now; });
    std::set<Guid> nodes;
    for (const auto& [node, until] : until_) nodes.insert(node);
    return nodes;
  }
  /// Records that a poll ended at `now` and took `took`: polls use at most a tenth of the time. next() is
  /// nothing where no switch is in its gap any more.
  void asked(mad::TimePoint now, mad::Duration took) {
    next_.reset();
    if (!until_.empty()) next_ = now + std::max<mad::Duration>(kLook, 9 * took);
  }

 private:
  static constexpr mad::Duration kLook = std::chrono::milliseconds(150);
  std::map<Guid, mad::TimePoint> until_;
  std::optional<mad::TimePoint> next_;
};

}  // namespace smd::sm::inline scheduling
