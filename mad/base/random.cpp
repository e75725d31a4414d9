// SPDX-License-Identifier: Apache-2.0
#include "mad/base/random.h"

#include <bit>

namespace smd::base {

Random::Random(std::uint64_t seed) : seed_(seed), state_{} {
  for (auto& word : state_) {
    word = splitmix64(seed);
    seed += kSplitmixStep;
  }
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  if (bound < 2) return 0;
  // Values under `uneven` would make small results more likely: the largest multiple of bound that fits
  // into 64 bits starts there.
  const std::uint64_t uneven = (0 - bound) % bound;
  for (;;) {
    if (const std::uint64_t value = next(); value >= uneven) return value % bound;
  }
}

Random Random::fork(std::uint64_t stream) const { return Random(splitmix64(seed_) ^ splitmix64(~stream)); }

}  // namespace smd::base
