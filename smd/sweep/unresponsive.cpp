// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/unresponsive.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace smd::sm::inline sweeping {
namespace {

bool name_from_link(Unresponsive& lost, const Subnet& before) {
  const auto* near = before.find(lost.behind.node);
  if (near == nullptr || lost.behind.port.value() >= near->ports.size()) return false;
  const auto& peer = near->ports[lost.behind.port.value()].peer;
  if (!peer) return false;
  lost.node = peer->node;
  if (const auto* node = before.find(peer->node)) lost.description = raw_name(*node);
  return true;
}

/// Places of which it is known why no node is behind them.
std::set<std::pair<Guid, PortNum>> explained_places(const Subnet& subnet) {
  std::set<std::pair<Guid, PortNum>> places;
  for (const auto& lost : subnet.unresponsive) places.emplace(lost.behind.node, lost.behind.port);
  for (const auto& duplicate : subnet.duplicates) {
    for (const auto& place : duplicate.places) places.emplace(place.node, place.port);
  }
  return places;
}

}  // namespace

void sort_by_place(std::vector<Unresponsive>& unresponsive) {
  std::ranges::sort(unresponsive, {}, [](const Unresponsive& lost) {
    return std::tuple{lost.behind.node, lost.behind.port, lost.node, lost.reason};
  });
}

void tell_unfollowed(Subnet& subnet) {
  std::vector<PeerPort> without_node;
  for (const auto& node : subnet.nodes) {
    if (!node->is_switch()) continue;
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const auto& port = node->ports[p];
      if (port.linked() && !port.peer)
        without_node.push_back({node->guid(), PortNum{static_cast<std::uint8_t>(p)}});
    }
  }
  if (without_node.empty()) return;
  const auto explained = explained_places(subnet);
  for (const auto& here : without_node) {
    if (explained.contains({here.node, here.port})) continue;
    subnet.unresponsive.push_back({here, Guid{}, "its link is up, and nothing has come back by it yet"});
  }
  sort_by_place(subnet.unresponsive);
}

void name_unresponsive(Subnet& subnet, const Subnet& before) {
  for (auto& lost : subnet.unresponsive) {
    if (lost.node != Guid{} || name_from_link(lost, before)) continue;
    const auto earlier = std::ranges::find(before.unresponsive, lost.behind, &Unresponsive::behind);
    if (earlier == before.unresponsive.end()) continue;
    lost.node = earlier->node;
    lost.description = earlier->description;
  }
}

std::vector<Silent> silent_nodes(const Subnet& subnet) {
  std::vector<Silent> found;
  std::map<Guid, std::size_t> known;
  for (const auto& lost : subnet.unresponsive) {
    const auto same = lost.node != Guid{} ? known.find(lost.node) : known.end();
    if (same != known.end()) {
      ++found[same->second].places;
      continue;
    }
    known.emplace(lost.node, found.size());
    found.push_back({.first = &lost});
  }
  return found;
}

}  // namespace smd::sm::inline sweeping
