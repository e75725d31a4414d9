// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/pkey_rounds.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "smd/decide/pkeys.h"
#include "smd/sweep/pkeys.h"

namespace smd::sm::inline planning {
namespace {

using Keys = std::vector<PKey>;
using Blocks = std::span<const PKeyPart::Block>;

bool has(const Keys& keys, PKey key) { return std::ranges::find(keys, key) != keys.end(); }

/// What a port can do by `key` it can do by `keys`: a full member can do what a limited one can.
bool covers(const Keys& keys, PKey key) { return key == PKey{} || has(keys, key) || has(keys, key.full()); }

/// A port's table as it is, and as it is to be in the end.
struct KeyTable {
  NodeIndex node = 0;
  PortNum port;
  const HeldBlocks<wire::PKeyTable>* held = nullptr;
  Keys now, desired;       ///< by index; whole blocks
  BlockSet decided;        ///< blocks of `desired` that mean something
  bool of_switch = false;  ///< of a port by which a switch enforces
  bool in_service = false;
  std::size_t capacity = 0;  ///< keys; of a port by which a switch enforces

  /// `desired` with what would be lost by it.
  Keys widened() const { return of_switch ? with_leftover() : in_place(); }

  /// Something is new, or at another index: all but the loss of keys.
  bool gains() const {
    const auto is_new = [&](PKey key) {
      const bool narrowed = has(now, key.full()) && !has(desired, key.full());
      return key != PKey{} && !has(now, key) && !narrowed;
    };
    const auto is_lost = [&](PKey key) { return key != PKey{} && !has(desired, key); };
    return std::ranges::any_of(desired, is_new) || std::ranges::none_of(now, is_lost);
  }

 private:
  /// The index of a key does not matter to a switch.
  Keys with_leftover() const {
    auto keys = desired;
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(std::min(capacity, keys.size()));
    auto free = std::find(keys.begin(), end, PKey{});
    for (const auto key : now) {
      if (covers(keys, key) || free == end) continue;
      *free = key;
      free = std::find(free, end, PKey{});
    }
    return keys;
  }

  Keys in_place() const {
    auto keys = desired;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool gone = keys[i] == PKey{} && !has(desired, now[i]);
      const bool narrowed = keys[i].same_partition(now[i]) && now[i].full_member() && !has(desired, now[i]);
      if (gone || narrowed) keys[i] = now[i];
    }
    return keys;
  }
};

wire::PKeyTable block_of(const Keys& keys, std::size_t block) {
  wire::PKeyTable content;
  std::copy_n(keys.begin() + static_cast<std::ptrdiff_t>(block * kPKeysOfBlock), kPKeysOfBlock,
              content.keys.begin());
  return content;
}

Round& at_step(std::vector<Round>& rounds, std::size_t step, Phase phase) {
  while (rounds.size() <= step) rounds.emplace_back().phase = phase;
  return rounds[step];
}

/// Keys that go to a lower block are written there first, and the other way round.
bool is_descending(const Keys& from, const Keys& to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const auto before = to[i] != PKey{} ? std::ranges::find(from, to[i]) : from.end();
    if (before != from.end() &&
        static_cast<std::size_t>(before - from.begin()) / kPKeysOfBlock < i / kPKeysOfBlock)
      return true;
  }
  return false;
}

/// The blocks by which `from` becomes `to`, one in each round.
void add_steps(const KeyTable& table, const Keys& from, const Keys& to, Phase phase,
               std::vector<Round>& rounds) {
  std::vector<TableItem<wire::PKeyTable>> items;
  table.decided.for_each([&](std::size_t block) {
    auto content = block_of(to, block);
    const bool known = table.held->known.test(block) || &from != &table.now;
    if (known && content == block_of(from, block)) return;
    items.push_back({table.node, table.port, block, content});
  });
  if (is_descending(from, to)) std::ranges::reverse(items);
  for (std::size_t step = 0; step < items.size(); ++step)
    at_step(rounds, step, phase).items<wire::PKeyTable>().push_back(items[step]);
}

struct Sides {
  std::vector<Round> switches, ends;
};

