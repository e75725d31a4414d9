// SPDX-License-Identifier: Apache-2.0
// Requests whose tries the caller sends, one by one. They share transaction numbers, the wheel and the
// counters with all others, and take no part in windows and measured times.
#include <algorithm>

#include "mad/base/bug.h"
#include "mad/transactions/transactions.h"

namespace smd::mad {
namespace {

/// Free slots below which there are more of them: a slot has to rest before its numbers are used again.
constexpr std::size_t kResting = 1024;
constexpr std::size_t kMoreSlots = 4096;

}  // namespace

std::size_t Transactions::paced_room() const { return max_slots_ - slots_.size() + free_slots_.size(); }

Transactions::RequestId Transactions::open_paced(const wire::Mad& mad, const LidRoute& route, Pacer& pacer) {
  if (free_slots_.size() < kResting) add_slots(std::min(kMoreSlots, max_slots_ - slots_.size()));
  if (free_slots_.empty()) return 0;
  auto& open = make({.mad = mad, .route = route, .node = {}}, nullptr);
  open.pacer = &pacer;
  open.started = true;
  open.slot = free_slots_.pop();
  slots_[open.slot].request = &open;
  return id_of(open);
}

std::expected<void, TransportError> Transactions::try_paced(RequestId id, Duration wait,
                                                            std::chrono::milliseconds give_up) {
  auto* open = find(id);
  SMD_ASSERT(open != nullptr && open->pacer != nullptr && open->tries < kMaxTries);
  const auto now = clock_.now();
  auto& row = table_[open->row];
  if (open->tries == 0) {
    open->started_at = now;
    ++row.requests;
  }
  open->mad.set_tid(Tid{tid_of(*open, open->tries++)});
  wheel_.remove(*open);
  wheel_.add(*open, now + wait);
  auto sent = transport_.send(open->mad.bytes(), open->route, give_up);
  if (!sent) {
    ++counted_.send_failed;
    return sent;
  }
  ++row.sent;
  if (open->tries > 1) ++row.retries;
  return {};
}

void Transactions::drop_paced(RequestId id) {
  auto* open = find(id);
  if (open == nullptr || open->pacer == nullptr) return;
  ++table_[open->row].unanswered;
  end_paced(*open, Ending::given_up);
}

bool Transactions::answered(Tid tid) {
  const auto number = static_cast<std::uint32_t>(tid.value());
  auto* open = open_of(number);
  if (open == nullptr || open->pacer == nullptr || (number & (kMaxTries - 1)) >= open->tries) {
    ++counted_.unknown;
    return false;
  }
  answer_paced(*open);
  return true;
}

void Transactions::answer_paced(OpenRequest& open) {
  ++table_[open.row].answered;
  const auto id = id_of(open);
  auto& pacer = *open.pacer;
  end_paced(open, Ending::answered);
  pacer.on_answer(id);
}

void Transactions::end_paced(OpenRequest& open, Ending ending) {
  wheel_.remove(open);
  free_slot(open, ending);
  recycle(open);
}

void Transactions::add_slots(std::size_t count) {
  slots_.reserve(slots_.size() + count);
  for (; count > 0; --count) {
    free_slots_.push(static_cast<std::uint16_t>(slots_.size()));
    slots_.emplace_back().generation = first_generation_;
  }
}

}  // namespace smd::mad
