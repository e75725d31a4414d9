// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much of an answer is made in one go.

#include <algorithm>
#include <cstddef>
#include <limits>

namespace smd::sa {

/// Work that is left, counted and not timed: the same question is cut at the same places on every run. A
/// record that is compared with the question is 1; on the machines that an SM runs on it takes about 0.1 us.
class Slice {
 public:
  /// `work`: in records compared.
  explicit Slice(std::size_t work) : left_(work) {}
  static Slice endless() { return Slice(std::numeric_limits<std::size_t>::max()); }  ///< never over()

  void spend(std::size_t work) { left_ -= std::min(left_, work); }  ///< more than is left: then it is over
  bool over() const { return left_ == 0; }                          ///< no work is left
  std::size_t left() const { return left_; }

 private:
  std::size_t left_;
};

/// About a millisecond.
inline constexpr std::size_t kSliceWork = 8192;

}  // namespace smd::sa
