// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/unresponsive.h"

#include <algorithm>
#include <map>

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

}  // namespace

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
