// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reports on their way to subscribers: each is sent until it is answered or its subscriber counts as gone.

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mad/clock.h"
#include "mad/transactions/transactions.h"
#include "mad/transport.h"
#include "smd/log/log.h"
#include "smd/sa/registry/subscriptions.h"

namespace smd::sa {

struct Report {
  std::shared_ptr<const std::vector<std::uint8_t>> mad;  ///< its transaction is filled in
  mad::LidRoute to;
  Addressee subscriber;
  std::chrono::milliseconds wait{1000};  ///< for its answer, each time that it is sent
};

/// How long a subscriber may take to answer that has said so (InformInfo.RespTimeValue, 4.096 us times a
/// power of 2): from 1 to 10 s.
std::chrono::milliseconds report_wait(std::uint8_t response_time);

struct ReportBatch {
  std::vector<Report> reports;
  std::size_t dropped_events = 0;  ///< not reported, for want of room
};

/// Each subscriber has a queue and a window of its own: one that does not answer delays only its own reports,
/// and gets them one at a time. Each report is a request of Transactions; this decides the order of their
/// tries. On the thread of the transport. stop() before it dies.
class Reports final : private mad::Pacer {
 public:
  static constexpr unsigned kTries = 4;
  static constexpr unsigned kFirst = 4;          ///< open at once to a subscriber of which nothing is known
  static constexpr unsigned kWindow = 16;        ///< the same, to one that answers; 1 where it does not
  static constexpr std::size_t kPlaces = 256;    ///< sent within kPlaceTime, and not answered yet
  static constexpr std::size_t kQueue = 262144;  ///< events beyond it are counted and not reported
  /// A live subscriber answers within this, mostly: one that takes longer no longer counts against kPlaces.
  /// Where the kernel has room for few and others wait, it is not kept there any longer either.
  static constexpr std::chrono::milliseconds kPlaceTime{20};

  /// The owner of `gsi` hands on the answers (answered()). `gone` is called with a queue pair that has not
  /// answered kTries times; others of its port live on.
  Reports(mad::Transport& gsi, mad::Clock& clock, log::Log log, std::function<void(const Addressee&)> gone);
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;
  ~Reports() { stop(); }

  /// Takes all of the batch; of a subscriber that does not answer what is above kQueue is dropped and
  /// counted.
  void add(ReportBatch batch);
  /// Reports that may be added; an event's subscribers are told all or none. What waits for subscribers that
  /// do not answer takes no room of others.
  std::size_t room() const { return waiting_ < kQueue ? kQueue - waiting_ : 0; }
  /// The Report with this transaction is answered; unknown ones are ignored.
  void answered(std::uint64_t tid);
  /// Nothing is sent any more, and no callback is called.
  void stop();

 private:
  using Id = mad::Transactions::RequestId;
  /// A report that was sent at least once.
  struct Tried {
    Addressee subscriber;
    Lid lid;
    std::chrono::milliseconds wait{};
    unsigned tries = 0;
    std::size_t place = kNone;  ///< counts against kPlaces in places_[place]
    bool held = false;          ///< counts in held_
  };
  struct Subscriber {
    enum class State : std::uint8_t { unknown, answers, silent };
    std::deque<Report> waiting;  ///< never sent yet
    std::deque<Id> again;        ///< reports to be sent once more, before those that wait
    std::vector<Id> open;        ///< reports whose answers are awaited
    unsigned window = kFirst;    ///< open at once; doubles with each answer
    /// By the last report: answered; not yet, for longer than kPlaceTime; not in its time.
    State state = State::unknown;
    bool in_turn = false;  ///< stands in turns_
    bool has_more() const { return open.size() < window && !(again.empty() && waiting.empty()); }
    bool idle() const { return open.empty() && again.empty() && waiting.empty(); }
  };
  using Entry = std::map<Addressee, Subscriber>::iterator;
  /// A line for each state: those that answer, those of which nothing is known, and those that do not answer.
  static constexpr std::size_t kLive = 0, kSilent = 2, kNone = 3;
  static std::size_t line_of(const Subscriber& subscriber);

  void on_answer(Id id) override;
  void on_unanswered(Id id) override;
  void on_settled() override { pump(); }

  void pump();
  bool has_room(std::size_t line) const;
  bool waits() const;
  void take_turn(Entry entry);
  void send_next(Entry entry);
  Id begin_next(Subscriber& subscriber);
  void transmit(Id id, Tried& tried);
  std::chrono::milliseconds give_up_after(const Tried& tried) const;
  void give_up_place(Tried& tried);
  void let_go(Tried& tried);
  void end_places();
  void arm();
  void end(Entry entry, Id id);
  void forget_idle();
  void set_state(Subscriber& subscriber, Subscriber::State state);
  /// Counts what waits for such a subscriber.
  std::size_t& waiting_for(const Subscriber& subscriber) {
    return subscriber.state == Subscriber::State::silent ? waiting_for_silent_ : waiting_;
  }

  mad::Transport& gsi_;
  mad::Clock& clock_;
  log::Log log_;
  std::function<void(const Addressee&)> gone_;
  mad::Transactions tx_;  ///< of this agent's reports
  std::map<Addressee, Subscriber> subscribers_;
  std::unordered_map<Id, Tried> tried_;
  /// Subscribers that have more to be sent, by lines. They do not share places.
  std::array<std::deque<Addressee>, 3> turns_;
  std::array<std::size_t, 3> places_{};
  std::size_t held_ = 0;  ///< reports to subscribers that did not answer the last one, under way
  std::size_t waiting_ = 0, waiting_for_silent_ = 0;      ///< reports that were never sent yet
  std::deque<std::pair<mad::TimePoint, Id>> place_ends_;  ///< ascending
  mad::Clock::TimerId timer_ = 0;                         ///< looks for places again; 0: none
  mad::TimePoint armed_{};                                ///< when timer_ fires
  bool stopped_ = false;
};

}  // namespace smd::sa
