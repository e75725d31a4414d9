// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/lanes.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "mad/task_group.h"
#include "mad/transactions/ask.h"
#include "mad/wire/modifier.h"

namespace smd::sm {
namespace {

/// Rows that are compared with a new one before it is taken for one of its kind.
constexpr std::size_t kCompared = 64;
constexpr std::size_t kPartEntries = 32;

/// One port while its tables are read.
struct LaneReading {
  std::size_t node = 0;
  PortNum port;
  mad::DirectedPath path;
  LaneTables missing;
  LaneRows rows;
};

bool takes_part(const Node& node, PortNum num) {
  const auto& port = node.ports[num.value()];
  if (!port.known || port.info.vl_cap <= 1) return false;
  if (num.value() == 0) return node.has_enhanced_port0();
  return port.linked() && port.info.operational_vls > 1;
}

/// Ports that packets come in by.
BlockSet rows_of(const Node& node) {
  BlockSet rows;
  rows.set(0);
  for (std::size_t p = 1; p < node.ports.size() && node.is_switch(); ++p) {
    if (node.ports[p].linked()) rows.set(p);
  }
  return rows;
}

BlockSet parts_of(const wire::PortInfo& info) {
  BlockSet parts;
  const std::size_t capacities[] = {info.vl_arb_low_cap, info.vl_arb_high_cap};
  for (std::size_t i = 0; i < 2; ++i) {
    if (capacities[i] != 0) parts.set(2 * i);
    if (capacities[i] > kPartEntries) parts.set(2 * i + 1);
  }
  return parts;
}

/// What of `wanted` is not in `asked`.
BlockSet rest(const BlockSet& wanted, const BlockSet& asked) {
  auto left = wanted;
  asked.for_each([&](std::size_t block) { left.reset(block); });
  return left;
}

bool contains(const BlockSet& all, const BlockSet& some) {
  const auto have = all.words(), want = some.words();
  for (std::size_t i = 0; i < want.size(); ++i) {
    if ((want[i] & ~(i < have.size() ? have[i] : 0)) != 0) return false;
  }
  return true;
}

/// `rows`: rows_of(node). Nearly always nothing, which must not cost much.
LaneTables missing(const Node& node, PortNum num, const BlockSet& rows) {
  if (!takes_part(node, num)) return {};
  const auto& port = node.ports[num.value()];
  if (!port.lanes) return {rows, parts_of(port.info)};
  const auto parts = parts_of(port.info);
  const auto& asked = port.lanes->asked;
  if (contains(asked.sl_to_vl, rows) && contains(asked.arbitration, parts)) return {};
  return {rest(rows, asked.sl_to_vl), rest(parts, asked.arbitration)};
}

/// Only a cancelled request leaves a table as one that was not asked for.
template <class T>
bool was_asked(const mad::Asked<T>& answer) {
  return answer || answer.error().fault != mad::Fault::closed;
}

asio::awaitable<void> read_sl_to_vl(mad::Transactions* tx, const Node* node, LaneReading* reading,
                                    std::size_t row) {
  const auto table = co_await mad::get<wire::SlToVl>(*tx, {.route = reading->path, .node = node->guid()},
                                                     sl_to_vl_modifier(*node, reading->port, row));
  auto& rows = reading->rows;
  if (was_asked(table)) rows.asked.sl_to_vl.set(row);
  if (!table) co_return;
  if (rows.sl_to_vl.size() <= row) rows.sl_to_vl.resize(row + 1);
  rows.sl_to_vl[row] = *table;
  rows.known.sl_to_vl.set(row);
}

asio::awaitable<void> read_arbitration(mad::Transactions* tx, const Node* node, LaneReading* reading,
                                       std::size_t part) {
  const auto table = co_await mad::get<wire::VlArbitration>(
      *tx, {.route = reading->path, .node = node->guid()}, arbitration_modifier(*node, reading->port, part));
  auto& rows = reading->rows;
  if (was_asked(table)) rows.asked.arbitration.set(part);
  if (!table) co_return;
  rows.arbitration[part] = *table;
  rows.known.arbitration.set(part);
}

/// The next port of the node, from `first` on, that lacks something.
std::optional<LaneReading> next_reading(const Subnet& subnet, const Paths& paths, std::size_t index,
                                        std::size_t first = 0) {
  const auto& node = *subnet.nodes[index];
  const auto rows = rows_of(node);
  for (std::size_t p = first; p < node.ports.size(); ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    auto lacks = missing(node, port, rows);
    if (lacks.count() == 0) continue;
    LaneReading reading{.node = index, .port = port, .path = {}, .missing = std::move(lacks), .rows = {}};
    const auto path = paths.to_port(subnet, index, port);
    if (!path) continue;
    reading.path = *path;
    if (const auto& known = node.ports[p].lanes; known) reading.rows = *known;
    return reading;
  }
  return std::nullopt;
}

/// Of about `most` Gets.
std::vector<std::unique_ptr<LaneReading>> next_readings(const Subnet& subnet, LaneCursor& cursor,
                                                        std::size_t most) {
  std::vector<std::unique_ptr<LaneReading>> readings;
  std::size_t gets = 0;
  const auto take = [&](LaneReading&& reading) {
    gets += reading.missing.count();
    readings.push_back(std::make_unique<LaneReading>(std::move(reading)));
  };
  std::set<std::size_t> whole;  // nodes of which all ports are taken
  for (const auto node : cursor.first) {
    const auto index = subnet.index_of(node);
    if (!index) continue;
    whole.insert(*index);
    for (std::size_t from = 0; gets < most;) {
      auto found = next_reading(subnet, *cursor.paths, *index, from);
      if (!found) break;
      from = std::size_t{found->port.value()} + 1;
      take(*std::move(found));
    }
  }
  for (std::size_t i = 0; i < subnet.nodes.size() && gets < most; ++i) {
    const auto index = cursor.next;
    cursor.next = (cursor.next + 1) % subnet.nodes.size();
    if (whole.contains(index)) continue;
    if (auto found = next_reading(subnet, *cursor.paths, index)) take(*std::move(found));
  }
  return readings;
}

}  // namespace

LaneTables lane_tables(const Node& node, PortNum num) {
  if (!takes_part(node, num)) return {};
  return {rows_of(node), parts_of(node.ports[num.value()].info)};
}

std::uint32_t sl_to_vl_modifier(const Node& node, PortNum port, std::size_t row) {
  if (!node.is_switch()) return 0;
  return wire::sl_to_vl_modifier(PortNum{static_cast<std::uint8_t>(row)}, port);
}

std::uint32_t arbitration_modifier(const Node& node, PortNum port, std::size_t part) {
  return wire::vl_arb_modifier(static_cast<wire::VlArbPart>(part + 1), node.is_switch() ? port : PortNum{0});
}

std::shared_ptr<const LaneRows> LanePool::share(LaneRows&& rows) {
  const auto first = pool_.end() - static_cast<std::ptrdiff_t>(std::min(pool_.size(), kCompared));
  const auto it = std::find_if(first, pool_.end(), [&](const auto& known) { return *known == rows; });
  if (it != pool_.end()) return *it;
  pool_.push_back(std::make_shared<const LaneRows>(std::move(rows)));
  return pool_.back();
}

void LanePool::trim() {
  std::erase_if(pool_, [](const auto& rows) { return rows.use_count() == 1; });
}

asio::awaitable<std::optional<Subnet>> read_lanes(mad::Transactions* tx, std::shared_ptr<const Subnet> subnet,
                                                  LaneCursor* cursor, LanePool* pool, std::size_t most) {
  if (!cursor->paths) cursor->paths.emplace(*subnet);
  auto readings = next_readings(*subnet, *cursor, most);
  mad::TaskGroup group(co_await asio::this_coro::executor);
  for (const auto& one : readings) {
    auto* reading = one.get();
    const auto* node = subnet->nodes[reading->node].get();
    reading->missing.sl_to_vl.for_each(
        [&](std::size_t row) { group.spawn(read_sl_to_vl(tx, node, reading, row)); });
    reading->missing.arbitration.for_each(
        [&](std::size_t part) { group.spawn(read_arbitration(tx, node, reading, part)); });
  }
  co_await group.join();
  co_await group.stop();
  auto after = *subnet;
  for (auto& reading : readings) {
    auto node = std::make_shared<Node>(*after.nodes[reading->node]);
    node->ports[reading->port.value()].lanes = pool->share(std::move(reading->rows));
    after.nodes[reading->node] = std::move(node);
  }
  std::erase_if(cursor->first, [&](Guid node) {
    const auto index = after.index_of(node);
    return !index || !next_reading(after, *cursor->paths, *index);
  });
  if (readings.empty()) co_return std::nullopt;
  co_return after;
}

}  // namespace smd::sm
