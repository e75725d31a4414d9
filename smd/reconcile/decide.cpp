// SPDX-License-Identifier: Apache-2.0
// What a run decides, and how repaired tables go back to freshly made ones.
#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "routing/chain/chain.h"
#include "routing/quality/load.h"
#include "smd/decide/kept_entries.h"
#include "smd/decide/multicast.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/replaced_sls.h"
#include "smd/decide/routes.h"
#include "smd/plan/lft_rounds.h"
#include "smd/reconcile/progress.h"
#include "smd/report/adoption.h"
#include "smd/report/engine_change.h"
#include "smd/report/faults.h"
#include "smd/report/lmc.h"
#include "smd/report/multicast.h"
#include "smd/report/partitions.h"
#include "smd/report/qos.h"
#include "smd/report/qos_tables.h"
#include "smd/report/tally.h"
#include "smd/report/vl_tables.h"
#include "smd/sweep/table_kinds.h"

namespace smd::sm::inline reconciling {
namespace {

/// What a decision on another master's tables begins with: it may have changed engine and layers since routes
/// were decided here. What is stored says which they are.
Decided without_routes(const Decided& decided) {
  auto rest = decided;
  rest.routes = nullptr;
  return rest;
}

std::size_t trees_not_proven(const std::shared_ptr<const McPart>& part) {
  return part && part->context ? part->context->not_proven : 0;
}

}  // namespace

/// Refers to what the reconciler holds now.
DecideInput Reconciler::decide_input(const Run& how) const {
  return {.subnet = *subnet_,
          .config = *config_,
          .stored = *stored_,
          .partitions = partitions_,
          .keep_unknown_groups = parts_.clock.now() < how.keep_unknown_groups_until,
          .previous = decided_.routes ? &decided_ : nullptr,
          .parallel = parts_.compute.parallel()};
}

/// False when cancelled.
asio::awaitable<bool> Reconciler::decide(const PartKind* kind, Progress* run) {
  std::optional<std::expected<Decision, routing::RouteError>> decision;
  const bool adopting = kind->whole && run->how.adopting;
  if (adopting) stored_ = without_replaced_sls(stored_, subnet_, *config_);
  auto input = decide_input(run->how);
  input.adopting = adopting;
  const auto rest = without_routes(decided_);
  if (adopting && precomputed_ && input.previous != nullptr) input.previous = &rest;
  const auto groups = kind->uses_groups ? groups_ : Groups{};  // which may be others while this is computed
  const bool settled = co_await parts_.compute.execute([&](std::stop_token stop) {
    input.stop = std::move(stop);
    input.multicast = groups ? groups() : nullptr;
    decision = kind->decide(input, run->requests);
  });
  if (!settled || !*decision) co_return false;
  if (kind->whole) co_return co_await take_decision(*std::move(*decision), run);
  const auto before = std::exchange(decided_, std::move((*decision)->decided));
  sls_before_ = before.service_levels;
  note_own_tables();
  if (kind->logs_changes) {
    log_partitions(parts_.log, *subnet_, *stored_, before, decided_);
    log_qos(parts_.log, before, decided_);
    log_qos_tables(parts_.log, *subnet_, before, decided_, partitions_.get());
  }
  // Sweeps name them too, but members may join long before the next one.
  const bool more = trees_not_proven(decided_.multicast) > trees_not_proven(before.multicast);
  if (kind->part == Part::multicast && more) log_multicast(parts_.log, decided_);
  if (!kind->binds) co_return true;
  auto stored = stored_;
  co_await parts_.compute.execute([&] { stored = remember(stored_, *subnet_, decided_); });
  co_await keep(std::move(stored));
  co_return true;
}

asio::awaitable<bool> Reconciler::precompute() {
  std::optional<std::expected<Decision, routing::RouteError>> decision;
  auto input = decide_input({});
  input.adopting = true;
  const auto rest = without_routes(decided_);
  if (input.previous != nullptr) input.previous = &rest;
  const auto subnet = subnet_;
  const auto stored = stored_;
  const auto groups = groups_;
  const bool settled = co_await parts_.compute.execute([&](std::stop_token stop) {
    input.stop = std::move(stop);
    input.multicast = groups ? groups() : nullptr;
    decision = sm::decide(input);
  });
  if (!settled) co_return false;
  if (!*decision) co_return true;
  decided_ = std::move((*decision)->decided);
  precomputed_ = true;
  if (decided_.multicast) {
    // Trees depend on the order in which members joined: those of the master count, which switches hold.
    auto part = std::make_shared<McPart>(*decided_.multicast);
    part->rows.clear();
    decided_.multicast = std::move(part);
  }
  co_return true;
}

/// Of the whole fabric: it binds later decisions. False when cancelled.
asio::awaitable<bool> Reconciler::take_decision(Decision decision, Progress* run) {
  auto& now = decision.decided;
  const auto before = decided_.routes;
  routes_before_ = before;
  lids_before_ = decided_.lids;
  sls_before_ = decided_.service_levels;
  log_partitions(parts_.log, *subnet_, *stored_, decided_, now);
  log_qos(parts_.log, decided_, now);
  log_qos_tables(parts_.log, *subnet_, decided_, now, partitions_.get());
  log_vl_tables(parts_.log, *subnet_, decided_, now);
  if (decided_.lids != now.lids) log_lmc(parts_.log, *subnet_, *now.lids, config_->lids.lmc.has_value());
  times_ = decision.times;
  decided_ = std::move(now);
  precomputed_ = false;
  may_interrupt_ = false;
  const bool asked = converge_to_ == Fresh::any_engine;
  if (converging_ && !parts_.agenda.asks_sweep()) {
    const bool decided = co_await take_step(run->how);
    if (!decided) co_return false;
  }
  note_own_tables();
  if (decided_.routes != before) routes_since_ = parts_.clock.now();
  if (before) log_engine_change(parts_.log, *subnet_, *before, *decided_.routes, asked);
  if (const auto& why = decided_.routes->why; !why.empty() && (!before || before->why != why))
    parts_.log.info("routing.chosen").kv("engine", decided_.routes->engine).kv("reason", why);
  if (run->how.adopting) {
    log_adoption(parts_.log, *decided_.routes);
  } else if (before) {
    log_unknown_sls(parts_.log, *before, *decided_.routes);
  }
  auto stored = stored_;
  co_await parts_.compute.execute([&] { stored = remember(stored_, *subnet_, decided_); });
  const bool new_keys = stored->m_keys != stored_->m_keys;
  const bool kept = co_await keep(std::move(stored));
  if (new_keys && !kept) hold_m_keys();
  // A standby that does not have a port's key can never be its master.
  if (new_keys && parts_.store != nullptr) co_await parts_.store->settle(std::nullopt);
  run->result.lids_changed = lids_changed(*subnet_, *decided_.lids);
  co_return true;
}

/// A key that is in no database locks everything out of its port when this process ends.
void Reconciler::hold_m_keys() {
  if (!std::exchange(m_keys_unsaved_, true))
    parts_.log.warn("m_key.not_stored")
        .kv("reason", "the database has not taken new M_Keys")
        .kv("action", "no port gets one until it has")
        .always();
}

/// The way to the tables that were decided on would interrupt what works (`interrupts`), or what is lost
/// would wait for the lifetime of packets. Others that do neither are taken instead, where there are such:
/// those by the ranking of the tables before, or those before only extended. Better ones are
/// installed later by converge. False when cancelled.
asio::awaitable<bool> Reconciler::interrupt_less(bool interrupts) {
  using Instead = DecideInput::Instead;
  Decided before = decided_;
  before.routes = routes_before_;
  before.lids = lids_before_;
  const auto groups = groups_;  // which may be another one while this is computed
  std::optional<Decided> found;
  DecideTimes more;
  const bool done = co_await parts_.compute.execute([&](const std::stop_token& stop) {
    for (const auto instead : {Instead::same_ranking, Instead::extend}) {
      auto input = decide_input({});
      input.instead = instead;
      input.previous = &before;
      input.stop = stop;
      auto decision = sm::decide(input);
      if (!decision) return;
      more.route_ms += decision->times.route_ms;
      more.verify_ms += decision->times.verify_ms;
      if (!decision->decided.routes) continue;
      auto other = decided_;
      other.routes = std::move(decision->decided.routes);
      if (instead == Instead::same_ranking &&
          would_interrupt({*subnet_, other}, parts_.compute.parallel(), stop))
        continue;
      input.multicast = groups ? groups() : nullptr;
      if (input.multicast) other.multicast = decide_multicast(input, *other.routes);
      found = std::move(other);
      return;
    }
  });
  if (!done) co_return false;
  times_.route_ms += more.route_ms;
  times_.verify_ms += more.verify_ms;
  if (found) {
    decided_ = *std::move(found);
    auto stored = stored_;
    co_await parts_.compute.execute([&] { stored = remember(stored_, *subnet_, decided_); });
    co_await keep(std::move(stored));
  } else if (interrupts) {
    parts_.log.warn("routing.interrupts")
        .kv("reason", "no order of writes keeps all working routes")
        .kv("engine", decided_.routes->engine);
  }
  co_return true;
}

/// What switches have not kept of what was just written is written no more, and the others go round it. False
/// when cancelled.
asio::awaitable<bool> Reconciler::route_round_kept_entries() {
  auto kept = kept_entries(*subnet_);
  if (!decided_.routes || kept == decided_.routes->kept) co_return true;
  auto routes = decided_.routes;
  const bool done = co_await parts_.compute.execute([&](const std::stop_token&) {
    routes = with_kept_entries(decided_.routes, std::move(kept), parts_.compute.parallel());
  });
  if (done) decided_.routes = std::move(routes);
  co_return done;
}

/// Where the tables are to converge to, and the next step on the way.
struct Reconciler::ConvergeGoal {
  Decided next;  ///< after the step
  DecideTimes times;
  routing::RouteLoad load;    ///< of the tables in the end
  bool proves_trees = false;  ///< with them fewer multicast trees are without a proof
  bool whole = false;         ///< the step is the last
  bool interrupts = false;    ///< there is no order of its writes in which all that arrives goes on arriving
  bool accepted = false;      ///< and they are written all the same
};

namespace {

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

/// Why there is no way at present, though nothing that it follows from changes.
constexpr std::string_view kVlTablesUnread =
    "SL to VL tables that they need are not read yet: after the next heavy sweep";

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

}  // namespace

/// The error: why there are no tables to converge to, or no way; empty where it is stopped.
std::expected<Reconciler::ConvergeGoal, std::string> Reconciler::goal_of(const DecideInput& input) const {
  constexpr std::size_t kMostBlocks = 2048;
  const auto& parallel = parts_.compute.parallel();
  auto decision = sm::decide(input);
  if (!decision) return std::unexpected(to_string(decision.error()));
  if (!decision->decided.routes) return std::unexpected("no engine routes the fabric");
  const auto& routes = decision->decided.routes;
  const auto step = converge_routes(decided_.routes, *routes, kMostBlocks, parallel);
  if (!step) return std::unexpected(to_string(step.error()));
  ConvergeGoal goal;
  goal.next = decided_;
  goal.times = decision->times;
  goal.load = load_of(*routes, parallel);
  goal.whole = !step->part || step->done;
  goal.next.routes = goal.whole ? routes : step->part;
  decide_qos_tables(input, decided_, goal.next);
  if (input.multicast) goal.next.multicast = decide_multicast(input, *goal.next.routes);
  if (const auto unproven = trees_not_proven(decided_.multicast); unproven != 0 && input.multicast) {
    const auto in_the_end = goal.whole ? goal.next.multicast : decide_multicast(input, *routes);
    goal.proves_trees = trees_not_proven(in_the_end) < unproven;
  }
  const bool more = goal.next.routes->layers.vl_indexes() > decided_.routes->layers.vl_indexes();
  if (more && !vl_tables_are_read(*subnet_)) return std::unexpected(std::string(kVlTablesUnread));
  goal.interrupts = would_interrupt({*subnet_, goal.next}, parallel, input.stop);
  return goal;
}

/// Tables that cannot become those of the engine, as those of another SM: pairs of switches come back to
/// their first SLs all the same. Nothing where none does.
std::optional<Reconciler::ConvergeGoal> Reconciler::pairs_back(DecideInput input) const {
  const auto& now = *decided_.routes;
  if (now.pairs_moved == 0) return std::nullopt;
  input.fresh = Fresh::no;
  input.instead = DecideInput::Instead::first_layers;
  auto goal = goal_of(input);
  const bool whole = !lacks_any(now);
  const bool fewer = goal && goal->next.routes->pairs_moved < now.pairs_moved;
  if (!fewer || (goal->interrupts && !whole)) return std::nullopt;
  goal->accepted = goal->interrupts;
  return *std::move(goal);
}

/// Freshly made tables; where the way to them would interrupt what works, those in the order of the switches
/// that the present ones have. For a load that is much less, and for multicast trees that are not proven with
/// the present ones, also tables whose way interrupts; instead of another SM's only where the operator has
/// asked. The error: why the tables stay.
std::expected<Reconciler::ConvergeGoal, std::string> Reconciler::converge_goal(
    DecideInput input, const std::stop_token& stop) const {
  const auto& now = *decided_.routes;
  input.stop = stop;
  input.fresh = converge_to_;
  auto best = goal_of(input);
  const bool other = best && best->next.routes->by_load && best->next.routes->engine != now.engine &&
                     best->next.routes->engine != now.left_engine.name &&
                     now.origin != RoutePart::Origin::adopted;
  if (other && converge_to_ != Fresh::any_engine)
    best = std::unexpected(fmt::format("{} has less load, and an engine changes only when it is told to",
                                       best->next.routes->engine));
  // By itself it brings no pair to another SL than its first one.
  const bool moves =
      converge_to_ == Fresh::canonical && best && best->next.routes->pairs_moved > now.pairs_moved;
  if (best && !best->interrupts && !moves) return best;
  if (converge_to_ == Fresh::canonical && (!best || moves)) {
    if (auto back = pairs_back(input)) return *std::move(back);
  }
  // Pairs whose SL has moved come back to it as soon as nothing is missing: their connections are not proven.
  const bool whole = now.layers.count > 1 && !stands_in(now) && !lacks_any(now);
  // What waits for links has waited long enough, and what had to be another engine's need not be any more.
  // An engine or a number of VLs that the operator has named does not need to be better.
  const bool asked = converge_to_ != Fresh::canonical;
  const auto* sls = decided_.service_levels.get();
  const bool limit_waits = sls != nullptr && (sls->limit.waits != 0 || !sls->left_out.empty());
  const bool named =
      (converge_to_ == Fresh::any_engine && !now.engine_waits.empty()) || (asked && limit_waits);
  const bool left =
      best && best->next.routes->engine == now.left_engine.name && best->next.routes->engine != now.engine;
  const bool due =
      best && (named || !now.waiting.empty() ||
               (returns_to(input.config.routing, best->next.routes->engine, now) && !(left && moves)));
  if (best && ((whole && !moves) || due)) {
    best->accepted = true;
    return best;
  }
  input.fresh = Fresh::same_ranking;
  auto near = goal_of(input);
  const auto worth = [](const routing::RouteLoad& better, const routing::RouteLoad& than) {
    return better.max_link_time <= routing::kWorthwhile * than.max_link_time;
  };
  const auto present = load_of(now, parts_.compute.parallel());
  const bool may_interrupt =
      converge_to_ != Fresh::canonical || (!moves && now.origin != RoutePart::Origin::adopted);
  const bool proves = best && best->proves_trees && !(near && near->proves_trees);
  const bool better = may_interrupt && near && best && (proves || worth(best->load, near->load));
  if (near && !near->interrupts && near->load <= present && !better) return near;
  if (!best) return best;
  if (!may_interrupt)
    return std::unexpected(moves ? fmt::format("{} pairs of end ports would get other SLs",
                                               best->next.routes->pairs_moved - now.pairs_moved)
                                 : "no order of writes keeps all working routes");
  if (!best->proves_trees && !worth(best->load, present))
    return std::unexpected(
        "no order of writes keeps all working routes, and fresh tables would not have much less load");
  best->accepted = true;
  return best;
}

Reconciler::ConvergesFrom Reconciler::converges_from() const {
  return {.routes = decided_.routes,
          .trees = trees_not_proven(decided_.multicast) != 0 ? decided_.multicast : nullptr,
          .sls = decided_.service_levels,
          .layers_home = stored_->layers_home,
          .config = config_};
}

/// One step from the tables as they are to freshly made ones. Where a step between them would not be proven
/// they go over at once: the rounds of writes are safe all the same. False when cancelled.
asio::awaitable<bool> Reconciler::take_step(Run how) {
  std::expected<ConvergeGoal, std::string> goal = std::unexpected(std::string());
  auto input = decide_input(how);
  bool cancelled = false;
  const auto groups = groups_;  // which may be another one while this is computed
  const bool settled = co_await parts_.compute.execute([&](const std::stop_token& stop) {
    input.multicast = groups ? groups() : nullptr;
    goal = converge_goal(input, stop);
    cancelled = stop.stop_requested();
  });
  if (!settled || cancelled) co_return false;
  if (!goal) {
    // Told once for the same tables unless asked for. Looked at again once something has changed, or, where
    // tables of ports have to be read first, when as much time has passed.
    const bool by_itself = converge_to_ == Fresh::canonical;
    const bool told = not_converged_ && not_converged_->routes == decided_.routes && by_itself;
    auto line = told ? parts_.log.debug("routing.not_converged") : parts_.log.info("routing.not_converged");
    line.kv("reason", goal.error())
        .kv("action",
            "the tables stay, proven as they are; smd resweep converge [--engine] takes fresh ones that have "
            "much less load")
        .kv("engine", decided_.routes->engine);
    if (by_itself && goal.error() != kVlTablesUnread) not_converged_ = converges_from();
    converging_ = false;
    converge_to_ = Fresh::canonical;
    routes_since_ = parts_.clock.now();
    co_return true;
  }
  if (goal->interrupts && goal->accepted) {
    parts_.log.warn("routing.interrupts")
        .kv("reason",
            "tables converge: no order of writes keeps all working routes; routes "
            "that are in the way are taken out of service first")
        .kv("engine", goal->next.routes->engine);
  }
  decided_ = std::move(goal->next);
  note_own_tables();
  may_interrupt_ = goal->accepted;
  times_ = goal->times;
  converging_ = !goal->whole;
  if (converging_) parts_.agenda.add(Work::incremental, "converge");
  if (!converging_) converge_to_ = Fresh::canonical;
  co_return true;
}

}  // namespace smd::sm::inline reconciling
