// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bits of PortInfo's CapabilityMask and CapabilityMask2, and what PortInfo says of a link in our own words.
// Sources: libibmad's mad_dump_portcapmask, the kernel's ib_port_capability_mask(2)_bits.

#include <cstdint>
#include <optional>

#include "mad/base/link.h"
#include "mad/wire/port_ext.h"
#include "mad/wire/port_info.h"

namespace smd::wire {

namespace capability {
inline constexpr std::uint32_t sm = 1U << 1, notice = 1U << 2, trap = 1U << 3, optional_ipd = 1U << 4,
                               automatic_migration = 1U << 5, sl_mapping = 1U << 6, m_key_nvram = 1U << 7,
                               p_key_nvram = 1U << 8, led_info = 1U << 9, sm_disabled = 1U << 10,
                               system_image_guid = 1U << 11, pkey_switch_external_port_trap = 1U << 12,
                               extended_speeds = 1U << 14, capability_mask2 = 1U << 15,
                               communication_management = 1U << 16, snmp_tunneling = 1U << 17,
                               reinit = 1U << 18, device_management = 1U << 19, vendor_class = 1U << 20,
                               dr_notice = 1U << 21, capability_mask_notice = 1U << 22,
                               boot_management = 1U << 23, link_round_trip_latency = 1U << 24,
                               client_reregistration = 1U << 25, other_local_changes_notice = 1U << 26,
                               link_speed_width_pairs = 1U << 27, vendor_specific_mads = 1U << 28,
                               multicast_pkey_trap_suppression = 1U << 29, multicast_fdb_top = 1U << 30,
                               hierarchy_info = 1U << 31;
}  // namespace capability

namespace capability2 {
inline constexpr std::uint16_t set_node_description = 1U << 0, port_info_extended = 1U << 1,
                               virtualization = 1U << 2, switch_port_state_table = 1U << 3,
                               link_width_2x = 1U << 4, link_speed_hdr = 1U << 5, link_speed_ndr = 1U << 10,
                               extended_speeds2 = 1U << 11, link_speed_xdr = 1U << 12;
}  // namespace capability2

/// True where CapabilityMask has this bit.
constexpr bool has(const PortInfo& info, std::uint32_t bit) { return (info.capability_mask & bit) != 0; }
/// True where CapabilityMask2 is there and has this bit.
constexpr bool has2(const PortInfo& info, std::uint16_t bit) {
  return has(info, capability::capability_mask2) && (info.capability_mask2 & bit) != 0;
}

/// The active width; unknown where it is none or a value that we do not know.
LinkWidth link_width(const PortInfo& info);
/// The active speed of a lane. The fields of extended speeds count whatever the capability masks say: a port
/// that was not asked with extended speeds (bit 31 of the modifier) has zero there, and an external switch
/// port has no mask of its own.
LinkSpeed link_speed(const PortInfo& info, const std::optional<MlnxExtPortInfo>& ext = std::nullopt);

}  // namespace smd::wire
