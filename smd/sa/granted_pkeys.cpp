// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/granted_pkeys.h"

#include <span>
#include <utility>

#include "smd/decide/granted_keys.h"
#include "smd/sweep/end_ports.h"

namespace smd::sa {
namespace {

using Blocks = std::span<const sm::PKeyPart::Block>;

/// `decided` are all blocks of the port's table that are decided; null: all keys that it has are granted.
std::shared_ptr<const HeldPKeys> narrowed(const HeldPKeys& held, Blocks decided) {
  std::shared_ptr<HeldPKeys> narrow;
  for (const auto& block : decided) {
    if (block.block >= held.row.size() || held.row[block.block] == block.content) continue;
    for (std::size_t i = 0; i < block.content.keys.size(); ++i) {
      const auto key = held.row[block.block].keys[i], left = sm::granted_key(key, decided);
      if (key == left) continue;
      if (!narrow) narrow = std::make_shared<HeldPKeys>(held);
      narrow->row[block.block].keys[i] = left;
    }
  }
  return narrow;
}

}  // namespace

void for_each_narrowed(
    const sm::Snapshot& snapshot,
    const std::function<void(const sm::Node&, PortNum, std::shared_ptr<const HeldPKeys>)>& fn) {
  const auto& part = snapshot.decided.partitions;
  const auto& tables = snapshot.decided.part<wire::PKeyTable>();
  if (!part || !part->managed || !tables) return;
  const Blocks blocks(tables->blocks);  // those of a port stand together
  for (std::size_t first = 0, end = 0; first < blocks.size(); first = end) {
    const auto& at = blocks[first].at;
    while (end < blocks.size() && blocks[end].at == at) ++end;
    const auto* node = snapshot.subnet->find(at.node);
    if (node == nullptr || at.port.value() >= node->ports.size() || !sm::is_end_port(*node, at.port))
      continue;
    const auto& held = node->ports[at.port.value()].held<wire::PKeyTable>();
    if (!held) continue;
    if (auto keys = narrowed(*held, blocks.subspan(first, end - first))) fn(*node, at.port, std::move(keys));
  }
}

std::shared_ptr<const HeldPKeys> narrowed_pkeys(const sm::Snapshot& snapshot, const sm::Node& node,
                                                PortNum port) {
  const auto& held = node.ports[port.value()].held<wire::PKeyTable>();
  if (!held) return nullptr;
  return narrowed(*held, sm::decided_blocks(snapshot.decided, {node.guid(), port}));
}

}  // namespace smd::sa
