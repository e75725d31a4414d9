// SPDX-License-Identifier: Apache-2.0
#pragma once
// All that asks for work, merged into one latest value: a thousand traps make one sweep.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "mad/base/id.h"
#include "mad/suspend.h"

namespace smd::sm {

/// Ordered: the stronger takes in the weaker; a light sweep that finds nothing sees to multicast as well.
/// Lane tables are read when nothing else is due, and asked for again after that.
enum class Work : std::uint8_t { none, lanes, multicast, light, incremental, heavy };

/// What an operator may ask for.
enum class Resweep : std::uint8_t {
  light,
  heavy,
  converge,  ///< tables go over to freshly made ones, in steps
};

struct Asked {
  Work work = Work::none;
  std::string reason;       ///< of the first that asked for work this strong
  std::set<Guid> suspects;  ///< incremental: nodes that are to be looked at again
  std::uint64_t times = 0;  ///< how many asked
};

/// On the io_context's thread.
class Agenda {
 public:
  void add(Work work, std::string reason) {
    if (work > asked_.work) asked_.reason = std::move(reason);
    asked_.work = std::max(asked_.work, work);
    ++asked_.times;
    waiting_.wake_all();
  }
  void look_at(Guid node, std::string reason) {
    asked_.suspects.insert(node);
    add(Work::incremental, std::move(reason));
  }
  const Asked& peek() const { return asked_; }
  Asked take() { return std::exchange(asked_, Asked{}); }
  /// Until something is asked, or wake(); false when cancelled.
  asio::awaitable<bool> changed() { return waiting_.wait(); }
  void wake() { waiting_.wake_all(); }

 private:
  Asked asked_;
  mad::WaitList waiting_;
};

}  // namespace smd::sm
