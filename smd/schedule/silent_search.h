// SPDX-License-Identifier: Apache-2.0
#pragma once
// When nodes that fell silent in a sweep are looked for: they may only have been behind a link that went down
// meanwhile, so soon, and then more and more seldom until light sweeps alone look for them.

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "mad/base/id.h"
#include "mad/clock.h"

namespace smd::sm::inline scheduling {

class SilentSearch {
 public:
  static constexpr mad::Duration kFirst = std::chrono::milliseconds(100);

  /// A sweep has ended in which `silent` nodes did not answer. Returns how long to wait for the next light
  /// sweep; nothing: all were silent before.
  std::optional<mad::Duration> swept(std::set<Guid> silent) {
    const bool news = !std::ranges::includes(silent_, silent);
    silent_ = std::move(silent);
    if (!news) return std::nullopt;
    return wait_ = kFirst;
  }
  /// A light sweep has looked for them. Returns the same; nothing: as long as `interval`, which comes anyway.
  std::optional<mad::Duration> looked(mad::Duration interval) {
    if (wait_ >= interval) return std::nullopt;
    return wait_ *= 2;
  }

 private:
  std::set<Guid> silent_;  ///< in the last sweep
  mad::Duration wait_{};   ///< between two looks
};

}  // namespace smd::sm::inline scheduling
