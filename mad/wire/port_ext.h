// SPDX-License-Identifier: Apache-2.0
#pragma once
// What PortInfo has no room for: PortInfoExtended (error correction) and Mellanox' MlnxExtPortInfo (FDR10).

#include <tuple>

#include "mad/wire/codec.h"

namespace smd::wire {

/// Forward error correction. Layout: libibmad's IB_PORT_EXT_*; for HDR rdma-core's ib_port_info_ext_t, which
/// NDR continues: libibmad's four rows of these lack the conversion of bit order that all its others have
/// (HDRFECModeSupported would lie on EDRFECModeEnabled).
struct PortInfoExtended {
  static constexpr std::uint16_t kAttribute = 0x0033;
  static constexpr std::string_view kName = "PortInfoExtended";
  static constexpr std::size_t kBytes = 22;
  std::uint32_t capability_mask = 0;
  std::uint16_t fec_mode_active = 0;
  std::uint16_t fdr_fec_supported = 0, fdr_fec_enabled = 0;
  std::uint16_t edr_fec_supported = 0, edr_fec_enabled = 0;
  std::uint16_t hdr_fec_supported = 0, hdr_fec_enabled = 0;
  std::uint16_t ndr_fec_supported = 0, ndr_fec_enabled = 0;

  /// Rows of the byte layout: libibmad's IB_PORT_EXT_*; HDR and NDR: rdma-core's ib_port_info_ext_t.
  static constexpr auto fields() {
    using T = PortInfoExtended;
    return std::tuple{field("CapabilityMask", &T::capability_mask, 0, 32, Style::hex),
                      field("FECModeActive", &T::fec_mode_active, 32, 16, Style::hex),
                      field("FDRFECModeSupported", &T::fdr_fec_supported, 48, 16, Style::hex),
                      field("FDRFECModeEnabled", &T::fdr_fec_enabled, 64, 16, Style::hex),
                      field("EDRFECModeSupported", &T::edr_fec_supported, 80, 16, Style::hex),
                      field("EDRFECModeEnabled", &T::edr_fec_enabled, 96, 16, Style::hex),
                      field("HDRFECModeSupported", &T::hdr_fec_supported, 112, 16, Style::hex),
                      field("HDRFECModeEnabled", &T::hdr_fec_enabled, 128, 16, Style::hex),
                      field("NDRFECModeSupported", &T::ndr_fec_supported, 144, 16, Style::hex),
                      field("NDRFECModeEnabled", &T::ndr_fec_enabled, 160, 16, Style::hex)};
  }
  friend bool operator==(const PortInfoExtended&, const PortInfoExtended&) = default;
};
static_assert(well_formed<PortInfoExtended>());

/// Vendor attribute of Mellanox devices: FDR10 (bit 0 of the speeds). Layout: libibmad's IB_MLNX_EXT_PORT_*.
struct MlnxExtPortInfo {
  static constexpr std::uint16_t kAttribute = 0xFF90;
  static constexpr std::string_view kName = "MlnxExtPortInfo";
  static constexpr std::size_t kBytes = 16;
  static constexpr std::uint8_t kFdr10 = 1;
  std::uint8_t state_change_enable = 0;
  std::uint8_t link_speed_supported = 0, link_speed_enabled = 0, link_speed_active = 0;

  /// Rows of the byte layout: libibmad's IB_MLNX_EXT_PORT_*.
  static constexpr auto fields() {
    using T = MlnxExtPortInfo;
    return std::tuple{field("StateChangeEnable", &T::state_change_enable, 24, 8, Style::hex),
                      field("LinkSpeedSupported", &T::link_speed_supported, 56, 8, Style::hex),
                      field("LinkSpeedEnabled", &T::link_speed_enabled, 88, 8, Style::hex),
                      field("LinkSpeedActive", &T::link_speed_active, 120, 8, Style::hex)};
  }
  friend bool operator==(const MlnxExtPortInfo&, const MlnxExtPortInfo&) = default;
};
static_assert(well_formed<MlnxExtPortInfo>());

}  // namespace smd::wire
