// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/memory_bandwidth.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "smd/base/stopwatch.h"

namespace smd::cli {

double memset_ms(std::size_t bytes, const routing::Parallel& parallel) {
  std::vector<unsigned char> buffer(bytes, 1);
  const std::size_t pieces = std::max(1U, parallel.threads());
  auto best = std::numeric_limits<double>::infinity();
  for (int value = 2; value < 7; ++value) {
    sm::Stopwatch lap;
    parallel.for_each(pieces, [&](std::size_t i) {
      const auto begin = bytes * i / pieces, end = bytes * (i + 1) / pieces;
      if (begin < end) std::memset(buffer.data() + begin, value, end - begin);
    });
    best = std::min(best, lap());
  }
  // The last fill is read, so that no compiler leaves the fills out.
  const volatile unsigned char last = buffer.empty() ? 0 : buffer.back();
  static_cast<void>(last);
  return best;
}

}  // namespace smd::cli
