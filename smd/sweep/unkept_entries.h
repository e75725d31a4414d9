// SPDX-License-Identifier: Apache-2.0
#pragma once
// Entries of forwarding tables that a switch answers Sets of well and does not keep, as notes of the node.

#include <cstdint>
#include <optional>

#include "mad/wire/switch.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// The note about an LFT entry of a switch; `desired` is the port.
NotKept unkept_entry(Lid lid, PortNum desired);
/// The LID of such a note; nothing for another one.
std::optional<Lid> unkept_lid(const NotKept& note);

/// The note about 16 bits of a mask of an MFT.
NotKept unkept_mask(Lid mlid, std::size_t position, std::uint16_t desired);
struct UnkeptMask {
  Lid mlid;
  std::size_t position = 0;
};
/// Nothing where the note is about something else.
std::optional<UnkeptMask> unkept_mask(const NotKept& note);

/// The switch refuses or ignores blocks of its LFT above LinearFDBTop: that has to rise before they are
/// written.
NotKept blocks_above_top();
bool raises_top_first(const Node& node);  ///< the node has the note blocks_above_top()

}  // namespace smd::sm::inline sweeping
