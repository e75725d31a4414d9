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

/// Less is better: first the most loaded link, then the worst shift, then the length of the paths.
struct RouteLoad {
  double max_link_time = 0;     ///< as in Quality
  std::uint32_t shift_max = 0;  ///< as in Quality, of 64 evenly spaced shifts in the order of `hosts`
  double mean_hops = 0;         ///< links between switches on the way of a pair of hosts
  double shift_mean = 0;        ///< of the shifts of shift_max
  friend auto operator<=>(const RouteLoad&, const RouteLoad&) = default;
};

/// Shifts take longer than the rest: without them shift_max is 0.
enum class LoadOfShifts : bool { no, yes };

/// The load of all pairs of `hosts`; all 0 where there are none. O(pairs of hosts and path length), on
/// `in.parallel`. Pure.
RouteLoad measure_load(const RoutingContext& in, const Routes& routes, std::span<const EndIndex> hosts,
                       LoadOfShifts shifts = LoadOfShifts::yes);

/// Paths over the most loaded link in a shift permutation.
struct ShiftLoad {
  std::uint32_t max = 0;  ///< of the worst shift
  double mean = 0;        ///< of all that were counted
};

/// Of tables of a tree, where shifts count as much as the load; less is better. The product weighs both by
/// how much they differ.
inline double cost_in_tree(double most_loaded, const ShiftLoad& shifts) {
  return most_loaded * (shifts.max + shifts.mean);
}

/// Of 64 evenly spaced shifts in the order of `hosts`. O(hosts and path length), on `in.parallel`. Pure.
ShiftLoad measure_few_shifts(const RoutingContext& in, const Routes& routes, std::span<const EndIndex> hosts);

}  // namespace smd::routing::inline quality
