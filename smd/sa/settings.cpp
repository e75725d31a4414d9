// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/settings.h"

#include <chrono>

namespace smd::sa {

Settings settings_of(const config::SubnetConfig& config) {
  return {.sm_key = config.keys.sa_key.value_or(config.sm.sm_key),
          .packet_life = config.links.subnet_timeout,
          .queue = config.sa.queue,
          .per_source = config.sa.per_source,
          .groups_per_port = config.sa.groups_per_port,
          .services_per_port = config.sa.services_per_port,
          .subscriptions_per_port = config.sa.subscriptions_per_port,
          .consolidate_ipv6_snm = config.multicast.consolidate_ipv6_snm,
          .keep_silent = std::chrono::ceil<std::chrono::seconds>(config.sa.keep_silent).count(),
          .grace = std::chrono::ceil<std::chrono::seconds>(config.adopt.grace).count(),
          .max_rate = config.sa.max_rate,
          .prefix_routes = config.sa.prefix_routes,
          .broadcast_mtu = config.multicast.broadcast_mtu,
          .broadcast_rate = config.multicast.broadcast_rate};
}

}  // namespace smd::sa
