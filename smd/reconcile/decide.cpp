// SPDX-License-Identifier: Apache-2.0
// What a run decides.
#include <expected>
#include <optional>
#include <utility>

#include "smd/decide/kept_entries.h"
#include "smd/decide/multicast.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/replaced_sls.h"
#include "smd/decide/routes.h"
#include "smd/plan/lft_rounds.h"
#include "smd/reconcile/converge.h"
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

namespace smd::sm::inline reconciling {
namespace {

/// What a decision on another master's tables begins with: it may have changed engine and layers since routes
/// were decided here. What is stored says which they are.
Decided without_routes(const Decided& decided) {
  auto rest = decided;
  rest.routes = nullptr;
  return rest;
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
  const bool more = trees_not_proven(decided_.multicast.get()) > trees_not_proven(before.multicast.get());
  if (kind->part == Part::multicast && more) log_multicast(parts_.log, decided_);
  if (!kind->binds) co_return true;
  auto stored = stored_;
  co_await parts_.compute.execute([&] { stored = remember_pkeys(stored_, decided_.partitions.get()); });
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
  // Nodes that report all the time wait for their pace: one of several always does.
  if (converging_ && !parts_.newer_waits()) {
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

Reconciler::ConvergesFrom Reconciler::converges_from() const {
  return {.routes = decided_.routes,
          .trees = trees_not_proven(decided_.multicast.get()) != 0 ? decided_.multicast : nullptr,
          .sls = decided_.service_levels,
          .layers_home = stored_->layers_home,
          .config = config_};
}

/// One step from the tables as they are to freshly made ones. Where a step between them would not be proven
/// they go over at once: the rounds of writes are safe all the same. False when cancelled.
asio::awaitable<bool> Reconciler::take_step(Run how) {
  std::expected<ConvergeGoal, TablesStay> goal = std::unexpected(TablesStay{});
  auto input = decide_input(how);
  bool cancelled = false;
  const auto groups = groups_;  // which may be another one while this is computed
  const bool settled = co_await parts_.compute.execute([&](const std::stop_token& stop) {
    input.multicast = groups ? groups() : nullptr;
    input.stop = stop;
    goal = converge_goal(input, converge_to_);
    cancelled = stop.stop_requested();
  });
  if (!settled || cancelled) co_return false;
  if (!goal) {
    // Told once for the same tables unless asked for. Looked at again once something has changed, or, where
    // tables of ports have to be read first, when as much time has passed.
    const bool by_itself = converge_to_ == Fresh::canonical;
    const bool told = not_converged_ && not_converged_->routes == decided_.routes && by_itself;
    auto line = told ? parts_.log.debug("routing.not_converged") : parts_.log.info("routing.not_converged");
    line.kv("reason", goal.error().reason)
        .kv("action",
            "the tables stay, proven as they are; smd resweep converge [--engine] takes fresh ones that have "
            "much less load")
        .kv("engine", decided_.routes->engine);
    const bool unread = goal.error().until_read;
    const bool repaired = decided_.routes->origin == RoutePart::Origin::repaired;
    if ((by_itself || repaired) && !unread) not_converged_ = converges_from();
    // What would be tried by itself later has another goal, and may have a way: it is tried now.
    converging_ = !by_itself && repaired && !unread;
    converge_to_ = Fresh::canonical;
    if (converging_) parts_.agenda.add(Work::incremental, "converge");
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
  log_qos_tables(parts_.log, *subnet_, decided_, goal->next, partitions_.get());
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
