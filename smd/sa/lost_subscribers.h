// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ports that lost subscriptions because reports were not answered: when their clients are asked to register
// again.

#include <chrono>
#include <map>
#include <span>
#include <vector>

#include "mad/base/id.h"
#include "mad/clock.h"
#include "smd/base/damping.h"

namespace smd::sa {

/// A port is asked at once, and until it answers again: after 1, 2, 4 ... 60 s, and as soon as something
/// comes from it. One that loses its subscriptions again soon after it was asked waits for 1 min, 2 min ... 1
/// h, because a program may subscribe and never answer. A value of one thread.
class LostSubscribers {
 public:
  /// The port has lost its subscriptions; ignored where that is known.
  void lost(Guid port, mad::TimePoint now);
  /// Something has come from the port: it is due soon. Ignored for other ports.
  void heard(Guid port, mad::TimePoint now);
  /// These are to be asked now, `most` at most. They are due again later unless asked() comes.
  std::vector<Guid> due(mad::TimePoint now, std::size_t most);
  /// These were asked and have confirmed it.
  void asked(std::span<const Guid> ports, mad::TimePoint now);
  /// They are asked for another reason, or are gone.
  void forget(std::span<const Guid> ports);
  /// All that were not asked yet but `due`, ascending.
  std::vector<Guid> ports_except(std::span<const Guid> due) const;
  bool empty() const { return ports_.empty(); }
  void clear() { ports_.clear(); }  ///< their pace is kept

 private:
  static constexpr mad::Duration kFirst = std::chrono::seconds(1), kLongest = std::chrono::minutes(1);
  struct Wait {
    mad::TimePoint next{}, last{};  ///< last: when it was due the last time
    mad::Duration wait = kFirst;
  };
  std::map<Guid, Wait> ports_;
  sm::Damping pace_{std::chrono::minutes(1), std::chrono::hours(1)};  ///< of ports that were asked
};

}  // namespace smd::sa
