// SPDX-License-Identifier: Apache-2.0
#include "mad/base/scheduling.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>

namespace smd::base {
namespace {

/// sched_runtime of the calling thread in ns: byte 24 of the kernel's struct sched_attr.
std::uint64_t slice() {
  std::array<std::uint8_t, 48> attributes{};
  std::uint64_t runtime = 0;
  if (syscall(SYS_sched_getattr, 0, attributes.data(), attributes.size(), 0) != 0) return 0;
  std::memcpy(&runtime, attributes.data() + 24, sizeof(runtime));
  return runtime;
}

bool kernel_knows_slices() {
  utsname kernel{};
  int major = 0, minor = 0;
  return uname(&kernel) == 0 && std::sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 12));
}

TEST(Scheduling, AThreadThatIsWokenAtOnceAsksForTheShortestSliceAndKeepsItsPriority) {
  if (!kernel_knows_slices() || sched_getscheduler(0) != SCHED_OTHER) GTEST_SKIP() << "Linux before 6.12";
  std::uint64_t before = 0, after = 0;
  int nice_before = 0, nice_after = 0;
  std::thread([&] {
    before = slice();
    nice_before = getpriority(PRIO_PROCESS, 0);
    wake_at_once();
    after = slice();
    nice_after = getpriority(PRIO_PROCESS, 0);
  }).join();
  if (after == before) GTEST_SKIP() << "this system keeps a thread from asking";
  EXPECT_EQ(after, 100'000U);
  EXPECT_EQ(nice_after, nice_before);
}

TEST(Scheduling, ALowerPriorityIsTheThreadsAlone) {
  const int before = getpriority(PRIO_PROCESS, 0);
  int lower = 0;
  std::thread([&] {
    lower_priority();
    lower = getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)));
  }).join();
  EXPECT_EQ(lower, std::min(19, before + 5));
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), before);
}

}  // namespace
}  // namespace smd::base
