// SPDX-License-Identifier: Apache-2.0
#include "smd/inventory/losses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "mad/base/counted.h"
#include "mad/base/rate.h"

namespace smd::sm::inline inventory {

std::string counts_text(const Inventory::Counts& lost) {
  std::vector<std::string> parts;
  const auto count = [&](std::size_t number, std::string_view one, std::string_view many) {
    if (number != 0) parts.push_back(base::counted(number, one, many));
  };
  count(lost.switches, "switch", "switches");
  count(lost.links, "link", "links");
  count(lost.hosts, "host", "hosts");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<KnownLink> lost_link(const Inventory* known, const Node& node, PortNum port) {
  const auto* link = known != nullptr ? known->find({node.guid(), port}) : nullptr;
  return link != nullptr && link->lost() ? std::optional{*link} : std::nullopt;
}

bool is_unused(const Inventory* known, const Node& node, PortNum port) {
  const auto& at = node.ports[port.value()];
  // Ports of an adapter are reached by their own links only.
  const bool without_link = at.known ? !at.linked() : !node.is_switch() && !at.peer;
  return without_link && (known == nullptr || known->find({node.guid(), port}) == nullptr);
}

std::vector<DegradedLink> degraded_links(const Subnet& subnet) {
  std::vector<DegradedLink> found;
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const auto& port = node->ports[p];
      const auto* back = port.linked() ? subnet.peer_of(port) : nullptr;
      if (back == nullptr || !back->linked()) continue;
      const LinkEnd end{node->guid(), PortNum{static_cast<std::uint8_t>(p)}};
      const LinkEnd peer{port.peer->node, port.peer->port};
      const bool to_host = node->is_switch() && !subnet.find(peer.node)->is_switch();
      const bool from_host = !node->is_switch() && subnet.find(peer.node)->is_switch();
      if (from_host || (!to_host && peer < end)) continue;
      const auto rate = rate_of(port);
      const auto best = best_rate(port, *back);
      const auto mbps = link_mbps(rate.width, rate.speed);
      if (mbps != 0 && mbps < link_mbps(best.width, best.speed)) found.push_back({end, peer, rate, best});
    }
  }
  return found;
}

}  // namespace smd::sm::inline inventory
