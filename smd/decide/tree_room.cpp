// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/tree_room.h"

#include <utility>

#include "routing/multicast/turns.h"
#include "routing/ranking/switch_ranking.h"
#include "smd/decide/multicast.h"

namespace smd::sm::inline decisions {
namespace {

using routing::SwitchIndex;

/// Ports of a switch of `trees` at cables that are there now.
std::vector<PortNum> tree_ports(const routing::Topology& trees, SwitchIndex there,
                                const routing::Topology& now, SwitchIndex here) {
  std::vector<PortNum> ports;
  for (unsigned p = 1; p <= trees.ports(there) && p <= now.ports(here); ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    const auto before = trees.peer(there, port), peer = now.peer(here, port);
    const bool cabled = before.sw != routing::kNoSwitch && peer.sw != routing::kNoSwitch;
    if (cabled && now.guid(peer.sw) == trees.guid(before.sw) && peer.port == before.port)
      ports.push_back(port);
  }
  return ports;
}

}  // namespace

std::vector<routing::ReservedWait> waits_of_trees(const McPart* before, const routing::Topology& now) {
  std::vector<routing::ReservedWait> waits;
  const auto* context = before != nullptr ? before->context.get() : nullptr;
  if (context == nullptr || !context->proof || context->trees == 0) return waits;
  if (context->proof->rule != routing::McRule::spanning || context->not_proven != 0) return waits;
  const auto& trees = context->proof->cables;
  for (SwitchIndex there = 0; there < trees.switches(); ++there) {
    const auto here = now.find(trees.guid(there));
    if (here == routing::kNoSwitch) continue;
    const auto ports = tree_ports(trees, there, now, here);
    for (const auto in : ports) {
      const auto from = now.peer(here, in);
      for (const auto out : ports) {
        if (out != in) waits.push_back({from.sw, from.port, out});
      }
    }
  }
  return waits;
}

bool leaves_room(const RoutePart& part, const routing::Parallel& parallel, std::stop_token stop) {
  routing::Routes tables{.rows = {}, .layers = part.layers};
  for (const auto& row : part.rows) tables.rows.push_back(row.row);
  const auto proof = routing::prove_trees({*part.topology, *part.lid_map, parallel, std::move(stop)}, tables,
                                          part.verification, routing::find_tree(*part.topology));
  return proof.rule != routing::McRule::none;
}

}  // namespace smd::sm::inline decisions
