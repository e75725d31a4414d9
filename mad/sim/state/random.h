// SPDX-License-Identifier: Apache-2.0
#pragma once
// The only chance there is: SplitMix64 (Steele, Lea, Flood 2014), the same everywhere for one seed.

#include <cstdint>

namespace smd::sim {

class Random {
 public:
  explicit Random(std::uint64_t seed = 1) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E37'79B9'7F4A'7C15ULL);
    z = (z ^ (z >> 30U)) * 0xBF58'476D'1CE4'E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBULL;
    return z ^ (z >> 31U);
  }
  /// True `of_2_32` times in 2^32; draws nothing for 0.
  bool happens(std::uint32_t of_2_32) { return of_2_32 != 0 && (next() >> 32U) <= of_2_32; }

 private:
  std::uint64_t state_;
};

}  // namespace smd::sim
