// SPDX-License-Identifier: Apache-2.0
#pragma once
// What experience with one node tells: how fast it answers, and how many requests it can take at once.

#include <cstdint>
#include <vector>

#include "mad/clock.h"
#include "mad/transactions/operation.h"
#include "mad/transactions/policy.h"

namespace smd::mad {

struct OpenRequest;

/// The resend time as TCP computes it (RFC 6298): smoothed answer time plus four times its mean deviation.
/// Every try has its own transaction, so that each answer is a clean measurement.
class AnswerTime {
 public:
  /// Adds one measurement, from the sending of a try to its answer; below 1 ns it counts as 1 ns.
  void measured(Duration sample);
  /// Resend time of the first try between these bounds; only where it is known.
  Duration resend(Duration least, Duration most) const;
  bool known() const { return smoothed_ > Duration::zero(); }  ///< one measurement at least
  Duration smoothed() const { return smoothed_; }

 private:
  Duration smoothed_{}, deviation_{};
};

/// Which share of the tries is lost on the way, by the requests that were answered in the end: nodes that do
/// not answer do not count, and a late answer is no loss.
class Losses {
 public:
  /// Counts a try that may be lost on the way: none to ourselves.
  void tried() { ++in_vain_; }
  /// An answer has come, in time or late.
  void heard() { in_vain_ = 0; }
  /// Counts an answered request and the tries that were lost before the answer. Older requests decay by
  /// kMemory.
  void answered(unsigned lost_before);
  /// A try to a node that has answered others meanwhile.
  void lost();
  /// So much is lost that asking a few times tells nothing. Not where the last kInVain tries had no answer at
  /// all: that is a cut or a dead node, which more tries only flood.
  bool heavy() const { return tries_ >= kEnough && lost_ > tries_ / 4 && in_vain_ < kInVain; }

 private:
  static constexpr double kEnough = 12, kMemory = 0.98;
  static constexpr std::uint32_t kInVain = 1024;
  double tries_ = 0, lost_ = 0;
  std::uint32_t in_vain_ = 0;
};

/// Additive increase, multiplicative decrease, between a floor and a ceiling.
class Window {
 public:
  /// In requests; a ceiling of 0 counts as 1, the floor is brought within 1 to the ceiling. Starts at the
  /// ceiling.
  Window(std::uint32_t floor, std::uint32_t ceiling);
  /// One more request may start while `taken` are under way.
  bool has_room(std::uint32_t taken) const { return taken < size_; }
  std::uint32_t size() const { return size_; }
  /// Sets the upper limit (0 counts as 1); floor and size shrink with it, the size never grows by it.
  void set_ceiling(std::uint32_t ceiling);
  /// An answer in time: one more place for each window full of answers.
  void answered();
  /// Something was lost: half the places, but once in `pause` only (one overload loses many).
  void lost(TimePoint now, Duration pause);

 private:
  std::uint32_t floor_, ceiling_, size_, credit_ = 0;
  TimePoint last_loss_ = TimePoint::min();
};

/// The last answer to requests of one kind.
struct Heard {
  Operation operation;
  TimePoint at{};
};

/// Requests to one node, and those that wait for a place.
struct NodeState {
  /// Starts without measurements; `places` is the window of this node alone.
  explicit NodeState(Window places) : window(places) {}
  AnswerTime answer_time;
  Window window;
  TimePoint last_answer = TimePoint::min();
  std::vector<Heard> heard;      ///< when it last answered what
  bool slow = false;             ///< answers, but later than others are waited for
  std::uint32_t open = 0;        ///< started and not ended
  OpenRequest* first = nullptr;  ///< waiting, in order
  OpenRequest* last = nullptr;
  bool ready = false;  ///< stands in the queue of nodes that may start one
  NodeState* next_ready = nullptr;
  /// One more request to this node may start within its window.
  bool has_room() const { return window.has_room(open); }
  /// Notes that an answer of this kind arrived now.
  void hear(const Operation& operation, TimePoint now);
  /// The last answer of this kind; TimePoint::min(): none.
  TimePoint last_heard(const Operation& operation) const;
};

}  // namespace smd::mad
