// SPDX-License-Identifier: Apache-2.0
#include "smd/inventory/gone.h"

#include <map>

namespace smd::sm::inline inventory {
namespace {

/// Known, not lost, and not in the Subnet.
std::set<Guid> absent_nodes(const Inventory& known, const Subnet& now) {
  std::set<Guid> absent;
  auto at = now.nodes.begin();
  for (const auto& [guid, node] : known.nodes()) {
    while (at != now.nodes.end() && (*at)->guid() < guid) ++at;
    const bool there = at != now.nodes.end() && (*at)->guid() == guid;
    if (!there && !node.lost()) absent.insert(guid);
  }
  return absent;
}

bool lost_before(const KnownLink& link, UnixTime time) { return link.lost() && link.lost_at != time; }

/// What the nodes that are there say of their links to one that is not.
struct Said {
  bool up = false, any = false;
};
Said neighbours_say(const Inventory& known, const Subnet& now, Guid guid, UnixTime time) {
  Said said;
  known.for_each_link(guid, [&](const LinkEnd&, const KnownLink& link) {
    if (lost_before(link, time)) return;
    const auto* peer = now.find(link.peer.node);
    if (peer == nullptr || link.peer.port.value() >= peer->ports.size()) return;
    const auto& port = peer->ports[link.peer.port.value()];
    // A port of an adapter is read over its own link only: that it was not read says nothing.
    if (!port.known && !peer->is_switch()) return;
    const bool led_there = !port.peer || port.peer->node == guid;
    said.any = true;
    said.up = said.up || !port.known || (port.linked() && led_there);
  });
  return said;
}

}  // namespace

std::set<Guid> gone_nodes(const Inventory& known, const Subnet& now, UnixTime time) {
  auto gone = absent_nodes(known, now);
  std::vector<Guid> hidden;
  std::set<Guid> alone;  // no node that is there has a link to them
  for (const auto guid : gone) {
    const auto said = neighbours_say(known, now, guid, time);
    if (said.up) hidden.push_back(guid);
    if (!said.any) alone.insert(guid);
  }
  for (const auto guid : hidden) gone.erase(guid);
  while (!hidden.empty()) {
    const auto guid = hidden.back();
    hidden.pop_back();
    known.for_each_link(guid, [&](const LinkEnd&, const KnownLink& link) {
      const auto other = link.peer.node;
      if (link.lost() || !alone.contains(other) || gone.erase(other) == 0) return;
      hidden.push_back(other);
    });
  }
  return gone;
}

std::vector<Guid> hosts_behind(const Inventory& known, Guid node, const Subnet& now) {
  std::set<Guid> hosts;
  known.for_each_link(node, [&](const LinkEnd&, const KnownLink& link) {
    const auto* peer = known.find(link.peer.node);
    const bool waits = peer != nullptr && !peer->is_switch() && !peer->lost() && !link.lost();
    if (waits && now.find(link.peer.node) == nullptr) hosts.insert(link.peer.node);
  });
  return {hosts.begin(), hosts.end()};
}

std::vector<NodeChange> tell_gone(const Inventory& known, const std::set<Guid>& gone, UnixTime time) {
  std::map<Guid, NodeChange> told;
  std::vector<Guid> hosts;
  for (const auto guid : gone) {
    const auto& node = *known.find(guid);
    NodeChange change{.node = guid, .type = node.type, .name = node.name};
    bool with_switch = false, otherwise = false;
    known.for_each_link(guid, [&](const LinkEnd&, const KnownLink& link) {
      if (lost_before(link, time)) return;
      const auto* peer = known.find(link.peer.node);
      const bool went_too = peer != nullptr && peer->is_switch() && gone.contains(link.peer.node);
      with_switch = with_switch || went_too;
      otherwise = otherwise || !went_too;
      ++change.links;
      if (!change.behind) change.behind = link.peer;
    });
    if (!node.is_switch() && with_switch && !otherwise) {
      told[change.behind->node].hosts.push_back(guid);
      continue;
    }
    if (change.links != 1) change.behind = node.is_switch() ? std::nullopt : change.behind;
    auto& entry = told[guid];
    change.hosts = std::move(entry.hosts);
    entry = std::move(change);
  }
  std::vector<NodeChange> all;
  for (auto& [guid, change] : told) all.push_back(std::move(change));
  return all;
}

}  // namespace smd::sm::inline inventory
