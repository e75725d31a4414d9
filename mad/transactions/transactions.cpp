// SPDX-License-Identifier: Apache-2.0
// The life of a request: queued, started, resent. completion.cpp and receive.cpp have the rest.
#include "mad/transactions/transactions.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <limits>
#include <utility>

#include "mad/transactions/route.h"

namespace smd::mad {
namespace {

/// Where much is lost, of as many tries as the fabric takes each request must have enough within its time.
constexpr std::uint32_t kLossyPlaces = 64;
constexpr std::uint32_t kWindowFloor = 32;
/// Of one node's window: alternative routes to it are tried side by side.
constexpr std::uint32_t kNodeFloor = 4;
/// Between looks at a transport that is full of what others sent.
constexpr Duration kLookAgain = std::chrono::milliseconds(20);

/// What the configuration cannot ask for, whatever it says.
Policy bounded(Policy policy, std::size_t places) {
  const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(kMaxOutstanding, places));
  policy.max_outstanding = std::clamp(policy.max_outstanding, 1U, most);
  policy.per_node = std::clamp(policy.per_node, 1U, policy.max_outstanding);
  policy.retries = std::min(policy.retries, kMaxTries - 1);
  policy.timeout = std::max(policy.timeout, Wheel::kTick);
  policy.min_timeout = std::max(policy.min_timeout, Wheel::kTick);
  return policy;
}

/// Nothing is wrong with the transport as such: this try is lost, the next may go.
bool passes(int error) {
  return error == EAGAIN || error == ENOBUFS || error == ENOMEM || error == EINTR || error == ETIMEDOUT;
}

Duration patience_of(const Policy& policy) { return policy.timeout * (policy.retries + 1); }

/// Only SMPs have a path in themselves.
bool routable(const wire::Mad& mad, const Route& route) {
  const auto* lid_route = std::get_if<LidRoute>(&route);
  return lid_route == nullptr ? wire::is_smp(mad.mgmt_class()) : lid_route->lid.value() != 0;
}

}  // namespace

Transactions::Transactions(asio::any_io_executor executor, Clock& clock, Transport& transport, Policy policy,
                           std::uint64_t seed, Feed feed, std::size_t max_open)
    : executor_(std::move(executor)),
      clock_(clock),
      transport_(transport),
      feed_(feed),
      policy_(bounded(policy, transport.places())),
      patience_(patience_of(policy_)),
      window_(kWindowFloor, policy_.max_outstanding),
      anonymous_(
          Window(std::numeric_limits<std::uint32_t>::max(), std::numeric_limits<std::uint32_t>::max())),
      max_slots_(std::bit_floor(std::clamp<std::size_t>(max_open, kMaxOpen, kMostOpen))),
      slot_bits_(static_cast<unsigned>(std::countr_zero(max_slots_))),
      generation_mask_((1U << (32U - kTryBits - slot_bits_)) - 1),
      first_generation_(static_cast<std::uint32_t>((seed * 0x9E3779B97F4A7C15U) >> 32U) & generation_mask_),
      free_slots_(max_slots_),
      wheel_(clock, [this] { resend_due(); }),
      intake_(policy_) {
  add_slots(kMaxOpen);
  if (feed_ == Feed::transport) transport_.on_receive([this](std::span<Received> batch) { receive(batch); });
}

Transactions::~Transactions() {
  if (feed_ == Feed::transport) transport_.on_receive({});
  if (look_again_ != 0) clock_.cancel(look_again_);
}

void Transactions::set_policy(Policy policy) {
  policy_ = bounded(policy, transport_.places());
  patience_ = patience_of(policy_);
  window_.set_ceiling(policy_.max_outstanding);
  for (auto& [guid, node] : nodes_) node.window.set_ceiling(policy_.per_node);
}

Transactions::RequestId Transactions::submit(Request request, Completion done) {
  auto& open = make(std::move(request), std::move(done));
  const auto id = id_of(open);
  if (!routable(open.mad, open.route)) {
    end(open, Ending::given_up, std::unexpected(error_of(open, Fault::unroutable)), Deliver::later);
    return id;
  }
  queue(open);
  pump();
  return id;
}

OpenRequest* Transactions::find(RequestId id) {
  const auto index = static_cast<std::uint32_t>(id);
  if (index >= pool_.size()) return nullptr;
  auto& open = pool_[index];
  return open.used && open.generation == static_cast<std::uint32_t>(id >> 32U) ? &open : nullptr;
}

void Transactions::cancel(RequestId id) {
  auto* found = find(id);
  if (found == nullptr || found->cancelled || found->pacer != nullptr) return;
  auto& open = *found;
  auto error = error_of(open, Fault::closed);
  error.error = ECANCELED;
  if (open.started) {
    end(open, Ending::given_up, std::unexpected(std::move(error)), Deliver::later);
    pump();
    return;
  }
  open.cancelled = true;  // stays in its node's queue until its turn comes
  asio::post(executor_, [done = std::move(open.done), error = std::move(error)]() mutable {
    done(std::unexpected(std::move(error)));
  });
}

