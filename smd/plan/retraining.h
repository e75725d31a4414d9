// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links that are taken down so that they come up within their limits. One step is under way at a time; it
// ends when all its links are in Init again, or at its time limit, after which no further step begins.

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "mad/clock.h"
#include "smd/decide/link_limits.h"
#include "smd/inventory/inventory.h"

namespace smd::sm::inline planning {

class Retraining {
 public:
  /// Hardware trains for 5 to 30 s.
  static constexpr mad::Duration kLimit = std::chrono::seconds(60);
  static constexpr mad::Duration kLook = std::chrono::milliseconds(250);
  /// A link that comes up outside its limits is taken down once more, then left as it is.
  static constexpr unsigned kTries = 2;

  struct Link {
    LinkEnd end, peer;  ///< `end` is the one that was set Down
    EnabledLinks enabled, peer_enabled;
    bool up = false;      ///< in Init again, or further
    bool within = false;  ///< and with what is enabled
  };

  bool under_way() const { return !links_.empty(); }  ///< links of a step are down, or not yet known to be up
  /// Links stayed down, or none could be taken down safely. Until reset().
  bool stopped() const { return stopped_; }
  /// No further step is begun until reset().
  void stop() { stopped_ = true; }
  /// A step has ended and its links were not looked at by a sweep since, or one is under way.
  bool pending() const { return under_way() || ended_; }
  /// A sweep has ended: the Subnet has the links of a step that has ended as they came up. pending() is false
  /// afterwards, unless a step is under way.
  void swept() { ended_ = false; }
  /// By another configuration, or as another master.
  void reset() { *this = Retraining(); }

  /// When the links of the step are to be read again; nothing where none is under way.
  std::optional<mad::TimePoint> next_look() const {
    if (!under_way()) return std::nullopt;
    return next_look_;
  }
  /// The links of the step were read at `now`: next_look() is kLook later.
  void looked(mad::TimePoint now) { next_look_ = now + kLook; }

  /// A step begins: its links count as tried once more, and have kLimit to come up.
  void begin(std::vector<Link> links, mad::TimePoint now) {
    links_ = std::move(links);
    for (const auto& link : links_) ++tries_[std::min(link.end, link.peer)];
    limit_ = now + kLimit;
    looked(now);
  }
  std::vector<Link>& links() { return links_; }
  /// All links of the step are up, or kLimit has passed.
  bool over(mad::TimePoint now) const {
    for (const auto& link : links_) {
      if (!link.up) return now >= limit_;
    }
    return true;
  }
  /// Ends the step: its links as they were last seen. pending() until swept().
  std::vector<Link> end() {
    ended_ = true;
    return std::exchange(links_, {});
  }

  /// How often the link was taken down since reset(), by either end.
  unsigned tries(const LinkEnd& a, const LinkEnd& b) const {
    const auto found = tries_.find(std::min(a, b));
    return found == tries_.end() ? 0 : found->second;
  }

 private:
  std::vector<Link> links_;
  std::map<LinkEnd, unsigned> tries_;  ///< by the smaller end
  mad::TimePoint limit_{}, next_look_{};
  bool stopped_ = false, ended_ = false;
};

}  // namespace smd::sm::inline planning
