// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/pkeys.h"

#include <optional>

namespace smd::sm::inline decisions {
namespace {

struct Slot {
  std::size_t block = 0, index = 0;
};

void make_full_member(const Node& node, PortNum num, PKeyPart& part) {
  const auto& held = node.ports[num.value()].held<wire::PKeyTable>();
  if (!held || held->row.empty()) return;
  std::optional<Slot> limited, free;
  for (std::size_t block = 0; block < held->row.size(); ++block) {
    if (!held->known.test(block)) continue;
    for (std::size_t i = 0; i < held->row[block].keys.size(); ++i) {
      const auto key = held->row[block].keys[i];
      if (key == kDefaultPKey) return;
      if (key.same_partition(kDefaultPKey) && !limited) limited = {block, i};
      if (key.partition() == 0 && !free) free = {block, i};
    }
  }
  const PeerPort at{node.guid(), num};
  const auto slot = limited ? limited : free;
  if (!slot) return part.no_room.push_back(at);
  auto table = held->row[slot->block];
  table.keys[slot->index] = kDefaultPKey;
  part.blocks.push_back({at, slot->block, table});
}

}  // namespace

// Limited members can talk to full ones alone: without a full key at the SM's port they get no answer from
// the SA, and the switch port may enforce partitions.
PKeyPart decide_pkeys(const Subnet& subnet) {
  PKeyPart part;
  const auto* self = subnet.find(subnet.sm_node);
  if (self == nullptr || subnet.sm_port.value() >= self->ports.size()) return part;
  const auto own = self->is_switch() ? PortNum{0} : subnet.sm_port;
  make_full_member(*self, own, part);
  const auto& peer = self->ports[own.value()].peer;
  const auto* node = peer && !self->is_switch() ? subnet.find(peer->node) : nullptr;
  if (node == nullptr || !node->is_switch() || peer->port.value() >= node->ports.size()) return part;
  make_full_member(*node, peer->port, part);
  return part;
}

}  // namespace smd::sm::inline decisions
