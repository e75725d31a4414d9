// SPDX-License-Identifier: Apache-2.0
#include "routing/chain/proven_routes.h"

#include <memory>
#include <utility>
#include <vector>

#include "routing/repair/extend.h"
#include "routing/verify/proof.h"

namespace smd::routing::inline chain {
namespace {

/// By switch whether a route of a host to the LID crosses it. Requires proven routes of hosts.
std::vector<bool> crossed_by_hosts(const RoutingContext& in, const Routes& routes, Lid lid) {
  std::vector<bool> crossed(in.topology.switches());
  for (const auto leaf : in.topology.leaves()) {
    for (auto s = leaf; s != kNoSwitch && !crossed[s];) {
      crossed[s] = true;
      s = in.topology.peer(s, PortNum{entry(routes.rows[s].get(), lid)}).sw;
    }
  }
  return crossed;
}

/// Only what hosts need of these routes.
std::vector<std::shared_ptr<const LftRow>> routes_of_hosts(const RoutingContext& in, const Routes& routes) {
  std::vector<std::shared_ptr<LftRow>> rows;
  for (const auto& row : routes.rows) rows.push_back(std::make_shared<LftRow>(*row));
  for (std::size_t value = 1; value < in.lids.row_size(); ++value) {
    const Lid lid{static_cast<std::uint16_t>(value)};
    const auto to = in.lids.destination(lid);
    if (to.sw == kNoSwitch) continue;
    const auto crossed =
        to.end != kNoEnd ? crossed_by_hosts(in, routes, lid) : std::vector<bool>(rows.size());
    for (SwitchIndex s = 0; s < rows.size(); ++s) {
      if (!crossed[s] && s != to.sw) (*rows[s])[value] = kNoRoute;
    }
  }
  return {rows.begin(), rows.end()};
}

}  // namespace

std::optional<ProvenRoutes> proven_shortest(const RoutingContext& in, Routes routes) {
  if (auto found = prove(in, routes)) return ProvenRoutes{std::move(routes), *std::move(found)};
  const auto rows = routes_of_hosts(in, routes);
  if (!prove(in, {rows, routes.layers})) return std::nullopt;
  auto extended = extend({.context = in, .old = rows, .layers = routes.layers});
  if (!extended) return std::nullopt;
  auto found = prove(in, extended->routes);
  if (!found) return std::nullopt;
  return ProvenRoutes{std::move(extended->routes), *std::move(found)};
}

}  // namespace smd::routing::inline chain
