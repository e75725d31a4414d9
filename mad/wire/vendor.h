// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whose a device is, by NodeInfo.VendorID.

#include <algorithm>
#include <array>
#include <cstdint>

namespace smd::wire {

/// A device of NVIDIA (Mellanox): has their vendor attributes, if it has any. The numbers are those that
/// OpenSM 3.3.23 lists as OSM_VENDOR_ID_MELLANOX to MELLANOX9 (opensm/osm_base.h).
constexpr bool is_nvidia(std::uint32_t vendor_id) {
  constexpr std::array<std::uint32_t, 9> kIds{0x0002C9, 0xF45214, 0x00258B, 0xE41D2D, 0x7CFE90,
                                              0xEC0D9A, 0x248A07, 0x506B4B, 0x98039B};
  return std::ranges::find(kIds, vendor_id) != kIds.end();
}

}  // namespace smd::wire
