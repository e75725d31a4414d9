// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/mft.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "mad/task_group.h"
#include "mad/transactions/ask.h"
#include "mad/wire/capability.h"
#include "mad/wire/modifier.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline sweeping {
namespace {

/// Blocks in a row that are empty everywhere before those behind are taken for unused: the groups of a whole
/// block may have ended while later ones go on. What is behind stays unknown.
constexpr std::size_t kEmptyBlocks = 4;

/// One switch while its table is read.
struct Reading {
  std::size_t index = 0;            ///< of the node
  std::optional<std::size_t> told;  ///< blocks that are in use, where the switch says it
  mad::DirectedPath path;
  std::shared_ptr<Node> node;
  std::shared_ptr<routing::McRow> row = std::make_shared<routing::McRow>();
  std::size_t read = 0;  ///< blocks
  bool found = false;    ///< something, in the block that was read last
};

asio::awaitable<void> read_part(mad::Transactions* tx, Reading* reading, std::size_t part) {
  const auto modifier = wire::mft_modifier(static_cast<std::uint32_t>(block_of_part(part)),
                                           static_cast<std::uint32_t>(position_of_part(part)));
  const auto table = co_await mad::get<wire::MulticastForwardingTable>(
      *tx, target_of(*reading->node, PortNum{0}, reading->path), modifier);
  reading->node->mft.asked.set(part);
  if (!table) co_return;
  reading->node->mft.known.set(part);
  if (*table == wire::MulticastForwardingTable{}) co_return;
  reading->found = true;
  take_mft(*reading->row, part, *table);
}

/// Up to where the switch says that it forwards: none at 0xBFFF, which OpenSM sets where there is no group.
/// Nothing where it does not say, or names all that it has, as it does after a reset, or less than that, as
/// 0, of which it is not known what it means to all switches.
std::optional<std::size_t> told_blocks(const Node& node) {
  const auto top = node.switch_info->multicast_fdb_top;
  if (!knows_mft_top(node) || top + 1U < kFirstMulticastLid.value()) return std::nullopt;
  const std::size_t entries = top + 1U - kFirstMulticastLid.value();
  if (entries >= node.switch_info->multicast_fdb_cap) return std::nullopt;
  return (entries + routing::kMftBlock - 1) / routing::kMftBlock;
}

std::vector<Reading> unread(const Subnet& subnet) {
  std::vector<std::size_t> indexes;
  for (std::size_t i = 0; i < subnet.nodes.size(); ++i) {
    const auto& node = *subnet.nodes[i];
    if (node.is_switch() && node.switch_info && node.mft.asked.empty()) indexes.push_back(i);
  }
  std::vector<Reading> readings;
  if (indexes.empty()) return readings;  // nearly always: the ways need not be looked for
  const Paths paths(subnet);
  for (const auto i : indexes) {
    if (const auto path = paths.to(i); path)
      readings.push_back({.index = i,
                          .told = told_blocks(*subnet.nodes[i]),
                          .path = *path,
                          .node = std::make_shared<Node>(*subnet.nodes[i])});
  }
  return readings;
}

}  // namespace

wire::MulticastForwardingTable mft_content(const routing::McRow* row, std::size_t part) {
  wire::MulticastForwardingTable table;
  for (std::size_t i = 0; i < routing::kMftBlock; ++i) {
    const auto mask = routing::entry(row, block_of_part(part) * routing::kMftBlock + i);
    table.masks[i] = mft_bits(mask, position_of_part(part));
  }
  return table;
}

void take_mft(routing::McRow& row, std::size_t part, const wire::MulticastForwardingTable& table) {
  const auto shift = position_of_part(part) * 16;
  const auto others = ~(routing::PortMask(0xFFFF) << shift);
  for (std::size_t i = 0; i < routing::kMftBlock; ++i) {
    const auto index = block_of_part(part) * routing::kMftBlock + i;
    row.set(index, (row[index] & others) | (routing::PortMask(table.masks[i]) << shift));
  }
}

// All switches block by block together: SMs take the lowest MLID that is free, so that empty blocks end the
// tables.
asio::awaitable<Subnet> hold_mfts(mad::Transactions* tx, Subnet subnet, std::size_t entries) {
  auto to_read = unread(subnet);
  const auto known = (entries + routing::kMftBlock - 1) / routing::kMftBlock;
  std::size_t empty = 0;  // blocks in a row
  const auto reads = [&](const Reading& reading, std::size_t block) {
    if (reading.read != block) return false;  // it has stopped
    if (reading.told) return block < *reading.told;
    return block < mft_blocks(*reading.node) && (block < known || empty < kEmptyBlocks);
  };
  for (std::size_t block = 0; !to_read.empty(); ++block) {
    mad::TaskGroup group(co_await asio::this_coro::executor);
    std::size_t asked = 0;
    for (auto& reading : to_read) {
      reading.found = false;
      if (!reads(reading, block)) continue;
      ++asked;
      reading.read = block + 1;
      for (std::size_t p = 0; p < mft_positions(*reading.node); ++p)
        group.spawn(read_part(tx, &reading, mft_part(block, p)));
    }
    co_await group.join();
    co_await group.stop();
    if (asked == 0) break;
    empty = std::ranges::none_of(to_read, &Reading::found) ? empty + 1 : 0;
  }
  for (auto& reading : to_read) {
    // No entry may be in force: what an earlier SM has left there is not held, and not known.
    reading.node->mft.asked.set(0);
    if (!reading.row->empty()) reading.node->mft.row = std::move(reading.row);
    subnet.nodes[reading.index] = std::move(reading.node);
  }
  co_return subnet;
}

}  // namespace smd::sm::inline sweeping