OpenRequest& Transactions::make(Request&& request, Completion&& done) {
  if (free_.empty()) {
    free_.push_back(&pool_.emplace_back());
    free_.back()->index = static_cast<std::uint32_t>(pool_.size() - 1);
  }
  auto& open = *free_.back();
  free_.pop_back();
  open.used = true;
  open.done = std::move(done);
  open.node = &state_of(request.node);
  open.guid = request.node;
  open.single_try = request.single_try;
  open.life = request.life;
  open.place = request.place;
  open.whole = std::move(request.whole);
  open.mad = request.mad;
  open.route = std::move(request.route);
  write_route(open.mad, open.route);
  open.row = table_.row(open.mad);
  return open;
}

void Transactions::recycle(OpenRequest& open) {
  if (++open.generation == 0) open.generation = 1;
  open.used = open.started = open.cancelled = open.backing_off = open.held = false;
  open.delayed = {};
  open.due = {};
  open.tries = open.hurried = 0;
  open.rounds = 0;
  open.done = nullptr;
  open.pacer = nullptr;
  open.whole = nullptr;
  free_.push_back(&open);
}

NodeState& Transactions::state_of(Guid node) {
  if (node == Guid{}) return anonymous_;
  return nodes_.try_emplace(node, Window(kNodeFloor, policy_.per_node)).first->second;
}

void Transactions::queue(OpenRequest& open) {
  auto& node = *open.node;
  open.next_waiting = nullptr;
  (node.last != nullptr ? node.last->next_waiting : node.first) = &open;
  node.last = &open;
  ++waiting_;
  make_ready(node);
}

/// Windows narrow because loss means overload; where much is lost anyhow it does not.
bool Transactions::has_room(const NodeState& node) const {
  return losses_.heavy() && &node != &anonymous_ ? node.open < policy_.per_node : node.has_room();
}

void Transactions::make_ready(NodeState& node) {
  if (node.ready || node.first == nullptr || !has_room(node)) return;
  node.ready = true;
  node.next_ready = nullptr;
  (last_ready_ != nullptr ? last_ready_->next_ready : first_ready_) = &node;
  last_ready_ = &node;
}

OpenRequest* Transactions::next_of(NodeState& node) {
  while (node.first != nullptr) {
    auto* open = node.first;
    node.first = open->next_waiting;
    if (node.first == nullptr) node.last = nullptr;
    --waiting_;
    if (!open->cancelled) return open;
    recycle(*open);
  }
  return nullptr;
}

void Transactions::pump() {
  send_postponed();
  const auto places = [this] {
    return losses_.heavy() ? std::min(policy_.max_outstanding, kLossyPlaces) : window_.size();
  };
  while (first_ready_ != nullptr && in_flight_ < places() && !free_slots_.empty() && transport_.room() > 0) {
    auto& node = *first_ready_;
    first_ready_ = node.next_ready;
    if (first_ready_ == nullptr) last_ready_ = nullptr;
    node.ready = false;
    auto* open = next_of(node);
    if (open == nullptr) continue;
    if (!refuse_again(*open)) start(*open);
    make_ready(node);
  }
  // Nothing of ours is open, so no answer and no resend will call us again when there is room.
  if (first_ready_ != nullptr && open_ == 0 && look_again_ == 0) {
    look_again_ = clock_.call_at(clock_.now() + kLookAgain, [this] {
      look_again_ = 0;
      pump();
    });
  }
}

void Transactions::count_open(std::size_t open) {
  open_ = open;
  shown_open_->set(open);
}

void Transactions::start(OpenRequest& open) {
  open.slot = free_slots_.pop();
  slots_[open.slot].request = &open;
  open.started = open.in_window = true;
  open.started_at = clock_.now();
  ++open.node->open;
  ++in_flight_;
  count_open(open_ + 1);
  ++table_[open.row].requests;
  send_try(open);
}

std::uint32_t Transactions::tid_of(const OpenRequest& open, unsigned attempt) const {
  return slots_[open.slot].generation << (slot_bits_ + kTryBits) | std::uint32_t{open.slot} << kTryBits |
         attempt;
}

