// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small Subnets made by hand, for tests of the pure core of smd/.

#include <initializer_list>
#include <map>
#include <memory>
#include <utility>

#include "smd/sweep/subnet.h"

namespace smd::test {

/// LID and port of an entry of a forwarding table.
using LftEntries = std::initializer_list<std::pair<unsigned, unsigned>>;

/// The port GUID that SubnetBuilder gives a port of a CA or router. A switch's ports have the node GUID.
inline Guid port_guid(std::uint64_t node, unsigned port) { return Guid{node + port}; }

inline PortNum port_num(unsigned port) { return PortNum{static_cast<std::uint8_t>(port)}; }
inline Lid to_lid(unsigned lid) { return Lid{static_cast<std::uint16_t>(lid)}; }
inline sm::PeerPort place(std::uint64_t node, unsigned port) { return {Guid{node}, port_num(port)}; }

/// A row of `blocks` blocks; no route but for `entries`.
inline std::shared_ptr<const routing::LftRow> lft_row(LftEntries entries, std::size_t blocks = 1) {
  auto row = std::make_shared<routing::LftRow>(blocks * routing::kLftBlock, routing::kNoRoute);
  for (const auto& [lid, port] : entries) row->at(lid) = static_cast<std::uint8_t>(port);
  return row;
}

/// One line for each node, link, LID and table. Nodes and ports begin as smd leaves them in service with the
/// default configuration and with LinkSettings's defaults, so that a test names what differs from that.
class SubnetBuilder {
 public:
  SubnetBuilder& add_switch(std::uint64_t guid, unsigned ports = 8) {
    auto& node = add(NodeType::switch_, guid, ports);
    node.switch_info = wire::SwitchInfo{.linear_fdb_cap = 0xC000, .multicast_fdb_cap = 128, .life_time = 18};
    for (auto& port : node.ports) {
      port.known = true;
      port.guid = node.guid();
    }
    node.ports[0].info.port_state = PortState::active;
    node.ports[0].info.gid_prefix = kPrefix;
    node.ports[0].info.subnet_timeout = 18;
    return *this;
  }
  SubnetBuilder& add_ca(std::uint64_t guid, unsigned ports = 1) {
    return add_host(NodeType::ca, guid, ports);
  }
  SubnetBuilder& add_router(std::uint64_t guid, unsigned ports = 1) {
    return add_host(NodeType::router, guid, ports);
  }
  /// Of both ends.
  SubnetBuilder& link(std::uint64_t a, unsigned a_port, std::uint64_t b, unsigned b_port,
                      PortState state = PortState::active) {
    connect(a, a_port, b, b_port, state);
    connect(b, b_port, a, a_port, state);
    return *this;
  }
  /// A CA with one port, on a port of a switch.
  SubnetBuilder& host(std::uint64_t guid, std::uint64_t sw, unsigned sw_port,
                      PortState state = PortState::active) {
    return add_ca(guid).link(sw, sw_port, guid, 1, state);
  }
  /// The LID that a port holds; `port` is 0 for a switch.
  SubnetBuilder& lid(std::uint64_t guid, unsigned number, unsigned lid, std::uint8_t lmc = 0) {
    port(guid, number).info.lid = to_lid(lid);
    port(guid, number).info.lmc = lmc;
    return *this;
  }
  /// Of one end.
  SubnetBuilder& state(std::uint64_t guid, unsigned number, PortState state) {
    port(guid, number).info.port_state = state;
    return *this;
  }
  /// Our own port, and as what all end ports have it.
  SubnetBuilder& sm(std::uint64_t guid, unsigned number, unsigned lid = 0) {
    sm_ = place(guid, number);
    sm_lid_ = to_lid(lid);
    return *this;
  }
  /// The forwarding table, all of it known; LinearFDBTop is `top`.
  SubnetBuilder& lft(std::uint64_t guid, unsigned top, LftEntries entries) {
    const auto blocks = top / routing::kLftBlock + 1;
    node(guid).lft = {.row = lft_row(entries, blocks), .known = sm::BlockSet::first(blocks), .asked = {}};
    node(guid).switch_info->linear_fdb_top = static_cast<std::uint16_t>(top);
    return *this;
  }
  sm::Node& node(std::uint64_t guid) { return nodes_.at(Guid{guid}); }
  sm::Port& port(std::uint64_t guid, unsigned number) { return node(guid).ports.at(number); }

  sm::Subnet build() const {
    sm::Subnet subnet;
    subnet.sm_node = sm_.node;
    subnet.sm_port = sm_.port;
    for (auto [guid, node] : nodes_) {
      for (std::size_t p = 0; p < node.ports.size() && sm_lid_ != Lid{}; ++p) {
        if (!node.is_switch() || p == 0) node.ports[p].info.sm_lid = sm_lid_;
      }
      subnet.nodes.push_back(std::make_shared<const sm::Node>(std::move(node)));
    }
    return subnet;
  }

 private:
  static constexpr std::uint64_t kPrefix = 0xfe80000000000000;

  sm::Node& add(NodeType type, std::uint64_t guid, unsigned ports) {
    auto& node = nodes_[Guid{guid}];
    node.info = {.type = type,
                 .num_ports = static_cast<std::uint8_t>(ports),
                 .node = Guid{guid},
                 .port = type == NodeType::switch_ ? Guid{guid} : port_guid(guid, 1),
                 .local_port = port_num(type == NodeType::switch_ ? 0 : 1)};
    node.ports.resize(ports + std::size_t{1});
    for (auto& port : node.ports) port.info.port_state = PortState::down;
    return node;
  }
  SubnetBuilder& add_host(NodeType type, std::uint64_t guid, unsigned ports) {
    auto& node = add(type, guid, ports);
    for (unsigned p = 1; p <= ports; ++p) {
      node.ports[p].guid = port_guid(guid, p);
      node.ports[p].info.gid_prefix = kPrefix;
      node.ports[p].info.subnet_timeout = 18;
    }
    return *this;
  }
  void connect(std::uint64_t from, unsigned from_port, std::uint64_t to, unsigned to_port, PortState state) {
    auto& end = port(from, from_port);
    end.known = true;
    end.peer = place(to, to_port);
    end.info.port_state = state;
    end.info.phys_state = PhysState::link_up;
    end.info.link_down_default = PhysState::polling;
    end.info.vl_cap = end.info.operational_vls = 1;
    end.info.mtu_cap = end.info.neighbor_mtu = Mtu::m2048;
    end.info.local_phy_errors = end.info.overrun_errors = 8;
  }

  std::map<Guid, sm::Node> nodes_;
  sm::PeerPort sm_;
  Lid sm_lid_;
};

}  // namespace smd::test
