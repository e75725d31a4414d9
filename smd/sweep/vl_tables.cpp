// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/vl_tables.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "mad/task_group.h"
#include "mad/transactions/ask.h"
#include "smd/sweep/m_key_hints.h"

namespace smd::sm::inline sweeping {
namespace {

/// One port while its tables are read.
struct PortReading {
  std::size_t node = 0;
  PortNum port;
  mad::DirectedPath path;
  BlockSet missing_sl_to_vl, missing_arbitration;
  HeldBlocks<wire::SlToVl> sl_to_vl;
  HeldBlocks<wire::VlArbitration> arbitration;
  std::size_t gets() const { return missing_sl_to_vl.count() + missing_arbitration.count(); }
};

/// The blocks of `wanted` that were not requested yet. Nearly always none, which must not cost much.
template <class A>
BlockSet not_asked(const Port& port, const BlockSet& wanted) {
  const auto& held = port.held<A>();
  if (!held) return wanted;
  return held->asked.contains(wanted) ? BlockSet{} : wanted.without(held->asked);
}

/// Only a cancelled request leaves a table as one that was not asked for.
template <class T>
bool was_asked(const mad::Asked<T>& answer) {
  return answer || answer.error().fault != mad::Fault::closed;
}

template <class A>
asio::awaitable<void> read_block(mad::Transactions* tx, const Node* node, const PortReading* reading,
                                 HeldBlocks<A>* held, std::size_t block) {
  const auto modifier = TableKind<A>::modifier(*node, reading->port, block);
  const auto table = co_await mad::get<A>(*tx, target_of(*node, reading->port, reading->path), modifier);
  if (was_asked(table)) held->asked.set(block);
  if (!table) co_return;
  if (held->row.size() <= block) held->row.resize(block + 1);
  held->row[block] = *table;
  held->known.set(block);
}

/// The next port of the node, from `first` on, that lacks something.
std::optional<PortReading> next_reading(const Subnet& subnet, const VlTableCursor& cursor, std::size_t index,
                                        std::size_t first = 0) {
  const auto& node = *subnet.nodes[index];
  std::optional<BlockSet> rows;  // of all ports of a node the same
  if (cursor.whole) rows = sl_to_vl_rows(node);
  for (std::size_t p = first; p < node.ports.size(); ++p) {
    const PortNum num{static_cast<std::uint8_t>(p)};
    const auto& port = node.ports[p];
    if (cursor.whole ? !may_have_vl_tables(node, num) : !has_vl_tables(node, num)) continue;
    if (!rows) rows = TableKind<wire::SlToVl>::blocks(node, num);
    PortReading reading;
    reading.node = index;
    reading.port = num;
    reading.missing_sl_to_vl = not_asked<wire::SlToVl>(port, *rows);
    reading.missing_arbitration = not_asked<wire::VlArbitration>(port, arbitration_blocks(port.info));
    if (reading.gets() == 0) continue;
    const auto path = cursor.paths->to_port(subnet, index, num);
    if (!path) continue;
    reading.path = *path;
    if (const auto& known = port.held<wire::SlToVl>(); known) reading.sl_to_vl = *known;
    if (const auto& known = port.held<wire::VlArbitration>(); known) reading.arbitration = *known;
    return reading;
  }
  return std::nullopt;
}

/// Of about `most` Gets.
std::vector<std::unique_ptr<PortReading>> next_readings(const Subnet& subnet, VlTableCursor& cursor,
                                                        std::size_t most) {
  std::vector<std::unique_ptr<PortReading>> readings;
  std::size_t gets = 0;
  const auto take = [&](PortReading&& reading) {
    gets += reading.gets();
    readings.push_back(std::make_unique<PortReading>(std::move(reading)));
  };
  std::set<std::size_t> whole;  // nodes of which all ports are taken
  for (const auto node : cursor.first) {
    const auto index = subnet.index_of(node);
    if (!index) continue;
    whole.insert(*index);
    for (std::size_t from = 0; gets < most;) {
      auto found = next_reading(subnet, cursor, *index, from);
      if (!found) break;
      from = std::size_t{found->port.value()} + 1;
      take(*std::move(found));
    }
  }
  for (std::size_t i = 0; i < subnet.nodes.size() && gets < most; ++i) {
    const auto index = cursor.next;
    cursor.next = (cursor.next + 1) % subnet.nodes.size();
    if (whole.contains(index)) continue;
    if (auto found = next_reading(subnet, cursor, index)) take(*std::move(found));
  }
  return readings;
}

}  // namespace

asio::awaitable<std::optional<Subnet>> read_vl_tables(mad::Transactions* tx,
                                                      std::shared_ptr<const Subnet> subnet,
                                                      VlTableCursor* cursor, VlTablePool* pool,
                                                      std::size_t most) {
  if (!cursor->paths) cursor->paths.emplace(*subnet);
  auto readings = next_readings(*subnet, *cursor, most);
  mad::TaskGroup group(co_await asio::this_coro::executor);
  for (const auto& one : readings) {
    auto* reading = one.get();
    const auto* node = subnet->nodes[reading->node].get();
    reading->missing_sl_to_vl.for_each(
        [&](std::size_t block) { group.spawn(read_block(tx, node, reading, &reading->sl_to_vl, block)); });
    reading->missing_arbitration.for_each(
        [&](std::size_t block) { group.spawn(read_block(tx, node, reading, &reading->arbitration, block)); });
  }
  co_await group.join();
  co_await group.stop();
  auto after = *subnet;
  for (auto& reading : readings) {
    auto node = std::make_shared<Node>(*after.nodes[reading->node]);
    auto& port = node->ports[reading->port.value()];
    port.held<wire::SlToVl>() = pool->sl_to_vl.share(std::move(reading->sl_to_vl));
    port.held<wire::VlArbitration>() = pool->arbitration.share(std::move(reading->arbitration));
    after.nodes[reading->node] = std::move(node);
  }
  std::erase_if(cursor->first, [&](Guid node) {
    const auto index = after.index_of(node);
    return !index || !next_reading(after, *cursor, *index);
  });
  if (readings.empty()) co_return std::nullopt;
  co_return after;
}

}  // namespace smd::sm::inline sweeping
