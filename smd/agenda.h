// SPDX-License-Identifier: Apache-2.0
#pragma once
// All that asks for work, merged into one latest value of each kind: a thousand traps make one sweep.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "mad/base/id.h"
#include "mad/suspend.h"

namespace smd::sm {

/// Ordered by strength. Each kind waits for itself, so that none keeps another from being done; only a heavy
/// sweep, which looks at every node, does what was asked of parts as well. Lane tables are read when nothing
/// else is due.
enum class Work : std::uint8_t { none, lanes, multicast, trap_gap, retraining, light, incremental, heavy };

/// What an operator may ask for.
enum class Resweep : std::uint8_t {
  light,
  heavy,
  converge,  ///< tables go over to freshly made ones, in steps
};

struct Asked {
  Work work = Work::none;
  std::string reason;       ///< of the first that asked for it
  std::set<Guid> suspects;  ///< incremental: nodes that are to be looked at again
};

/// On the io_context's thread.
class Agenda {
 public:
  void add(Work work, std::string reason) {
    auto& first = reasons_[static_cast<std::size_t>(work)];
    if (!first) first = std::move(reason);
    waiting_.wake_all();
  }
  void look_at(Guid node, std::string reason) {
    suspects_.insert(node);
    add(Work::incremental, std::move(reason));
  }
  bool asks(Work work) const { return reasons_[static_cast<std::size_t>(work)].has_value(); }
  /// A sweep of the fabric or of parts of it.
  bool asks_sweep() const { return asks(Work::heavy) || asks(Work::incremental); }
  Work strongest() const {
    for (std::size_t i = kKinds; i-- > 1;) {
      if (reasons_[i]) return static_cast<Work>(i);
    }
    return Work::none;
  }
  const std::set<Guid>& suspects() const { return suspects_; }
  Asked take(Work work) {
    Asked taken{.work = work, .reason = {}, .suspects = {}};
    auto& reason = reasons_[static_cast<std::size_t>(work)];
    if (reason) taken.reason = std::move(*reason);
    reason.reset();
    if (work != Work::incremental && work != Work::heavy) return taken;
    taken.suspects = std::exchange(suspects_, {});
    reasons_[static_cast<std::size_t>(Work::incremental)].reset();
    return taken;
  }
  /// Until something is asked, or wake(); false when cancelled.
  asio::awaitable<bool> changed() { return waiting_.wait(); }
  void wake() { waiting_.wake_all(); }

 private:
  static constexpr std::size_t kKinds = 8;
  std::array<std::optional<std::string>, kKinds> reasons_;  ///< by Work
  std::set<Guid> suspects_;
  mad::WaitList waiting_;
};

}  // namespace smd::sm
