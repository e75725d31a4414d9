// SPDX-License-Identifier: Apache-2.0
#pragma once
// The plain description of a fabric: what a file or a spec says, before a sweep.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mad/base/id.h"
#include "mad/base/link.h"

namespace smd::base {

/// Index into Fabric::nodes.
using NodeIndex = std::uint32_t;

/// Width and speed as the file writes them. A token that we would write otherwise ("4xFOO") is kept in `text`
/// and written again; else `text` is empty.
struct LinkRate {
  LinkWidth width = LinkWidth::x4;
  LinkSpeed speed = LinkSpeed::unknown;
  std::string text;
  friend bool operator==(const LinkRate&, const LinkRate&) = default;
};

/// The other end of a cable.
struct Peer {
  NodeIndex node = 0;
  PortNum port;
  friend bool operator==(const Peer&, const Peer&) = default;
};

/// A port of a node; ports that a file does not mention exist but have no peer.
struct FabricPort {
  Guid guid;                 ///< ask port_guid(); here only what differs from its rule, else 0
  std::optional<Peer> peer;  ///< always symmetric in a Fabric that a reader or a spec made
  LinkRate rate;
  Lid lid;  ///< as the file says; 0: none
  std::uint8_t lmc = 0;
  friend bool operator==(const FabricPort&, const FabricPort&) = default;
};

struct FabricNode {
  NodeType type = NodeType::ca;
  Guid guid;
  Guid system_image;
  std::uint32_t vendor_id = 0;  ///< 24 bits
  std::uint16_t device_id = 0;
  std::string id;               ///< as in the file, without quotes: "S-0002c90000000010"
  std::string name;             ///< NodeDescription
  bool enhanced_port0 = false;  ///< switches only
  /// By port number; [0] is a switch's management port, unused else.
  std::vector<FabricPort> ports;
  /// Of physical ports; a switch's port 0 is not counted.
  unsigned port_count() const { return ports.empty() ? 0 : static_cast<unsigned>(ports.size() - 1); }
  friend bool operator==(const FabricNode&, const FabricNode&) = default;
};

/// Nodes in the order of the file. Two nodes may have one GUID (hostile fabrics do); their ids differ.
struct Fabric {
  std::vector<FabricNode> nodes;
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

/// GUID of a port as the file gives it; without one, of a CA's or router's port node GUID + port number, of a
/// switch (all ports have that of port 0) its node GUID.
Guid port_guid(const FabricNode& node, PortNum port);

}  // namespace smd::base
