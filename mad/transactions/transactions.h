// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests of any management class: tries, resend times, windows, and the matching of answers to requests.

#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "mad/asio.h"
#include "mad/base/tally.h"
#include "mad/clock.h"
#include "mad/transactions/counters.h"
#include "mad/transactions/error.h"
#include "mad/transactions/node_state.h"
#include "mad/transactions/open_request.h"
#include "mad/transactions/paced.h"
#include "mad/transactions/policy.h"
#include "mad/transactions/timing_wheel.h"
#include "mad/transactions/unanswered.h"
#include "mad/transactions/unsolicited.h"
#include "mad/transport.h"
#include "mad/wire/packet.h"

namespace smd::mad {

/// A MAD of 256 bytes of any class, and where it goes: SMPs by directed route or by LID, all others by LID
/// with P_Key, Q_Key, SL and GRH of the LidRoute (else Fault::unroutable). `node` says whose answer time and
/// window count; 0 where it is not known yet (then there is no window but the global one, and the resend time
/// is Policy's).
struct Request {
  wire::Mad mad;  ///< transaction, and for SMPs class and path, are filled in
  Route route;
  Guid node{};
  /// Not 0: one try, which is waited for so long; what Policy says of tries and times does not count.
  Duration single_try{};
  /// Not 0: ends so long after its first try, instead of what Policy says.
  Duration life{};
  /// Where `node` is 0: a number of the caller's for the place that is asked; 0: none.
  std::uint64_t place = 0;
  /// Gets all bytes of the answer: one by RMPP, which the kernel joins, is longer than a MAD, or shorter.
  /// Null: answers are MADs.
  std::shared_ptr<std::vector<std::uint8_t>> whole{};
};

/// What hands arrived MADs to a Transactions.
enum class Feed : std::uint8_t {
  transport,  ///< the transport: the Transactions is its sink
  owner,      ///< the owner is the sink, and hands on answers to paced requests (answered)
};

/// Requests over one Transport. Every try of a request has a transaction of its own and all stay open until
/// the request ends: any answer to any try completes it. All calls on the io_context's thread; Clock and
/// Transport live longer. All waiting coroutines must have ended (TaskGroup::stop) before it dies.
class Transactions {
 public:
  /// `seed`: where the transaction numbers start. Two programs on one port should differ in it. `max_open`:
  /// requests started and not ended, kMaxOpen to kMostOpen, a power of 2. `executor` may be empty where all
  /// requests are paced.
  Transactions(asio::any_io_executor executor, Clock& clock, Transport& transport, Policy policy,
               std::uint64_t seed, Feed feed = Feed::transport, std::size_t max_open = kMaxOpen);
  Transactions(const Transactions&) = delete;
  Transactions& operator=(const Transactions&) = delete;
  ~Transactions();

  using RequestId = std::uint64_t;  ///< never 0
  /// Calls `done` once, on the io_context and never within this call. Waiting requests are not bounded here:
  /// callers with thousands of requests limit themselves by waiting().
  RequestId submit(Request request, Completion done);
  /// The request ends as closed; ids of ended requests are ignored.
  void cancel(RequestId id);
  /// The same as submit, for coroutines. Throws nothing; a cancelled coroutine gets Fault::closed.
  asio::awaitable<Answer> request(Request request);

  /// Opens a request whose tries the caller sends (try_paced), because they wait for turns of its own. It
  /// takes no place of the windows. 0: as many are open as can be (paced_room). The id is valid until the
  /// answer or drop_paced(). `pacer` outlives it.
  RequestId open_paced(const wire::Mad& mad, const LidRoute& route, Pacer& pacer);
  /// Sends its next try, the kMaxTries-th at most; on_unanswered() is called after `wait`, also where the
  /// transport could not send it. `give_up`: see Transport::send.
  std::expected<void, TransportError> try_paced(RequestId id, Duration wait,
                                                std::chrono::milliseconds give_up);
  /// Ends it without a call; ids of ended requests are ignored.
  void drop_paced(RequestId id);
  /// How many more paced requests can be opened.
  std::size_t paced_room() const;

  /// An answer to a paced request has arrived, by the transaction of one of its tries; the owner has checked
  /// its class and method. False: no such request is open.
  bool answered(Tid tid);

  /// Sends a MAD that wants no answer (a TrapRepress, a reply), once and outside of the windows. The error:
  /// the transport could not send it now.
  std::expected<void, TransportError> send(wire::Mad mad, const Route& route);
  /// Sends `reply`, made of the request by response(), back to where the request came from; otherwise as
  /// send().
  std::expected<void, TransportError> respond(const wire::Mad& reply, const LidRoute& from);

