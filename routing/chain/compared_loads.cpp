// SPDX-License-Identifier: Apache-2.0
#include "routing/chain/compared_loads.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "routing/chain/chain.h"
#include "routing/engines/rank_order.h"
#include "routing/quality/quality.h"

namespace smd::routing::inline chain {
namespace {

std::string shifts_of(const RouteLoad& load) {
  return fmt::format("{} paths of one shift over one link ({:.2f} on average)", load.shift_max,
                     load.shift_mean);
}

/// Where only shifts can have decided: they are not always counted.
bool has_better_shifts(const RouteLoad& best, const RouteLoad& other) {
  return best.max_link_time > other.max_link_time && best.shift_max != 0 && other.shift_max != 0;
}

double ratio(double one, double other) {
  if (one <= other && other == 0) return 1;
  return other == 0 ? std::numeric_limits<double>::infinity() : one / other;
}

}  // namespace

double load_and_shifts(const RouteLoad& load) {
  return cost_in_tree(load.max_link_time, {load.shift_max, load.shift_mean});
}

double worst_ratio(const RouteLoad& load, const RouteLoad& than) {
  return std::max({ratio(load.max_link_time, than.max_link_time), ratio(load.shift_max, than.shift_max),
                   ratio(load.shift_mean, than.shift_mean)});
}

bool is_better(const RouteLoad& load, const RouteLoad& than) {
  constexpr double kMuchBetter = 0.9;
  return load.max_link_time <= than.max_link_time &&
         load_and_shifts(load) <= kMuchBetter * load_and_shifts(than);
}

bool has_half_the_shifts(const RouteLoad& load, const RouteLoad& than) {
  return load.max_link_time <= kLittleMore * than.max_link_time &&
         2 * (load.shift_max + load.shift_mean) <= than.shift_max + than.shift_mean;
}

bool may_carry_less(const RoutingContext& in, const Routes& routes) {
  const auto hosts = rank_order(in, {});
  const auto load = measure_load(in, routes, hosts, LoadOfShifts::no).max_link_time;
  return leaf_bound(in.topology, hosts) <= kWorthwhile * load;
}

std::string why_worse(const RouteLoad& is, const RouteLoad& best) {
  if (has_better_shifts(best, is)) return shifts_of(is) + " instead of " + shifts_of(best);
  if (is.max_link_time != best.max_link_time)
    return fmt::format("{:.0f} routes over the most loaded link instead of {:.0f}", is.max_link_time,
                       best.max_link_time);
  if (is.shift_max != best.shift_max)
    return fmt::format("{} paths of one shift over one link instead of {}", is.shift_max, best.shift_max);
  if (is.mean_hops != best.mean_hops)
    return fmt::format("{:.2f} links a path instead of {:.2f}", is.mean_hops, best.mean_hops);
  if (is.shift_mean != best.shift_mean)
    return fmt::format("{:.2f} paths of a shift over one link on average instead of {:.2f}", is.shift_mean,
                       best.shift_mean);
  return "the same shifts and lengths of paths";
}

std::string why_better(const NamedLoad& best, const NamedLoad& other) {
  if (best.load.max_link_time == other.load.max_link_time)
    return fmt::format("{} and {} have {:.0f} routes over the most loaded link, {} has {}", best.engine,
                       other.engine, best.load.max_link_time, other.engine, why_worse(other.load, best.load));
  if (has_better_shifts(best.load, other.load))
    return fmt::format("{} has {}, {} {}, but {:.0f} routes over the most loaded link instead of {:.0f}",
                       best.engine, shifts_of(best.load), other.engine, shifts_of(other.load),
                       other.load.max_link_time, best.load.max_link_time);
  return fmt::format("{} has {:.0f} routes over the most loaded link, {} {:.0f}", best.engine,
                     best.load.max_link_time, other.engine, other.load.max_link_time);
}

}  // namespace smd::routing::inline chain
