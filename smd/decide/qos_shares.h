// SPDX-License-Identifier: Apache-2.0
#pragma once
// What share of a link each VL gets by a port's arbitration tables.

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>

#include "smd/decide/qos_part.h"

namespace smd::sm::inline decisions {

inline constexpr std::size_t kDataVls = 15;
using VlSet = std::bitset<kDataVls>;
using VlShares = std::array<double, kDataVls>;

/// VLs that have a weight in one of these blocks.
VlSet served_vls(std::span<const wire::VlArbitration> blocks);

/// There are arbitration tables to write, and no VL has a weight in them: the port would send no data.
bool sends_nothing(const QosPart::Tables& tables);

/// Whether some port maps this SL to VL 15.
bool drops(const QosPart& part, Sl sl);

/// Parts of 1 of what the link carries, by VL, while all of `busy` always have packets of `packet` bytes and
/// receivers take them. A VL without a turn has 0, so has every VL where no table has a weight. Computed by
/// IBA's rules (7.6.9): an entry sends whole packets until its weight (64 bytes each) is used up; the high
/// table sends until VLHighLimit (4,096 bytes each; 255: without limit) is used up, then the low table sends
/// one packet.
VlShares vl_shares(const QosPart::Tables& tables, const VlSet& busy, std::uint32_t packet);

/// Bytes that the high table may send before a packet of the low table: `packet` at least; 0: without limit.
std::uint64_t high_burst(const QosPart::Tables& tables, std::uint32_t packet);

}  // namespace smd::sm::inline decisions
