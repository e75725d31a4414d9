// SPDX-License-Identifier: Apache-2.0
// The process is killed, or the power fails, at every write that the store makes.
#include <gtest/gtest.h>

#include "smd/store/subnet_states.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/store_lab.h"

namespace smd::store {
namespace {

using test::KeptLines;
using test::TemporaryFolder;

struct Told {
  sm::StoredPtr answered = std::make_shared<const sm::Stored>();  ///< the last that was committed
  sm::StoredPtr in_flight = answered;                             ///< put, and not answered
};

/// Two lives of a process, a few changes each, until the file layer dies. The same for the same seed.
Told live(const Place& place, const test::FaultyVfs& vfs, std::uint64_t seed) {
  Told told;
  std::mt19937_64 random(seed);
  KeptLines lines;
  for (int life = 0; life < 2; ++life) {
    SubnetStates shelves(place, lines.log);
    if (!shelves.open("a")) throw std::runtime_error("locked");
    for (int i = 0; i < 5 && !vfs.dead(); ++i) {
      told.in_flight = test::changed(told.answered, random);
      shelves.put("a", told.in_flight);
      if (shelves.write()) told.answered = told.in_flight;
    }
    if (vfs.dead()) break;
  }
  return told;
}

std::uint64_t steps_of_a_whole_life(std::uint64_t seed) {
  TemporaryFolder folder;
  test::FaultyVfs vfs("whole");
  live({folder.path(), vfs.name()}, vfs, seed);
  return vfs.steps();
}

TEST(Store, KilledAtAnyWriteHoldsWhatWasAnsweredLast) {
  constexpr std::uint64_t kTimes = 1000;
  std::uint64_t killed = 0, newer = 0;
  for (std::uint64_t seed = 1; killed < kTimes; ++seed) {
    const auto steps = steps_of_a_whole_life(seed);
    for (std::uint64_t step = 1; step <= steps && killed < kTimes; ++step, ++killed) {
      TemporaryFolder folder;
      test::FaultyVfs vfs("dying");
      vfs.die_at(step);
      const auto told = live({folder.path(), vfs.name()}, vfs, seed);
      vfs.lose_power(seed * 1000 + step, (seed + step) % 4 == 0);

      KeptLines lines;
      SubnetStates shelves({folder.path()}, lines.log);
      const auto found = shelves.open("a");

      ASSERT_TRUE(found);
      const bool last = **found == *told.answered;
      const bool next = **found == *told.in_flight;
      EXPECT_TRUE(last || next) << "seed " << seed << ", killed at write " << step << " of " << steps;
      EXPECT_TRUE(lines.lines->empty())
          << "seed " << seed << ", write " << step << ": " << lines.lines->front();
      newer += !last && next ? 1U : 0U;
    }
  }
  std::printf("   %llu deaths, %llu of them after the change in flight was safe\n",
              static_cast<unsigned long long>(killed), static_cast<unsigned long long>(newer));
  EXPECT_GT(newer, 0U);
}

}  // namespace
}  // namespace smd::store
