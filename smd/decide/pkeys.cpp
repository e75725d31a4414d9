// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/pkeys.h"

#include <algorithm>
#include <optional>
#include <span>

#include "smd/decide/sm_ports.h"
#include "smd/sweep/pkeys.h"

namespace smd::sm::inline decisions {
namespace {

struct Slot {
  std::size_t block = 0, index = 0;
};

bool is_empty(const wire::PKeyTable& block) {
  return std::ranges::all_of(block.keys, [](PKey key) { return key.partition() == 0; });
}

void make_full_member(const Node& node, PortNum num, PKeyPart& part) {
  const auto& held = node.ports[num.value()].held<wire::PKeyTable>();
  if (!held || held->row.empty()) return;
  const PeerPort at{node.guid(), num};
  const auto decided = [&](std::size_t block) {
    return std::ranges::find_if(part.blocks,
                                [&](const auto& one) { return one.at == at && one.block == block; });
  };
  std::optional<Slot> limited, free;
  for (std::size_t block = 0; block < held->row.size(); ++block) {
    const auto wanted = decided(block);
    if (wanted == part.blocks.end() && !held->known.test(block)) continue;
    const auto& keys = wanted != part.blocks.end() ? wanted->content.keys : held->row[block].keys;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto key = keys[i];
      if (key == kDefaultPKey) return;
      if (key.same_partition(kDefaultPKey) && !limited) limited = {block, i};
      if (key.partition() == 0 && !free) free = {block, i};
    }
  }
  const auto slot = limited ? limited : free;
  if (!slot && held->known.empty()) return;  // it was not answered
  if (!slot) return part.no_room.push_back(at);
  if (const auto wanted = decided(slot->block); wanted != part.blocks.end()) {
    wanted->content.keys[slot->index] = kDefaultPKey;
    return;
  }
  auto table = held->row[slot->block];
  table.keys[slot->index] = kDefaultPKey;
  part.blocks.push_back({at, slot->block, table});
}

}  // namespace

bool holds(const HeldBlocks<wire::PKeyTable>& held, std::span<const PKeyPart::Block> blocks) {
  return std::ranges::all_of(blocks, [&](const PKeyPart::Block& block) {
    return held.known.test(block.block) && held.row[block.block] == block.content;
  });
}

void add_pkey_blocks(const PeerPort& at, const std::vector<PKey>& keys,
                     const HeldBlocks<wire::PKeyTable>& held, PKeyPart& tables) {
  for (std::size_t block = 0; block < held.row.size(); ++block) {
    const auto first = std::min(block * kPKeysOfBlock, keys.size());
    const auto part = std::span(keys).subspan(first, std::min(kPKeysOfBlock, keys.size() - first));
    const bool wanted = std::ranges::any_of(part, [](PKey key) { return key.partition() != 0; });
    if (!wanted && (!held.known.test(block) || is_empty(held.row[block]))) continue;
    std::ranges::copy(part, tables.blocks.emplace_back(at, block).content.keys.begin());
  }
}

// Limited members can talk to full ones alone: without a full key at the SM's port they get no answer from
// the SA, and the switch port may enforce partitions. A standby has it beforehand: its SA answers at once
// when it becomes master.
void decide_sm_pkeys(const Subnet& subnet, std::span<const PeerPort> sms, PKeyPart& part) {
  for (const auto& at : sms) {
    make_full_member(*subnet.find(at.node), at.port, part);
    const auto next = switch_port_of(subnet, at);
    if (next) make_full_member(*subnet.find(next->node), next->port, part);
  }
}

}  // namespace smd::sm::inline decisions
