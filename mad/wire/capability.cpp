// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/capability.h"

namespace smd::wire {

LinkWidth link_width(const PortInfo& info) {
  switch (static_cast<LinkWidth>(info.link_width_active)) {
    case LinkWidth::x1:
      return LinkWidth::x1;
    case LinkWidth::x2:
      return LinkWidth::x2;
    case LinkWidth::x4:
      return LinkWidth::x4;
    case LinkWidth::x8:
      return LinkWidth::x8;
    case LinkWidth::x12:
      return LinkWidth::x12;
    case LinkWidth::unknown:
      break;
  }
  return LinkWidth::unknown;
}

LinkSpeed link_speed(const PortInfo& info, const std::optional<MlnxExtPortInfo>& ext) {
  if (info.link_speed_ext2_active == 1) return LinkSpeed::xdr;
  switch (info.link_speed_ext_active) {
    case 1:
      return LinkSpeed::fdr;
    case 2:
      return LinkSpeed::edr;
    case 4:
      return LinkSpeed::hdr;
    case 8:
      return LinkSpeed::ndr;
    default:
      break;
  }
  switch (info.link_speed_active) {
    case 1:
      return LinkSpeed::sdr;
    case 2:
      return LinkSpeed::ddr;
    case 4:
      break;
    default:
      return LinkSpeed::unknown;
  }
  // FDR10 shows as QDR in PortInfo.
  const bool fdr10 = ext && (ext->link_speed_active & MlnxExtPortInfo::kFdr10) != 0;
  return fdr10 ? LinkSpeed::fdr10 : LinkSpeed::qdr;
}

}  // namespace smd::wire
