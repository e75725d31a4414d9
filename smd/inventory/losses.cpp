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

namespace {

/// Whether a link is named from this end.
bool is_named_from(const Node& node, const LinkEnd& end, const Node& other, const LinkEnd& peer) {
  if (node.is_switch() != other.is_switch()) return node.is_switch();
  return !(peer < end);
}

/// As this end sees it. `peer` is at the other end.
std::optional<DegradedLink> degraded_from(const Node& node, PortNum num, const Node& peer) {
  const auto& port = node.ports[num.value()];
  const auto* back = port.linked() ? peer.port(port.peer->port) : nullptr;
  if (back == nullptr || !back->linked()) return std::nullopt;
  const auto rate = rate_of(port);
  const auto best = best_rate(port, *back);
  const auto mbps = link_mbps(rate.width, rate.speed);
  if (mbps == 0 || mbps >= link_mbps(best.width, best.speed)) return std::nullopt;
  return DegradedLink{
      .end = {node.guid(), num}, .peer = {peer.guid(), port.peer->port}, .rate = rate, .best = best};
}

}  // namespace

std::optional<DegradedLink> degraded_link(const Subnet& subnet, const Node& node, PortNum port) {
  const auto& cable = node.ports[port.value()].peer;
  const auto* other = cable ? subnet.find(cable->node) : nullptr;
  if (other == nullptr || cable->port.value() >= other->ports.size()) return std::nullopt;
  if (is_named_from(node, {node.guid(), port}, *other, {cable->node, cable->port}))
    return degraded_from(node, port, *other);
  const auto& back = other->ports[cable->port.value()].peer;
  const bool is_same = back && back->node == node.guid() && back->port == port;
  return is_same ? degraded_from(*other, cable->port, node) : std::nullopt;
}

std::vector<DegradedLink> degraded_links(const Subnet& subnet) {
  std::vector<DegradedLink> found;
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const auto& port = node->ports[p];
      const auto* other = port.peer && port.linked() ? subnet.find(port.peer->node) : nullptr;
      const PortNum num{static_cast<std::uint8_t>(p)};
      if (other == nullptr ||
          !is_named_from(*node, {node->guid(), num}, *other, {port.peer->node, port.peer->port}))
        continue;
      if (auto link = degraded_from(*node, num, *other)) found.push_back(*link);
    }
  }
  return found;
}

}  // namespace smd::sm::inline inventory
