// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/state/counts.h"

namespace smd::sim {

std::uint64_t SmpCounts::sum(std::size_t method) const {
  std::uint64_t total = 0;
  for (const auto& slot : slots_) total += slot[method];
  return total;
}

std::vector<SmpCount> SmpCounts::all() const {
  std::vector<SmpCount> counts;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i][0] == 0 && slots_[i][1] == 0) continue;
    const auto attribute = i < kStandard           ? static_cast<std::uint16_t>(i)
                           : i == kArInfo          ? std::uint16_t{0xFF20}
                           : i == kMlnxExtPortInfo ? std::uint16_t{0xFF90}
                                                   : std::uint16_t{0xFFFF};
    counts.push_back({.attribute = attribute, .gets = slots_[i][0], .sets = slots_[i][1]});
  }
  return counts;
}

}  // namespace smd::sim
