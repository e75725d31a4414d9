// SPDX-License-Identifier: Apache-2.0
#pragma once
// Places by GUID: one look into memory a lookup, where std::unordered_map has three.

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "mad/base/id.h"

namespace smd::base {

/// Open addressing, at most half full. Of a fixed number of GUIDs.
class GuidIndex {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// Room for `count` GUIDs; more must not be added.
  explicit GuidIndex(std::size_t count)
      : bits_(static_cast<unsigned>(std::bit_width(2 * count + 1))), slots_(std::size_t{1} << bits_) {}

  /// Where the GUID is there already it stays where it was first.
  void add(Guid guid, std::uint32_t place) {
    auto& slot = slots_[slot_of(guid)];
    if (slot.place == kNone) slot = {guid, place};
  }
  /// The place of the GUID; kNone: it is not there.
  std::uint32_t find(Guid guid) const { return slots_[slot_of(guid)].place; }

 private:
  struct Slot {
    Guid guid;
    std::uint32_t place = kNone;
  };

  /// The GUID's own, or the empty one where it would be.
  std::size_t slot_of(Guid guid) const {
    // Vendors count GUIDs up: multiplied, neighbours lie far from each other.
    auto at = static_cast<std::size_t>((guid.value() * 0x9E3779B97F4A7C15U) >> (64U - bits_));
    while (slots_[at].place != kNone && slots_[at].guid != guid) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  unsigned bits_;
  std::vector<Slot> slots_;
};

}  // namespace smd::base
