// SPDX-License-Identifier: Apache-2.0
#pragma once
// What routing is told about a fabric: switches, cables between them, and what hangs on them.

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
  std::uint32_t mbps = 0;  ///< lanes times speed; 0: not known, counted as what most cables have
  friend bool operator==(const LinkSpec&, const LinkSpec&) = default;
};

/// What an end port is for; aggregation nodes are counted apart everywhere.
enum class EndKind : std::uint8_t { compute, io, aggregation, router };

/// A port of a CA or router.
struct EndPortSpec {
  Guid guid;
  SwitchIndex sw = kNoSwitch;  ///< kNoSwitch: cabled to another end port, or to nothing
  PortNum port;                ///< of the switch
  EndKind kind = EndKind::compute;
  Guid node;
  Guid system_image;
  friend bool operator==(const EndPortSpec&, const EndPortSpec&) = default;
};

/// Any input is accepted. A link or an end port that names a switch or a port that does not exist, or a
/// port already taken, is left out and counted (Topology::dropped). The order of `switches` is the order of
/// the file: it numbers hosts for quality figures, and nothing else depends on it as long as GUIDs differ.
struct TopologyInput {
  std::vector<SwitchSpec> switches;
  std::vector<LinkSpec> links;
  std::vector<EndPortSpec> end_ports;
};

}  // namespace smd::routing::inline topology
