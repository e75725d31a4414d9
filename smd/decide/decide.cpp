// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/qos_sources.h"
#include "smd/base/stopwatch.h"
#include "smd/decide/kept_entries.h"
#include "smd/decide/lids.h"
#include "smd/decide/links.h"
#include "smd/decide/multicast.h"
#include "smd/decide/partitions.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/port_vl_tables.h"
#include "smd/decide/qos_kinds.h"
#include "smd/decide/qos_tables.h"
#include "smd/decide/routes.h"
#include "smd/decide/service_levels.h"
#include "smd/decide/settings.h"
#include "smd/decide/topology.h"
#include "smd/decide/vl_limit.h"

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

/// Ports of groups may be members of partitions, so the policy follows them.
void decide_qos_policy(const DecideInput& in, const Decided& before, Decided& decided) {
  decided.qos_policy.reset();
  if (!in.config.qos.enabled) return;
  auto policy = std::make_shared<const config::QosPolicy>(config::qos_policy_of(in.config));
  config::PortGroups groups;
  if (in.partitions) groups = in.partitions->groups;
  decided.qos_policy = reuse(before.qos_policy, resolve_qos_policy(in.subnet, std::move(policy), groups,
                                                                   decided.partitions.get(), &in.stored));
}

const config::QosPolicy* policy_of(const Decided& decided) {
  return decided.qos_policy ? decided.qos_policy->policy.get() : nullptr;
}

std::vector<Sl> classes_of(const DecideInput& in, const Decided& decided) {
  return classes_in_use(decided.settings ? decided.settings->master_sm_sl : Sl{}, policy_of(decided),
                        in.partitions.get());
}

/// What engines may use: VLs of links, `most` of them between switches by [qos], and SLs beside the classes.
/// A class that is new takes no SL from the layers in use, which would give all paths others: it has none
/// then.
LayerBudget layer_budget(const DecideInput& in, const Decided& decided, unsigned most) {
  if (!in.vl_budget && in.config.routing.path_sl != config::PathSl::asked)
    return {.vls = 1, .sls = most_layers(1), .own_vls = 1};
  auto limit = in.vl_budget ? LayerLimit{.vls = *in.vl_budget}
                            : layer_limit(in.subnet, *decided.links, in.config.qos.enabled);
  if (most < limit.vls) limit = {.vls = most, .by = fmt::format("max_vls of [qos] leaves {}", most)};
  const auto classes = classes_of(in, decided).size();
  const auto sls = std::max(most_layers(classes), layers_with_sls(in));
  const auto shared_by =
      in.config.qos.enabled ? static_cast<unsigned>(std::max<std::size_t>(classes, 1)) : 1U;
  return {.vls = std::min(limit.vls, sls),
          .sls = sls,
          .own_vls = std::min(std::max(limit.vls / shared_by, 1U), sls),
          .limited_by = std::move(limit.by)};
}

/// For tables of so many layers, after those of `before`.
VlLimit vl_limit_of(const DecideInput& in, const Decided& before, const Decided& decided, unsigned layers) {
  return vl_limit(in.config.qos, before.service_levels.get(), layers, classes_of(in, decided).size());
}

bool fits(const routing::Layers& layers, const LayerBudget& budget) {
  return layers.vl_indexes() <= budget.vls && layers.count <= budget.sls;
}

/// Tables that stay, while engines have more VLs and SLs than when some were refused: what was said of these
/// may not hold any more, and one that fits now is taken when the operator asks for it.
std::shared_ptr<const RoutePart> with_budget(std::shared_ptr<const RoutePart> routes,
                                             const LayerBudget& budget) {
  if (routes->fell_back_from.empty() || routes->vls >= budget.vls) return routes;
  auto now = std::make_shared<RoutePart>(*routes);
  now->vls = budget.vls;
  constexpr std::string_view kThen = ", when ";
  for (auto& refusal : now->fell_back_from) {
    refusal.reason.erase(std::min(refusal.reason.find(kThen), refusal.reason.size()));
    refusal.reason += fmt::format(
        "{}there was room for {} layer{}; there is for {} now: smd resweep converge --engine tries it again",
        kThen, routes->vls, routes->vls == 1 ? "" : "s", budget.vls);
  }
  return now;
}

/// SLs that are in use: as they are stored, else those that the SM before us gave.
WireSls kept_sls(const Stored& stored, const RoutePart* routes, const std::vector<Sl>& classes) {
  auto kept = stored.wire_sls;
  if (!kept.empty() || routes == nullptr || !routes->adopted_sls || classes.empty()) return kept;
  const auto& sls = routes->adopted_sls->sls;
  for (unsigned layer = 0; layer < sls.size(); ++layer) kept[{classes.front(), layer}] = sls[layer];
  return kept;
}