  /// MADs that are no answers: traps, reports, other SMs' requests. Of at least 256 bytes; anything else in
  /// them is the sender's word. At most Policy::unsolicited_rate a second.
  using Handler = std::move_only_function<void(Received&&)>;
  /// Sets the handler, on the io_context's thread; without one unsolicited MADs are dropped and counted.
  void on_unsolicited(Handler handler) { intake_.listen(std::move(handler)); }

  /// While `hold` returns true no Set leaves but those of SMInfo, which change nothing of the fabric: one
  /// that was not sent yet ends as Fault::closed, a further try of one that was ends it as Fault::timeout.
  /// Asked before each try of a Set.
  void hold_sets(std::function<bool()> hold) { hold_sets_ = std::move(hold); }

  /// From now on. What is on the wire already ends by the new one; windows that it narrows shrink at once.
  void set_policy(Policy policy);

  /// A round begins, of a sweep: what was left unanswered in the one before may be asked again. Within a
  /// round what a node has not answered (nothing at all by this way, or no Get or Set of an attribute) is not
  /// sent to it again and ends at once as Fault::timeout. Requests with a time of their own are always sent,
  /// and where much is lost on the way all are.
  void begin_round() { unanswered_.begin_round(); }
  /// How soon a node that is alive should have answered: an eighth of the time that a request to it lasts, a
  /// quarter where much is lost, or its own answer time. For requests that others follow where there is none.
  Duration soon(Guid node) const;
  /// Much is lost on the way: a try without an answer says nothing about the node.
  bool lossy() const { return losses_.heavy(); }

  /// Ends what waits for this node and was not sent yet: Fault::timeout, 0 tries, node_silent.
  void drop_waiting(Guid node);
  /// Forgets answer time and window of a node that has left the fabric.
  void forget(Guid node);

  std::size_t open() const { return open_; }        ///< started and not ended
  std::size_t waiting() const { return waiting_; }  ///< not started: the windows are full
  /// The number of open(), which any thread may read; it outlives the Transactions.
  std::shared_ptr<const base::Tally> shown_open() const { return shown_open_; }
  /// Size of the window of requests to all nodes together, by the answers and losses so far.
  std::uint32_t window() const { return window_.size(); }
  /// A copy of all counters since the start, with a row for each class, attribute and method that was used.
  Counters counters() const;

 private:
  /// Transaction numbers: generation, slot, try. A slot is one started request.
  static constexpr unsigned kTryBits = 5;
  static_assert(1U << kTryBits == kMaxTries);
  enum class Ending : std::uint8_t { none, answered, given_up };
  struct Slot {
    OpenRequest* request = nullptr;
    std::uint32_t generation = 0;
    // Of the request before: where its late answers are counted, and whom they make slow.
    std::uint32_t last_row = 0;
    Ending last_ending = Ending::none;
    Guid last_node;
    std::uint64_t last_place = 0;
    TimePoint last_start{};
  };

  /// Free slots, first in, first out.
  class SlotQueue {
   public:
    explicit SlotQueue(std::size_t most) : ring_(most) {}
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    void push(std::uint16_t slot) { ring_[(first_ + size_++) & (ring_.size() - 1)] = slot; }
    std::uint16_t pop() {
      const auto slot = ring_[first_];
      first_ = (first_ + 1) & (ring_.size() - 1);
      --size_;
      return slot;
    }

   private:
    std::vector<std::uint16_t> ring_;
    std::size_t first_ = 0, size_ = 0;
  };

  // transactions.cpp: the life of a request
  OpenRequest& make(Request&& request, Completion&& done);
  NodeState& state_of(Guid node);
  void queue(OpenRequest& open);
  void make_ready(NodeState& node);
  bool has_room(const NodeState& node) const;
  OpenRequest* next_of(NodeState& node);
  RequestId id_of(const OpenRequest& open) const { return RequestId{open.generation} << 32U | open.index; }
  OpenRequest* find(RequestId id);
  std::uint32_t tid_of(const OpenRequest& open, unsigned attempt) const;
  void pump();
  void start(OpenRequest& open);
  void send_try(OpenRequest& open);
  void resend_due();
  void leave_window(OpenRequest& open);
  void free_slot(OpenRequest& open, Ending ending);
  void count_open(std::size_t open);
  void recycle(OpenRequest& open);
  Duration resend_time(const NodeState& node) const;

