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
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline sweeping {
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

/// P_Key blocks, and blocks of VL tables, of one node that one look reads: all of an adapter and of a switch
/// of few ports; of others the next look goes on where this one ended.
constexpr std::size_t kTables = 32;

struct Task {
  mad::Transactions& tx;
  const Node& node;
  Audit& found;
};

asio::awaitable<void> audit_port(Task task, PortNum num, mad::DirectedPath path) {
  const auto& was = task.node.ports[num.value()];
  const auto asked = co_await mad::get_port_info(&task.tx, target_of(task.node, num, path), num,
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
      task.tx, target_of(task.node, PortNum{0}, path), modifier);
  if (!table) co_return;
  const auto& row = *task.node.lft.row;
  const auto first = block * routing::kLftBlock;
  for (std::size_t i = 0; i < routing::kLftBlock && first + i < row.size(); ++i) {
    if (table->ports[i].value() == row[first + i]) continue;
    task.found.blocks.push_back({task.node.guid(), block});
    co_return;
  }
}

/// A block of a port's table that is known as `was`.
template <class A>
asio::awaitable<void> audit_table(Task task, PortNum port, mad::DirectedPath path, std::size_t block, A was) {
  const auto modifier = TableKind<A>::modifier(task.node, port, block);
  const auto table = co_await mad::get<A>(task.tx, target_of(task.node, port, path), modifier);
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

/// Spawns the audit of the n-th known block of the table, round and round.
template <class A>
void audit_nth(mad::TaskGroup& group, Task task, PortNum port, const mad::DirectedPath& path,
               std::uint64_t n) {
  const auto& held = task.node.ports[port.value()].held<A>();
  if (!held || held->known.empty()) return;
  const auto block = nth(held->known, n);
  group.spawn(audit_table(task, port, path, block, held->row[block]));
}

std::size_t known_blocks(const Port& port, TableRead read) {
  std::size_t count = 0;
  for_each_table([&]<class A>() {
    if (const auto& held = port.held<A>(); held && TableKind<A>::kRead == read) count += held->known.count();
  });
  return count;
}

/// The n-th of all known blocks of the kinds that are read in this way.
void audit_block_of(mad::TaskGroup& group, Task task, PortNum port, const mad::DirectedPath& path,
                    TableRead read, std::uint64_t n) {
  const auto& at = task.node.ports[port.value()];
  const auto known = known_blocks(at, read);
  if (known == 0) return;
  auto rank = n % known;
  bool found = false;
  for_each_table([&]<class A>() {
    const auto& held = at.held<A>();
    if (found || !held || TableKind<A>::kRead != read) return;
    const auto count = held->known.count();
    found = rank < count;
    if (found) audit_nth<A>(group, task, port, path, rank);
    rank -= found ? 0 : count;
  });
}

/// A table that was requested and is not known in whole is asked for once more: it may be answered now.
void note_unanswered(Task task, PortNum port) {
  bool noted = false;
  for_each_table([&]<class A>() {
    const auto& held = task.node.ports[port.value()].held<A>();
    if (noted || !held || TableKind<A>::kRead != TableRead::idle || held->known == held->asked) return;
    noted = true;
    task.found.tables.push_back({task.node.guid(), port, A::kAttribute, false});
  });
}

/// All that is known of a table that is altered, with what is read together with it.
void audit_altered(mad::TaskGroup& group, Task task, PortNum port, const mad::DirectedPath& path,
                   std::uint16_t attribute) {
  for_each_table([&]<class A>() {
    constexpr auto kRead = TableKind<A>::kRead;
    if (A::kAttribute != attribute) return;
    const auto blocks = known_blocks(task.node.ports[port.value()], kRead);
    for (std::size_t i = 0; i < blocks; ++i) audit_block_of(group, task, port, path, kRead, i);
  });
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
  for (const auto read : {TableRead::sweep, TableRead::idle}) {
    next_tables(
        subnet, paths, index, round, most, [&](std::size_t p) { return known_blocks(ports[p], read); },
        [&](PortNum port, const auto& path, std::size_t i) {
          audit_block_of(group, task, port, path, read, i);
        });
  }
  note_unanswered(task, PortNum{static_cast<std::uint8_t>(round % ports.size())});
}

/// Blocks to look for; the first one alone of a table that no sweep was answered.
std::size_t unread_pkeys(const Port& port) {
  const auto& held = port.held<wire::PKeyTable>();
  if (!held) return 0;
  if (!held->known.test(0)) return held->asked.test(0) ? 1 : 0;
  return held->row.size() - held->known.count();
}

/// One P_Key block that no sweep has read, because the first one was as after a reset, or was not answered:
/// it has no key.
void audit_unread_pkeys(mad::TaskGroup& group, Task task, const Subnet& subnet, const Paths& paths,
                        std::size_t index, std::uint64_t round) {
  const auto& ports = task.node.ports;
  next_tables(
      subnet, paths, index, round, 1, [&](std::size_t p) { return unread_pkeys(ports[p]); },
      [&](PortNum port, const auto& path, std::size_t i) {
        const auto& held = *ports[port.value()].template held<wire::PKeyTable>();
        const auto block = nth(BlockSet::first(held.row.size()).without(held.known), i);
        group.spawn(audit_table(task, port, path, block, wire::PKeyTable{}));
      });
}

}  // namespace

// Altered tables are read each time, because no trap says that they were corrected.
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
    audit_unread_pkeys(group, task, *subnet, paths, index, cursor->round);
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

Subnet without_audited(Subnet subnet, const Audit& audited) {
  const auto edit = [&](Guid guid, auto&& change) {
    auto& place = subnet.nodes[*subnet.index_of(guid)];
    auto node = std::make_shared<Node>(*place);
    change(*node);
    place = std::move(node);
  };
  for (const auto& changed : audited.blocks)
    edit(changed.node, [&](Node& node) { node.lft.known.reset(changed.block); });
  for (const auto& table : audited.tables) {
    const auto read = table.read_by_sweep() ? TableRead::sweep : TableRead::idle;
    edit(table.node, [&](Node& node) {
      for_each_table([&]<class A>() {
        if (TableKind<A>::kRead == read) node.ports[table.port.value()].held<A>() = nullptr;
      });
    });
  }
  return subnet;
}

}  // namespace smd::sm::inline sweeping
