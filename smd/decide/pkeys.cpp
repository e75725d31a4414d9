// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/pkeys.h"

#include <optional>

namespace smd::sm {
namespace {

struct Slot {
  std::size_t block = 0, index = 0;
};

constexpr unsigned kPartition = 0x7FFF;

void make_full_member(const Node& node, PortNum num, PKeyPart& part) {
  const auto& rows = node.ports[num.value()].pkeys;
  if (!rows || rows->blocks.empty()) return;
  std::optional<Slot> limited, free;
  for (std::size_t block = 0; block < rows->blocks.size(); ++block) {
    if (!rows->known.test(block)) continue;
    for (std::size_t i = 0; i < rows->blocks[block].size(); ++i) {
      const auto key = rows->blocks[block][i];
      if (key == kDefaultPKey) return;
      if ((key.value() & kPartition) == kPartition && !limited) limited = {block, i};
      if ((key.value() & kPartition) == 0 && !free) free = {block, i};
    }
  }
  const PeerPort at{node.guid(), num};
  const auto slot = limited ? limited : free;
  if (!slot) return part.no_room.push_back(at);
  auto keys = rows->blocks[slot->block];
  keys[slot->index] = kDefaultPKey;
  part.blocks.push_back({at, slot->block, keys});
}

}  // namespace

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

}  // namespace smd::sm
