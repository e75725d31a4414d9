// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adaptive routing of NVIDIA switches: whether it is on.

#include <array>
#include <tuple>

#include "mad/wire/codec.h"

namespace smd::wire {

/// Vendor attribute of NVIDIA switches (AdaptiveRoutingInfo, 0xFF20, modifier 0): where `enabled`, packets
/// leave by a port out of a group that tables of their own (0xFF21, 0xFF23) name for the LID, whatever the
/// linear forwarding table says. Layout and meaning: ib_ar_info_t in iba/ib_types.h of NVIDIA's OpenSM, and
/// adaptive_routing_info in packets_layouts.h of their ibis (2025); both agree on the first 20 bytes, the
/// second ends there. Fields that neither names are kept as they were read, so that a Set returns
/// them. Not tried on hardware.
struct ArInfo {
  static constexpr std::uint16_t kAttribute = 0xFF20;
  static constexpr std::string_view kName = "ARInfo";
  static constexpr std::size_t kBytes = 64;
  bool dynamic_caps = false;  ///< capabilities depend on other fields
  bool by_transport_cap = false;
  bool by_sl_enabled = false, by_sl_cap = false;  ///< adaptive for the SLs of by_sl_mask only
  bool global_groups = false, is4_mode = false;
  /// A Set of a linear forwarding table is refused while `enabled`. Else it ends adaptive routing, ibis says.
  bool no_fallback = false;
  std::uint8_t directions = 0, group_copies = 0, sub_groups_active = 0;
  bool rn_enabled = false, fr_enabled = false,
       fr_supported = false;  ///< routing notification, fallback routing
  bool frn_supported = false, arn_supported = false;
  bool enabled = false;
  std::uint8_t string_width_cap = 0, group_table_cap = 0;
  std::uint16_t group_top = 0;
  std::uint16_t group_cap = 0;  ///< 0: the switch cannot route adaptively
  std::uint16_t by_sl_mask = 0;
  std::uint8_t sub_groups_supported = 0, rn_version = 0, ar_version = 0;
  std::uint8_t transports_off = 0;  ///< bit 0: UD, 1: RC, 2: UC, 3: DC are not routed adaptively
  std::uint32_t ageing_us = 0;
  std::uint8_t caps1 = 0, features1 = 0;  ///< hash-based forwarding and others
  std::uint8_t whbf_granularity = 0;
  std::uint16_t hbf_by_sl_mask = 0;
  std::uint8_t reserved0 = 0, reserved1 = 0, reserved3 = 0, reserved4 = 0, reserved5 = 0;
  std::uint32_t reserved2 = 0;
  std::array<std::uint8_t, 36> reserved6{};

  /// Rows of the byte layout: ib_ar_info_t of NVIDIA's OpenSM and adaptive_routing_info of their ibis.
  static constexpr auto fields() {
    using T = ArInfo;
    return std::tuple{field("Reserved0", &T::reserved0, 0, 1),
                      field("DynCapCalcSup", &T::dynamic_caps, 1, 1),
                      field("ByTranspCap", &T::by_transport_cap, 2, 1),
                      field("BySLEn", &T::by_sl_enabled, 3, 1),
                      field("BySLCap", &T::by_sl_cap, 4, 1),
                      field("GlbGroups", &T::global_groups, 5, 1),
                      field("Is4Mode", &T::is4_mode, 6, 1),
                      field("NoFallback", &T::no_fallback, 7, 1),
                      field("DirectionNumSup", &T::directions, 8, 8),
                      field("GroupTableCopySup", &T::group_copies, 16, 4),
                      field("SubGrpsActive", &T::sub_groups_active, 20, 4),
                      field("Reserved1", &T::reserved1, 24, 2),
                      field("RNXmitEnabled", &T::rn_enabled, 26, 1),
                      field("FREnabled", &T::fr_enabled, 27, 1),
                      field("IsFRSup", &T::fr_supported, 28, 1),
                      field("IsFRNSup", &T::frn_supported, 29, 1),
                      field("IsARNSup", &T::arn_supported, 30, 1),
                      field("E", &T::enabled, 31, 1),
                      field("StringWidthCap", &T::string_width_cap, 32, 4),
                      field("GroupTableCap", &T::group_table_cap, 36, 4),
                      field("GroupTop", &T::group_top, 40, 12),
                      field("GroupCap", &T::group_cap, 52, 12),
                      field("EnableBySLMask", &T::by_sl_mask, 64, 16, Style::hex),
                      field("SubGrpsSupported", &T::sub_groups_supported, 80, 8),
                      field("RNVersionCap", &T::rn_version, 88, 4),
                      field("ARVersionCap", &T::ar_version, 92, 4),
                      field("Reserved2", &T::reserved2, 96, 24, Style::hex),
                      field("ByTransportDisable", &T::transports_off, 120, 8, Style::hex),
                      field("AgeingTimeValue", &T::ageing_us, 128, 32),
                      field("CapFields1", &T::caps1, 160, 8, Style::hex),
                      field("Reserved3", &T::reserved3, 168, 8),
                      field("EnableFeatures1", &T::features1, 176, 8, Style::hex),
                      field("Reserved4", &T::reserved4, 184, 8),
                      field("WHBFGranularity", &T::whbf_granularity, 192, 8, Style::hex),
                      field("Reserved5", &T::reserved5, 200, 8),
                      field("EnableBySLMaskHBF", &T::hbf_by_sl_mask, 208, 16, Style::hex),
                      array_field("Reserved6", &T::reserved6, 224, 8)};
  }
  friend bool operator==(const ArInfo&, const ArInfo&) = default;
};
static_assert(well_formed<ArInfo>());

}  // namespace smd::wire
