// SPDX-License-Identifier: Apache-2.0
#include "routing/topology/rates.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace smd::routing::inline topology {
namespace {

/// The least common multiple of all rates, or kHeaviestRoute if that is smaller.
std::uint64_t common_multiple(const std::set<std::uint32_t>& rates) {
  std::uint64_t common = 1;
  for (const auto rate : rates) {
    common = std::lcm(common, std::uint64_t{rate});
    if (common > kHeaviestRoute) return kHeaviestRoute;
  }
  return common;
}

}  // namespace

std::vector<std::uint32_t> route_weights(const Topology& topology) {
  std::vector<std::uint32_t> weights;
  if (topology.one_rate()) return weights;
  weights.assign(topology.channels(), 1);
  std::set<std::uint32_t> rates;
  const auto for_each_cable = [&](const auto& fn) {
    for (SwitchIndex s = 0; s < topology.switches(); ++s) {
      for (std::size_t g = 0; g < topology.groups(s); ++g) {
        for (const auto port : topology.group(s, g).ports) fn(s, port);
      }
    }
  };
  for_each_cable([&](SwitchIndex s, PortNum port) { rates.insert(topology.rate(s, port)); });
  const auto common = common_multiple(rates);
  for_each_cable([&](SwitchIndex s, PortNum port) {
    const auto weight = std::max<std::uint64_t>(common / topology.rate(s, port), 1);
    weights[topology.channel(s, port)] = static_cast<std::uint32_t>(weight);
  });
  return weights;
}

bool same_rates(const Topology& topology, SwitchIndex one, SwitchIndex other) {
  if (topology.one_rate() || one == other) return true;
  for (std::size_t g = 0; g < topology.groups(one); ++g) {
    for (const auto port : topology.group(one, g).ports) {
      if (topology.rate(one, port) != topology.rate(other, port)) return false;
    }
  }
  return true;
}

}  // namespace smd::routing::inline topology
