// SPDX-License-Identifier: Apache-2.0
#pragma once
// Widths and speeds that a port may come up with, as PortInfo's Enabled fields say it.

#include <compare>
#include <cstdint>

#include "mad/base/link.h"
#include "mad/wire/port_info.h"

namespace smd::sm::inline decisions {

/// All speeds of LinkSpeedExtEnabled are forbidden (libibmad prints it as 'Extended link speeds disabled').
/// After such a Set some firmware shows 0.
inline constexpr std::uint8_t kNoExtendedSpeed = 30;
/// The same of LinkSpeedExtEnabled2, which has three bits. Assumed: no source was found for it.
inline constexpr std::uint8_t kNoExtendedSpeed2 = 6;

/// Codes to Set; 0 in each: leave it as it is.
struct EnabledLinks {
  std::uint8_t width = 0, speed = 0, speed_ext = 0, speed_ext2 = 0;
  friend auto operator<=>(const EnabledLinks&, const EnabledLinks&) = default;
};

/// All widths up to `width` and all speeds up to `speed` that the port supports; unknown: no limit, and
/// nothing is Set. The slowest that it supports stays enabled in any case. FDR10, which only a vendor's
/// attribute can forbid, counts as QDR.
EnabledLinks enabled_links(const wire::PortInfo& info, LinkWidth width, LinkSpeed speed);

/// Whether the active width and speed are among `enabled`.
bool within(const wire::PortInfo& info, const EnabledLinks& enabled);

}  // namespace smd::sm::inline decisions
