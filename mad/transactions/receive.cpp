// SPDX-License-Identifier: Apache-2.0
// What comes from the wire: any bytes at all, until they are matched to something that was asked.
#include <utility>

#include "mad/transactions/transactions.h"

namespace smd::mad {
namespace {

/// Tries that follow each other at once because the lower side says that the one before is lost. Only an
/// emulation says so before a try's time is over; where much is lost it does so many times.
constexpr unsigned kHurried = 8;

}  // namespace

void Transactions::receive(std::span<Received> batch) {
  const auto now = clock_.now();
  for (auto& received : batch) receive_one(received, now);
  pump();
}

void Transactions::receive_one(Received& received, TimePoint now) {
  const bool lost = received.error != 0;  // a send of ours that the lower side gave up
  if (lost) ++counted_.send_failed;
  const auto mad = wire::Smp::from_bytes(received.bytes);
  if (!mad) {
    counted_.malformed += lost ? 0 : 1;
    return;
  }
  if (!lost && !wire::is_response(mad->method())) {
    ++(intake_.take(std::move(received), now) ? counted_.unsolicited : counted_.unsolicited_dropped);
    return;
  }
  // Only the lower half of the transaction is ours, the kernel puts its agent's number into the upper.
  const auto tid = static_cast<std::uint32_t>(mad->tid().value());
  const auto attempt = tid & (kMaxTries - 1);
  auto& slot = slots_[tid >> kTryBits & (kSlots - 1)];
  auto* open = slot.request;
  const bool ours = open != nullptr && slot.generation == tid >> (kTryBits + kSlotBits);
  if (lost) {  // nobody will answer the last try: its time need not be waited out
    const bool last = ours && attempt + 1 == open->tries && !open->backing_off && transport_.room() > 0 &&
                      open->single_try == Duration::zero();
    if (!last || open->tries >= (losses_.heavy() ? kMaxTries : kHurried)) return;
    ++table_[open->row].timeouts;
    if (open->node != &anonymous_ && open->node->last_answer > open->started_at) losses_.lost();
    wheel_.remove(*open);
    return send_try(*open);
  }
  if (!ours) return count_stray(tid);
  const bool matches = attempt < open->tries && mad->mgmt_class() == open->mad.mgmt_class() &&
                       mad->method() == wire::response_to(open->mad.method()) &&
                       mad->attribute() == open->mad.attribute();
  if (!matches) {
    ++counted_.mismatched;
    return;
  }
  answer(*open, attempt, *mad, now);
}

void Transactions::count_stray(std::uint32_t tid) {
  const auto& slot = slots_[tid >> kTryBits & (kSlots - 1)];
  const auto before = (slot.generation - 1) & kGenerationMask;
  if (slot.last_ending == Ending::none || before != tid >> (kTryBits + kSlotBits)) {
    ++counted_.unknown;
    return;
  }
  auto& row = table_[slot.last_row];
  ++(slot.last_ending == Ending::answered ? row.duplicate : row.late);
}

void Transactions::answer(OpenRequest& open, unsigned attempt, const wire::Smp& mad, TimePoint now) {
  measure(open, attempt, now);
  auto& row = table_[open.row];
  const auto status = mad.status();
  if ((status & wire::kStatusBusy) != 0) {
    ++row.busy;
    leave_window(open);
    // The try's own resend time is the back-off.
    if (open.tries <= policy_.retries && open.single_try == Duration::zero()) {
      open.backing_off = true;
      return;
    }
  }
  ++row.answered;
  if (status == 0) return end(open, Ending::answered, mad, Deliver::now);
  ++row.refused;
  auto error = error_of(open, Fault::refused);
  error.status = status;
  error.answer = std::make_shared<const wire::Smp>(mad);
  end(open, Ending::answered, std::unexpected(std::move(error)), Deliver::now);
}

void Transactions::measure(OpenRequest& open, unsigned attempt, TimePoint now) {
  auto& node = *open.node;
  const auto* path = std::get_if<DirectedPath>(&open.route);
  if (path == nullptr || path->hops() != 0) {  // nothing is lost on the way to ourselves
    // Tries to a node that answered others meanwhile have been counted when their time was over.
    const bool counted = &node != &anonymous_ && node.last_answer > open.started_at;
    losses_.answered(counted ? 0 : open.rounds * kMaxTries + attempt);
    answer_time_.measured(now - open.sent_at[attempt]);
  }
  if (&node != &anonymous_) {
    node.answer_time.measured(now - open.sent_at[attempt]);
    node.last_answer = now;
  }
  if (open.tries == 1) {
    window_.answered();
    node.window.answered();
  } else if (attempt > 0 &&
             !losses_.heavy()) {  // tries before it were lost, though the node is alive: too much on the way
    window_.lost(now, policy_.min_timeout);
  }
}

}  // namespace smd::mad
