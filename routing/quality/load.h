// SPDX-License-Identifier: Apache-2.0
#pragma once
// The figures by which proven tables of different engines are compared: few, so that they cost less than the
// tables themselves.

#include <compare>
#include <cstdint>
#include <span>

#include "routing/routes.h"
#include "routing/topology/context.h"

namespace smd::routing::inline quality {

/// Less is better: first the most loaded link, then shifts, then the length of the paths.
struct RouteLoad {
  double max_link_time = 0;     ///< as in Quality
  std::uint32_t shift_max = 0;  ///< as in Quality, of 64 evenly spaced shifts in the order of `hosts`
  double mean_hops = 0;         ///< links between switches on the way of a pair of hosts
  friend auto operator<=>(const RouteLoad&, const RouteLoad&) = default;
};

/// Shifts take longer than the rest: without them shift_max is 0.
enum class LoadOfShifts : bool { no, yes };

/// The load of all pairs of `hosts`; all 0 where there are none. O(pairs of hosts and path length), on
/// `in.parallel`. Pure.
RouteLoad measure_load(const RoutingContext& in, const Routes& routes, std::span<const EndIndex> hosts,
                       LoadOfShifts shifts = LoadOfShifts::yes);

}  // namespace smd::routing::inline quality
