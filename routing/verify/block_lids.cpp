// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/block_lids.h"

#include <algorithm>

namespace smd::routing::inline verify {

void BlockLids::load(std::size_t number) {
  first_ = number * 64;
  live_ = hosts_ = end_ports_ = 0;
  std::ranges::fill(connected_, LidBits{0});
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto to = destinations_[bit] = lids_.destination(lid(bit));
    if (to.sw == kNoSwitch) continue;
    const auto mask = LidBits{1} << bit;
    live_ |= mask;
    connected_[topology_.component(to.sw)] |= mask;
    if (to.end == kNoEnd) continue;
    end_ports_ |= mask;
    if (topology_.end_ports()[to.end].kind != EndKind::aggregation) hosts_ |= mask;
  }
}

}  // namespace smd::routing::inline verify
