// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/link_limits.h"

#include <algorithm>
#include <array>

#include "mad/base/rate.h"

namespace smd::sm {
namespace {

/// LinkSpeedExtEnabled: all extended speeds forbidden (libibmad prints it as 'Extended link speeds
/// disabled').
constexpr std::uint8_t kNoExtendedSpeed = 30;

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

/// LinkSpeed: SDR, DDR, QDR are bits 0 to 2; LinkSpeedExt: FDR, EDR, HDR, NDR are bits 0 to 3.
unsigned base_bits(LinkSpeed limit) {
  return std::min(3U, static_cast<unsigned>(limit) - static_cast<unsigned>(LinkSpeed::unknown));
}
unsigned extended_bits(LinkSpeed limit) {
  return limit < LinkSpeed::fdr
             ? 0U
             : std::min(4U, static_cast<unsigned>(limit) - static_cast<unsigned>(LinkSpeed::fdr) + 1U);
}

}  // namespace

EnabledLinks enabled_links(const wire::PortInfo& info, LinkWidth width, LinkSpeed speed) {
  EnabledLinks enabled;
  if (width != LinkWidth::unknown) enabled.width = enabled_widths(info.link_width_supported, width);
  if (speed == LinkSpeed::unknown) return enabled;
  enabled.speed = up_to(base_bits(speed), info.link_speed_supported);
  if (info.link_speed_ext_supported == 0) return enabled;
  const auto bits = extended_bits(speed);
  enabled.speed_ext = bits == 0
                          ? kNoExtendedSpeed
                          : static_cast<std::uint8_t>(info.link_speed_ext_supported & ((1U << bits) - 1U));
  if (enabled.speed_ext == 0) enabled.speed_ext = kNoExtendedSpeed;
  return enabled;
}

bool within(const wire::PortInfo& info, const EnabledLinks& enabled) {
  const bool width = enabled.width == 0 || (info.link_width_active & ~enabled.width) == 0;
  const bool speed =
      enabled.speed == 0 || info.link_speed_ext_active != 0 || (info.link_speed_active & ~enabled.speed) == 0;
  const auto extended = enabled.speed_ext == kNoExtendedSpeed ? 0 : enabled.speed_ext;
  const bool speed_ext = enabled.speed_ext == 0 || (info.link_speed_ext_active & ~extended) == 0;
  return width && speed && speed_ext;
}

}  // namespace smd::sm
