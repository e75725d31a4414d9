// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/mft.h"

#include <algorithm>
#include <utility>

#include "mad/task_group.h"
#include "mad/transactions/ask.h"
#include "mad/wire/modifier.h"
#include "smd/sweep/paths.h"

namespace smd::sm {
namespace {

/// One switch while its table is read.
struct Reading {
  std::size_t index = 0;  ///< of the node
  mad::DirectedPath path;
  std::shared_ptr<Node> node;
  std::shared_ptr<routing::McRow> row = std::make_shared<routing::McRow>();
  bool found = false;  ///< something, in the block that was read last
};

asio::awaitable<void> read_part(mad::Transactions* tx, Reading* reading, std::size_t part) {
  const auto modifier = wire::mft_modifier(static_cast<std::uint32_t>(block_of_part(part)),
                                           static_cast<std::uint32_t>(position_of_part(part)));
  const auto table = co_await mad::get<wire::MulticastForwardingTable>(
      *tx, {.route = reading->path, .node = reading->node->guid()}, modifier);
  if (!table) {
    reading->node->mft.unknown.set(part);
    co_return;
  }
  if (*table == wire::MulticastForwardingTable{}) co_return;
  reading->found = true;
  take_mft(*reading->row, part, *table);
}

std::vector<Reading> unread(const Subnet& subnet) {
  std::vector<std::size_t> indexes;
  for (std::size_t i = 0; i < subnet.nodes.size(); ++i) {
    const auto& node = *subnet.nodes[i];
    if (node.is_switch() && node.switch_info && !node.mft.read) indexes.push_back(i);
  }
  std::vector<Reading> readings;
  if (indexes.empty()) return readings;  // nearly always: the ways need not be looked for
  const Paths paths(subnet);
  for (const auto i : indexes) {
    if (const auto path = paths.to(i); path)
      readings.push_back({.index = i, .path = *path, .node = std::make_shared<Node>(*subnet.nodes[i])});
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

asio::awaitable<Subnet> hold_mfts(mad::Transactions* tx, Subnet subnet) {
  auto to_read = unread(subnet);
  for (std::size_t block = 0; !to_read.empty(); ++block) {
    mad::TaskGroup group(co_await asio::this_coro::executor);
    for (auto& reading : to_read) {
      reading.found = false;
      for (std::size_t p = 0; p < mft_positions(*reading.node) && block < mft_blocks(*reading.node); ++p)
        group.spawn(read_part(tx, &reading, mft_part(block, p)));
    }
    co_await group.join();
    co_await group.stop();
    if (std::ranges::none_of(to_read, &Reading::found)) break;
  }
  for (auto& reading : to_read) {
    reading.node->mft.read = true;
    if (!reading.row->empty()) reading.node->mft.row = std::move(reading.row);
    subnet.nodes[reading.index] = std::move(reading.node);
  }
  co_return subnet;
}

}  // namespace smd::sm
