// SPDX-License-Identifier: Apache-2.0
#include "routing/health/health.h"

namespace smd::routing {

Health examine(const HealthInput& in) {
  Health health;
  const auto order = find_tree(in.topology);
  health.tree = order.tree && !in.topology.leaves().empty();
  if (health.tree) {
    const auto shape = find_shape(in.topology, order);
    examine_cables(in, order, shape, health);
    examine_strays(in, order, shape, health);
    examine_rails(in, health);
  }
  examine_rates(in, order, health);
  return health;
}

}  // namespace smd::routing
