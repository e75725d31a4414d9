// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/merge.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "smd/sweep/unresponsive.h"

namespace smd::sm::inline sweeping {
namespace {

/// Which nodes a link leads to, from our own on. CAs do not forward.
std::vector<bool> reached(const Subnet& subnet) {
  std::vector<bool> seen(subnet.nodes.size());
  const auto self = subnet.index_of(subnet.sm_node);
  if (!self) return seen;
  std::vector<std::size_t> queue{*self};
  seen[*self] = true;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const auto& node = *subnet.nodes[queue[head]];
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      if (!node.is_switch() && (queue[head] != *self || p != subnet.sm_port.value())) continue;
      const auto& peer = node.ports[p].peer;
      const auto next = peer ? subnet.index_of(peer->node) : std::nullopt;
      if (!next || seen[*next]) continue;
      seen[*next] = true;
      queue.push_back(*next);
    }
  }
  return seen;
}

/// Of a port without link nothing is known, though its node may be there by another one: only switches are
/// asked for ports that are down, and our own port is read whatever it is.
void forget_unlinked(const Subnet& subnet, Node& node, std::size_t port) {
  const bool own = node.guid() == subnet.sm_node && port == subnet.sm_port.value();
  if (!node.is_switch() && !own) node.ports[port] = {};
}

/// Links whose other end is not there, or is linked elsewhere, have no other end.
void drop_half_links(Subnet& subnet) {
  for (auto& node : subnet.nodes) {
    std::shared_ptr<Node> copy;
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const auto& peer = node->ports[p].peer;
      if (!peer) continue;
      const auto* other = subnet.find(peer->node);
      const PeerPort here{node->guid(), PortNum{static_cast<std::uint8_t>(p)}};
      const bool both = other != nullptr && peer->port.value() < other->ports.size() &&
                        other->ports[peer->port.value()].peer == here;
      if (both) continue;
      if (!copy) copy = std::make_shared<Node>(*node);
      copy->ports[p].peer.reset();
      forget_unlinked(subnet, *copy, p);
    }
    if (copy) node = std::move(copy);
  }
}

}  // namespace

void drop_unreached(Subnet& subnet) {
  drop_half_links(subnet);
  const auto seen = reached(subnet);
  std::vector<NodePtr> kept;
  for (std::size_t i = 0; i < subnet.nodes.size(); ++i) {
    if (seen[i]) kept.push_back(std::move(subnet.nodes[i]));
  }
  subnet.nodes = std::move(kept);
  subnet.index();
  drop_half_links(subnet);
}

Subnet merge(const Subnet& before, DiscoveryState&& findings, std::vector<Unresponsive> unresponsive,
             std::vector<OtherSm> other_sms) {
  std::map<Guid, FoundNode*> changed;
  for (const auto& found : findings.nodes()) changed[found->node.guid()] = found.get();
  std::set<Guid> read;
  for (const auto& [guid, found] : changed) {
    if (found->read) read.insert(guid);
  }

  Subnet subnet;
  subnet.sm_node = before.sm_node;
  subnet.sm_port = before.sm_port;
  for (const auto& node : before.nodes) {
    if (!changed.contains(node->guid())) subnet.nodes.push_back(node);
  }
  for (auto& [guid, found] : changed) {
    for (const auto port : found->outdated) {
      if (!found->node.ports[port.value()].peer) forget_unlinked(subnet, found->node, port.value());
    }
    if (!found->silent) subnet.nodes.push_back(std::make_shared<const Node>(std::move(found->node)));
  }
  const auto by_guid = [](const NodePtr& node) { return node->guid(); };
  std::ranges::sort(subnet.nodes, {}, by_guid);
  subnet.index();
  drop_unreached(subnet);

  const auto stays = [&](Guid node) { return !read.contains(node) && subnet.find(node) != nullptr; };
  subnet.unresponsive = std::move(unresponsive);
  std::ranges::copy_if(before.unresponsive, std::back_inserter(subnet.unresponsive),
                       [&](const Unresponsive& item) { return stays(item.behind.node); });
  sort_by_place(subnet.unresponsive);
  subnet.other_sms = std::move(other_sms);
  std::ranges::copy_if(before.other_sms, std::back_inserter(subnet.other_sms),
                       [&](const OtherSm& item) { return stays(item.at.node); });
  std::ranges::sort(subnet.other_sms, {},
                    [](const OtherSm& sm) { return std::tuple{sm.at.node, sm.at.port}; });
  part_port_guids(subnet, &before);
  // GUIDs that were in two places stay so until the whole fabric is looked at.
  for (const auto& duplicate : before.duplicates) {
    const auto same = std::ranges::find(subnet.duplicates, duplicate.guid, &DuplicateGuid::guid);
    if (same == subnet.duplicates.end()) subnet.duplicates.push_back(duplicate);
  }
  return subnet;
}

}  // namespace smd::sm::inline sweeping
