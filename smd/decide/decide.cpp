// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/decide.h"

#include <chrono>
#include <utility>

#include "routing/chain.h"
#include "smd/decide/lids.h"
#include "smd/decide/links.h"
#include "smd/decide/topology.h"

namespace smd::sm {
namespace {

/// Milliseconds since the last call. Times are reported, never decided by.
class Lap {
 public:
  double operator()() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> lap = now - last_;
    last_ = now;
    return lap.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

std::vector<routing::ChainLink> chain_of(const config::RoutingConfig& config) {
  std::vector<routing::ChainLink> chain;
  for (const auto& name : config.engines) {
    routing::EngineOptions options;
    if (name == "updn") options = routing::UpdnOptions{.root_guids = config.root_guids};
    chain.push_back({name, std::move(options)});
  }
  return chain;
}

bool same_input(const RoutePart& part, const routing::TopologyInput& input,
                const config::RoutingConfig& config) {
  return part.input.switches == input.switches && part.input.links == input.links &&
         part.input.end_ports == input.end_ports && part.config == config;
}

std::expected<std::shared_ptr<const RoutePart>, routing::RouteError> decide_routes(
    const DecideInput& in, const LidPart& lids, routing::TopologyInput input, DecideTimes& times) {
  Lap lap;
  auto part = std::make_shared<RoutePart>();
  part->topology = std::make_shared<const routing::Topology>(input);
  part->lid_map = std::make_shared<const routing::LidMap>(lid_map(input, *part->topology, lids));
  times.topology_ms += lap();
  const routing::EngineInput engine_input{.topology = *part->topology,
                                          .lids = *part->lid_map,
                                          .options = {},
                                          .parallel = in.parallel,
                                          .stop = in.stop};
  const routing::ChainOptions options{
      .allow_credit_loops = in.config.routing.allow_credit_loops,
      .on_step = [&](std::string_view, routing::ChainOptions::Step step) {
        (step == routing::ChainOptions::Step::routed ? times.route_ms : times.verify_ms) += lap();
      }};
  auto chosen = routing::route_with_chain(chain_of(in.config.routing), engine_input, options);
  if (!chosen) return std::unexpected(chosen.error());
  for (routing::SwitchIndex s = 0; s < part->topology->switches(); ++s) {
    part->rows.push_back({part->topology->guid(s), std::move(chosen->routes.rows[s])});
  }
  part->top = lids.top;
  part->engine = std::move(chosen->engine);
  part->fell_back_from = std::move(chosen->fell_back_from);
  part->verification = std::move(chosen->verification);
  part->layers = std::move(chosen->routes.layers);
  part->input = std::move(input);
  part->config = in.config.routing;
  return part;
}

/// The pointer of an equal earlier part, else a new one.
template <class T>
std::shared_ptr<const T> reuse(const std::shared_ptr<const T>& before, T now) {
  return before && *before == now ? before : std::make_shared<const T>(std::move(now));
}

}  // namespace

std::expected<Decision, routing::RouteError> decide(const DecideInput& in) {
  Decision decision;
  const Decided before = in.previous != nullptr ? *in.previous : Decided{};
  Lap lap;
  auto lid_rules = lid_options(in.config.lids);
  lid_rules.adopting = in.adopting;
  auto& decided = decision.decided;
  decided.lids = reuse(before.lids, decide_lids(in.subnet, lid_rules, in.stored));
  decision.times.lids_ms = lap();
  decided.links = reuse(before.links, decide_links(in.subnet, in.config.links, in.stored));
  decision.times.links_ms = lap();
  auto input = topology_input(in.subnet, decided.lids->top, in.file_order);
  decision.times.topology_ms = lap();
  if (before.routes && before.lids == decided.lids && same_input(*before.routes, input, in.config.routing)) {
    decided.routes = before.routes;
    return decision;
  }
  auto routes = decide_routes(in, *decided.lids, std::move(input), decision.times);
  if (!routes) return std::unexpected(routes.error());
  decided.routes = std::move(*routes);
  return decision;
}

LidOptions lid_options(const config::LidsConfig& config) {
  LidOptions options;
  options.lmc = config.lmc;
  options.first = config.first;
  options.last = config.last;
  options.reassign = config.reassign;
  return options;
}

Stored store(Stored before, const Decided& decided) {
  for (const auto& entry : decided.lids->entries) before.lids[entry.port] = {entry.base, entry.lmc};
  return before;
}

}  // namespace smd::sm
