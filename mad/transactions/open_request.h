// SPDX-License-Identifier: Apache-2.0
#pragma once
// One request from submit to its end. Pooled: nothing is allocated for it once the pool is warm.

#include <array>
#include <expected>
#include <functional>
#include <memory>
#include <vector>

#include "mad/transactions/error.h"
#include "mad/transactions/policy.h"
#include "mad/transactions/timing_wheel.h"
#include "mad/transport.h"
#include "mad/wire/packet.h"

namespace smd::mad {

struct NodeState;
class Pacer;

using Answer = std::expected<wire::Mad, RequestError>;
using Completion = std::move_only_function<void(Answer)>;

struct OpenRequest : WheelItem {
  Completion done;
  NodeState* node = nullptr;
  Pacer* pacer = nullptr;  ///< sends its tries; null: Transactions does
  OpenRequest* next_waiting = nullptr;
  std::uint32_t index = 0;       ///< in the pool; lower half of the RequestId
  std::uint32_t generation = 1;  ///< upper half
  std::uint32_t row = 0;         ///< in the attribute table
  std::uint16_t slot = 0;        ///< only once started
  std::uint8_t tries = 0;
  std::uint8_t hurried = 0;  ///< of them at once, because the lower side said that the one before was lost
  std::uint16_t rounds = 0;  ///< of kMaxTries tries each before these, where much is lost
  bool used = false, started = false;
  bool held = false;         ///< the kernel takes answers to its first try longer than it lasts
  bool in_window = false;    ///< holds a place of the global window
  bool cancelled = false;    ///< ended while it waited: dropped when its turn comes
  bool backing_off = false;  ///< the node said busy: the next try waits
  bool postponed = false;    ///< its next try waits for a place in the kernel
  Guid guid;
  TimePoint started_at{};
  TimePoint due{};                                   ///< its next try, or its end
  Duration single_try{};                             ///< of the Request
  Duration life{};                                   ///< of the Request
  std::uint64_t place = 0;                           ///< of the Request
  std::shared_ptr<std::vector<std::uint8_t>> whole;  ///< of the Request
  Route route;
  wire::Mad mad;
  std::array<TimePoint, kMaxTries> sent_at{};
  std::array<TimePoint, kMaxTries> held_until{};  ///< by the kernel; of tries after the first
  Duration delayed{};                             ///< its end is so much later, because tries had no place

  /// By a directed route without hops, on which nothing is lost.
  bool is_to_ourselves() const {
    const auto* path = std::get_if<DirectedPath>(&route);
    return path != nullptr && path->hops() == 0;
  }
};

}  // namespace smd::mad
