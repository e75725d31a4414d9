// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests that wait, each port's in the order in which they came, and the ports by turns: whoever asks much
// waits for itself.

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mad/transport.h"
#include "smd/sa/settings.h"

namespace smd::sa {

class Turns {
 public:
  /// False, and the request untouched, where there is no room: `queue` wait, or `per_source` of this LID.
  bool put(mad::Received& mad, const Settings& settings) {
    if (size_ >= settings.queue) return false;
    auto& waiting = by_lid_[mad.from.lid];
    if (waiting.size() >= settings.per_source) return false;
    if (waiting.empty()) turns_.push_back(mad.from.lid);
    waiting.push_back(std::move(mad));
    ++size_;
    return true;
  }

  /// The next port's oldest; nothing where none waits.
  std::optional<mad::Received> next() {
    if (turns_.empty()) return std::nullopt;
    const auto lid = turns_.front();
    turns_.pop_front();
    const auto found = by_lid_.find(lid);
    auto mad = std::move(found->second.front());
    found->second.pop_front();
    --size_;
    if (found->second.empty()) {
      by_lid_.erase(found);
    } else {
      turns_.push_back(lid);
    }
    return mad;
  }

  /// What next() gave, latest first, and there was no time for: each is its port's next again.
  void put_back(mad::Received mad) {
    auto& waiting = by_lid_[mad.from.lid];
    if (waiting.empty()) turns_.push_back(mad.from.lid);
    waiting.push_front(std::move(mad));
    ++size_;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  std::unordered_map<Lid, std::deque<mad::Received>> by_lid_;  ///< none is empty
  std::deque<Lid> turns_;                                      ///< each LID of by_lid_ once
  std::size_t size_ = 0;
};

}  // namespace smd::sa
