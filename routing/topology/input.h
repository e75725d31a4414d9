// SPDX-License-Identifier: Apache-2.0
#pragma once
// The input of routing: switches, the cables between them, and end ports.

#include <cstdint>
#include <limits>
#include <vector>

#include "mad/base/id.h"

namespace smd::routing::inline topology {

/// Dense index of a switch. In a TopologyInput: position in `switches`; in a Topology: rank by GUID.
using SwitchIndex = std::uint32_t;
inline constexpr SwitchIndex kNoSwitch = std::numeric_limits<SwitchIndex>::max();

struct SwitchSpec {
  Guid guid;
  unsigned ports = 0;  ///< external ports, 1 to 254
  friend bool operator==(const SwitchSpec&, const SwitchSpec&) = default;
};

/// A cable between two switches that may carry traffic.
struct LinkSpec {
  SwitchIndex a = 0;
  PortNum a_port;
  SwitchIndex b = 0;
  PortNum b_port;
  std::uint32_t mbps = 0;  ///< link width times lane speed; 0: unknown, taken as the most common rate
  friend bool operator==(const LinkSpec&, const LinkSpec&) = default;
};

/// The purpose of an end port. Aggregation nodes are counted separately everywhere.
enum class EndKind : std::uint8_t { compute, io, aggregation, router };

/// A port of a CA or router.
struct EndPortSpec {
  Guid guid;
  SwitchIndex sw = kNoSwitch;  ///< kNoSwitch: connected to another end port, or not at all
  PortNum port;                ///< of the switch
  EndKind kind = EndKind::compute;
  Guid node;
  Guid system_image;
  friend bool operator==(const EndPortSpec&, const EndPortSpec&) = default;
};

/// Any input is accepted. Links and end ports that name a nonexistent switch or port, or a port in use, are
/// left out and counted (Topology::dropped). The order of `switches` is that of the file: it numbers the
/// hosts for quality figures. Nothing else depends on it, as long as GUIDs differ.
struct TopologyInput {
  std::vector<SwitchSpec> switches;
  std::vector<LinkSpec> links;
  std::vector<EndPortSpec> end_ports;
};

}  // namespace smd::routing::inline topology
