// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/decide.h"

#include <algorithm>
#include <utility>

#include "smd/base/stopwatch.h"
#include "smd/decide/kept_entries.h"
#include "smd/decide/lids.h"
#include "smd/decide/links.h"
#include "smd/decide/multicast.h"
#include "smd/decide/partitions.h"
#include "smd/decide/port_vl_tables.h"
#include "smd/decide/routes.h"
#include "smd/decide/settings.h"
#include "smd/decide/topology.h"

namespace smd::sm::inline decisions {
namespace {

bool same_input(const RoutePart& part, const routing::TopologyInput& input,
                const config::RoutingConfig& config) {
  return part.input.switches == input.switches && part.input.links == input.links &&
         part.input.end_ports == input.end_ports && same_rules(part.config, config);
}

/// The pointer of an equal earlier part, else a new one.
template <class T>
std::shared_ptr<const T> reuse(const std::shared_ptr<const T>& before, T now) {
  return before && *before == now ? before : std::make_shared<const T>(std::move(now));
}

}  // namespace

void decide_partitions(const DecideInput& in, const Decided& before, Decided& decided,
                       const std::set<Guid>& reindex) {
  auto partitions = decide_partitions({.subnet = in.subnet,
                                       .config = in.config,
                                       .policy = in.partitions,
                                       .stored = in.stored,
                                       .adopting = in.adopting,
                                       .reindex = &reindex});
  decided.partitions = reuse(before.partitions, std::move(partitions.part));
  decided.part<wire::PKeyTable>() = reuse(before.part<wire::PKeyTable>(), std::move(partitions.tables));
}

std::expected<Decision, routing::RouteError> decide(const DecideInput& in) {
  Decision decision;
  const Decided before = in.previous != nullptr ? *in.previous : Decided{};
  Stopwatch lap;
  auto lid_rules = lid_options(in.config.lids);
  lid_rules.adopting = in.adopting;
  if (!in.config.lids.lmc)
    lid_rules.lmc =
        !in.adopting && before.lids ? before.lids->lmc : kept_lmc(in.subnet, lid_rules, in.stored);
  auto& decided = decision.decided;
  decided.lids = reuse(before.lids, decide_lids(in.subnet, lid_rules, in.stored));
  decision.times.lids_ms = lap();
  decided.settings = reuse(before.settings, decide_settings(in.config));
  decided.links = reuse(before.links, decide_links(in.subnet, in.config.links, in.stored));
  decision.times.links_ms = lap();
  decide_partitions(in, before, decided);
  auto vl_tables = restore_vl_tables(in.subnet, in.stored);
  decided.part<wire::SlToVl>() = reuse(before.part<wire::SlToVl>(), std::move(vl_tables.sl_to_vl));
  decided.part<wire::VlArbitration>() =
      reuse(before.part<wire::VlArbitration>(), std::move(vl_tables.arbitration));
  auto input = topology_input(in.subnet, decided.lids->top, in.config.routing, in.file_order);
  decision.times.topology_ms = lap();
  const bool stay =
      in.fresh == DecideInput::Fresh::no && !in.adopting && before.routes && before.lids == decided.lids;
  auto kept = kept_entries(in.subnet);
  // An entry that a switch keeps again, after a restart, may go back to what it was before.
  const bool more = before.routes && std::ranges::includes(kept, before.routes->kept);
  if (stay && more && same_input(*before.routes, input, in.config.routing)) {
    decided.routes = before.routes;
  } else {
    auto routes = decide_routes(in, *decided.lids, std::move(input), decision.times);
    if (!routes) return std::unexpected(routes.error());
    decided.routes = std::move(*routes);
  }
  decided.routes = with_kept_entries(decided.routes, std::move(kept), in.parallel);
  const bool none = in.instead != DecideInput::Instead::no || !decided.routes;
  if (none) return decision;
  lap();
  decided.multicast = decide_multicast(in, *decided.routes);
  decision.times.multicast_ms = lap();
  return decision;
}

routing::RoutingOptions routing_options(const config::RoutingConfig& config) {
  return {.root_guids = config.root_guids, .tables = config.loaded_tables};
}

LidOptions lid_options(const config::LidsConfig& config) {
  LidOptions options;
  options.lmc = config.lmc.value_or(0);
  options.first = config.first;
  options.last = config.last;
  options.reassign = config.reassign;
  return options;
}

}  // namespace smd::sm::inline decisions
