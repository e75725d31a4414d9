// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/retrain.h"

#include <algorithm>
#include <set>
#include <utility>

#include "smd/sweep/paths.h"

namespace smd::sm {
namespace {

/// One of the links: how far its nearer end is, and between which nodes it is.
struct Link {
  PortItem item;
  std::size_t distance = 0;
  Guid here, there;
  bool between_switches = false, our_own = false;
};

std::size_t distance_of(const Subnet& subnet, const Paths& paths, Guid node) {
  const auto index = subnet.index_of(node);
  const auto path = index ? paths.to(*index) : std::nullopt;
  return path ? path->hops() : 0;
}

Link link_of(const Subnet& subnet, const Paths& paths, const PortItem& item) {
  const auto& node = *subnet.nodes[item.node];
  const auto& peer = node.ports[item.port.value()].peer;
  Link link{.item = item, .here = node.guid(), .there = peer ? peer->node : Guid{}};
  const auto* far = subnet.find(link.there);
  link.between_switches = far != nullptr && far->is_switch();
  link.our_own = link.here == subnet.sm_node || link.there == subnet.sm_node;
  link.distance = distance_of(subnet, paths, link.here);
  const auto there = far != nullptr ? distance_of(subnet, paths, link.there) : link.distance;
  if (there >= link.distance) return link;
  // The answer to the Set comes back only from the nearer end.
  link.distance = there;
  link.item.node = static_cast<NodeIndex>(*subnet.index_of(link.there));
  link.item.port = peer->port;
  return link;
}

}  // namespace

std::vector<PortItem> next_to_retrain(const Subnet& subnet, const std::vector<PortItem>& all) {
  const Paths paths(subnet);
  std::vector<Link> links;
  for (const auto& item : all) links.push_back(link_of(subnet, paths, item));
  const bool only_ours = std::ranges::all_of(links, &Link::our_own);
  std::size_t farthest = 0;
  for (const auto& link : links) {
    if (only_ours || !link.our_own) farthest = std::max(farthest, link.distance);
  }
  std::vector<PortItem> now;
  std::set<Guid> touched;  // switches that lose a link to another switch already
  for (const auto& link : links) {
    if ((link.our_own && !only_ours) || link.distance != farthest) continue;
    if (link.between_switches) {
      if (touched.contains(link.here) || touched.contains(link.there)) continue;
      touched.insert({link.here, link.there});
    }
    now.push_back(link.item);
    if (link.our_own) break;
  }
  return now;
}

}  // namespace smd::sm
