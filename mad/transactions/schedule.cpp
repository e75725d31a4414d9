// SPDX-License-Identifier: Apache-2.0
// When the tries of a request go out, and when it ends.
#include <algorithm>

#include "mad/transactions/transactions.h"

namespace smd::mad {
namespace {

/// So many open requests are no load for any node.
constexpr std::size_t kFew = 48;
/// The kernel must not give up before we do.
constexpr Duration kKernelMargin = std::chrono::milliseconds(20);
/// First tries whose answer the kernel takes longer than their request lasts: a few of the places that it has
/// (an eighth at most), enough to tell slow nodes from dead ones.
constexpr std::size_t kHeld = 32;
/// Between two rounds of tries where each was known to be lost at once.
constexpr Duration kBreath = std::chrono::milliseconds(2);

}  // namespace

bool Transactions::is_slow(const OpenRequest& open) const {
  if (open.node != &anonymous_) return open.node->slow;
  return open.place != 0 && slow_places_.contains(open.place);
}

/// From the first try to the end, in every mode.
Duration Transactions::life_of(const OpenRequest& open) const {
  if (open.single_try != Duration::zero()) return open.single_try;
  if (open.life != Duration::zero()) return open.life;
  return is_slow(open) ? std::max(patience_, policy_.slow_timeout) : patience_;
}

Duration Transactions::soon(Guid node) const {
  const auto found = nodes_.find(node);
  const auto least = losses_.heavy() ? patience_ / 4 : patience_ / 8;
  if (found == nodes_.end() || !found->second.answer_time.known()) return least;
  return found->second.answer_time.resend(least, std::max(patience_, policy_.slow_timeout));
}

Duration Transactions::left_of(const OpenRequest& open, TimePoint now) const {
  return std::max(open.started_at + life_of(open) + open.delayed - now, Duration::zero());
}

/// Resend time while many requests are lost: lossy_timeout while few requests are open, else by the answer
/// times of the node, else by those of the fabric. These were measured with many requests open, whose answers
/// wait for each other.
Duration Transactions::lossy_wait(const OpenRequest& open) const {
  if (open_ <= kFew && answer_time_.known()) return policy_.lossy_timeout;
  const auto& own = open.node->answer_time;
  if (own.known()) return own.resend(policy_.lossy_timeout, patience_ / 2);
  return answer_time_.resend(policy_.lossy_timeout, patience_ / 2) *
         (1U << std::min<unsigned>(open.rounds, 2));
}

/// Tries by the clock: those that followed at once upon one that was lost do not count.
unsigned Transactions::planned(const OpenRequest& open) const {
  return open.rounds * kMaxTries + open.tries - open.hurried;
}

/// Until the next try, or the end: as soon as the node should have answered, twice as long each time; evenly
/// where that time is not known. At least two tries fit in.
Duration Transactions::wait_of(const OpenRequest& open, TimePoint now) const {
  const auto left = left_of(open, now);
  if (open.single_try != Duration::zero()) return left;
  if (losses_.heavy()) {
    // All tries of this round are known to be lost: the next round need not wait for their answers.
    const bool over = open.tries == kMaxTries && open.hurried + 1U >= kMaxTries;
    return std::min(over ? kBreath : lossy_wait(open), left);
  }
  const auto sent = planned(open);
  if (sent > policy_.retries) return left;
  const auto& own = open.node->answer_time;
  if (!own.known()) return left / (policy_.retries + 2 - sent);
  const auto first = own.resend(policy_.min_timeout, life_of(open) / 2);
  return std::min(first * (1U << std::min(sent - 1, 16U)), left);
}

/// What the kernel is told. It drops answers that come later, and its places are few: tries end with their
/// request. Only the first one of a node whose answer time is not known is held longer, so that a slow node
/// is known the next time.
Duration Transactions::give_up_after(OpenRequest& open, TimePoint now) {
  const auto left = left_of(open, now) + kKernelMargin;
  const bool first = open.tries == 1 && open.rounds == 0 && open.single_try == Duration::zero();
  const auto hold = policy_.slow_timeout + kKernelMargin;
  const bool long_enough = !first || open.node->answer_time.known() || hold <= left;
  if (long_enough || (limited() && losses_.heavy())) return hold_retry(open, left);
  while (!held_.empty() && held_.front() <= now) held_.pop_front();
  if (held_.size() >= std::min(kHeld, transport_.places() / 8)) return left;
  held_.push_back(now + hold);
  open.held = true;
  return hold;
}

/// After kMaxTries the slot takes another generation: tries before it are over then.
bool Transactions::may_try(OpenRequest& open) {
  if (open.single_try != Duration::zero()) return false;
  if (!losses_.heavy()) return planned(open) <= policy_.retries && open.tries < kMaxTries;
  if (open.tries < kMaxTries) return true;
  auto& slot = slots_[open.slot];
  slot.last_ending = Ending::given_up;
  slot.last_row = open.row;
  slot.last_node = Guid{};
  slot.last_place = 0;
  slot.generation = (slot.generation + 1) & generation_mask_;
  open.tries = 0;
  open.hurried = 0;
  ++open.rounds;
  return true;
}

}  // namespace smd::mad
