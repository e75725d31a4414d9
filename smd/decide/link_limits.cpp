// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/link_limits.h"

#include <algorithm>
#include <array>

#include "mad/base/rate.h"

namespace smd::sm::inline decisions {
namespace {

constexpr std::array kNarrowestFirst{LinkWidth::x1, LinkWidth::x2, LinkWidth::x4, LinkWidth::x8,
                                     LinkWidth::x12};

/// Bits up to the one that `limit` stands for, of those in `supported`; at least the lowest of these.
std::uint8_t up_to(unsigned bits, std::uint8_t supported) {
  const auto mask = static_cast<std::uint8_t>((1U << bits) - 1U);
  const auto lowest = static_cast<std::uint8_t>(supported & (~supported + 1U));
  return static_cast<std::uint8_t>((supported & mask) | lowest);
}

std::uint8_t enabled_widths(std::uint8_t supported, LinkWidth limit) {
  std::uint8_t enabled = 0;
  for (const auto width : kNarrowestFirst) {
    const auto bit = static_cast<std::uint8_t>(supported & static_cast<std::uint8_t>(width));
    if (lanes(width) <= lanes(limit) || enabled == 0) enabled |= bit;
  }
  return enabled;
}

/// LinkSpeed: SDR, DDR, QDR are bits 0 to 2; LinkSpeedExt: FDR, EDR, HDR, NDR are bits 0 to 3; LinkSpeedExt2:
/// XDR is bit 0.
unsigned base_bits(LinkSpeed limit) {
  return std::min(3U, static_cast<unsigned>(limit) - static_cast<unsigned>(LinkSpeed::unknown));
}
unsigned extended_bits(LinkSpeed limit) {
  return limit < LinkSpeed::fdr
             ? 0U
             : std::min(4U, static_cast<unsigned>(limit) - static_cast<unsigned>(LinkSpeed::fdr) + 1U);
}

/// The lowest `bits` of what is supported; `off` where there is none, 0 where the port has no such field.
std::uint8_t extended(unsigned bits, std::uint8_t supported, std::uint8_t off) {
  if (supported == 0) return 0;
  const auto enabled = static_cast<std::uint8_t>(supported & ((1U << bits) - 1U));
  return enabled != 0 ? enabled : off;
}

/// No speed is active that a field of the extended ones forbids.
bool keeps_to(std::uint8_t active, std::uint8_t enabled, std::uint8_t off) {
  return enabled == 0 || (active & ~(enabled == off ? 0U : unsigned{enabled})) == 0;
}

}  // namespace

EnabledLinks enabled_links(const wire::PortInfo& info, LinkWidth width, LinkSpeed speed) {
  EnabledLinks enabled;
  if (width != LinkWidth::unknown) enabled.width = enabled_widths(info.link_width_supported, width);
  if (speed == LinkSpeed::unknown) return enabled;
  enabled.speed = up_to(base_bits(speed), info.link_speed_supported);
  enabled.speed_ext = extended(extended_bits(speed), info.link_speed_ext_supported, kNoExtendedSpeed);
  const unsigned all = speed < LinkSpeed::xdr ? 0 : 2;
  enabled.speed_ext2 = extended(all, info.link_speed_ext2_supported, kNoExtendedSpeed2);
  return enabled;
}

bool within(const wire::PortInfo& info, const EnabledLinks& enabled) {
  const bool width = enabled.width == 0 || (info.link_width_active & ~enabled.width) == 0;
  const bool extended = info.link_speed_ext_active != 0 || info.link_speed_ext2_active != 0;
  const bool speed = enabled.speed == 0 || extended || (info.link_speed_active & ~enabled.speed) == 0;
  return width && speed && keeps_to(info.link_speed_ext_active, enabled.speed_ext, kNoExtendedSpeed) &&
         keeps_to(info.link_speed_ext2_active, enabled.speed_ext2, kNoExtendedSpeed2);
}

}  // namespace smd::sm::inline decisions
