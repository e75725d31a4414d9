// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/links.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace smd::sm::inline decisions {
namespace {

/// PortInfo's code of VLCap and OperationalVLs for a number of data VLs: 1, 2, 4, 8, 15 are 1 to 5.
std::uint8_t vl_code(unsigned vls) {
  switch (vls) {
    case 1:
      return 1;
    case 2:
      return 2;
    case 4:
      return 3;
    case 8:
      return 4;
    default:
      return 5;
  }
}

/// VLs and MTU that both ends can, up to what the configuration says.
LinkSettings within_caps(const wire::PortInfo& a, const wire::PortInfo& b,
                         const config::LinksConfig& config) {
  LinkSettings settings;
  // OpenSM's max_op_vls is 5 too: as many as both ends have.
  const std::uint8_t most = config.operational_vls == 0 ? 5 : vl_code(config.operational_vls);
  settings.operational_vls = std::max<std::uint8_t>(1, std::min({most, a.vl_cap, b.vl_cap}));
  settings.neighbor_mtu = std::min(a.mtu_cap, b.mtu_cap);
  if (config.mtu != Mtu::none) settings.neighbor_mtu = std::min(settings.neighbor_mtu, config.mtu);
  settings.neighbor_mtu = std::max(settings.neighbor_mtu, Mtu::m256);
  return settings;
}

struct End {
  const Node& node;
  const Port& port;
  PortNum number;
};

/// The port is known to hold another value than it is told: that is no reason to change the link.
bool ignores(const End& end, std::string_view field) {
  return std::ranges::any_of(end.node.not_kept, [&](const NotKept& noted) {
    return noted.attribute == wire::PortInfo::kAttribute && noted.port == end.number && noted.field == field;
  });
}

/// OperationalVLs of a link in operation stay where both ends have the same, so that a takeover changes
/// nothing under traffic: between two Sets the ends have different values, and packets on VLs that the other
/// end does not have are lost. True: they must change, when the link comes up anew.
bool keep_vls(const End& a, const End& b, const config::LinksConfig& config, LinkSettings& settings) {
  const auto &here = a.port.info, &there = b.port.info;
  if (ignores(a, "OperationalVLs") || ignores(b, "OperationalVLs")) return false;
  const bool same = here.operational_vls == there.operational_vls && here.operational_vls != 0;
  const bool fits = same && here.operational_vls <= std::min(here.vl_cap, there.vl_cap);
  const bool stays =
      fits && (config.operational_vls == 0 || here.operational_vls == settings.operational_vls);
  settings.operational_vls = stays ? here.operational_vls : std::uint8_t{0};
  return !stays;
}

/// The same for NeighborMTU; a lower one can be set in place.
bool keep_mtu(const End& a, const End& b, const config::LinksConfig& config, LinkSettings& settings) {
  if (ignores(a, "NeighborMTU") || ignores(b, "NeighborMTU")) return false;
  const auto now = std::min(a.port.info.neighbor_mtu, b.port.info.neighbor_mtu);
  if (now < Mtu::m256 || settings.neighbor_mtu <= now) return false;
  settings.neighbor_mtu = now;
  return config.mtu != Mtu::none;
}

bool in_operation(const End& a, const End& b) {
  return a.port.info.port_state == PortState::active || b.port.info.port_state == PortState::active;
}

LinkSettings settings_of(const End& here, const End& there, const config::LinksConfig& config) {
  auto settings = within_caps(here.port.info, there.port.info, config);
  if (in_operation(here, there)) {
    const bool vls = keep_vls(here, there, config, settings), mtu = keep_mtu(here, there, config, settings);
    settings.retrain = vls || mtu;
  }
  if (here.node.is_switch()) {
    const bool leaf = !there.node.is_switch();
    settings.hoq_life = leaf ? config.leaf_hoq_lifetime : config.hoq_lifetime;
    settings.vl_stall_count = leaf ? config.leaf_vl_stall_count : config.vl_stall_count;
  }
  // A router forwards as well; OpenSM sets HOQLife there and none of the VLs.
  if (here.node.info.type == NodeType::router) settings.hoq_life = config.leaf_hoq_lifetime;
  settings.enabled = enabled_links(here.port.info, config.width, config.speed);
  return settings;
}

bool before(const PeerPort& a, const PeerPort& b) {
  return std::pair{a.node, a.port} < std::pair{b.node, b.port};
}

}  // namespace

LinkPart decide_links(const Subnet& subnet, const config::LinksConfig& config, const Stored& stored) {
  LinkPart part;
  part.ports.resize(subnet.nodes.size());
  for (std::size_t i = 0; i < subnet.nodes.size(); ++i) {
    const auto& node = *subnet.nodes[i];
    part.ports[i].resize(node.ports.size());
    if (node.has_enhanced_port0() && node.ports[0].known) {  // it has no other end
      const auto& own = node.ports[0].info;
      part.ports[i][0] = within_caps(own, own, config);
    }
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const auto& port = node.ports[p];
      if (!port.linked() || !port.peer) continue;
      const auto* peer_node = subnet.find(port.peer->node);
      const auto* peer = peer_node != nullptr ? peer_node->port(port.peer->port) : nullptr;
      if (peer == nullptr || !peer->known) continue;
      const PeerPort self{node.guid(), PortNum{static_cast<std::uint8_t>(p)}};
      auto settings = settings_of({node, port, self.port}, {*peer_node, *peer, port.peer->port}, config);
      const bool takes_down = node.is_switch() && (!peer_node->is_switch() || before(self, *port.peer));
      const bool outside = !within(port.info, settings.enabled) &&
                           !stored.retrained.contains({self.node, self.port, settings.enabled});
      settings.retrain = takes_down && (settings.retrain || outside);
      part.ports[i][p] = settings;
    }
  }
  return part;
}

}  // namespace smd::sm::inline decisions
