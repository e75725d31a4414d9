// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/topology.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string_view>

#include "mad/base/guid_index.h"
#include "mad/base/rate.h"
#include "mad/wire/capability.h"
#include "smd/inventory/switch_levels.h"

namespace smd::sm::inline decisions {
namespace {

using routing::SwitchIndex;

bool forwards(const Node& node, Lid top) { return node.is_switch() && lft_capacity(node) > top.value(); }

/// The other end of a cable that both ends know of and say is up; else null.
const Port* far_end(const Subnet& subnet, const PeerPort& self, const Port& port) {
  const auto* far = subnet.peer_of(port);
  return far != nullptr && far->linked() && far->peer == self ? far : nullptr;
}

/// As the slower end says: where they differ the link came up anew between the two answers, or one of them
/// shows nothing that we know.
std::uint32_t mbps(const Port& a, const Port& b) {
  const auto of = [](const Port& port) {
    return link_mbps(wire::link_width(port.info), wire::link_speed(port.info, port.mlnx));
  };
  const auto [less, more] = std::minmax({of(a), of(b)});
  return less != 0 ? less : more;
}

/// What the operator says end ports are for.
class Kinds {
 public:
  explicit Kinds(const config::RoutingConfig& config) : compute_(config.compute_nodes), io_(config.io_nodes) {
    std::ranges::sort(compute_);
    std::ranges::sort(io_);
  }
  routing::EndKind of(const Node& node, Guid port) const {
    const auto kind = end_kind(node);
    if (kind != routing::EndKind::compute) return kind;
    const auto named = [&](const std::vector<Guid>& guids) {
      return std::ranges::binary_search(guids, port) || std::ranges::binary_search(guids, node.guid());
    };
    if (named(io_) || (!compute_.empty() && !named(compute_))) return routing::EndKind::io;
    return kind;
  }

 private:
  std::vector<Guid> compute_, io_;
};

/// Hosts that are silent stand beside the others.
std::vector<const Node*> nodes_in_order(const Subnet& subnet, const std::vector<Guid>& file_order) {
  std::vector<const Node*> nodes;
  nodes.reserve(subnet.nodes.size());
  if (file_order.empty()) {
    const auto get = std::views::transform([](const NodePtr& node) -> const Node* { return node.get(); });
    std::ranges::merge(subnet.nodes | get, subnet.silent_hosts | get, std::back_inserter(nodes), {},
                       &Node::guid, &Node::guid);
    return nodes;
  }
  for (const auto guid : file_order) {
    if (const auto* node = subnet.find(guid); node != nullptr) nodes.push_back(node);
  }
  return nodes;
}

bool is_silent(const Subnet& subnet, const Node* node) {
  const auto guid = [](const NodePtr& host) { return host->guid(); };
  const auto at = std::ranges::lower_bound(subnet.silent_hosts, node->guid(), {}, guid);
  return at != subnet.silent_hosts.end() && at->get() == node;
}

}  // namespace

routing::EndKind end_kind(const Node& node) {
  if (node.info.type == NodeType::router) return routing::EndKind::router;
  if (is_aggregation_node(node.description)) return routing::EndKind::aggregation;
  return routing::EndKind::compute;
}

routing::TopologyInput topology_input(const Subnet& subnet, Lid top, const config::RoutingConfig& config,
                                      const std::vector<Guid>& file_order) {
  routing::TopologyInput input;
  const Kinds kinds(config);
  const auto nodes = nodes_in_order(subnet, file_order);
  base::GuidIndex index(nodes.size());
  for (const auto* node : nodes) {
    if (!forwards(*node, top)) continue;
    index.add(node->guid(), static_cast<SwitchIndex>(input.switches.size()));
    input.switches.push_back({node->guid(), node->port_count()});
  }
  const auto index_of = [&](Guid guid) {
    const auto at = index.find(guid);
    return at == base::GuidIndex::kNone ? routing::kNoSwitch : at;
  };
  for (const auto* node : nodes) {
    const auto self = index_of(node->guid());
    if (node->is_switch() && self == routing::kNoSwitch) continue;
    for (std::size_t p = 1; p < node->ports.size(); ++p) {
      const PortNum num{static_cast<std::uint8_t>(p)};
      const auto& port = node->ports[p];
      if (!port.linked()) continue;
      const auto* const far = far_end(subnet, {node->guid(), num}, port);
      // A CA without a peer stands alone.
      if (port.peer && far == nullptr && !is_silent(subnet, node)) continue;
      const auto peer = port.peer ? index_of(port.peer->node) : routing::kNoSwitch;
      if (!node->is_switch()) {
        input.end_ports.push_back({port.guid, peer, peer == routing::kNoSwitch ? PortNum{} : port.peer->port,
                                   kinds.of(*node, port.guid), node->guid(), node->info.system_image});
      } else if (peer != routing::kNoSwitch &&
                 std::pair{node->guid(), num} <= std::pair{port.peer->node, port.peer->port}) {
        input.links.push_back({self, num, peer, port.peer->port, mbps(port, *far)});
      }
    }
  }
  return input;
}

routing::TopologyInput without_new_switches(const routing::TopologyInput& all,
                                            const routing::Topology& before, std::vector<Guid>& gone) {
  routing::TopologyInput rest;
  std::vector<routing::SwitchIndex> place;
  for (const auto& spec : all.switches) {
    const bool stays = before.find(spec.guid) != routing::kNoSwitch;
    place.push_back(stays ? static_cast<routing::SwitchIndex>(rest.switches.size()) : routing::kNoSwitch);
    if (stays) rest.switches.push_back(spec);
    if (!stays) gone.push_back(spec.guid);
  }
  for (auto link : all.links) {
    link.a = place[link.a];
    link.b = place[link.b];
    if (link.a != routing::kNoSwitch && link.b != routing::kNoSwitch) rest.links.push_back(link);
  }
  for (auto end : all.end_ports) {
    if (end.sw != routing::kNoSwitch) end.sw = place[end.sw];
    if (end.sw == routing::kNoSwitch) end.port = PortNum{};
    rest.end_ports.push_back(end);
  }
  return rest;
}

routing::LidMap lid_map(const routing::TopologyInput& input, const routing::Topology& topology,
                        const LidPart& lids) {
  const auto range_of = [&](Guid port) {
    const auto* entry = lids.find(port);
    const bool routed = entry != nullptr && entry->base <= lids.top;
    return routed ? routing::LidRange{entry->base, entry->lmc} : routing::LidRange{};
  };
  std::vector<routing::LidRange> switches, ends;
  for (const auto& spec : input.switches) switches.push_back(range_of(spec.guid));
  for (const auto& spec : input.end_ports) ends.push_back(range_of(spec.guid));
  return {topology, switches, ends};
}

}  // namespace smd::sm::inline decisions
