// SPDX-License-Identifier: Apache-2.0
#include "smd/api/port_order.h"

#include <fmt/format.h>

#include <utility>

#include "mad/base/parse.h"
#include "smd/access/token.h"
#include "smd/api/lost.h"
#include "smd/api/places.h"
#include "smd/report/description.h"
#include "smd/sweep/paths.h"

namespace smd::api {
namespace {

using policy::PortAt;

/// A lost node, whose name or GUID is known still; nothing: there is none. 409: several have the name.
std::expected<std::optional<Guid>, Answer> lost_node(const sm::Snapshot& now, const std::string& words) {
  const auto guid = base::parse_guid(words);
  std::optional<Guid> found;
  if (!now.inventory) return found;
  for (const auto& [node, known] : now.inventory->nodes()) {
    if (guid ? node != *guid : !is_written_as(known.name, words)) continue;
    if (found)
      return std::unexpected(error_of(
          409, "ambiguous", fmt::format("several lost nodes are named \"{}\": give the GUID", words)));
    found = node;
  }
  return found;
}

std::optional<mad::DirectedPath> path_to(const sm::Subnet& subnet, const sm::Paths& paths, Guid node) {
  const auto index = subnet.index_of(node);
  return index ? paths.to(*index) : std::nullopt;
}

/// The end that was named is reached by this very link: no answer to the Set would come back, and the port
/// not be reached again. So is each port of a host, our own apart, whichever of them the node is reached by.
bool comes_by(const sm::Subnet& subnet, const sm::Paths& paths, const PortOrder& order) {
  const bool own = order.at == PortAt{subnet.sm_node, subnet.sm_port};
  if (!own && !subnet.find(order.at.first)->is_switch()) return true;
  const auto here = path_to(subnet, paths, order.at.first), there = path_to(subnet, paths, order.peer.first);
  if (!here || !there || here->hops() != there->hops() + 1) return false;
  for (std::size_t i = 0; i < there->hops(); ++i) {
    if (here->hop(i) != there->hop(i)) return false;
  }
  return here->hop(there->hops()) == order.peer.second;
}

/// Nodes that are reached by `now`, which avoids `kept`, and not without this link.
std::vector<const sm::Node*> cut_off(const sm::Subnet& subnet, const sm::Paths& now, sm::Paths::Avoid kept,
                                     const PortAt& link) {
  kept.ports.insert(link);
  const sm::Paths without(subnet, kept);
  std::vector<const sm::Node*> lost;
  for (std::size_t i = 0; i < subnet.nodes.size(); ++i) {
    if (now.to(i) && !without.to(i)) lost.push_back(subnet.nodes[i].get());
  }
  return lost;
}

}  // namespace

std::expected<PortAt, Answer> port_named(const sm::Snapshot& now, const std::string& node,
                                         const std::string& number) {
  const auto port = base::parse_port(number);
  if (!port || port->value() == 0)
    return std::unexpected(error_of(400, "bad_port", fmt::format("port {}: 1 to 254", number)));
  const auto found = find_node(*now.subnet, node);
  if (!found && found.error().status == 404) {
    const auto lost = lost_node(now, node);
    if (!lost) return std::unexpected(lost.error());
    if (*lost) return PortAt{**lost, *port};
  }
  if (!found) return std::unexpected(found.error());
  if (port->value() >= (*found)->ports.size())
    return std::unexpected(
        error_of(404, "no_such_port",
                 fmt::format("\"{}\" has ports 1 to {}", sm::raw_name(**found), (*found)->ports.size() - 1)));
  return PortAt{(*found)->guid(), *port};
}

std::expected<PortOrder, Answer> port_order(const sm::Snapshot& now, const policy::DisabledPorts& kept,
                                            const PortAt& named) {
  const auto& subnet = *now.subnet;
  const auto refused = [](const std::string& why) {
    return std::unexpected(error_of(409, "not_reached", why));
  };
  const auto* node = subnet.find(named.first);
  if (node == nullptr)
    return refused(fmt::format("\"{}\" is not in the fabric now", name_of(now, named.first)));
  PortOrder order{.named = named, .at = named, .peer = {}, .cut_off = {}};
  const auto& port = node->ports[named.second.value()];
  if (!port.linked() || !port.peer) {
    if (node->is_switch() && port.known) return order;
    return refused(
        "the port has no link: a host's port is disabled at the switch, which has no link to it now");
  }
  order.peer = {port.peer->node, port.peer->port};
  sm::Paths::Avoid avoid;
  for (const auto& [at, disabled] : kept) avoid.ports.insert(at);
  const sm::Paths paths(subnet, avoid);
  order.cut_off = cut_off(subnet, paths, avoid, named);
  // Of nodes that are cut off already: as they were reached before.
  const bool reached = path_to(subnet, paths, order.at.first) && path_to(subnet, paths, order.peer.first);
  if (comes_by(subnet, reached ? paths : sm::Paths(subnet), order)) std::swap(order.at, order.peer);
  return order;
}

std::string confirmation(const PortOrder& order) {
  if (order.cut_off.empty()) return {};
  auto text = fmt::format("{} {}", order.at.first, order.at.second);
  for (const auto* node : order.cut_off) text += fmt::format(" {}", node->guid());
  return access::hash_of(text).substr(0, 12);
}

std::string cut_off_words(const PortOrder& order) {
  if (order.cut_off.empty()) return "nothing";
  const auto first = sm::raw_name(*order.cut_off.front());
  if (order.cut_off.size() == 1) return fmt::format("\"{}\"", first);
  return fmt::format("\"{}\" and {} more", first, order.cut_off.size() - 1);
}

}  // namespace smd::api
