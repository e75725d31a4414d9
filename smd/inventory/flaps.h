// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links that go down again and again: reported once a minute, not each time.

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "mad/clock.h"
#include "smd/inventory/update.h"

namespace smd::sm::inline inventory {

/// A link that was down this often within kFlapWindow.
struct Flapping {
  LinkEnd end, peer;
  LinkRate rate;
  std::size_t downs = 0;
  friend bool operator==(const Flapping&, const Flapping&) = default;
};

/// A link that is down kFlapDowns times within kFlapWindow flaps, until it is quiet for as long.
inline constexpr std::size_t kFlapDowns = 5;
inline constexpr auto kFlapWindow = std::chrono::seconds(60);

/// Memory: links that were down within the last minute.
class Flaps {
 public:
  /// Counts the links of `changes` that were down, and takes out of it what flapping links, and nodes behind
  /// them, did. Returns the links that flap from now on, and those that have done so for another minute.
  std::vector<Flapping> sift(Changes& changes, mad::TimePoint now);
  /// The last changes of links that are quiet again, to be reported now.
  Changes quiet(mad::TimePoint now);
  bool empty() const { return links_.empty(); }

 private:
  struct Link {
    std::deque<mad::TimePoint> downs;    ///< within the window, at most kMostCounted
    std::optional<mad::TimePoint> told;  ///< flapping: when that was said last
    std::optional<LinkChange> down, up;  ///< the last one that was not told
    std::optional<NodeChange> gone, fresh;
  };
  static constexpr std::size_t kMostCounted = 1000;
  void count(const LinkChange& change, mad::TimePoint now);

  std::map<LinkEnd, Link> links_;  ///< by LinkChange::end
};

}  // namespace smd::sm::inline inventory
