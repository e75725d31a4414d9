// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory of the process, for reports.

#include <sys/resource.h>

#include <cstdint>

namespace smd::sm::inline common {

/// The most physical memory that the process has had so far, in KB.
inline std::uint64_t peak_rss_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss);
}

}  // namespace smd::sm::inline common
