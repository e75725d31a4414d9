// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which ports have left and which do not answer: a sweep finds neither.

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "smd/sa/directory.h"

namespace smd::sa {

/// A port has left when the switch that it was cabled to shows that the link is down. It is silent while its
/// link is up and it does not answer, while its switch cannot be seen, and while it is not known where it
/// was. A port that is silent for longer than the grace counts as gone. Of one process, used by one thread at
/// a time.
class Liveness {
 public:
  /// Notes where ports are now; to be called after each sweep.
  void look(const Directory& directory);
  /// Of a port that is not in `directory`. Times are in seconds.
  bool has_left(const Directory& directory, Guid port, std::int64_t now, std::int64_t grace);
  /// Has left, as the last has_left() found, and has not come back.
  bool is_gone(Guid port) const { return gone_.contains(port); }
  /// When the first of the silent ports counts as gone; 0: none is silent.
  std::int64_t next_end() const { return next_end_; }

 private:
  std::unordered_map<Guid, sm::PeerPort> places_;  ///< where each was last: the port at the other end
  std::unordered_map<Guid, std::int64_t> silent_since_;
  std::unordered_set<Guid> gone_;
  std::int64_t next_end_ = 0;
};

}  // namespace smd::sa
