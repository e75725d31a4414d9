// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small generator of random numbers that gives the same numbers everywhere. The standard's distributions
// differ from library to library, so the few that are needed stand here.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace smd::base {

/// xoshiro256** with a state filled by splitmix64 (Blackman and Vigna, prng.di.unimi.it, public domain).
/// Also a UniformRandomBitGenerator.
class Random {
 public:
  using result_type = std::uint64_t;
  /// Equal seeds give equal sequences; 0 is allowed.
  explicit Random(std::uint64_t seed);

  /// The next 64 random bits. The order of the calls alone determines them.
  std::uint64_t next();
  std::uint64_t operator()() { return next(); }
  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return std::numeric_limits<std::uint64_t>::max(); }  ///< 2^64 - 1

  /// Evenly from 0 to bound - 1; 0 for bound 0 and 1.
  std::uint64_t below(std::uint64_t bound);
  /// True with probability numerator / denominator.
  bool chance(std::uint64_t numerator, std::uint64_t denominator) { return below(denominator) < numerator; }
  /// Evenly from [0, 1).
  double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

  /// Every order equally likely (Fisher and Yates).
  void shuffle(auto& items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      using std::swap;
      swap(items[left - 1], items[static_cast<std::size_t>(below(left))]);
    }
  }

  /// A generator of its own whose numbers do not depend on how many this one has given since it was seeded.
  Random fork(std::uint64_t stream) const;

 private:
  std::uint64_t seed_;
  std::uint64_t state_[4];
};

/// By which splitmix64's state rises for each number (Steele, Lea, Flood 2014): 2^64 by the golden ratio.
inline constexpr std::uint64_t kSplitmixStep = 0x9e3779b97f4a7c15U;

/// One step of splitmix64: a well mixed 64-bit value of any other; also good as a hash.
constexpr std::uint64_t splitmix64(std::uint64_t value) {
  value += kSplitmixStep;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

}  // namespace smd::base
