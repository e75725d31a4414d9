// SPDX-License-Identifier: Apache-2.0
#pragma once
// Verification of paths by the SLs that clients use and the VLs that ports put them on, of any SM.

#include <array>
#include <cstdint>
#include <vector>

#include "routing/routes.h"
#include "routing/topology/context.h"
#include "routing/verify/report.h"

namespace smd::routing::inline verify {

/// What files say of SLs and VLs.
struct ServiceLevels {
  static constexpr std::uint8_t kNotSaid = 255;
  using Map = std::array<std::uint8_t, 16>;  ///< VL by SL; 15: packets are dropped
  /// By end port (an index of Topology::end_ports()) and LID the SL, or kNotSaid: SL 0. Empty: SL 0 for all.
  std::vector<std::vector<std::uint8_t>> path_sl;
  /// By switch: the map of packets from port `in` to port `out` at in * (ports + 1) + out. Empty:
  /// `elsewhere` is the map of all.
  std::vector<std::vector<Map>> sl_to_vl;
  Map elsewhere{};
};

/// Counts over pairs of end port and LID of an end port at another switch.
struct ServiceLevelCheck {
  std::uint64_t paths = 0;     ///< those that arrive
  std::uint64_t not_said = 0;  ///< of them those without an SL
  std::uint64_t dropped = 0;   ///< of them those with a hop whose SL is on VL 15
  /// Groups of VLs of channels that wait for each other: each path on its own SL; both ways on the SL of one
  /// of them, as answers go; all on SL 0.
  std::uint64_t credit_loops = 0, reverse_loops = 0, fixed_loops = 0;
  unsigned sls = 1, vls = 1;  ///< different ones in use
  std::vector<Hop> example;   ///< of reverse_loops: channels, without LIDs
};

/// Follows every path, hop by hop. Pure; O(end ports x LIDs x hops).
ServiceLevelCheck check_service_levels(const RoutingContext& in, const Routes& routes,
                                       const ServiceLevels& levels);

}  // namespace smd::routing::inline verify