/// A class's part of each VL index.
std::vector<unsigned> lane_loads(const DecideInput& in, const Decided& decided) {
  const auto layers = decided.service_levels->layers;
  if (!decided.routes) return std::vector(layers, 1U);
  if (const auto& vls = decided.routes->layers.vls; vls.by_port()) return std::vector(vls.indexes(), 1U);
  const bool weighted = decided.routes->layers.count > 1 && in.config.qos.enabled;
  return weighted ? layer_loads(in.stored, *decided.routes, layers) : std::vector(layers, 1U);
}

}  // namespace

void decide_partitions(const DecideInput& in, const Decided& before, Decided& decided,
                       const std::set<Guid>& reindex) {
  auto partitions = decide_partitions({.subnet = in.subnet,
                                       .config = in.config,
                                       .policy = in.partitions,
                                       .stored = in.stored,
                                       .was_managed = before.partitions && before.partitions->managed,
                                       .adopting = in.adopting,
                                       .reindex = &reindex});
  decided.partitions = reuse(before.partitions, std::move(partitions.part));
  decided.compared_pkeys = std::move(partitions.compared);
  decided.part<wire::PKeyTable>() = reuse(before.part<wire::PKeyTable>(), std::move(partitions.tables));
  decide_qos_policy(in, before, decided);
}

void decide_qos_tables(const DecideInput& in, const Decided& before, Decided& decided) {
  const auto limit =
      vl_limit_of(in, before, decided, decided.routes ? decided.routes->layers.vl_indexes() : 0U);
  const auto budget = layer_budget(in, decided, limit.vls);
  if (decided.routes) decided.routes = with_budget(decided.routes, budget);
  const bool layered = decided.routes && decided.routes->layers.count > 1;
  decided.service_levels.reset();
  std::vector<unsigned> loads;
  if (layered || in.config.routing.path_sl == config::PathSl::asked) {
    const auto* routes = decided.routes.get();
    auto classes = policy_of(decided) != nullptr ? classes_of(in, decided) : classes_without_qos(routes);
    const auto kept = kept_sls(in.stored, routes, classes);
    auto sls = decide_service_levels(
        {.classes = std::move(classes), .routes = routes, .kept = kept, .own_layers = budget.own_vls});
    sls.limit = limit;
    decided.service_levels = reuse(before.service_levels, std::move(sls));
    loads = lane_loads(in, decided);
  }
  auto qos = decide_qos_tables({.subnet = in.subnet,
                                .config = in.config,
                                .links = *decided.links,
                                .policy = in.partitions,
                                .partitions = decided.partitions.get(),
                                .qos = policy_of(decided),
                                .sls = decided.service_levels.get(),
                                .loads = std::move(loads),
                                .routes = decided.routes.get(),
                                .stored = &in.stored});
  decided.qos_tables = qos ? reuse(before.qos_tables, *std::move(qos)) : nullptr;
  // Without QoS the tables of the SM before us are kept.
  auto others = decided.qos_tables ? VlTableDecision{} : restore_vl_tables(in.subnet, in.stored);
  decided.part<wire::SlToVl>() = reuse(before.part<wire::SlToVl>(), std::move(others.sl_to_vl));
  decided.part<wire::VlArbitration>() =
      reuse(before.part<wire::VlArbitration>(), std::move(others.arbitration));
}

std::expected<Decision, routing::RouteError> decide(const DecideInput& in) {
  Decision decision;
  const Decided before = in.previous != nullptr ? *in.previous : Decided{};
  Stopwatch lap;
  auto lid_rules = lid_options(in.config.lids);
  lid_rules.adopting = in.adopting;
  lid_rules.ours = before.lids.get();
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
  const auto budget = layer_budget(in, decided, vl_limit_of(in, before, decided, layers_in_use(in)).vls);
  auto input = topology_input(in.subnet, decided.lids->top, in.config.routing, in.file_order);
  decision.times.topology_ms = lap();
  const bool stay = in.fresh == DecideInput::Fresh::no && in.instead != DecideInput::Instead::first_layers &&
                    !in.adopting && before.routes && before.lids == decided.lids;
  auto kept = kept_entries(in.subnet);
  // An entry that a switch keeps again, after a restart, may go back to what it was before.
  const bool more = before.routes && std::ranges::includes(kept, before.routes->kept);
  const bool layers_fit = before.routes && fits(before.routes->layers, budget);
  if (stay && more && layers_fit && same_input(*before.routes, input, in.config.routing)) {
    decided.routes = with_released_layers(before.routes, in.stored);
  } else {
    auto routes = decide_routes(in, *decided.lids, std::move(input), budget, decision.times);
    if (!routes) return std::unexpected(routes.error());
    decided.routes = std::move(*routes);
  }
  decided.routes = with_kept_entries(decided.routes, std::move(kept), in.parallel);
  decide_qos_tables(in, before, decided);
  const bool none = in.instead != DecideInput::Instead::no || !decided.routes;
  if (none) return decision;
  lap();
  decided.multicast = decide_multicast(in, *decided.routes);
  decision.times.multicast_ms = lap();
  return decision;
}

routing::RoutingOptions routing_options(const config::RoutingConfig& config) {
  return {.root_guids = config.root_guids, .tables = config.loaded_tables, .torus = config.torus};
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
