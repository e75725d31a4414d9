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

// CapabilityMask.
inline constexpr std::uint32_t kCapIsSm = 1U << 1;
inline constexpr std::uint32_t kCapNotice = 1U << 2;
inline constexpr std::uint32_t kCapTrap = 1U << 3;
inline constexpr std::uint32_t kCapOptionalIpd = 1U << 4;
inline constexpr std::uint32_t kCapAutomaticMigration = 1U << 5;
inline constexpr std::uint32_t kCapSlMapping = 1U << 6;
inline constexpr std::uint32_t kCapMKeyNvram = 1U << 7;
inline constexpr std::uint32_t kCapPKeyNvram = 1U << 8;
inline constexpr std::uint32_t kCapLedInfo = 1U << 9;
inline constexpr std::uint32_t kCapSmDisabled = 1U << 10;
inline constexpr std::uint32_t kCapSystemImageGuid = 1U << 11;
inline constexpr std::uint32_t kCapPKeySwitchExternalPortTrap = 1U << 12;
inline constexpr std::uint32_t kCapExtendedSpeeds = 1U << 14;
inline constexpr std::uint32_t kCapCapabilityMask2 = 1U << 15;
inline constexpr std::uint32_t kCapCommunicationManagement = 1U << 16;
inline constexpr std::uint32_t kCapSnmpTunneling = 1U << 17;
inline constexpr std::uint32_t kCapReinit = 1U << 18;
inline constexpr std::uint32_t kCapDeviceManagement = 1U << 19;
inline constexpr std::uint32_t kCapVendorClass = 1U << 20;
inline constexpr std::uint32_t kCapDrNotice = 1U << 21;
inline constexpr std::uint32_t kCapCapabilityMaskNotice = 1U << 22;
inline constexpr std::uint32_t kCapBootManagement = 1U << 23;
inline constexpr std::uint32_t kCapLinkRoundTripLatency = 1U << 24;
inline constexpr std::uint32_t kCapClientReregistration = 1U << 25;
inline constexpr std::uint32_t kCapOtherLocalChangesNotice = 1U << 26;
inline constexpr std::uint32_t kCapLinkSpeedWidthPairs = 1U << 27;
inline constexpr std::uint32_t kCapVendorSpecificMads = 1U << 28;
inline constexpr std::uint32_t kCapMulticastPKeyTrapSuppression = 1U << 29;
inline constexpr std::uint32_t kCapMulticastFdbTop = 1U << 30;
inline constexpr std::uint32_t kCapHierarchyInfo = 1U << 31;

// CapabilityMask2.
inline constexpr std::uint16_t kCap2SetNodeDescription = 1U << 0;
inline constexpr std::uint16_t kCap2PortInfoExtended = 1U << 1;
inline constexpr std::uint16_t kCap2Virtualization = 1U << 2;
inline constexpr std::uint16_t kCap2SwitchPortStateTable = 1U << 3;
inline constexpr std::uint16_t kCap2LinkWidth2x = 1U << 4;
inline constexpr std::uint16_t kCap2LinkSpeedHdr = 1U << 5;
inline constexpr std::uint16_t kCap2LinkSpeedNdr = 1U << 10;
inline constexpr std::uint16_t kCap2ExtendedSpeeds2 = 1U << 11;
inline constexpr std::uint16_t kCap2LinkSpeedXdr = 1U << 12;

/// True where CapabilityMask has this bit.
constexpr bool has(const PortInfo& info, std::uint32_t bit) { return (info.capability_mask & bit) != 0; }
/// True where CapabilityMask2 is there and has this bit.
constexpr bool has2(const PortInfo& info, std::uint16_t bit) {
  return has(info, kCapCapabilityMask2) && (info.capability_mask2 & bit) != 0;
}

/// The active width; unknown where it is none or a value that we do not know.
LinkWidth link_width(const PortInfo& info);
/// The active speed of a lane. The fields of extended speeds count whatever the capability masks say: a port
/// that was not asked with extended speeds (bit 31 of the modifier) has zero there, and an external switch
/// port has no mask of its own.
LinkSpeed link_speed(const PortInfo& info, const std::optional<MlnxExtPortInfo>& ext = std::nullopt);

}  // namespace smd::wire
