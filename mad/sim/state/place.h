// SPDX-License-Identifier: Apache-2.0
#pragma once
// How nodes and ports are named inside the simulator.

#include <cstdint>
#include <string>
#include <utility>

#include "mad/base/fabric.h"
#include "mad/base/id.h"

namespace smd::sim {

/// Index of a node: that of base::Fabric::nodes.
using NodeIndex = base::NodeIndex;

/// Index of a port in the one array of all ports.
using PortIndex = std::uint32_t;
inline constexpr PortIndex kNowhere = 0xFFFF'FFFF;

/// A port by the name of its node. The node is a name, an id of the file ("S-0002c90000000010") or a GUID;
/// port 0 of a CA means its first linked port.
struct Place {
  std::string node;
  PortNum port;
  Place() = default;
  /// Implicit, for calls with names; `port_` 0: see above.
  Place(std::string node_, PortNum port_ = {})
      : node(std::move(node_)), port(port_) {}  // NOLINT(*-explicit-*)
  /// The same of a literal.
  Place(const char* node_, PortNum port_ = {}) : node(node_), port(port_) {}  // NOLINT(*-explicit-*)
  friend bool operator==(const Place&, const Place&) = default;
};

/// Which of the two management interfaces of a port: QP0 (classes 0x01, 0x81) or QP1 (all others).
enum class Interface : std::uint8_t { smi, gsi };

}  // namespace smd::sim
