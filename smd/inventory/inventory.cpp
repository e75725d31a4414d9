// SPDX-License-Identifier: Apache-2.0
#include "smd/inventory/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace smd::sm::inline inventory {

std::string to_string(const LinkRate& rate) {
  return fmt::format("{} {}", smd::to_string(rate.width), smd::to_string(rate.speed));
}

Inventory::Counts Inventory::lost() const {
  Counts counts;
  for (const auto& [guid, when] : lost_nodes_) ++(find(guid)->is_switch() ? counts.switches : counts.hosts);
  counts.links = lost_links_.size();
  const auto is_switch = [&](Guid guid) {
    const auto* node = find(guid);
    return node != nullptr && node->is_switch();
  };
  for (const auto& [end, when] : lost_links_) {
    if (is_switch(end.node) && is_switch(find(end)->peer.node)) ++counts.switch_links;
  }
  return counts;
}

void Inventory::put(Guid guid, KnownNode known) {
  const auto* before = find(guid);
  if (before != nullptr && !before->is_switch()) --hosts_;
  if (!known.is_switch()) ++hosts_;
  if (known.lost()) {
    lost_nodes_[guid] = known.lost_at;
  } else {
    lost_nodes_.erase(guid);
  }
  nodes_.put(guid, std::move(known));
}

void Inventory::put_end(const LinkEnd& end, const KnownLink& link) {
  const auto* before = find(end);
  if (before != nullptr && before->peer != link.peer) forget(end);
  links_.put(end, link);
  if (link.peer < end) return;
  if (link.lost()) {
    lost_links_[end] = link.lost_at;
  } else {
    lost_links_.erase(end);
  }
}

void Inventory::put(const LinkEnd& end, const KnownLink& link) {
  auto back = link;
  back.peer = end;
  put_end(end, link);
  put_end(link.peer, back);
}

void Inventory::forget(const LinkEnd& end) {
  const auto* link = find(end);
  if (link == nullptr) return;
  const auto peer = link->peer;
  lost_links_.erase(std::min(end, peer));
  links_.erase(end);
  const auto* back = find(peer);
  if (back != nullptr && back->peer == end) links_.erase(peer);
}

void Inventory::forget(Guid guid) {
  const auto* known = find(guid);
  if (known == nullptr) return;
  std::vector<LinkEnd> ends;
  for_each_link(guid, [&](const LinkEnd& end, const KnownLink&) { ends.push_back(end); });
  for (const auto& end : ends) forget(end);
  if (!known->is_switch()) --hosts_;
  lost_nodes_.erase(guid);
  nodes_.erase(guid);
}

void forget_detached(Inventory& inventory) {
  std::set<Guid> attached;
  std::vector<Guid> next;
  const auto attach = [&](Guid guid) {
    if (attached.insert(guid).second) next.push_back(guid);
  };
  for (const auto& [guid, when] : inventory.lost_nodes()) {
    inventory.for_each_link(guid, [&](const LinkEnd&, const KnownLink& link) {
      const auto* peer = inventory.find(link.peer.node);
      if (peer != nullptr && !peer->lost()) attach(guid);
    });
  }
  while (!next.empty()) {
    const auto guid = next.back();
    next.pop_back();
    inventory.for_each_link(guid, [&](const LinkEnd&, const KnownLink& link) {
      const auto* peer = inventory.find(link.peer.node);
      if (peer != nullptr && peer->lost()) attach(link.peer.node);
    });
  }
  std::vector<Guid> gone;
  for (const auto& [guid, when] : inventory.lost_nodes()) {
    if (!attached.contains(guid)) gone.push_back(guid);
  }
  for (const auto guid : gone) inventory.forget(guid);
}

Inventory::Counts accept_lost(Inventory& inventory, Guid node) {
  const auto before = inventory.lost();
  std::vector<LinkEnd> links;
  std::vector<Guid> nodes;
  for (const auto& [end, when] : inventory.lost_links()) {
    const auto& peer = inventory.find(end)->peer;
    if (node == Guid{} || end.node == node || peer.node == node) links.push_back(end);
  }
  for (const auto& [guid, when] : inventory.lost_nodes()) {
    if (node == Guid{} || guid == node) nodes.push_back(guid);
  }
  for (const auto& end : links) inventory.forget(end);
  for (const auto guid : nodes) inventory.forget(guid);
  forget_detached(inventory);
  const auto after = inventory.lost();
  return {.switches = before.switches - after.switches,
          .hosts = before.hosts - after.hosts,
          .links = before.links - after.links,
          .switch_links = before.switch_links - after.switch_links};
}

}  // namespace smd::sm::inline inventory
