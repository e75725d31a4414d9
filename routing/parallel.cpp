// SPDX-License-Identifier: Apache-2.0
#include "routing/parallel.h"

#include <atomic>
#include <thread>
#include <vector>

namespace smd::routing {

void Serial::for_each(std::size_t n, const std::function<void(std::size_t)>& fn) const {
  for (std::size_t i = 0; i < n; ++i) fn(i);
}

void Threads::for_each(std::size_t n, const std::function<void(std::size_t)>& fn) const {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next.fetch_add(1); i < n; i = next.fetch_add(1)) fn(i);
  };
  std::vector<std::jthread> helpers;
  for (std::size_t t = 1; t < std::min<std::size_t>(count_, n); ++t) helpers.emplace_back(work);
  work();
}

void for_ranges(const Parallel& parallel, std::size_t n, std::size_t grain,
                const std::function<void(std::size_t, std::size_t)>& fn) {
  const std::size_t pieces = (n + grain - 1) / grain;
  parallel.for_each(pieces, [&](std::size_t i) { fn(i * grain, std::min(n, (i + 1) * grain)); });
}

}  // namespace smd::routing
