// SPDX-License-Identifier: Apache-2.0
// A kernel with flow control sends so many requests and keeps the others unsent. We leave it no more than it
// sends, and tries after the first, most of which go to nodes that are silent, at most a quarter of that.
#include <algorithm>
#include <limits>

#include "mad/transactions/transactions.h"

namespace smd::mad {
namespace {

/// Between two looks whether a request may go on that had one try only.
constexpr Duration kLook = std::chrono::milliseconds(50);
/// Where much is lost the kernel takes answers so much longer than we wait for them.
constexpr Duration kLossyHold = std::chrono::milliseconds(4);
/// A node is not silent before so many tries were sent.
constexpr unsigned kEnoughTries = 2;

}  // namespace

bool Transactions::limited() const { return transport_.places() != std::numeric_limits<std::size_t>::max(); }

/// Where much is lost on the way most tries are not the first.
std::size_t Transactions::retry_places() const {
  const auto all = transport_.places();
  return std::max<std::size_t>(losses_.heavy() ? all / 4 * 3 : all / 4, 1);
}

bool Transactions::has_retry_place() {
  if (!limited()) return true;
  retries_.erase(retries_.begin(), retries_.upper_bound(clock_.now()));
  return retries_.size() < retry_places() && transport_.room() > 0;
}

/// A request that takes longer than answers usually do leaves the window, long before it is sent again.
Duration Transactions::window_time(const OpenRequest& open) const {
  if (!open.in_window || !answer_time_.known()) return patience_;
  return answer_time_.resend(policy_.min_timeout, patience_);
}

/// Late answers count as long as there are places for that; the first try of a request is open for them to
/// its end. Requests that have left the window wait for nodes that may be silent.
Duration Transactions::hold_retry(const OpenRequest& open, Duration left) const {
  if (!limited()) return left;
  if (losses_.heavy()) return std::min(left, lossy_wait(open) + kLossyHold);
  const bool crowded = open.tries > 1 && (open_ - in_flight_) * policy_.retries > retry_places();
  return crowded ? std::min(left, policy_.timeout) : left;
}

void Transactions::note_held(OpenRequest& open, unsigned attempt, TimePoint until) {
  if (attempt == 0 || !limited()) return;
  open.held_until[attempt] = until;
  retries_.insert(until);
}

void Transactions::postpone(OpenRequest& open, TimePoint now) {
  open.postponed = true;
  open.due = {};
  postponed_.push_back(&open);
  wheel_.add(open, now + std::max(left_of(open, now), kLook));
}

void Transactions::send_postponed() {
  while (!postponed_.empty() && has_retry_place()) {
    auto& open = *postponed_.front();
    postponed_.pop_front();
    open.postponed = false;
    wheel_.remove(open);
    const auto least = std::min(patience_ / 4, life_of(open));
    const auto left = left_of(open, clock_.now());
    if (left < least && planned(open) < kEnoughTries) open.delayed += least - left;
    send_try(open);
  }
}

/// Its time is over while its next try waits. True: that says nothing about the node yet.
bool Transactions::waits_on(OpenRequest& open, TimePoint now) {
  if (planned(open) < std::min(kEnoughTries, policy_.retries + 1)) {
    wheel_.add(open, now + kLook);
    return true;
  }
  forget_postponed(open);
  return false;
}

void Transactions::forget_postponed(OpenRequest& open) {
  if (open.postponed) std::erase(postponed_, &open);
  open.postponed = false;
}

}  // namespace smd::mad
