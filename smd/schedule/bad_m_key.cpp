// SPDX-License-Identifier: Apache-2.0
#include "smd/schedule/bad_m_key.h"

namespace smd::sm::inline scheduling {

std::optional<LidIndex::Place> sender_of(const Subnet& subnet, const LidIndex& lids, const Node& victim,
                                         const wire::BadMKeyDetails& details) {
  if (!details.directed) return std::nullopt;
  if (details.dr_slid.unicast()) {  // the directed part began at a LID
    const auto place = lids.find(details.dr_slid);
    return place.node != nullptr ? std::optional(place) : std::nullopt;
  }
  if (details.path_truncated || details.hop_count > details.return_path.size()) return std::nullopt;
  // Each entry is the port by which the SMP came into a node, that of the first node first.
  LidIndex::Place at{.node = &victim, .port = {}};
  for (std::size_t hop = details.hop_count; hop-- > 0;) {
    const auto in = details.return_path[hop].value();
    if (in >= at.node->ports.size() || !at.node->ports[in].peer) return std::nullopt;
    const auto& peer = *at.node->ports[in].peer;
    at = {.node = subnet.find(peer.node), .port = peer.port};
    if (at.node == nullptr) return std::nullopt;
  }
  return at;
}

}  // namespace smd::sm::inline scheduling