void plan_table(const KeyTable& table, Sides& widen, Sides& narrow) {
  auto& first = table.of_switch ? widen.switches : widen.ends;
  auto& last = table.of_switch ? narrow.switches : narrow.ends;
  if (!table.in_service) return add_steps(table, table.now, table.desired, Phase::pkeys, first);
  if (!table.gains()) return add_steps(table, table.now, table.desired, Phase::pkeys_removed, last);
  const auto widened = table.widened();
  add_steps(table, table.now, widened, Phase::pkeys, first);
  add_steps(table, widened, table.desired, Phase::pkeys_removed, last);
}

/// `blocks` are those of one port. False where nothing is to be written, and where its table was not read: it
/// may have keys that are not ours.
bool make_table(const PlanInput& in, Blocks blocks, KeyTable& table) {
  const auto& at = blocks.front().at;
  const auto index = in.subnet.index_of(at.node);
  if (!index) return false;
  const auto& node = *in.subnet.nodes[*index];
  if (at.port.value() >= node.ports.size()) return false;
  const auto& port = node.ports[at.port.value()];
  table.held = port.held<wire::PKeyTable>().get();
  if (table.held == nullptr || holds(*table.held, blocks) || in.leaves_out(at.node)) return false;
  table.node = static_cast<NodeIndex>(*index);
  table.port = at.port;
  table.of_switch = node.is_switch() && at.port != PortNum{0};
  if (table.of_switch) table.capacity = pkey_capacity(node, at.port);
  table.in_service = port.info.port_state > PortState::init;
  table.now = keys_of(*table.held);
  table.desired = table.now;
  for (const auto& block : blocks) {
    if (block.block >= table.held->row.size()) continue;
    std::ranges::copy(block.content.keys,
                      table.desired.begin() + static_cast<std::ptrdiff_t>(block.block * kPKeysOfBlock));
    table.decided.set(block.block);
  }
  return !table.decided.empty();
}

/// Nodes whose ports may hold something else than was decided, ascending: few, at a change of a few members.
/// Nothing: it may be any node.
std::optional<std::vector<Guid>> nodes_to_compare(const PlanInput& in) {
  const auto& compared = in.decided.compared_pkeys;
  const auto& now = in.subnet.nodes;
  if (!compared || compared->nodes.size() != now.size()) return std::nullopt;
  auto found = compared->differing;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (compared->nodes[i] == now[i]) continue;
    if (compared->nodes[i]->guid() != now[i]->guid()) return std::nullopt;
    found.push_back(now[i]->guid());
  }
  std::ranges::sort(found);
  return found;
}

void append(std::vector<Round>& to, std::vector<Round>&& from) {
  for (auto& round : from) to.push_back(std::move(round));
}

}  // namespace

PKeyRounds pkey_rounds(const PlanInput& in) {
  PKeyRounds made;
  const auto& part = in.decided.part<wire::PKeyTable>();
  if (!part) return made;
  const auto compare = nodes_to_compare(in);
  Sides widen, narrow;
  Blocks rest(part->blocks);
  while (!rest.empty()) {
    const auto other =
        std::ranges::find_if(rest, [&](const auto& block) { return block.at != rest.front().at; });
    const auto count = static_cast<std::size_t>(other - rest.begin());
    KeyTable table;
    const bool may_differ = !compare || std::ranges::binary_search(*compare, rest.front().at.node);
    if (may_differ && make_table(in, rest.first(count), table)) plan_table(table, widen, narrow);
    rest = rest.subspan(count);
  }
  append(made.widen, std::move(widen.switches));
  append(made.widen, std::move(widen.ends));
  append(made.narrow, std::move(narrow.ends));
  append(made.narrow, std::move(narrow.switches));
  return made;
}

Round enforcement_round(const PlanInput& in) {
  Round round;
  round.phase = Phase::host_links;
  if (!in.decided.partitions) return round;
  for (const auto& enforced : in.decided.partitions->enforced) {
    const auto index = in.subnet.index_of(enforced.at.node);
    if (!index || in.leaves_out(enforced.at.node)) continue;
    const auto& node = *in.subnet.nodes[*index];
    const auto& info = node.ports[enforced.at.port.value()].info;
    if (info.port_state <= PortState::init) continue;  // its sweep brings it up
    const auto desired = desired_port_info(in, node, enforced.at.port);
    const bool same = !desired || (desired->partition_enforce_in == info.partition_enforce_in &&
                                   desired->partition_enforce_out == info.partition_enforce_out);
    if (!same)
      round.ports.push_back({static_cast<NodeIndex>(*index), enforced.at.port, PortState::no_change});
  }
  return round;
}

}  // namespace smd::sm::inline planning
