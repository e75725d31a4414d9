// SPDX-License-Identifier: Apache-2.0
#pragma once
// The simulator's only source of random numbers: the sequence of splitmix64, 8 bytes of state. The same
// everywhere for one seed.

#include <cstdint>

#include "mad/base/random.h"

namespace smd::sim {

/// splitmix64: small enough to copy with the state.
class Random {
 public:
  /// Equal seeds give equal sequences.
  explicit Random(std::uint64_t seed = 1) : state_(seed) {}
  std::uint64_t next() {  ///< 64 random bits
    const auto mixed = base::splitmix64(state_);
    state_ += base::kSplitmixStep;
    return mixed;
  }
  /// True `of_2_32` times in 2^32; draws nothing for 0.
  bool happens(std::uint32_t of_2_32) { return of_2_32 != 0 && (next() >> 32U) <= of_2_32; }

 private:
  std::uint64_t state_;
};

}  // namespace smd::sim
