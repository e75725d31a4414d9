// SPDX-License-Identifier: Apache-2.0
#pragma once
// ClassPortInfo of the GSI classes (SA, PM, …). Layout: libibmad's IB_CPI_*, the kernel's struct
// ib_class_port_info.

#include <tuple>

#include "mad/base/gid.h"
#include "mad/base/id.h"
#include "mad/wire/codec.h"

namespace smd::wire {

struct ClassPortInfo {
  static constexpr std::uint16_t kAttribute = 0x0001;
  static constexpr std::string_view kName = "ClassPortInfo";
  static constexpr std::size_t kBytes = 72;
  std::uint8_t base_version = 0, class_version = 0;
  std::uint16_t capability_mask = 0;
  std::uint32_t capability_mask2 = 0;  ///< 27 bits
  std::uint8_t resp_time = 0;          ///< 4.096 us * 2^n
  Gid redirect_gid{};
  std::uint8_t redirect_tc = 0;
  Sl redirect_sl{};
  std::uint32_t redirect_fl = 0;
  Lid redirect_lid{};
  PKey redirect_pkey{};
  std::uint32_t redirect_qp = 0, redirect_qkey = 0;
  Gid trap_gid{};
  std::uint8_t trap_tc = 0;
  Sl trap_sl{};
  std::uint32_t trap_fl = 0;
  Lid trap_lid{};
  PKey trap_pkey{};
  std::uint8_t trap_hop_limit = 0;
  std::uint32_t trap_qp = 0, trap_qkey = 0;

  /// Rows of the byte layout: libibmad's IB_CPI_*, the kernel's struct ib_class_port_info.
  static constexpr auto fields() {
    using T = ClassPortInfo;
    return std::tuple{field("BaseVersion", &T::base_version, 0, 8),
                      field("ClassVersion", &T::class_version, 8, 8),
                      field("CapabilityMask", &T::capability_mask, 16, 16, Style::hex),
                      field("CapabilityMask2", &T::capability_mask2, 32, 27, Style::hex),
                      field("RespTimeValue", &T::resp_time, 59, 5),
                      gid_field("RedirectGID", &T::redirect_gid, 64),
                      field("RedirectTC", &T::redirect_tc, 192, 8, Style::hex),
                      field("RedirectSL", &T::redirect_sl, 200, 4),
                      field("RedirectFL", &T::redirect_fl, 204, 20, Style::hex),
                      field("RedirectLID", &T::redirect_lid, 224, 16),
                      field("RedirectP_Key", &T::redirect_pkey, 240, 16),
                      field("RedirectQP", &T::redirect_qp, 264, 24),
                      field("RedirectQ_Key", &T::redirect_qkey, 288, 32, Style::hex),
                      gid_field("TrapGID", &T::trap_gid, 320),
                      field("TrapTC", &T::trap_tc, 448, 8, Style::hex),
                      field("TrapSL", &T::trap_sl, 456, 4),
                      field("TrapFL", &T::trap_fl, 460, 20, Style::hex),
                      field("TrapLID", &T::trap_lid, 480, 16),
                      field("TrapP_Key", &T::trap_pkey, 496, 16),
                      field("TrapHL", &T::trap_hop_limit, 512, 8),
                      field("TrapQP", &T::trap_qp, 520, 24),
                      field("TrapQ_Key", &T::trap_qkey, 544, 32, Style::hex)};
  }
  friend bool operator==(const ClassPortInfo&, const ClassPortInfo&) = default;
};
static_assert(well_formed<ClassPortInfo>());

}  // namespace smd::wire
