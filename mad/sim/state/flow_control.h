// SPDX-License-Identifier: Apache-2.0
#pragma once
// Flow control of solicited MADs, as Linux' ib_mad has it since 2025: of an agent's requests so many wait for
// answers, the others wait unsent until one of those is over.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>

namespace smd::sim {

/// Requests of one agent that wait for answers at once: a quarter of the 512 receive buffers for the subnet
/// management classes, a 32nd for subnet administration. 0: no flow control, as in kernels before.
struct FlowControlPlaces {
  std::size_t smi = 0, gsi = 0;
};
inline constexpr FlowControlPlaces kLinuxPlaces{.smi = 128, .gsi = 16};

/// `Key` names a request.
template <class Key>
class FlowControl {
 public:
  /// `places`: requests that may be under way; 0: any number.
  explicit FlowControl(std::size_t places) : places_(places) {}
  /// True: it is sent now. False: it waits for its turn.
  bool begin(const Key& key) {
    if (places_ == 0 || under_way_ < places_) {
      ++under_way_;
      return true;
    }
    backlog_.push_back(key);
    return false;
  }
  /// It was answered or its time is over. The one that is sent in its place.
  std::optional<Key> end(const Key& key) {
    if (const auto waits = std::ranges::find(backlog_, key); waits != backlog_.end()) {
      backlog_.erase(waits);
      return std::nullopt;
    }
    --under_way_;
    if (backlog_.empty() || (places_ != 0 && under_way_ >= places_)) return std::nullopt;
    auto next = backlog_.front();
    backlog_.pop_front();
    ++under_way_;
    return next;
  }

 private:
  std::size_t places_, under_way_ = 0;
  std::deque<Key> backlog_;
};

}  // namespace smd::sim
