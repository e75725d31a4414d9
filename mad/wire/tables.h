// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables of a port: P_Keys, GUIDs, SL to VL, VL arbitration. Layout: libibmad's
// IB_SLTOVL_MAPPING_TABLE_F, IB_VL_ARBITRATION_TABLE_F, IB_GUID_GUID0_F; P_Keys as the kernel's readers of
// attribute 0x16 take them.

#include <array>
#include <tuple>

#include "mad/base/id.h"
#include "mad/wire/codec.h"

namespace smd::wire {

/// 32 entries of a port's P_Key table; 0 is an empty entry.
struct PKeyTable {
  static constexpr std::uint16_t kAttribute = 0x0016;
  static constexpr std::string_view kName = "P_KeyTable";
  static constexpr std::size_t kBytes = 64;
  std::array<PKey, 32> keys{};

  static constexpr auto fields() { return std::tuple{array_field("P_Key", &PKeyTable::keys, 0, 16)}; }
  friend bool operator==(const PKeyTable&, const PKeyTable&) = default;
};
static_assert(well_formed<PKeyTable>());

/// 8 GUIDs of a port; entry 0 of block 0 is the port's own.
struct GuidInfo {
  static constexpr std::uint16_t kAttribute = 0x0014;
  static constexpr std::string_view kName = "GUIDInfo";
  static constexpr std::size_t kBytes = 64;
  std::array<Guid, 8> guids{};

  static constexpr auto fields() { return std::tuple{array_field("GUID", &GuidInfo::guids, 0, 64)}; }
  friend bool operator==(const GuidInfo&, const GuidInfo&) = default;
};
static_assert(well_formed<GuidInfo>());

/// The VL of each of the 16 SLs, for one pair of ports (in, out) of a switch or one port of a CA.
struct SlToVl {
  static constexpr std::uint16_t kAttribute = 0x0017;
  static constexpr std::string_view kName = "SLtoVLMappingTable";
  static constexpr std::size_t kBytes = 8;
  std::array<Vl, 16> vls{};

  static constexpr auto fields() { return std::tuple{array_field("VL", &SlToVl::vls, 0, 4)}; }
  friend bool operator==(const SlToVl&, const SlToVl&) = default;
};
static_assert(well_formed<SlToVl>());

/// One turn of a port's arbiter: up to 64 * weight bytes of this VL.
struct VlWeight {
  Vl vl{};
  std::uint8_t weight = 0;
  friend bool operator==(const VlWeight&, const VlWeight&) = default;
};

/// 32 entries of a port's VL arbitration table.
struct VlArbitration {
  static constexpr std::uint16_t kAttribute = 0x0018;
  static constexpr std::string_view kName = "VLArbitrationTable";
  static constexpr std::size_t kBytes = 64;
  std::array<VlWeight, 32> entries{};

  /// Rows of the byte layout: 16 bits an entry, VL and weight (libibmad's IB_VL_ARBITRATION_TABLE_F).
  static constexpr auto fields() {
    using T = VlArbitration;
    return std::tuple{element_field("VL", &T::entries, &VlWeight::vl, 4, 4, 16),
                      element_field("Weight", &T::entries, &VlWeight::weight, 8, 8, 16)};
  }
  friend bool operator==(const VlArbitration&, const VlArbitration&) = default;
};
static_assert(well_formed<VlArbitration>());

}  // namespace smd::wire
