// SPDX-License-Identifier: Apache-2.0
#include "routing/cabling/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "routing/cabling/levels.h"
#include "routing/ranking/intra_level_links.h"

namespace smd::routing {

namespace {

constexpr unsigned kMostExchanges = 64;

/// Exchanged cables first: all else is looked at with those in place, or it would show them once more.
void examine_cabling(const HealthInput& in, const Order& tree, Health& health) {
  std::optional<Topology> right;
  auto order = find_levels(in.topology, tree);
  for (unsigned i = 0; i < kMostExchanges; ++i) {
    const HealthInput now{right ? *right : in.topology, in.rate, in.name};
    auto next = examine_swaps(now, order, health);
    if (!next) next = examine_twos(now, order, health);
    if (!next) break;
    right = std::move(next);
    order = find_levels(*right, find_tree(*right));
  }
  const HealthInput now{right ? *right : in.topology, in.rate, in.name};
  const auto shape = find_shape(now.topology, order);
  examine_cables(now, order, shape, health);
  examine_uneven(now, order, shape, health);
  examine_strays(now, order, shape, health);
  examine_rails(now, health);
}

/// Empty where it is one.
std::string why_no_tree(const HealthInput& in, const Order& order) {
  const auto& topology = in.topology;
  const auto name = [&](SwitchIndex s) { return in.name(topology.guid(s)); };
  if (topology.leaves().empty()) return "no hosts";
  if (const auto beside = joined_beside(topology, order)) {
    return fmt::format("switches of one level are cabled with each other, as {} and {}", name(beside->first),
                       name(beside->second));
  }
  return order.tree ? "" : "hosts hang on switches that have others beside or below them";
}

/// Nor is a fabric of which more than a fourth of the cables are too many.
std::string why_not_built_so(const Topology& topology, const Health& health) {
  const auto extra = std::ranges::count(health.findings, Ailment::extra, &Finding::kind);
  return static_cast<std::size_t>(extra) * 4 > topology.cables()
             ? fmt::format("{} of {} cables would be too many", extra, topology.cables())
             : "";
}

}  // namespace

Health examine(const HealthInput& in) {
  Health health;
  const auto order = find_tree(in.topology);
  health.reason = why_no_tree(in, order);
  health.tree = health.reason.empty();
  if (health.tree) examine_cabling(in, order, health);
  if (auto other = why_not_built_so(in.topology, health); health.tree && !other.empty()) {
    health = {.tree = false, .reason = std::move(other), .findings = {}, .levels = {}};
  }
  examine_loopbacks(in, health);
  examine_alone(in, health);
  examine_rates(in, order, health);
  return health;
}

}  // namespace smd::routing
