// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests that wait, each port's in the order in which they came, and the ports by turns: a port that asks
// much waits for itself. Short requests and long ones wait apart.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "smd/sa/arrived.h"
#include "smd/sa/settings.h"

namespace smd::sa {

/// How long a request takes: microseconds, or not known.
enum class Length : std::uint8_t { brief, open };

class FairQueue {
 public:
  /// False, and the request untouched, where there is no room: `queue` wait, or `per_source` of this LID.
  bool put(Arrived& request, Length length, const Settings& settings) {
    if (size_ >= settings.queue) return false;
    const auto lid = request.mad.from.lid;
    auto& waiting = by_lid_[lid];
    if (waiting[0].size() + waiting[1].size() >= settings.per_source) return false;
    auto& mine = waiting[place(length)];
    if (mine.empty()) turns_[place(length)].push_back(lid);
    mine.push_back(std::move(request));
    ++size_;
    return true;
  }

  /// The oldest of the next port that may have a turn; nothing where none waits.
  template <class May>
  std::optional<Arrived> next(Length length, May&& may) {
    auto& turns = turns_[place(length)];
    for (auto left = turns.size(); left != 0; --left) {
      const auto lid = turns.front();
      turns.pop_front();
      if (may(lid)) return take(length, lid);
      turns.push_back(lid);
    }
    return std::nullopt;
  }
  /// The same; every port may have a turn.
  std::optional<Arrived> next(Length length) {
    return next(length, [](Lid) { return true; });
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  using Waiting = std::array<std::deque<Arrived>, 2>;
  static std::size_t place(Length length) { return static_cast<std::size_t>(length); }

  Arrived take(Length length, Lid lid) {
    const auto found = by_lid_.find(lid);
    auto& mine = found->second[place(length)];
    auto request = std::move(mine.front());
    mine.pop_front();
    --size_;
    if (!mine.empty()) turns_[place(length)].push_back(lid);
    if (found->second[0].empty() && found->second[1].empty()) by_lid_.erase(found);
    return request;
  }

  std::unordered_map<Lid, Waiting> by_lid_;  ///< of none both are empty
  std::array<std::deque<Lid>, 2> turns_;     ///< each LID that waits once
  std::size_t size_ = 0;
};

}  // namespace smd::sa
