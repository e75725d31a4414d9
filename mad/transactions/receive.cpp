// SPDX-License-Identifier: Apache-2.0
// What comes from the wire: any bytes at all, until they are matched to something that was asked.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "mad/transactions/transactions.h"
#include "mad/wire/node.h"

namespace smd::mad {
namespace {

/// Tries that follow each other at once because the lower side says that the one before is lost. Only an
/// emulation says so before a try's time is over; where much is lost it does so many times.
constexpr unsigned kHurried = 8;
/// Places that are known to answer late; of more than that some are found to be slow anew.
constexpr std::size_t kSlowPlaces = 256;

/// GUID of the node that has answered at a place where no node was known; 0 if it does not say.
Guid told_by(const wire::Mad& mad) {
  const bool tells = wire::is_smp(mad.mgmt_class()) && mad.attribute() == wire::NodeInfo::kAttribute;
  return tells && mad.status() == 0 ? mad.get<wire::NodeInfo>().node : Guid{};
}

}  // namespace

void Transactions::receive(std::span<Received> batch) {
  const auto now = clock_.now();
  for (auto& received : batch) receive_one(received, now);
  pump();
}

void Transactions::receive_one(Received& received, TimePoint now) {
  const bool lost = received.error != 0;  // a send of ours that the lower side gave up
  if (lost) ++counted_.send_failed;
  auto mad = wire::Mad::from_bytes(received.bytes);
  if (!mad && !lost) mad = short_answer(received.bytes);
  if (!mad) {
    counted_.malformed += lost ? 0 : 1;
    return;
  }
  if (!lost && !wire::is_answer(mad->method())) {
    ++(intake_.take(std::move(received), now) ? counted_.unsolicited : counted_.unsolicited_dropped);
    return;
  }
  // Only the lower half of the transaction is ours, the kernel puts its agent's number into the upper.
  const auto tid = static_cast<std::uint32_t>(mad->tid().value());
  const auto attempt = tid & (kMaxTries - 1);
  auto* open = open_of(tid);
  if (lost) return receive_lost(received, open, attempt);
  if (open == nullptr) return count_stray(tid, *mad, now);
  const bool matches = attempt < open->tries && mad->mgmt_class() == open->mad.mgmt_class() &&
                       mad->method() == wire::response_to(open->mad.method()) &&
                       mad->attribute() == open->mad.attribute();
  if (!matches) {
    ++counted_.mismatched;
    return;
  }
  if (open->whole) *open->whole = std::move(received.bytes);
  answer(*open, attempt, *mad, now);
}

/// An answer by RMPP of less than a MAD, with zeros behind it; nothing where no open request takes such.
std::optional<wire::Mad> Transactions::short_answer(std::span<const std::uint8_t> bytes) const {
  const auto header = wire::decode<wire::MadHeader>(bytes);
  const auto* open = header ? open_of(static_cast<std::uint32_t>(header->tid.value())) : nullptr;
  if (open == nullptr || !open->whole) return std::nullopt;
  wire::Mad mad;
  std::ranges::copy(bytes, mad.bytes().begin());
  return mad;
}

/// No answer to the last try will come: its time need not be waited out. `open`: the request that it was a
/// try of, null where that has ended.
void Transactions::receive_lost(const Received& received, OpenRequest* open, unsigned attempt) {
  if (limited() && received.error == ETIMEDOUT) return;  // as we have told the kernel
  const bool last = open != nullptr && open->pacer == nullptr && attempt + 1 == open->tries &&
                    !open->backing_off && transport_.room() > 0 && open->single_try == Duration::zero();
  if (!last || open->tries >= (losses_.heavy() ? kMaxTries : kHurried)) return;
  ++table_[open->row].timeouts;
  ++open->hurried;
  if (open->node != &anonymous_ && open->node->last_answer > open->started_at) losses_.lost();
  wheel_.remove(*open);
  send_try(*open);
}

/// Null where there are not so many.
const Transactions::Slot* Transactions::slot_of(std::uint32_t tid) const {
  const auto index = tid >> kTryBits & (max_slots_ - 1);
  return index < slots_.size() ? &slots_[index] : nullptr;
}

/// The request that it is a transaction of; null where none is open.
OpenRequest* Transactions::open_of(std::uint32_t tid) const {
  const auto* slot = slot_of(tid);
  return slot != nullptr && slot->generation == tid >> (kTryBits + slot_bits_) ? slot->request : nullptr;
}

void Transactions::count_stray(std::uint32_t tid, const wire::Mad& mad, TimePoint now) {
  const auto* slot = slot_of(tid);
  const auto before = slot != nullptr ? (slot->generation - 1) & generation_mask_ : 0;
  if (slot == nullptr || slot->last_ending == Ending::none || before != tid >> (kTryBits + slot_bits_)) {
    ++counted_.unknown;
    return;
  }
  auto& row = table_[slot->last_row];
  ++(slot->last_ending == Ending::answered ? row.duplicate : row.late);
  if (slot->last_ending == Ending::given_up) late(*slot, mad, now);
}

/// Slow, not dead: its next request is waited for longer.
void Transactions::late(const Slot& slot, const wire::Mad& mad, TimePoint now) {
  const auto took = now - slot.last_start;
  losses_.heard();
  if (took > patience_ / 2) note_slow(slot.last_place);
  const auto found = nodes_.find(slot.last_node != Guid{} ? slot.last_node : told_by(mad));
  if (found == nodes_.end()) return;
  auto& node = found->second;
  node.last_answer = now;
  unanswered_.answered(found->first);
  note_time(node, took);
}

void Transactions::note_time(NodeState& node, Duration sample) {
  node.answer_time.measured(sample);
  if (sample > patience_ / 2) node.slow = true;
  if (node.answer_time.smoothed() < policy_.timeout) node.slow = false;
}

void Transactions::note_slow(std::uint64_t place) {
  if (place == 0) return;
  slow_places_.insert(place);
  if (slow_places_.size() > kSlowPlaces) slow_places_.erase(slow_places_.begin());
}

void Transactions::answer(OpenRequest& open, unsigned attempt, const wire::Mad& mad, TimePoint now) {
  if (open.pacer != nullptr) return answer_paced(open);
  measure(open, attempt, mad, now);
  if (const auto held = retries_.find(open.held_until[attempt]); attempt > 0 && held != retries_.end())
    retries_.erase(held);
  auto& row = table_[open.row];
  const auto status = mad.status();
  if ((status & wire::kStatusBusy) != 0) {
    ++row.busy;
    leave_window(open);
    // The try's own resend time is the back-off.
    if (planned(open) <= policy_.retries && open.single_try == Duration::zero()) {
      open.backing_off = true;
      return;
    }
  }
  if (status != 0) return end_refused(open, status, std::make_shared<const wire::Mad>(mad));
  ++row.answered;
  end(open, Ending::answered, mad, Deliver::now);
}

void Transactions::measure(OpenRequest& open, unsigned attempt, const wire::Mad& mad, TimePoint now) {
  auto& node = *open.node;
  if (!open.is_to_ourselves()) {
    // Tries to a node that answered others meanwhile have been counted when their time was over.
    const bool counted = &node != &anonymous_ && node.last_answer > open.started_at;
    losses_.answered(counted ? 0 : open.rounds * kMaxTries + attempt);
    answer_time_.measured(now - open.sent_at[attempt]);
  }
  const auto took = now - open.sent_at[attempt];
  if (&node != &anonymous_) {
    note_time(node, took);
    const auto operation = operation_of(open.mad);
    node.hear(operation, now);
    unanswered_.answered(open.guid, operation);
  } else if (const auto guid = told_by(mad); guid != Guid{}) {
    note_time(state_of(guid), took);
    unanswered_.answered(guid);
    if (took <= patience_ / 2) slow_places_.erase(open.place);
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