void Transactions::send_try(OpenRequest& open) {
  const bool writes =
      open.mad.method() == wire::Method::set && open.mad.attribute() != wire::SmInfo::kAttribute;
  if (writes && hold_sets_ && hold_sets_()) {
    auto error = error_of(open, open.tries == 0 ? Fault::closed : Fault::timeout);
    error.error = open.tries == 0 ? ECANCELED : 0;
    end(open, Ending::given_up, std::unexpected(std::move(error)), Deliver::later);
    return;
  }
  const unsigned attempt = open.tries++;
  const auto now = clock_.now();
  open.sent_at[attempt] = now;
  open.mad.set_tid(Tid{tid_of(open, attempt)});
  const auto give_up = give_up_after(open, now);

  const auto sent =
      transport_.send(open.mad.bytes(), open.route, std::chrono::ceil<std::chrono::milliseconds>(give_up));
  if (!sent && sent.error().error == EAGAIN && limited()) {  // it was not sent
    --open.tries;
    return postpone(open, now);
  }
  open.due = now + wait_of(open, now);
  wheel_.add(open, std::min(open.due, now + window_time(open)));
  if (sent) {
    auto& row = table_[open.row];
    ++row.sent;
    if (attempt > 0) ++row.retries;
    if (!open.is_to_ourselves()) losses_.tried();
    note_held(open, attempt, now + give_up);
    return;
  }
  ++counted_.send_failed;
  if (passes(sent.error().error)) return;
  auto error = error_of(open, Fault::closed);
  error.error = sent.error().error;
  end(open, Ending::given_up, std::unexpected(std::move(error)), Deliver::later);
}

void Transactions::resend_due() {
  const auto now = clock_.now();
  Pacer* pacer = nullptr;  // its on_settled() is due
  while (auto* item = wheel_.pop_due(now)) {
    auto& open = static_cast<OpenRequest&>(*item);
    if (open.pacer != nullptr) {
      if (pacer != nullptr && pacer != open.pacer) pacer->on_settled();
      pacer = open.pacer;
      ++table_[open.row].timeouts;
      pacer->on_unanswered(id_of(open));
      continue;
    }
    if (open.due > now && open.in_window && !losses_.heavy()) {
      leave_window(open);
      wheel_.add(open, open.due);
      continue;
    }
    const auto left = left_of(open, now);
    const bool over = left == Duration::zero();
    if (open.postponed && (!over || waits_on(open, now))) {
      if (!over) wheel_.add(open, now + left);
      continue;
    }
    if (std::exchange(open.backing_off, false)) {
      if (over) end_refused(open, wire::kStatusBusy, nullptr);
      if (!over) send_try(open);
      continue;
    }
    if (!over && !may_try(open)) {
      wheel_.add(open, now + left);
      continue;
    }
    ++table_[open.row].timeouts;
    const bool others_answered = open.node != &anonymous_ && open.node->last_answer > open.started_at;
    // A request without an answer leaves the window, so that others can start. But where many requests to
    // nodes that do answer are lost, more of them at once would only wait for each other.
    if (!losses_.heavy() || !others_answered) leave_window(open);
    // Where the transport takes no more, tries were not even sent: that is no loss on the way.
    if (others_answered && transport_.room() > 0) losses_.lost();
    if (!losses_.heavy()) open.node->window.lost(now, resend_time(*open.node));
    if (over) {
      end_unanswered(open);
    } else if (has_retry_place()) {
      send_try(open);
    } else {
      postpone(open, now);
    }
  }
  if (pacer != nullptr) pacer->on_settled();
  pump();
}

/// How long a node takes to answer; the configured time where that is not known.
Duration Transactions::resend_time(const NodeState& node) const {
  return node.answer_time.known() ? node.answer_time.resend(policy_.min_timeout, patience_) : policy_.timeout;
}

void Transactions::leave_window(OpenRequest& open) {
  if (std::exchange(open.in_window, false)) --in_flight_;
}

void Transactions::free_slot(OpenRequest& open, Ending ending) {
  auto& slot = slots_[open.slot];
  slot.request = nullptr;
  slot.last_ending = ending;
  slot.last_row = open.row;
  slot.last_node = open.guid;
  slot.last_place = open.place;
  slot.last_start = open.started_at;
  slot.generation = (slot.generation + 1) & generation_mask_;
  free_slots_.push(open.slot);
}

std::expected<void, TransportError> Transactions::send(wire::Mad mad, const Route& route) {
  write_route(mad, route);
  ++counted_.replies;
  return transport_.send(mad.bytes(), route, std::chrono::milliseconds(0));
}

std::expected<void, TransportError> Transactions::respond(const wire::Mad& reply, const LidRoute& from) {
  ++counted_.replies;
  // A directed route back is in the MAD itself; the transport only has to know that it is one.
  const Route back = reply.is_directed() ? Route(DirectedPath{}) : Route(from);
  return transport_.send(reply.bytes(), back, std::chrono::milliseconds(0));
}

Counters Transactions::counters() const {
  auto value = counted_;
  value.by_attribute = table_.sorted();
  return value;
}

}  // namespace smd::mad
