// SPDX-License-Identifier: Apache-2.0
#include "smd/reconcile/converge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "routing/chain/chain.h"
#include "smd/decide/multicast.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/routes.h"
#include "smd/plan/lft_rounds.h"
#include "smd/sweep/table_kinds.h"

namespace smd::sm::inline reconciling {
namespace {

using Fresh = DecideInput::Fresh;
using Goal = std::expected<ConvergeGoal, TablesStay>;

std::unexpected<TablesStay> stay(std::string reason) {
  return std::unexpected(TablesStay{std::move(reason)});
}

/// An engine that the operator has named before that of the tables can route the fabric again, or the one
/// that had to be left.
bool returns_to(const config::RoutingConfig& config, const std::string& engine, const RoutePart& tables) {
  const auto& now = tables.engine;
  if (engine != now && engine == tables.left_engine.name) return true;
  const auto place = [&](const std::string& name) {
    return std::ranges::find(config.engines, name) - config.engines.begin();
  };
  return engine != now && place(engine) < place(now);
}

/// SL to VL tables of ports in service are written once they are read, and before the routes that need them.
bool vl_tables_are_read(const Subnet& subnet) {
  for (const auto& node : subnet.nodes) {
    for (std::size_t p = 1; node->is_switch() && p < node->ports.size(); ++p) {
      const auto& port = node->ports[p];
      const auto* peer = port.peer ? subnet.find(port.peer->node) : nullptr;
      const bool between = peer != nullptr && peer->is_switch();
      if (!between || !vl_tables_in_use(*node, PortNum{static_cast<std::uint8_t>(p)})) continue;
      const auto& held = port.held<wire::SlToVl>();
      if (!held || !held->asked.contains(sl_to_vl_rows(*node))) return false;
    }
  }
  return true;
}

Goal goal_of(const DecideInput& in) {
  constexpr std::size_t kMostBlocks = 2048;
  const auto& before = *in.previous;
  auto decision = sm::decide(in);
  if (!decision) return stay(to_string(decision.error()));
  if (!decision->decided.routes) return stay("no engine routes the fabric");
  const auto& routes = decision->decided.routes;
  const auto step = converge_routes(before.routes, *routes, kMostBlocks, in.parallel);
  if (!step) return stay(to_string(step.error()));
  ConvergeGoal goal;
  goal.next = before;
  goal.times = decision->times;
  goal.load = load_of(*routes, in.parallel);
  goal.whole = !step->part || step->done;
  goal.next.routes = goal.whole ? routes : step->part;
  decide_qos_tables(in, before, goal.next);
  if (in.multicast) goal.next.multicast = decide_multicast(in, *goal.next.routes);
  if (const auto unproven = trees_not_proven(before.multicast.get()); unproven != 0 && in.multicast) {
    const auto in_the_end = goal.whole ? goal.next.multicast : decide_multicast(in, *routes);
    goal.proves_trees = trees_not_proven(in_the_end.get()) < unproven;
  }
  const bool more = goal.next.routes->layers.vl_indexes() > before.routes->layers.vl_indexes();
  if (more && !vl_tables_are_read(in.subnet)) {
    return std::unexpected(
        TablesStay{"SL to VL tables that they need are not read yet: after the next heavy sweep", true});
  }
  goal.interrupts = would_interrupt({in.subnet, goal.next}, in.parallel, in.stop);
  return goal;
}

/// Tables that cannot become those of the engine, as those of another SM: pairs of switches come back to
/// their first SLs all the same. Nothing where none does.
std::optional<ConvergeGoal> pairs_back(DecideInput in) {
  const auto& now = *in.previous->routes;
  if (now.pairs_moved == 0) return std::nullopt;
  in.fresh = Fresh::no;
  in.instead = DecideInput::Instead::first_layers;
  auto goal = goal_of(in);
  const bool whole = !lacks_any(now);
  const bool fewer = goal && goal->next.routes->pairs_moved < now.pairs_moved;
  if (!fewer || (goal->interrupts && !whole)) return std::nullopt;
  goal->accepted = goal->interrupts;
  return *std::move(goal);
}

/// Whether fresh tables are taken whatever their way interrupts. `moves`: they bring pairs to other SLs.
bool is_due(const DecideInput& in, Fresh to, const RoutePart& fresh, bool moves) {
  const auto& now = *in.previous->routes;
  // Pairs whose SL has moved come back to it as soon as nothing is missing: their connections are not proven.
  if (now.layers.count > 1 && !stands_in(now) && !lacks_any(now) && !moves) return true;
  // What waits for links has waited long enough, and what had to be another engine's need not be any more.
  if (!now.waiting.empty()) return true;
  // An engine or a number of VLs that the operator has named does not need to be better.
  const auto* sls = in.previous->service_levels.get();
  const bool limit_waits = sls != nullptr && (sls->limit.waits != 0 || !sls->left_out.empty());
  if (to == Fresh::any_engine && !now.engine_waits.empty()) return true;
  if (to != Fresh::canonical && limit_waits) return true;
  const bool left = fresh.engine == now.left_engine.name && fresh.engine != now.engine;
  return returns_to(in.config.routing, fresh.engine, now) && !(left && moves);
}

/// Those of an engine that was chosen by load.
bool of_other_engine(const RoutePart& fresh, const RoutePart& now) {
  return fresh.by_load && fresh.engine != now.engine && fresh.engine != now.left_engine.name &&
         now.origin != RoutePart::Origin::adopted;
}

/// The way to the fresh tables interrupts, and they are not due: `near`, those by the present ranking, where
/// it does not; fresh ones where they are worth it.
Goal weigh(const DecideInput& in, Fresh to, Goal best, bool moves) {
  const auto& now = *in.previous->routes;
  auto by_ranking = in;
  by_ranking.fresh = Fresh::same_ranking;
  auto near = goal_of(by_ranking);
  const auto worth = [](const routing::RouteLoad& better, const routing::RouteLoad& than) {
    return better.max_link_time <= routing::kWorthwhile * than.max_link_time;
  };
  const auto present = load_of(now, in.parallel);
  const bool may_interrupt = to != Fresh::canonical || (!moves && now.origin != RoutePart::Origin::adopted);
  const bool proves = best && best->proves_trees && !(near && near->proves_trees);
  const bool better = may_interrupt && near && best && (proves || worth(best->load, near->load));
  if (near && !near->interrupts && near->load <= present && !better) return near;
  if (!best) return best;
  if (!may_interrupt) {
    return stay(moves ? fmt::format("{} pairs of end ports would get other SLs",
                                    best->next.routes->pairs_moved - now.pairs_moved)
                      : "no order of writes keeps all working routes");
  }
  if (!best->proves_trees && !worth(best->load, present))
    return stay(
        "no order of writes keeps all working routes, and fresh tables would not have much less load");
  best->accepted = true;
  return best;
}

}  // namespace

Goal converge_goal(DecideInput in, Fresh to) {
  const auto& now = *in.previous->routes;
  in.fresh = to;
  auto best = goal_of(in);
  if (best && to != Fresh::any_engine && of_other_engine(*best->next.routes, now)) {
    best = stay(fmt::format("{} has less load, and an engine changes only when it is told to",
                            best->next.routes->engine));
  }
  // By itself it brings no pair to another SL than its first one.
  const bool moves = to == Fresh::canonical && best && best->next.routes->pairs_moved > now.pairs_moved;
  if (best && !best->interrupts && !moves) return best;
  if (to == Fresh::canonical && (!best || moves)) {
    if (auto back = pairs_back(in)) return *std::move(back);
  }
  if (best && is_due(in, to, *best->next.routes, moves)) {
    best->accepted = true;
    return best;
  }
  return weigh(in, to, std::move(best), moves);
}

}  // namespace smd::sm::inline reconciling
