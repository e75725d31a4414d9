// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/audit.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "mad/task_group.h"
#include "mad/transactions/ask.h"
#include "mad/wire/modifier.h"
#include "mad/wire/tables.h"
#include "smd/sweep/lanes.h"
#include "smd/sweep/paths.h"

namespace smd::sm {
namespace {

/// What a node changes by itself while everything is well.
constexpr std::array<std::string_view, 7> kOwnBusiness{
    "M_KeyViolations", "P_KeyViolations",      "Q_KeyViolations", "DiagCode",
    "LocalPortNum",    "LinkRoundTripLatency", "ClientReregister"};

/// All that counts of a port that is down: the rest is of no link, and devices show what they like.
constexpr std::array<std::string_view, 5> kOfDownPorts{"PortState", "LinkWidthEnabled", "LinkSpeedEnabled",
                                                       "LinkSpeedExtEnabled", "LinkSpeedExtEnabled2"};

/// Altered tables of a round.
constexpr std::size_t kAltered = 64;

/// P_Key blocks, and lane tables, of one node that one look reads: all of an adapter and of a switch of few
/// ports; of others the next look goes on where this one ended.
constexpr std::size_t kTables = 32;

struct Task {
  mad::Transactions& tx;
  const Node& node;
  Audit& found;
};

asio::awaitable<void> audit_port(Task task, PortNum num, mad::DirectedPath path) {
  const auto& was = task.node.ports[num.value()];
  const auto asked = co_await mad::get_port_info(&task.tx, {.route = path, .node = task.node.guid()}, num,
                                                 task.node.extended_speeds());
  if (!asked.info) {
    if (asked.info.error().fault == mad::Fault::timeout) task.found.silent.insert(task.node.guid());
    co_return;
  }
  Audit::Port changed{task.node.guid(), num, {}};
  const bool down = num.value() != 0 && !was.linked() && asked.info->port_state == PortState::down;
  const auto counts = [down](std::string_view name) {
    return down ? std::ranges::find(kOfDownPorts, name) != kOfDownPorts.end()
                : std::ranges::find(kOwnBusiness, name) == kOwnBusiness.end();
  };
  for (const auto name : wire::differences(was.info, *asked.info)) {
    if (counts(name)) changed.fields.emplace_back(name);
  }
  if (!changed.fields.empty()) task.found.ports.push_back(std::move(changed));
}

asio::awaitable<void> audit_block(Task task, std::size_t block, mad::DirectedPath path) {
  const auto modifier = wire::lft_modifier(static_cast<std::uint32_t>(block));
  const auto table = co_await mad::get<wire::LinearForwardingTable>(
      task.tx, {.route = path, .node = task.node.guid()}, modifier);
  if (!table) co_return;
  const auto& row = *task.node.lft.row;
  const auto first = block * routing::kLftBlock;
  for (std::size_t i = 0; i < routing::kLftBlock && first + i < row.size(); ++i) {
    if (table->ports[i].value() == row[first + i]) continue;
    task.found.blocks.push_back({task.node.guid(), block});
    co_return;
  }
}

/// A port's table that is known as `was`.
template <wire::Layout A>
asio::awaitable<void> audit_table(Task task, PortNum port, mad::DirectedPath path, std::uint32_t modifier,
                                  A was) {
  const auto table = co_await mad::get<A>(task.tx, {.route = path, .node = task.node.guid()}, modifier);
  if (table && *table != was) task.found.tables.push_back({task.node.guid(), port, A::kAttribute, true});
}

/// The n-th of the set, round and round; the set is not empty.
std::size_t nth(const BlockSet& set, std::uint64_t n) {
  std::size_t found = 0;
  auto left = n % set.count();
  set.for_each([&](std::size_t block) {
    if (left-- == 0) found = block;
  });
  return found;
}

void audit_pkeys(mad::TaskGroup& group, Task task, PortNum port, const mad::DirectedPath& path,
                 std::uint64_t round) {
  const auto& rows = task.node.ports[port.value()].pkeys;
  if (!rows || rows->known.empty()) return;
  const auto block = nth(rows->known, round);
  const auto modifier =
      wire::p_key_modifier(static_cast<std::uint32_t>(block), task.node.is_switch() ? port : PortNum{0});
  group.spawn(audit_table(task, port, path, modifier, wire::PKeyTable{rows->blocks[block]}));
}

void audit_lanes(mad::TaskGroup& group, Task task, PortNum port, const mad::DirectedPath& path,
                 std::uint64_t round) {
  const auto& rows = task.node.ports[port.value()].lanes;
  const auto known = rows ? rows->known.count() : 0;
  if (known == 0) return;
  const auto rank = round % known;
  const auto lanes = rows->known.sl_to_vl.count();
  if (rank < lanes) {
    const auto row = nth(rows->known.sl_to_vl, rank);
    const auto modifier = sl_to_vl_modifier(task.node, port, row);
    group.spawn(audit_table(task, port, path, modifier, rows->sl_to_vl[row]));
  } else {
    const auto part = nth(rows->known.arbitration, rank - lanes);
    const auto modifier = arbitration_modifier(task.node, port, part);
    group.spawn(audit_table(task, port, path, modifier, rows->arbitration[part]));
  }
}

/// Tables that the port did not give are asked for once more: it may answer now.
void ask_again(Task task, PortNum port) {
  const auto& rows = task.node.ports[port.value()].lanes;
  if (!rows || rows->known == rows->asked) return;
  const bool lane = rows->known.sl_to_vl != rows->asked.sl_to_vl;
  const auto attribute = lane ? wire::SlToVl::kAttribute : wire::VlArbitration::kAttribute;
  task.found.tables.push_back({task.node.guid(), port, attribute, false});
}

/// All that is known of a table that is altered.
void audit_altered(mad::TaskGroup& group, Task task, PortNum port, const mad::DirectedPath& path,
                   std::uint16_t attribute) {
  const auto& at = task.node.ports[port.value()];
  const bool keys = attribute == wire::PKeyTable::kAttribute;
  const auto tables = keys       ? (at.pkeys ? at.pkeys->known.count() : 0)
                      : at.lanes ? at.lanes->known.count()
                                 : 0;
  for (std::size_t i = 0; i < tables; ++i) {
    if (keys) audit_pkeys(group, task, port, path, i);
    if (!keys) audit_lanes(group, task, port, path, i);
  }
}

/// Of the tables of all ports (`of`: how many a port has) the next `most`; calls look(port, path, number).
template <class Count, class Look>
void next_tables(const Subnet& subnet, const Paths& paths, std::size_t index, std::uint64_t round,
                 std::size_t most, const Count& of, const Look& look) {
  const auto ports = subnet.nodes[index]->ports.size();
  std::size_t all = 0;
  for (std::size_t p = 0; p < ports; ++p) all += of(p);
  if (all == 0) return;
  const auto first = round * most % all;
  std::size_t at = 0;
  for (std::size_t p = 0; p < ports; ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    std::optional<mad::DirectedPath> path;
    const auto tables = of(p);
    for (std::size_t i = 0; i < tables; ++i, ++at) {
      if ((at + all - first) % all >= most) continue;
      if (!path) path = paths.to_port(subnet, index, port);
      if (path) look(port, *path, i);
    }
  }
}

void audit_tables(mad::TaskGroup& group, Task task, const Subnet& subnet, const Paths& paths,
                  std::size_t index, std::uint64_t round) {
  const auto& ports = task.node.ports;
  if (ports.empty()) return;
  const auto most = task.tx.lossy() ? 1 : kTables;  // each answer takes many tries there
  next_tables(
      subnet, paths, index, round, most,
      [&](std::size_t p) { return ports[p].pkeys ? ports[p].pkeys->known.count() : 0; },
      [&](PortNum port, const auto& path, std::size_t i) { audit_pkeys(group, task, port, path, i); });
  next_tables(
      subnet, paths, index, round, most,
      [&](std::size_t p) { return ports[p].lanes ? ports[p].lanes->known.count() : 0; },
      [&](PortNum port, const auto& path, std::size_t i) { audit_lanes(group, task, port, path, i); });
  ask_again(task, PortNum{static_cast<std::uint8_t>(round % ports.size())});
}

}  // namespace

asio::awaitable<Audit> audit(mad::Transactions* tx, const Subnet* subnet, AuditCursor* cursor,
                             std::size_t nodes, std::set<Guid> busy) {
  Audit found;
  const Paths paths(*subnet);
  mad::TaskGroup group(co_await asio::this_coro::executor);
  const auto look_at = [&](std::size_t index) {
    const auto& node = *subnet->nodes[index];
    if (busy.contains(node.guid())) return;
    const Task task{*tx, node, found};
    for (std::size_t p = 0; p < node.ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      const auto& port = node.ports[p];
      if (!port.known || (!node.is_switch() && !port.linked())) continue;
      if (const auto path = paths.to_port(*subnet, index, num); path)
        group.spawn(audit_port(task, num, *path));
    }
    audit_tables(group, task, *subnet, paths, index, cursor->round);
    const auto path = node.is_switch() && node.lft.row ? paths.to(index) : std::nullopt;
    if (!path) return;
    const auto blocks = node.lft.row->size() / routing::kLftBlock;
    const auto block = blocks != 0 ? cursor->round % blocks : 0;
    if (node.lft.known.test(block)) group.spawn(audit_block(task, block, *path));
  };
  for (std::size_t i = 0; i < std::min(kAltered, subnet->altered.size()); ++i) {
    const auto& table = subnet->altered[cursor->next_altered++ % subnet->altered.size()];
    const auto index = subnet->index_of(table.at.node);
    const auto path = index ? paths.to_port(*subnet, *index, table.at.port) : std::nullopt;
    if (path && !busy.contains(table.at.node))
      audit_altered(group, {*tx, *subnet->nodes[*index], found}, table.at.port, *path, table.attribute);
  }
  for (const auto guid : std::exchange(cursor->first, {})) {
    if (const auto index = subnet->index_of(guid); index) look_at(*index);
  }
  const auto count = std::min(nodes, subnet->nodes.size());
  const auto at = std::ranges::lower_bound(subnet->nodes, cursor->next, {},
                                           [](const NodePtr& node) { return node->guid(); });
  auto index = static_cast<std::size_t>(at - subnet->nodes.begin());
  for (std::size_t i = 0; i < count; ++i, ++index) {
    if (index >= subnet->nodes.size()) index = 0, ++cursor->round;
    look_at(index);
  }
  if (index >= subnet->nodes.size()) index = 0, ++cursor->round;
  cursor->next = subnet->nodes.empty() ? Guid{} : subnet->nodes[index]->guid();
  co_await group.join();
  co_await group.stop();
  co_return found;
}

}  // namespace smd::sm
