// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/component_mask.h"

namespace smd::sa {

Pattern::Pattern(Components components, std::uint64_t mask, std::span<const std::uint8_t> data) {
  for (std::size_t i = 0; i < components.size() && i < 64; ++i) {
    if ((mask >> i & 1U) == 0) continue;
    const auto [first, width] = components[i];
    for (unsigned bit = first; bit < unsigned{first} + width; ++bit) {
      const auto at = static_cast<std::uint16_t>(bit / 8);
      const auto one = static_cast<std::uint8_t>(0x80U >> (bit % 8));
      if (bytes_.empty() || bytes_.back().at != at) bytes_.push_back({at, 0, 0});
      auto& byte = bytes_.back();
      byte.mask = static_cast<std::uint8_t>(byte.mask | one);
      if (at < data.size()) byte.value = static_cast<std::uint8_t>(byte.value | (data[at] & one));
    }
  }
}

void Pattern::only_ones_of(const Component& component) {
  for (auto& byte : bytes_) {
    const unsigned first = byte.at * 8U;
    if (first >= component.first && first + 8 <= unsigned{component.first} + component.width)
      byte.mask = byte.value;
  }
}

bool Pattern::matches(std::span<const std::uint8_t> record) const {
  for (const auto& byte : bytes_) {
    if (byte.at >= record.size() || (record[byte.at] & byte.mask) != byte.value) return false;
  }
  return true;
}

}  // namespace smd::sa
