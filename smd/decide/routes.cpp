// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/routes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "routing/chain/chain.h"
#include "routing/engines/rank_order.h"
#include "routing/quality/load.h"
#include "routing/verify/changes.h"
#include "routing/verify/verify.h"
#include "smd/decide/installed_engine.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/route_chain.h"
#include "smd/decide/route_decision.h"
#include "smd/decide/small_tables.h"
#include "smd/decide/topology.h"

namespace smd::sm::inline decisions {
namespace {

/// VLs of their own are worth so much more load of the most loaded link to classes of QoS, whose bursts and
/// blocked receivers stop each other on a shared one.
constexpr double kMostLoadForVls = 1.5;

}  // namespace

std::string shape_with_damage(const std::string& shape, bool had_lost, bool lost) {
  constexpr std::string_view kDamaged = "damaged ";
  const bool said = shape.starts_with(kDamaged);
  if (lost && !said && !shape.empty()) return std::string(kDamaged) + shape;
  return said && had_lost && !lost ? shape.substr(kDamaged.size()) : shape;
}

std::string why_with_shape(const std::string& why, const std::string& before, const std::string& now) {
  return !before.empty() && why.starts_with(before) ? now + why.substr(before.size()) : why;
}

bool lacks_any(const RoutePart& part) {
  return part.topology && part.reference &&
         (part.reference->links.size() > part.topology->cables() ||
          part.reference->switches.size() > part.topology->switches());
}

RouteDecision::RouteDecision(const DecideInput& in, const LidPart& lids, routing::TopologyInput input,
                             const LayerBudget& budget, DecideTimes& times)
    : in_(in), lids_(lids), budget_(budget), times_(times) {
  base_.topology = std::make_shared<const routing::Topology>(input);
  base_.lid_map = std::make_shared<const routing::LidMap>(lid_map(input, *base_.topology, lids));
  base_.top = lids.top;
  base_.vls = budget.vls;
  base_.beyond = beyond_tables(in.subnet, input);
  base_.input = std::move(input);
  base_.config = in.config.routing;
  if (const auto* before = in.previous != nullptr ? in.previous->routes.get() : nullptr) {
    base_.adopted_sls = before->adopted_sls;
    base_.sls_replaced = before->sls_replaced;
    if (!before->engine_waits.empty() && !asks_for_others(base_.config, *before)) {
      base_.engine_waits = before->engine_waits;
      stays_ = {before->engine, before->roots};
      stays_in_one_layer_ = before->layers.count == 1 || stands_in(*before);
    }
  } else if (auto engine = stored_engine_that_stays(in)) {
    base_.engine_waits = fmt::format("{}", fmt::join(base_.config.engines, ", "));
    stays_ = *std::move(engine);
  }
  if (in.fresh == DecideInput::Fresh::any_engine) stop_waiting();
  base_.reference = std::make_shared<const routing::ReferenceTopology>(routing::merge(
      in.stored.reference ? *in.stored.reference : routing::ReferenceTopology{}, *base_.topology));
  times_.topology_ms += lap_();
}

/// Tables of another SM may have cycles of channels that only traffic of the switches themselves closes: they
/// work, and what is repaired in them does not make that worse. Tables that smd computes have none.
bool RouteDecision::usable(const routing::Verification& found) const {
  if (found.clean() || (of_another_ && found.ok())) return true;
  return in_.config.routing.allow_credit_loops && found.host_pairs_unreachable == 0 && found.loops == 0 &&
         found.dead_ends == 0;
}

/// [routing] with the roots of the tables to build on.
routing::RoutingOptions RouteDecision::options() const {
  auto options = routing_options(in_.config.routing);
  if (!base_.roots.empty()) options.root_guids = base_.roots;
  return options;
}

/// What is built on tables of `before` was chosen as they were. Whether something of the shape is missing is
/// said as it is now.
void RouteDecision::take_choice(const RoutePart& before) {
  base_.by_load = before.by_load;
  base_.left_engine = before.left_engine;
  const bool lost = lacks_any(base_), had_lost = lacks_any(before);
  base_.shape = shape_with_damage(before.shape, had_lost, lost);
  base_.why = why_with_shape(before.why, before.shape, base_.shape);
}

void RouteDecision::stop_waiting() {
  base_.engine_waits.clear();
  stays_.reset();
}

/// Tables of the engine that stays while the configured one waits; of the chain where there is none, or where
/// it does not route the fabric any more.
std::expected<routing::Chosen, routing::RouteError> RouteDecision::run_chain(
    const routing::EngineInput& input, const routing::ChainOptions& options) {
  std::vector<routing::Refusal> refused;  // of the engine that stayed
  if (stays_) {
    routing::ChainLink link{stays_->engine, routing_options(in_.config.routing)};
    if (!stays_->roots.empty()) link.options.root_guids = stays_->roots;
    auto alone = input;
    if (stays_in_one_layer_) alone.vl_budget = alone.sl_budget = 1;
    auto chosen = routing::route_with_chain({&link, 1}, alone, options);
    if (!chosen) return chosen;
    if (chosen->engine == stays_->engine) {
      chosen->roots = stays_->roots;
      return chosen;
    }
    stop_waiting();
    refused = std::move(chosen->fell_back_from);
  }
  const auto chain = chain_of(in_.config.routing);
  auto chosen = routing::route_with_chain(chain, input, options);
  if (chosen && chosen->routes.layers.count > 1 && !chosen->shape.empty() && options.layered &&
      sls_are_all_one()) {
    auto alone = input;
    auto single = options;
    alone.vl_budget = alone.sl_budget = 1;
    single.layered = false;
    auto found = routing::route_with_chain(chain, alone, single);
    if (in_.stop.stop_requested()) return found;
    if (found && found->verification.clean()) chosen = std::move(found);
  }
  if (chosen) chosen->fell_back_from.insert(chosen->fell_back_from.begin(), refused.begin(), refused.end());
  return chosen;
}

/// Tables of the same engine with so few layers that each class of QoS has VLs of its own: engines spread
/// over all VLs, which classes would share then. `chosen` stays where they are few enough already, or too
/// few, or where that would cost too much load.
void RouteDecision::use_own_vls(const routing::EngineInput& input, const routing::ChainOptions& options,
                                routing::Chosen& chosen) const {
  if (chosen.routes.layers.vl_indexes() <= budget_.own_vls || chosen.routes.layers.vls.by_port()) return;
  auto tight = input;
  tight.vl_budget = budget_.own_vls;
  routing::ChainLink link{chosen.engine, routing_options(in_.config.routing)};
  if (!chosen.roots.empty()) link.options.root_guids = chosen.roots;
  auto found = routing::route_with_chain({&link, 1}, tight, options);
  if (!found || found->engine != chosen.engine || !usable(found->verification)) return;
  const auto hosts = routing::rank_order(input.context, {});
  const auto load = [&](const routing::Routes& routes) {
    return routing::measure_load(input.context, routes, hosts, routing::LoadOfShifts::no).max_link_time;
  };
  if (load(found->routes) > kMostLoadForVls * load(chosen.routes)) return;
  chosen.routes = std::move(found->routes);
  chosen.verification = std::move(found->verification);
}

/// Other engines are configured than for the tables before, but clients have SLs that these would change:
/// the tables before stay, and the engine waits. (Tables of one layer carry every SL as it is.) Other keys
/// alone bring no pair to another SL, as fresh tables in place of another SM's would.
bool RouteDecision::keeps_engine(const RoutePart& before) {
  if (in_.config.routing.path_sl != config::PathSl::asked || !has_active_end_port(in_.subnet)) return false;
  const bool others = asks_for_others(in_.config.routing, before);
  auto part = fresh();
  if (!part) return false;
  const auto noted = with_layer_history(*part, &before, in_.stored, true);
  const bool moves = others ? (*part)->layers.count > 1 && noted->layers_before != nullptr
                            : noted->pairs_moved > before.pairs_moved;
  if (!moves) {
    made_ = *std::move(part);
    return false;
  }
  if (!others || routing::find_engine(before.engine) == nullptr || (*part)->engine == before.engine)
    return true;
  base_.engine_waits = (*part)->engine;
  stays_ = {before.engine, before.roots};
  return true;
}

RoutePartOr RouteDecision::fresh() {
  const auto widest = widest_for(in_.config.routing, *base_.reference, *base_.topology);
  const routing::EngineInput input{.context = {*base_.topology, *base_.lid_map, in_.parallel, in_.stop},
                                   .vl_budget = base_.vls,
                                   .sl_budget = budget_.sls};
  const auto installed = this->installed();
  routing::ChainOptions options{
      .allow_credit_loops = in_.config.routing.allow_credit_loops,
      .on_step =
          [&](std::string_view, routing::ChainOptions::Step step) {
            (step == routing::ChainOptions::Step::routed ? times_.route_ms : times_.verify_ms) += lap_();
          },
      .installed = installed,
      .layered = in_.config.routing.path_sl == config::PathSl::asked,
      .widest = widest ? &*widest : nullptr};
  auto chosen = run_chain(input, options);
  if (chosen && cannot_return(installed, chosen->engine)) {
    options.installed = installed_engine(in_);
    chosen = run_chain(input, options);
  }
  if (!chosen) return std::unexpected(chosen.error());
  use_own_vls(input, options, *chosen);
  auto part = std::make_shared<RoutePart>(base_);
  for (routing::SwitchIndex s = 0; s < part->topology->switches(); ++s)
    part->rows.push_back({part->topology->guid(s), std::move(chosen->routes.rows[s])});
  part->engine = std::move(chosen->engine);
  part->fell_back_from = std::move(chosen->fell_back_from);
  for (auto& refusal : part->fell_back_from) {
    if (refusal.lacks_vls && !budget_.limited_by.empty())
      refusal.reason += fmt::format(" ({})", budget_.limited_by);
  }
  part->roots = std::move(chosen->roots);
  part->by_load = chosen->by_load;
  // An irregular fabric does not show that something is missing: the reference does.
  part->shape = shape_with_damage(chosen->shape, false, lacks_any(*part));
  part->why = why_with_shape(chosen->why, chosen->shape, part->shape);
  part->verification = std::move(chosen->verification);
  part->layers = std::move(chosen->routes.layers);
  part->new_layers =
      in_.fresh == DecideInput::Fresh::new_layers || in_.fresh == DecideInput::Fresh::any_engine;
  if (in_.fresh != DecideInput::Fresh::any_engine && !part->shape.empty())
    part->left_engine = left_engine(part->engine);
  if (part->new_layers) {
    part->sls_replaced = false;
    return part;
  }
  // It is to converge.
  const bool returns = in_.fresh == DecideInput::Fresh::no && !part->left_engine.name.empty();
  if (returns && !lacks_any(*part)) part->origin = RoutePart::Origin::repaired;
  if (in_.stored.layers_home) keep_first_layers(*in_.stored.layers_home, input.context, *part);
  // Once tables of one layer have taken their place, as another engine was configured, paths have one SL.
  const bool in_force = in_.stored.layers_now != nullptr;
  const bool stays = installed || stays_;
  const bool in_use = options.layered && stays && in_force && has_active_end_port(in_.subnet);
  if (in_use) keep_sls(*part);
  return part;
}

/// Of clients, where tables of one layer stand in for others.
void RouteDecision::keep_sls(RoutePart& part) const {
  const auto* before = in_.previous != nullptr ? in_.previous->routes.get() : nullptr;
  keep_sls_of_clients({.stored = in_.stored, .before = before, .most_layers = budget_.sls},
                      {*base_.topology, *base_.lid_map, in_.parallel, in_.stop}, part);
}

/// Tables that were made as those of one layer, in place of ones that stand in.
RoutePartOr RouteDecision::standing_in(RoutePartOr part) const {
  if (!part || !*part) return part;
  auto kept = std::make_shared<RoutePart>(**part);
  keep_sls(*kept);
  return kept;
}

/// With the ranking that its engine has of a fabric of which something is missing.
RoutePartOr RouteDecision::with_ranking(RoutePartOr part) {
  if (!part || !*part) return part;
  auto ranked = std::make_shared<RoutePart>(**part);
  base_.roots = ranked->roots;
  ranked->ranking = ranking_of(ranked->engine);
  return ranked;
}

/// Fresh tables. Where switches have come (back) by so few links that the engine cannot route them they are
/// left out for now: another engine would give all paths other SLs.
RoutePartOr RouteDecision::fresh_or_waiting(const RoutePart& before) {
  auto part = with_ranking(fresh());
  const bool other = part && (*part)->engine != before.engine && before.layers.vls.by_port();
  if (!other || in_.config.routing.converge_after == config::Duration{}) return part;
  std::vector<Guid> waiting;
  auto fewer = without_new_switches(base_.input, *before.topology, waiting);
  if (waiting.empty()) return part;
  auto rest = RouteDecision(in_, lids_, std::move(fewer), budget_, times_).fresh();
  if (!rest || (*rest)->engine != before.engine) return part;
  auto noted = std::make_shared<RoutePart>(**rest);
  noted->waiting = std::move(waiting);
  noted->origin = RoutePart::Origin::repaired;  // it is to converge
  return noted;
}

/// Fresh tables in the order of the switches that the tables before have: what turns into them needs no
/// interruption. Null where the engine has no ranking, or leaves hosts without a route by it.
RoutePartOr RouteDecision::fresh_by_ranking(const RoutePart& before) {
  const auto* info = routing::find_engine(before.engine);
  if (info == nullptr || !info->follows_ranking) return nullptr;
  const auto now = ranking_now(*info, before.ranking);
  if (!now) return nullptr;
  auto routes = info->run({.context = {*base_.topology, *base_.lid_map, in_.parallel, in_.stop},
                           .options = options(),
                           .ranking = &*now});
  if (in_.stop.stop_requested()) return std::unexpected(routing::RouteError{});
  if (!routes) return nullptr;
  take_choice(before);
  auto part = finish(*std::move(routes), before.engine, RoutePart::Origin::fresh, nullptr, before.ranking);
  return stands_in(before) ? standing_in(std::move(part)) : part;
}

/// Tables of a file.
RoutePartOr RouteDecision::given(const GivenTables& tables) {
  auto part = std::make_shared<RoutePart>(base_);
  routing::Routes routes;
  for (routing::SwitchIndex s = 0; s < part->topology->switches(); ++s) {
    const auto row = tables.find(part->topology->guid(s));
    routes.rows.push_back(row != tables.end() ? row->second : nullptr);
    part->rows.push_back({part->topology->guid(s), routes.rows.back()});
  }
  part->engine = "lfts";
  part->verification = verify(routes, nullptr);
  times_.verify_ms += lap_();
  if (in_.stop.stop_requested()) return std::unexpected(routing::RouteError{});
  return part;
}

/// Of tables that are those of `before` with some entries replaced, if that is given.
routing::Verification RouteDecision::verify(const routing::Routes& routes, const RoutePart* before) const {
  if (before == nullptr) {
    return routing::verify_routes({*base_.topology, *base_.lid_map, in_.parallel, in_.stop}, routes);
  }
  std::vector<std::shared_ptr<const routing::LftRow>> rows;
  for (const auto& row : before->rows) rows.push_back(row.row);
  const routing::Proven proven{*before->topology, *before->lid_map, rows, before->layers,
                               before->verification};
  return routing::verify_after(proven, {*base_.topology, *base_.lid_map, in_.parallel, in_.stop}, routes);
}

/// Null where verification refuses the tables.
RoutePartOr RouteDecision::finish(routing::Routes&& routes, std::string engine, RoutePart::Origin origin,
                                  const RoutePart* before, RankingPtr ranking) {
  times_.route_ms += lap_();
  auto found = verify(routes, before);
  times_.verify_ms += lap_();
  if (in_.stop.stop_requested()) return std::unexpected(routing::RouteError{});
  if (!usable(found)) {
    not_repaired_ = routing::describe(found, *base_.topology);
    credit_loops_ = found.credit_loops != 0;
    return nullptr;
  }
  auto part = std::make_shared<RoutePart>(base_);
  for (routing::SwitchIndex s = 0; s < part->topology->switches(); ++s)
    part->rows.push_back({part->topology->guid(s), std::move(routes.rows[s])});
  part->engine = std::move(engine);
  part->origin = origin;
  part->verification = std::move(found);
  part->layers = std::move(routes.layers);
  part->ranking = std::move(ranking);
  return part;
}

/// The tables before, mended where the fabric has changed. Null where that is not possible.
RoutePartOr RouteDecision::mended(const RoutePart& before) {
  if (!stands_in(before)) return mended_tables(before);
  auto single = before;
  single.layers = {};
  return standing_in(mended_tables(single));
}

RoutePartOr RouteDecision::mended_tables(const RoutePart& before) {
  std::vector<routing::OldRow> old;
  for (const auto& row : before.rows) old.push_back({row.node, row.row});
  const bool returned = add_returned(old, before);
  of_another_ = before.verification.ok() && !before.verification.clean();
  base_.roots = before.roots;
  take_choice(before);
  const bool adopted = before.origin == RoutePart::Origin::adopted;
  const bool instead = in_.instead != DecideInput::Instead::no;
  const auto engine = adopted ? engines_like(base_.config, before.would_be).front() : before.engine;
  base_.top = std::max(base_.top, before.origin == RoutePart::Origin::fresh ? base_.top : before.top);
  if (in_.instead == DecideInput::Instead::first_layers) return return_pairs(old, engine, before);
  if (!before.layers.by_pair.empty()) {
    auto part = instead || before.layers.vls.by_port() ? RoutePartOr{nullptr} : repair_layers(old, engine);
    if (instead || !part || *part) return part;
    base_.not_repaired = std::move(not_repaired_);
    return fresh_or_waiting(before);
  }
  if (in_.instead == DecideInput::Instead::extend) return extend(before);
  const bool follows = !returned && before.origin != RoutePart::Origin::adopted && before.topology &&
                       before.lid_map && before.reference && *before.reference == *base_.reference;
  const bool by_reference = !before.ranking;
  if (in_.instead == DecideInput::Instead::same_ranking) {
    if (by_reference) return nullptr;
    return repair(old, engine, follows ? &before : nullptr, before.ranking);
  }
  if (follows && by_reference) {
    const auto part = repair(old, engine, &before);
    if (!part || *part) return part;
  }
  auto part = repair(old, engine);
  if (part && !*part) part = repair_otherwise(old, engine, before, follows);
  return part;
}

RoutePartOr RouteDecision::decide() {
  if (in_.given != nullptr) return given(*in_.given);
  const auto* before = in_.previous != nullptr ? in_.previous->routes.get() : nullptr;
  if (in_.fresh == DecideInput::Fresh::same_ranking) {
    const bool none = before == nullptr || (before->layers.count > 1 && !stands_in(*before));
    if (none || before->origin == RoutePart::Origin::adopted) return nullptr;
    base_.roots = before->roots;
    return fresh_by_ranking(*before);
  }
  if (in_.fresh != DecideInput::Fresh::no) return fresh();
  const bool instead = in_.instead != DecideInput::Instead::no;
  if (instead && (before == nullptr || !same_rules(before->config, in_.config.routing))) return nullptr;
  if (in_.adopting && in_.config.adopt.routes == config::AdoptRoutes::converge) return anew_for_clients();
  if (in_.adopting) {
    auto held = held_tables();
    of_another_ = true;
    if (!held.empty()) {
      keep_stored_engine();
      return adopt(std::move(held));
    }
  } else if (before != nullptr && (same_rules(before->config, in_.config.routing) || keeps_engine(*before))) {
    auto part = mended(*before);
    if (instead || !part || *part) return part;
    base_.not_repaired = std::move(not_repaired_);
  }
  auto part = made_ ? RoutePartOr{made_} : fresh();
  return before != nullptr ? with_ranking(std::move(part)) : part;
}

RoutePartOr decide_routes(const DecideInput& in, const LidPart& lids, routing::TopologyInput input,
                          const LayerBudget& budget, DecideTimes& times) {
  auto part = RouteDecision(in, lids, std::move(input), budget, times).decide();
  if (!part || !*part) return part;
  return with_layer_history(*part, in.previous != nullptr ? in.previous->routes.get() : nullptr, in.stored,
                            has_active_end_port(in.subnet));
}

}  // namespace smd::sm::inline decisions