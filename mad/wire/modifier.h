// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the attribute modifier of an SMP says, attribute by attribute. Sources: infiniband-diags' smpquery
// (PortInfo, P_KeyTable, SLtoVL, VLArbitration) and ibroute (forwarding tables), OpenSM's osm_qos.c (SLtoVL
// of all ports).

#include <cstdint>

#include "mad/base/id.h"

namespace smd::wire {

/// PortInfo: the port; bit 31 says that this SM knows extended link speeds.
inline constexpr std::uint32_t kExtendedSpeeds = 0x8000'0000U;
/// PortInfo of this port; `extended_speeds` sets bit 31 (kExtendedSpeeds).
constexpr std::uint32_t port_info_modifier(PortNum port, bool extended_speeds) {
  return port.value() | (extended_speeds ? kExtendedSpeeds : 0U);
}
/// The port in the lower 8 bits of a PortInfo modifier.
constexpr PortNum port_of_port_info(std::uint32_t modifier) {
  return PortNum{static_cast<std::uint8_t>(modifier)};
}

/// LinearForwardingTable: the block of 64 LIDs.
constexpr std::uint32_t lft_modifier(std::uint32_t block) { return block; }
/// The block of 64 LIDs that holds `lid`.
constexpr std::uint32_t lft_block(Lid lid) { return lid.value() / 64U; }

/// MulticastForwardingTable: the block of 32 MLIDs from 0xC000 on, and the position of the 16 ports.
constexpr std::uint32_t mft_modifier(std::uint32_t block, std::uint32_t position) {
  return (block & 0x1FFU) | (position << 28U);
}
/// Block of 32 MLIDs that holds `mlid`; the MLID is 0xC000 or above.
constexpr std::uint32_t mft_block(Lid mlid) {
  return (static_cast<std::uint32_t>(mlid.value()) - kFirstMulticastLid.value()) / 32U;
}
constexpr std::uint32_t block_of_mft(std::uint32_t modifier) { return modifier & 0x1FFU; }  ///< bits 0 to 8
/// Bits 28 to 31; position n is ports 16n to 16n + 15.
constexpr std::uint32_t position_of_mft(std::uint32_t modifier) { return modifier >> 28U; }

/// P_KeyTable: the block of 32 keys, and a switch's port.
constexpr std::uint32_t p_key_modifier(std::uint32_t block, PortNum port = {}) {
  return (block & 0xFFFFU) | (static_cast<std::uint32_t>(port.value()) << 16U);
}
/// Bits 0 to 15.
constexpr std::uint32_t block_of_p_key(std::uint32_t modifier) { return modifier & 0xFFFFU; }
/// The port in bits 16 to 23 of a P_KeyTable modifier; 0 for a CA or a switch's management port.
constexpr PortNum port_of_p_key(std::uint32_t modifier) {
  return PortNum{static_cast<std::uint8_t>(modifier >> 16U)};
}

/// GUIDInfo: the block of 8 GUIDs.
constexpr std::uint32_t guid_info_modifier(std::uint32_t block) { return block; }

/// SLtoVL of a switch: a pair of ports (of a CA: 0). Where SwitchInfo says OptimizedSLtoVLMappingProgramming
/// one Set may go to all input ports, and to all output ports.
inline constexpr std::uint32_t kAllOutPorts = 0x1'0000U, kAllInPorts = 0x2'0000U;
/// SLtoVL of one pair of ports: the input port in bits 8 to 15, the output port in bits 0 to 7.
constexpr std::uint32_t sl_to_vl_modifier(PortNum in, PortNum out) {
  return (static_cast<std::uint32_t>(in.value()) << 8U) | out.value();
}
/// For all input ports.
constexpr std::uint32_t sl_to_vl_all_in_modifier(PortNum out) { return kAllInPorts | out.value(); }
inline constexpr std::uint32_t kSlToVlAllModifier = kAllInPorts | kAllOutPorts;
/// The input port of an SLtoVL modifier; not meaningful where kAllInPorts is set.
constexpr PortNum in_port_of_sl_to_vl(std::uint32_t modifier) {
  return PortNum{static_cast<std::uint8_t>(modifier >> 8U)};
}
/// The output port of an SLtoVL modifier; not meaningful where kAllOutPorts is set.
constexpr PortNum out_port_of_sl_to_vl(std::uint32_t modifier) {
  return PortNum{static_cast<std::uint8_t>(modifier)};
}

/// VLArbitration: the quarter of the table (32 entries each), and a switch's port.
enum class VlArbPart : std::uint8_t { low_first = 1, low_second = 2, high_first = 3, high_second = 4 };
/// The part in bits 16 to 31, the port in bits 0 to 7; of a CA the port is 0.
constexpr std::uint32_t vl_arb_modifier(VlArbPart part, PortNum port = {}) {
  return (static_cast<std::uint32_t>(part) << 16U) | port.value();
}
/// Bits 16 to 31, a VlArbPart if 1 to 4.
constexpr std::uint32_t part_of_vl_arb(std::uint32_t modifier) { return modifier >> 16U; }
/// The port in the lower 8 bits of a VLArbitration modifier.
constexpr PortNum port_of_vl_arb(std::uint32_t modifier) {
  return PortNum{static_cast<std::uint8_t>(modifier)};
}

}  // namespace smd::wire
