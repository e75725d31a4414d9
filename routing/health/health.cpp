// SPDX-License-Identifier: Apache-2.0
#include "routing/health/health.h"

namespace smd::routing {

namespace {

constexpr unsigned kMostExchanges = 64;

/// Exchanged cables first: all else is looked at with those in place, or it would show them once more.
void examine_cabling(const HealthInput& in, Health& health) {
  std::optional<Topology> right;
  for (unsigned i = 0; i < kMostExchanges; ++i) {
    const HealthInput now{right ? *right : in.topology, in.rate, in.name};
    const auto order = find_tree(now.topology);
    auto next = examine_swaps(now, order, health);
    if (!next) next = examine_twos(now, order, health);
    if (!next) break;
    right = std::move(next);
  }
  const HealthInput now{right ? *right : in.topology, in.rate, in.name};
  const auto order = find_tree(now.topology);
  const auto shape = find_shape(now.topology, order);
  examine_cables(now, order, shape, health);
  examine_strays(now, order, shape, health);
  examine_rails(now, health);
}

}  // namespace

Health examine(const HealthInput& in) {
  Health health;
  const auto order = find_tree(in.topology);
  health.tree = order.tree && !in.topology.leaves().empty();
  if (health.tree) examine_cabling(in, health);
  examine_rates(in, order, health);
  return health;
}

}  // namespace smd::routing
