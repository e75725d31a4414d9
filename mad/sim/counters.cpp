// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/counters.h"

#include <algorithm>
#include <limits>

namespace smd::sim {

std::optional<Counter> counter_of(std::string_view name) {
  const auto found = std::ranges::find(kCounterNames, name);
  if (found == kCounterNames.end()) return std::nullopt;
  return static_cast<Counter>(found - kCounterNames.begin());
}

const PortCounters::Growth* PortCounters::growth(Counter counter) const {
  const auto found = std::ranges::find(growing_, counter, &Growth::counter);
  return found == growing_.end() ? nullptr : &*found;
}

double PortCounters::rate(Counter counter) const {
  const auto* grows = growth(counter);
  return grows == nullptr ? 0 : grows->per_second;
}

std::uint64_t PortCounters::read(Counter counter, mad::TimePoint now) const {
  const auto value = values_[index(counter)];
  const auto* grows = growth(counter);
  if (grows == nullptr) return value;
  const std::chrono::duration<double> time = now - grows->since;
  // A double above this has no place in 64 bits.
  constexpr double kMost = 18446744073709549568.0;
  const auto more = static_cast<std::uint64_t>(std::clamp(grows->per_second * time.count(), 0.0, kMost));
  return value + std::min(more, std::numeric_limits<std::uint64_t>::max() - value);
}

void PortCounters::set(Counter counter, std::uint64_t value, double per_second, mad::TimePoint now) {
  values_[index(counter)] = value;
  std::erase_if(growing_, [&](const Growth& g) { return g.counter == counter; });
  if (per_second > 0) growing_.push_back({counter, per_second, now});
}

}  // namespace smd::sim
