// SPDX-License-Identifier: Apache-2.0
#pragma once
// What switches hold in their multicast forwarding tables.

#include "mad/asio.h"
#include "mad/transactions/transactions.h"
#include "mad/wire/capability.h"
#include "mad/wire/switch.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

/// A part of a table, as one SMP has it: 32 MLIDs for 16 ports. Numbers parts block by block.
constexpr std::size_t mft_part(std::size_t block, std::size_t position) {
  return block * kMftPositions + position;
}
/// The inverse of mft_part.
constexpr std::size_t block_of_part(std::size_t part) { return part / kMftPositions; }
/// The inverse of mft_part.
constexpr std::size_t position_of_part(std::size_t part) { return part % kMftPositions; }
/// Positions that the ports of a switch take.
inline std::size_t mft_positions(const Node& node) { return node.port_count() / 16 + 1; }
/// Blocks that a switch has room for; of the last one it may have a part only.
inline std::size_t mft_blocks(const Node& node) {
  if (!node.switch_info) return 0;
  return (node.switch_info->multicast_fdb_cap + routing::kMftBlock - 1) / routing::kMftBlock;
}

/// The switch forwards by entries up to MulticastFDBTop only.
inline bool knows_mft_top(const Node& node) {
  return node.ports[0].known && wire::has(node.ports[0].info, wire::kCapMulticastFdbTop);
}

/// The 16 bits of a mask that a part has.
inline std::uint16_t mft_bits(const routing::PortMask& mask, std::size_t position) {
  return static_cast<std::uint16_t>(((mask >> (position * 16)) & routing::PortMask(0xFFFF)).to_ulong());
}

/// The part of a row as it goes over the wire, and back.
wire::MulticastForwardingTable mft_content(const routing::McRow* row, std::size_t part);
/// Sets the 16 ports of the part in 32 entries of the row; other ports stay.
void take_mft(routing::McRow& row, std::size_t part, const wire::MulticastForwardingTable& table);

/// All parts that a switch has room for.
inline BlockSet all_mft_parts(const Node& node) { return BlockSet::first(mft_part(mft_blocks(node), 0)); }

/// The Subnet with the tables, read with Gets, of those switches that have one which was not read: up to
/// MulticastFDBTop where the switch has it, else `entries` at least and then until several blocks in a row
/// are empty in all switches. SwitchInfo was read before. All arguments outlive the coroutine.
asio::awaitable<Subnet> hold_mfts(mad::Transactions* tx, Subnet subnet, std::size_t entries);

}  // namespace smd::sm::inline sweeping
