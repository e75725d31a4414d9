// SPDX-License-Identifier: Apache-2.0
#pragma once
// The widest cabling that was ever seen: what repaired tables are measured by.

#include <cstdint>
#include <tuple>
#include <vector>

#include "mad/base/id.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline repair {

/// A plain value by GUIDs, to be stored and sent. Which end of a link is up follows from it, so that old and
/// new entries mean the same by it although cables and switches come and go.
struct ReferenceTopology {
  struct Switch {
    Guid guid;
    std::uint8_t ports = 0;
    std::uint8_t hosts = 0;  ///< the most that hung on it at one time
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

/// With all that is there now. Where a port leads elsewhere than before, the newer cable counts.
ReferenceTopology merge(const ReferenceTopology& reference, const Topology& now);

/// Whether the reference is all that is there, and no more.
bool covers(const ReferenceTopology& reference, const Topology& topology);

/// The fabric that the reference remembers; hosts are nameless.
TopologyInput to_input(const ReferenceTopology& reference);

}  // namespace smd::routing::inline repair
