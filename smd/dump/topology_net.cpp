// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "mad/base/fabric_file.h"
#include "smd/dump/fabric_of.h"
#include "smd/dump/formats.h"

namespace smd::sm::inline dumps {
namespace {

/// Where ibnetdiscover puts a node of this type, and the letter of its id.
struct Kind {
  int rank;
  char letter;
};
Kind kind_of(NodeType type) {
  switch (type) {
    case NodeType::switch_:
      return {0, 'S'};
    case NodeType::ca:
      return {1, 'H'};
    case NodeType::router:
      return {2, 'R'};
    case NodeType::none:
      break;
  }
  return {3, 'N'};
}

base::FabricNode describe_node(const DumpView& view, const Node& node,
                               const std::unordered_map<Guid, base::NodeIndex>& index) {
  base::FabricNode to;
  to.type = node.info.type;
  to.guid = node.guid();
  to.system_image = node.info.system_image;
  to.vendor_id = node.info.vendor_id;
  to.device_id = node.info.device_id;
  to.id = fmt::format("{}-{:016x}", kind_of(node.info.type).letter, node.guid().value());
  to.name = node.description;
  to.enhanced_port0 = node.switch_info && node.switch_info->enhanced_port0;
  to.ports.resize(node.ports.size());
  for (std::size_t p = 0; p < node.ports.size(); ++p) {
    const PortNum number{static_cast<std::uint8_t>(p)};
    const auto& from = node.ports[p];
    auto& port = to.ports[p];
    const bool end_port = node.is_switch() ? p == 0 : p != 0 && from.peer.has_value();
    if (end_port) {
      const auto lid = view.lid(node, number);
      port.lid = lid.base;
      port.lmc = lid.lmc;
    }
    if (!node.is_switch() && p != 0) port.guid = from.guid;
    if (p == 0 || !from.peer) continue;
    const auto peer = index.find(from.peer->node);
    if (peer == index.end()) continue;
    port.peer = base::Peer{.node = peer->second, .port = from.peer->port};
    port.rate = view.rate(node, number);
  }
  return to;
}

}  // namespace

base::Fabric fabric_of(const DumpView& view) {
  std::vector<const Node*> nodes;
  for (const auto& node : view.subnet().nodes) nodes.push_back(node.get());
  std::ranges::sort(nodes, {},
                    [](const Node* node) { return std::pair(kind_of(node->info.type).rank, node->guid()); });
  std::unordered_map<Guid, base::NodeIndex> index;  // looked up only, never walked
  for (const auto* node : nodes) index.emplace(node->guid(), static_cast<base::NodeIndex>(index.size()));
  base::Fabric fabric;
  fabric.nodes.reserve(nodes.size());
  for (const auto* node : nodes) fabric.nodes.push_back(describe_node(view, *node, index));
  return fabric;
}

void dump_topology_net(Out& out, const DumpView& view) { out.text(base::write_fabric(fabric_of(view))); }

}  // namespace smd::sm::inline dumps
