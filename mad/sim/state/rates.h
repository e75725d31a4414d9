// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which width and speed a link comes up with: what both ends support, both have enabled, and the cable takes.

#include <optional>

#include "mad/sim/state/state.h"

namespace smd::sim {

/// LinkSpeedExtEnabled and LinkSpeedExtEnabled2: none of these speeds. (That of the second, which has three
/// bits, is assumed: it is the value before 'all', as in the first.)
inline constexpr std::uint8_t kNoExtendedSpeed = 30, kNoExtendedSpeed2 = 6;

struct Rate {
  LinkWidth width = LinkWidth::unknown;
  LinkSpeed speed = LinkSpeed::unknown;
};

/// Bits of PortInfo.LinkWidthSupported for devices that go up to `widest`.
std::uint8_t widths_up_to(LinkWidth widest, bool has_2x);
/// All speeds that a device has which was seen at these; FDR10 only where it was seen.
SpeedSet speeds_up_to(SpeedSet seen);

std::uint8_t link_speed_bits(SpeedSet speeds);       ///< PortInfo.LinkSpeedSupported
std::uint8_t link_speed_ext_bits(SpeedSet speeds);   ///< PortInfo.LinkSpeedExtSupported
std::uint8_t link_speed_ext2_bits(SpeedSet speeds);  ///< PortInfo.LinkSpeedExtSupported2
/// Speeds that the three LinkSpeed*Enabled fields and FDR10 allow.
SpeedSet enabled_speeds(const Port& port);

/// Nothing: the two ends have no width or no speed in common.
std::optional<Rate> negotiate(const Port& a, const Port& b);
/// Writes the active width and speed fields of PortInfo.
void show_rate(Port& port, const Rate& rate);
/// The active fields of a port that is down: 4x, SDR.
void show_no_rate(Port& port);

}  // namespace smd::sim
