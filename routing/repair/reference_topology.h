// SPDX-License-Identifier: Apache-2.0
#pragma once
// The reference topology: the widest cabling seen, against which repair measures a damaged fabric.

#include <cstdint>
#include <tuple>
#include <vector>

#include "mad/base/id.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline repair {

/// A plain value by GUIDs, to be stored and replicated. The ranking follows from it, so that old and new
/// entries have the same meaning while cables and switches come and go.
struct ReferenceTopology {
  struct Switch {
    Guid guid;
    std::uint8_t ports = 0;
    std::uint8_t hosts = 0;  ///< the largest number of hosts seen
    friend bool operator==(const Switch&, const Switch&) = default;
  };
  struct End {
    Guid guid;
    PortNum port;
    friend auto operator<=>(const End&, const End&) = default;
  };
  /// A cable between two switches, the smaller end first.
  struct Link {
    End a, b;
    friend auto operator<=>(const Link&, const Link&) = default;
  };
  std::vector<Switch> switches;  ///< ascending by GUID
  std::vector<Link> links;       ///< ascending
  friend bool operator==(const ReferenceTopology&, const ReferenceTopology&) = default;
};

/// The reference with everything that exists now added. At a port that leads elsewhere than before the newer
/// cable counts; a switch that is gone and has no cable left to what is there is forgotten.
ReferenceTopology merge(const ReferenceTopology& reference, const Topology& now);

/// Whether the reference is that of `topology` alone: nothing that was seen before is missing now.
bool covers(const ReferenceTopology& reference, const Topology& topology);

/// The fabric of the reference, with unnamed hosts.
TopologyInput to_input(const ReferenceTopology& reference);

}  // namespace smd::routing::inline repair
