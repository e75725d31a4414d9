// SPDX-License-Identifier: Apache-2.0
#pragma once
// Answers by RMPP that the kernel still holds: until 200 ms after their last packet is acknowledged, or
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
  /// Bytes, not answers, are what the kernel's memory is short of: what stays for 200 ms after the last
  /// packet would otherwise limit the rate.
  static constexpr std::size_t kBytes = std::size_t{256} << 20U;
  static constexpr std::size_t kBytesOfOneLid = kBytes / 4;  ///< one client leaves room for others
  static constexpr std::size_t kAnswers = 16'384;            ///< what is short has its cost, too

  /// The client's transaction; a request that comes twice has one answer under way.
  struct Key {
    Tid tid{};
    Lid lid{};
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  /// True where an answer of `bytes` to this LID fits within kBytes, kAnswers and kBytesOfOneLid.
  bool has_room(Lid lid, std::size_t bytes) const;
  /// Counts an answer until end(); one with the same key replaces the earlier one.
  void begin(const Key& key, std::size_t bytes);
  /// The kernel has ended the answer; ignored where it is not under way.
  void end(const Key& key);

  /// Answers under way, and their bytes together.
  std::size_t answers() const { return under_way_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  std::map<Key, std::size_t> under_way_;           ///< with their bytes
  std::unordered_map<Lid, std::size_t> of_lid_{};  ///< bytes; none is 0
  std::size_t bytes_ = 0;
};

}  // namespace smd::umad
