// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/packets/rmpp_transfer.h"

namespace smd::sim {

bool RmppTransfer::send(Random& random, std::uint32_t loss) {
  bool progress = false;
  // send_next_seg() goes with the first packet after a time-out, whatever the window is.
  while (!acknowledged() && sent_ < segments_ && sent_ < window_end_) {
    ++sent_;
    ++packets_;
    if (random.happens(loss)) continue;
    if (!arrives(sent_)) continue;
    answered_ = joined_;
    if (random.happens(loss)) continue;
    progress |= take_acknowledgement();
  }
  return progress;
}

/// start_rmpp() and continue_rmpp().
bool RmppTransfer::arrives(std::size_t segment) {
  if (joined_ == 0 && segment != 1) return false;  // no transfer is known
  if (segment > taken_up_to_) return false;
  if (complete_ || segment <= answered_) return true;
  if (arrived_[segment]) return false;
  arrived_[segment] = true;
  if (segment != joined_ + 1) return false;
  while (joined_ < segments_ && arrived_[joined_ + 1]) ++joined_;
  complete_ = joined_ == segments_;
  const bool full = joined_ == taken_up_to_;
  if (!complete_ && full) taken_up_to_ += kWindow;
  return complete_ || full;
}

/// process_rmpp_ack().
bool RmppTransfer::take_acknowledgement() {
  if (taken_up_to_ < window_end_ || joined_ < acknowledged_) return false;  // an old one
  const bool progress = joined_ > acknowledged_;
  acknowledged_ = joined_;
  window_end_ = taken_up_to_;
  if (sent_ < acknowledged_) sent_ = acknowledged_;
  return progress;
}

}  // namespace smd::sim
