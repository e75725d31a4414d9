// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/egress_sets.h"

#include <algorithm>

namespace smd::routing::inline verify {

const std::uint8_t* block_of(const LftRow* row, std::size_t first, std::array<std::uint8_t, 64>& padded) {
  if (row != nullptr && row->size() >= first + 64) return row->data() + first;
  padded.fill(kNoRoute);
  if (row != nullptr && row->size() > first) {
    std::copy(row->begin() + static_cast<std::ptrdiff_t>(first), row->end(), padded.begin());
  }
  return padded.data();
}

LidBits lids_of_layer(const Layers& layers, unsigned layer, Lid first) {
  if (layers.by_lid.empty()) return layer == 0 ? ~LidBits{0} : LidBits{0};
  LidBits bits = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    const auto lid = Lid{static_cast<std::uint16_t>(first.value() + bit)};
    bits |= LidBits{layers.to(lid) == layer ? 1U : 0U} << bit;
  }
  return bits;
}

unsigned layers_in_use(const Layers& layers) {
  unsigned count = std::max({1U, layers.count, layers.by_pair.highest() + 1});
  for (const auto layer : layers.by_lid) count = std::max(count, layer + 1U);
  return count;
}

}  // namespace smd::routing::inline verify