  // schedule.cpp: when its tries go out
  bool is_slow(const OpenRequest& open) const;
  Duration life_of(const OpenRequest& open) const;
  Duration left_of(const OpenRequest& open, TimePoint now) const;
  Duration lossy_wait(const OpenRequest& open) const;
  unsigned planned(const OpenRequest& open) const;
  Duration wait_of(const OpenRequest& open, TimePoint now) const;
  Duration give_up_after(OpenRequest& open, TimePoint now);
  bool may_try(OpenRequest& open);

  // places.cpp: what the kernel has room for
  bool limited() const;
  std::size_t retry_places() const;
  bool has_retry_place();
  Duration window_time(const OpenRequest& open) const;
  Duration hold_retry(const OpenRequest& open, Duration left) const;
  void note_held(OpenRequest& open, unsigned attempt, TimePoint until);
  void postpone(OpenRequest& open, TimePoint now);
  void send_postponed();
  bool waits_on(OpenRequest& open, TimePoint now);
  void forget_postponed(OpenRequest& open);

  // completion.cpp: how requests end
  enum class Deliver : std::uint8_t { now, later };
  void end(OpenRequest& open, Ending ending, Answer answer, Deliver deliver);
  void end_refused(OpenRequest& open, std::uint16_t status, std::shared_ptr<const wire::Mad> answer);
  void end_unanswered(OpenRequest& open);
  bool refuse_again(OpenRequest& open);
  RequestError error_of(const OpenRequest& open, Fault fault) const;

  // receive.cpp: what comes from the wire
  void receive(std::span<Received> batch);
  void receive_one(Received& received, TimePoint now);
  void receive_lost(const Received& received, OpenRequest* open, unsigned attempt);
  const Slot* slot_of(std::uint32_t tid) const;
  OpenRequest* open_of(std::uint32_t tid) const;
  void count_stray(std::uint32_t tid, const wire::Mad& mad, TimePoint now);
  void late(const Slot& slot, const wire::Mad& mad, TimePoint now);
  std::optional<wire::Mad> short_answer(std::span<const std::uint8_t> bytes) const;
  void answer(OpenRequest& open, unsigned attempt, const wire::Mad& mad, TimePoint now);
  void measure(OpenRequest& open, unsigned attempt, const wire::Mad& mad, TimePoint now);
  void note_time(NodeState& node, Duration sample);
  void note_slow(std::uint64_t place);

  // paced.cpp: requests whose tries the caller sends
  void answer_paced(OpenRequest& open);
  void end_paced(OpenRequest& open, Ending ending);
  void add_slots(std::size_t count);

  asio::any_io_executor executor_;
  Clock& clock_;
  Transport& transport_;
  Feed feed_;
  Policy policy_;
  Duration patience_;
  Window window_;
  Losses losses_;
  AnswerTime answer_time_;  ///< of all nodes
  NodeState anonymous_;
  std::unordered_map<Guid, NodeState> nodes_;
  std::deque<OpenRequest> pool_;  ///< addresses stay
  std::vector<OpenRequest*> free_;
  std::size_t max_slots_;  ///< a power of 2
  unsigned slot_bits_;
  std::uint32_t generation_mask_, first_generation_;
  std::vector<Slot> slots_;
  SlotQueue free_slots_;              ///< a slot rests long before it is used again
  NodeState* first_ready_ = nullptr;  ///< nodes with a request to start and room for it, in turn
  NodeState* last_ready_ = nullptr;
  Wheel wheel_;
  Clock::TimerId look_again_ = 0;
  AttributeTable table_;
  Counters counted_;  ///< by_attribute stays empty here
  Unsolicited intake_;
  std::function<bool()> hold_sets_;
  Unanswered unanswered_;
  std::set<std::uint64_t> slow_places_;  ///< whose answers came late; a few
  std::deque<TimePoint> held_;           ///< until when the kernel holds tries longer than their requests
  std::multiset<TimePoint> retries_;     ///< until when it holds tries after the first of a request
  std::deque<OpenRequest*> postponed_;   ///< in the order in which their tries were due
  std::uint32_t in_flight_ = 0;          ///< hold a place in window_
  std::size_t open_ = 0, waiting_ = 0;
  std::shared_ptr<base::Tally> shown_open_ = std::make_shared<base::Tally>();  ///< open_
};

}  // namespace smd::mad
