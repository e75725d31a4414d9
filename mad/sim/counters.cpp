// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/counters.h"

#include <algorithm>

namespace smd::sim {

std::optional<Counter> counter_of(std::string_view name) {
  const auto found = std::ranges::find(kCounterNames, name);
  if (found == kCounterNames.end()) return std::nullopt;
  return static_cast<Counter>(found - kCounterNames.begin());
}

std::uint64_t PortCounters::read(Counter counter, mad::TimePoint now) const {
  const auto i = index(counter);
  const std::chrono::duration<double> time = now - since_[i];
  return values_[i] + static_cast<std::uint64_t>(std::max(0.0, rates_[i] * time.count()));
}

void PortCounters::set(Counter counter, std::uint64_t value, double per_second, mad::TimePoint now) {
  const auto i = index(counter);
  values_[i] = value;
  rates_[i] = per_second;
  since_[i] = now;
}

}  // namespace smd::sim
