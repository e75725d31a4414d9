// SPDX-License-Identifier: Apache-2.0
#include "smd/plan/retrain.h"

#include <algorithm>
#include <map>
#include <utility>

#include "smd/sweep/paths.h"

namespace smd::sm::inline planning {
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
  link.distance = there;
  link.item.node = static_cast<NodeIndex>(*subnet.index_of(link.there));
  link.item.port = peer->port;
  return link;
}

struct LinkCounts {
  std::size_t to_switches = 0, to_others = 0;
};

LinkCounts links_up(const Subnet& subnet, Guid guid) {
  LinkCounts counts;
  const auto* node = subnet.find(guid);
  if (node == nullptr) return counts;
  for (const auto& port : node->ports) {
    if (!port.peer) continue;
    const auto* peer = subnet.find(port.peer->node);
    ++(peer != nullptr && peer->is_switch() ? counts.to_switches : counts.to_others);
  }
  return counts;
}

/// The links of one step, within what each switch may lose.
class Step {
 public:
  Step(const Subnet& subnet, std::set<Guid> closed) : subnet_(subnet), closed_(std::move(closed)) {}

  bool takes(const Link& link) {
    const auto leaf = leaf_of(link);
    if (!link.between_switches) {
      const bool has_room = hosts_[leaf] < most_hosts(leaf);
      if (has_room) ++hosts_[leaf];
      return has_room;
    }
    if (closed_.contains(link.here) || closed_.contains(link.there)) return false;
    closed_.insert({link.here, link.there});
    return true;
  }

 private:
  Guid leaf_of(const Link& link) const {
    const auto* here = subnet_.find(link.here);
    return here != nullptr && here->is_switch() ? link.here : link.there;
  }
  std::size_t most_hosts(Guid leaf) const { return (links_up(subnet_, leaf).to_others + 3) / 4; }

  const Subnet& subnet_;
  std::set<Guid> closed_;  ///< switches that lose no further link to a switch
  std::map<Guid, std::size_t> hosts_;
};

std::vector<PortItem> step_of(const Subnet& subnet, const std::vector<Link>& links,
                              const std::set<Guid>& closed) {
  const auto open = [&](const Link& link) {
    return !link.between_switches || (!closed.contains(link.here) && !closed.contains(link.there));
  };
  const bool only_ours = std::ranges::all_of(links, &Link::our_own);
  std::size_t farthest = 0;
  for (const auto& link : links) {
    if (open(link) && (only_ours || !link.our_own)) farthest = std::max(farthest, link.distance);
  }
  Step step(subnet, closed);
  std::vector<PortItem> now;
  for (const auto& link : links) {
    if ((link.our_own && !only_ours) || link.distance != farthest || !step.takes(link)) continue;
    now.push_back(link.item);
    if (link.our_own) break;
  }
  return now;
}

}  // namespace

std::vector<PortItem> links_to_retrain(const PlanInput& in) {
  std::vector<PortItem> links;
  for (NodeIndex i = 0; i < in.subnet.nodes.size(); ++i) {
    const auto& node = *in.subnet.nodes[i];
    if (in.leaves_out(node.guid())) continue;
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      if (must_retrain(in, node, num)) links.push_back({i, num, PortState::down});
    }
  }
  return links;
}

// The nearer end, because the answer to the Set returns from there. The farthest links first, because nodes
// behind a link cannot be reached while it trains.
std::vector<PortItem> next_to_retrain(const Subnet& subnet, const std::vector<PortItem>& all,
                                      const std::set<Guid>& down) {
  const Paths paths(subnet);
  std::vector<Link> links;
  for (const auto& item : all) links.push_back(link_of(subnet, paths, item));
  auto now = step_of(subnet, links, down);
  if (!now.empty()) return now;
  std::set<Guid> last_links;  // a link that stays down must not keep the others from their limits for ever
  for (const auto guid : down) {
    if (links_up(subnet, guid).to_switches < 2) last_links.insert(guid);
  }
  return step_of(subnet, links, last_links);
}

Round retrain_round(std::vector<PortItem> ports) {
  Round round;
  round.phase = Phase::retrain;
  round.ports = std::move(ports);
  return round;
}

}  // namespace smd::sm::inline planning
