// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers by RMPP that the kernel still holds: until a second after their last packet is acknowledged, or
// until it gives them up. It tells the end of each; their number and size are bounded here.

#include <compare>
#include <cstddef>
#include <map>
#include <unordered_map>

#include "mad/base/id.h"

namespace smd::umad {

/// Of one thread.
class AnswersUnderWay {
 public:
  static constexpr std::size_t kBytes = std::size_t{256} << 20U;
  static constexpr std::size_t kAnswers = 64;   ///< of more than one window
  static constexpr std::size_t kOfOneLid = 32;  ///< of those: one client leaves room for others
  /// Bytes of a window of 64 packets. The kernel has sent such an answer whole before the first
  /// acknowledgement: more of these may be under way, so that their second after it is no limit on their
  /// rate.
  static constexpr std::size_t kWindow = std::size_t{64} * 256;
  static constexpr std::size_t kShortAnswers = 4096;

  /// The client's transaction; a request that comes twice has one answer under way.
  struct Key {
    Tid tid{};
    Lid lid{};
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  bool has_room(Lid lid, std::size_t bytes) const;
  void begin(const Key& key, std::size_t bytes);
  /// Nothing where it is not under way.
  void end(const Key& key);

  std::size_t answers() const { return under_way_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  static bool is_long(std::size_t bytes) { return bytes > kWindow; }

  std::map<Key, std::size_t> under_way_;           ///< with their bytes
  std::unordered_map<Lid, std::size_t> of_lid_{};  ///< long ones; none is 0
  std::size_t bytes_ = 0, long_ = 0;
};

}  // namespace smd::umad
