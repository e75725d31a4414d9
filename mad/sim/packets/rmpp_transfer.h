// SPDX-License-Identifier: Apache-2.0
#pragma once
// A MAD on its way by RMPP between two Linux kernels: segments, acknowledgements, windows, and what becomes
// of it where some of them are lost (drivers/infiniband/core/mad_rmpp.c).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mad/sim/state/random.h"

namespace smd::sim {

/// Both ends in one. Packets take no time; the caller has the clock: the sender's time-out calls resend().
class RmppTransfer {
 public:
  /// Segments that the receiver takes before it acknowledges: an eighth of its receive queue of 512.
  static constexpr std::size_t kWindow = 64;

  /// `segments`: of the whole transfer, numbered from 1.
  explicit RmppTransfer(std::size_t segments) : segments_(segments), arrived_(segments + 1) {}

  /// Sends until each packet of the window is sent and the sender has to wait. `loss`: of 2^32, of segments
  /// and acknowledgements alike. True: an acknowledgement of something new has come, which resets time-out
  /// and retries.
  bool send(Random& random, std::uint32_t loss);
  /// After a time-out: from the first segment that is not acknowledged.
  bool resend(Random& random, std::uint32_t loss) {
    sent_ = acknowledged_;
    return send(random, loss);
  }

  bool received() const { return complete_; }                       ///< the receiver has all
  bool acknowledged() const { return acknowledged_ == segments_; }  ///< and the sender knows
  std::size_t packets() const { return packets_; }                  ///< segments sent, resends counted

 private:
  /// True: it is answered by an acknowledgement.
  bool arrives(std::size_t segment);
  bool take_acknowledgement();

  std::size_t segments_;
  // The sender's.
  std::size_t sent_ = 0, acknowledged_ = 0, window_end_ = 1, packets_ = 0;
  // The receiver's. `joined_`: up to there without a gap.
  std::vector<bool> arrived_;
  std::size_t joined_ = 0, answered_ = 0, taken_up_to_ = 1;
  bool complete_ = false;
};

}  // namespace smd::sim
