// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/routes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "routing/chain/chain.h"
#include "routing/ranking/reorient.h"
#include "routing/repair/extend.h"
#include "routing/repair/extend_layers.h"
#include "routing/repair/repair.h"
#include "routing/verify/changes.h"
#include "routing/verify/verify.h"
#include "smd/base/stopwatch.h"
#include "smd/decide/installed_engine.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/route_chain.h"
#include "smd/decide/small_tables.h"
#include "smd/decide/topology.h"

namespace smd::sm::inline decisions {
namespace {

using RoutePartOr = std::expected<std::shared_ptr<const RoutePart>, routing::RouteError>;
using RankingPtr = std::shared_ptr<const routing::GuidRanking>;

/// One decision: the topology as it is, and what may become of the tables that are there.
class Routing {
 public:
  Routing(const DecideInput& in, const LidPart& lids, routing::TopologyInput input, const LayerBudget& budget,
          DecideTimes& times)
      : in_(in), sl_budget_(budget.sls), times_(times) {
    base_.topology = std::make_shared<const routing::Topology>(input);
    base_.lid_map = std::make_shared<const routing::LidMap>(lid_map(input, *base_.topology, lids));
    base_.top = lids.top;
    base_.vls = budget.vls;
    base_.beyond = beyond_tables(in.subnet, input);
    base_.input = std::move(input);
    base_.config = in.config.routing;
    base_.reference = std::make_shared<const routing::ReferenceTopology>(routing::merge(
        in.stored.reference ? *in.stored.reference : routing::ReferenceTopology{}, *base_.topology));
    times_.topology_ms += lap_();
  }

  RoutePartOr decide();

 private:
  RoutePartOr fresh();
  void take_choice(const RoutePart& before);
  RoutePartOr fresh_by_ranking(const RoutePart& before);
  routing::RoutingOptions options() const;
  RoutePartOr given(const GivenTables& tables);
  RoutePartOr adopt(std::vector<routing::OldRow> held);
  RoutePartOr repair(std::span<const routing::OldRow> old, const std::string& engine,
                     const RoutePart* before = nullptr, const RankingPtr& ranking = nullptr);
  RoutePartOr repair_otherwise(std::span<const routing::OldRow> old, const std::string& engine,
                               const RoutePart& before, bool follows);
  RankingPtr reoriented(const std::string& engine, const RankingPtr& ranking) const;
  RankingPtr ranking_of(const std::string& engine) const;
  std::optional<routing::SwitchRanking> ranking_now(const routing::EngineInfo& engine,
                                                    const RankingPtr& ranking) const;
  RoutePartOr repair_layers(std::span<const routing::OldRow> old, const std::string& engine);
  RoutePartOr extend(const RoutePart& before);
  std::vector<routing::OldRow> held_tables() const;
  bool add_returned(std::vector<routing::OldRow>& old, const RoutePart& before) const;
  void settle_orphans(routing::Routes& routes) const;
  RoutePartOr finish(routing::Routes&& routes, std::string engine, RoutePart::Origin origin,
                     const RoutePart* before = nullptr, RankingPtr ranking = nullptr);
  routing::Verification verify(const routing::Routes& routes, const RoutePart* before) const;
  bool usable(const routing::Verification& found) const;

  const DecideInput& in_;
  unsigned sl_budget_;
  DecideTimes& times_;
  Stopwatch lap_;
  RoutePart base_;
  bool of_another_ = false;  ///< the tables to build on are not ours
  std::string not_repaired_;
};

/// Tables of another SM may have circles that only traffic of the switches themselves closes: they work, and
/// what is repaired in them does not make that worse. What we make ourselves has none.
bool Routing::usable(const routing::Verification& found) const {
  if (found.clean() || (of_another_ && found.ok())) return true;
  return in_.config.routing.allow_credit_loops && found.host_pairs_unreachable == 0 && found.loops == 0 &&
         found.dead_ends == 0;
}

/// [routing] with the roots of the tables to build on.
routing::RoutingOptions Routing::options() const {
  auto options = routing_options(in_.config.routing);
  if (!base_.roots.empty()) options.root_guids = base_.roots;
  return options;
}

/// What is built on tables of `before` was chosen as they were.
void Routing::take_choice(const RoutePart& before) {
  base_.by_load = before.by_load;
  base_.shape = before.shape;
  base_.why = before.why;
}

RoutePartOr Routing::fresh() {
  const auto widest = widest_for(in_.config.routing, *base_.reference, *base_.topology);
  const routing::EngineInput input{.context = {*base_.topology, *base_.lid_map, in_.parallel, in_.stop},
                                   .vl_budget = base_.vls,
                                   .sl_budget = sl_budget_};
  const routing::ChainOptions options{
      .allow_credit_loops = in_.config.routing.allow_credit_loops,
      .on_step =
          [&](std::string_view, routing::ChainOptions::Step step) {
            (step == routing::ChainOptions::Step::routed ? times_.route_ms : times_.verify_ms) += lap_();
          },
      .installed = installed_engine(in_),
      .layered = in_.config.routing.path_sl == config::PathSl::asked,
      .widest = widest ? &*widest : nullptr};
  auto chosen = routing::route_with_chain(chain_of(in_.config.routing), input, options);
  if (!chosen) return std::unexpected(chosen.error());
  auto part = std::make_shared<RoutePart>(base_);
  for (routing::SwitchIndex s = 0; s < part->topology->switches(); ++s)
    part->rows.push_back({part->topology->guid(s), std::move(chosen->routes.rows[s])});
  part->engine = std::move(chosen->engine);
  part->fell_back_from = std::move(chosen->fell_back_from);
  part->roots = std::move(chosen->roots);
  part->by_load = chosen->by_load;
  part->shape = std::move(chosen->shape);
  part->why = std::move(chosen->why);
  part->verification = std::move(chosen->verification);
  part->layers = std::move(chosen->routes.layers);
  part->new_layers = in_.fresh == DecideInput::Fresh::any_engine;
  if (!part->new_layers) keep_first_layers(in_.stored, input.context, *part);
  return part;
}

/// Fresh tables in the order of the switches that the tables before have: what turns into them needs no
/// interruption. Null where the engine has no ranking, or leaves hosts without a route by it.
RoutePartOr Routing::fresh_by_ranking(const RoutePart& before) {
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
  return finish(*std::move(routes), before.engine, RoutePart::Origin::fresh, nullptr, before.ranking);
}

/// Tables of a file.
RoutePartOr Routing::given(const GivenTables& tables) {
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
routing::Verification Routing::verify(const routing::Routes& routes, const RoutePart* before) const {
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
RoutePartOr Routing::finish(routing::Routes&& routes, std::string engine, RoutePart::Origin origin,
                            const RoutePart* before, RankingPtr ranking) {
  times_.route_ms += lap_();
  auto found = verify(routes, before);
  times_.verify_ms += lap_();
  if (in_.stop.stop_requested()) return std::unexpected(routing::RouteError{});
  if (!usable(found)) {
    not_repaired_ = routing::describe(found, *base_.topology);
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

/// Null where repair cannot do it, or what it did is not proven. `before`, if given: the proven tables that
/// `old` are. `ranking`: null for that of the reference.
RoutePartOr Routing::repair(std::span<const routing::OldRow> old, const std::string& engine,
                            const RoutePart* before, const RankingPtr& ranking) {
  const auto* info = routing::find_engine(engine);
  if (info == nullptr) return nullptr;
  const auto options = this->options();
  std::optional<routing::Before> known;
  if (before != nullptr) known.emplace(*before->topology, *before->lid_map);
  auto repaired =
      routing::repair_routes({.context = {*base_.topology, *base_.lid_map, in_.parallel, in_.stop},
                              .old = old,
                              .reference = *base_.reference,
                              .engine = *info,
                              .options = options,
                              .ranking = ranking.get(),
                              .before = known ? &*known : nullptr});
  if (in_.stop.stop_requested()) return std::unexpected(routing::RouteError{});
  if (!repaired) {
    not_repaired_ = routing::to_string(repaired.error());
    return nullptr;
  }
  settle_orphans(repaired->routes);
  return finish(std::move(repaired->routes), engine, RoutePart::Origin::repaired, before, ranking);
}

/// Null where some host finds no path in any layer.
RoutePartOr Routing::repair_layers(std::span<const routing::OldRow> old, const std::string& engine) {
  std::vector<std::shared_ptr<const routing::LftRow>> rows;
  for (routing::SwitchIndex s = 0; s < base_.topology->switches(); ++s) {
    const auto row = std::ranges::lower_bound(old, base_.topology->guid(s), {}, &routing::OldRow::guid);
    rows.push_back(row != old.end() && row->guid == base_.topology->guid(s) ? row->row : nullptr);
  }
  const auto* before = in_.previous != nullptr ? in_.previous->routes.get() : nullptr;
  const auto now = routing::layers_for(*base_.topology, layers_in_force(before, in_.stored));
  const auto home = routing::layers_for(
      *base_.topology, in_.stored.layers_home ? *in_.stored.layers_home : routing::GuidLayers{});
  auto repaired =
      routing::extend_layers({.context = {*base_.topology, *base_.lid_map, in_.parallel, in_.stop},
                              .old = rows,
                              .now = now,
                              .home = home,
                              .most_layers = base_.vls});
  if (in_.stop.stop_requested()) return std::unexpected(routing::RouteError{});
  if (!repaired) {
    not_repaired_ = routing::to_string(repaired.error());
    return nullptr;
  }
  settle_orphans(repaired->routes);
  return finish(std::move(repaired->routes), engine, RoutePart::Origin::repaired);
}

/// The ranking that the engine has of the fabric as it is; null: that of the reference.
RankingPtr Routing::ranking_of(const std::string& engine) const {
  const auto* info = routing::find_engine(engine);
  if (info == nullptr || info->ranking == nullptr || routing::covers(*base_.reference, *base_.topology))
    return nullptr;
  const auto ranking = info->ranking(*base_.topology, options(), in_.parallel);
  if (!ranking) return nullptr;
  return std::make_shared<const routing::GuidRanking>(routing::by_guid(*base_.topology, *ranking));
}

/// `ranking` (null: that of the reference) for the switches as they are.
std::optional<routing::SwitchRanking> Routing::ranking_now(const routing::EngineInfo& engine,
                                                           const RankingPtr& ranking) const {
  const auto options = this->options();
  return routing::repair_ranking({.context = {*base_.topology, *base_.lid_map, in_.parallel, in_.stop},
                                  .old = {},
                                  .reference = *base_.reference,
                                  .engine = engine,
                                  .options = options,
                                  .ranking = ranking.get()});
}

/// `ranking` (null: that of the reference) with few links turned, so that all hosts have legal paths again;
/// null where that is not possible.
RankingPtr Routing::reoriented(const std::string& engine, const RankingPtr& ranking) const {
  const auto* info = routing::find_engine(engine);
  if (info == nullptr) return nullptr;
  const auto now = ranking_now(*info, ranking);
  if (!now) return nullptr;
  const auto turned = routing::reorient(*base_.topology, *now, in_.stop);
  if (!turned) return nullptr;
  return std::make_shared<const routing::GuidRanking>(
      routing::by_guid(*base_.topology, *turned, ranking.get()));
}

/// By the ranking of the tables before, or with few links turned; null where neither serves. By the engine's
/// ranking of the reference some hosts have no legal path.
RoutePartOr Routing::repair_otherwise(std::span<const routing::OldRow> old, const std::string& engine,
                                      const RoutePart& before, bool follows) {
  if (before.ranking) {
    auto part = repair(old, engine, follows ? &before : nullptr, before.ranking);
    if (!part || *part) return part;
  }
  if (const auto ranking = reoriented(engine, before.ranking)) return repair(old, engine, nullptr, ranking);
  return nullptr;
}

/// Null where hosts would be left without a way, or it is not proven.
RoutePartOr Routing::extend(const RoutePart& before) {
  std::vector<std::shared_ptr<const routing::LftRow>> rows;
  for (routing::SwitchIndex s = 0; s < base_.topology->switches(); ++s) {
    const auto guid = base_.topology->guid(s);
    const auto* node = in_.subnet.find(guid);
    const auto* decided = before.find(guid);
    const bool whole = node != nullptr && node->lft.row && node->switch_info->linear_fdb_top != 0 &&
                       node->lft.known.count() * routing::kLftBlock >= node->lft.row->size();
    rows.push_back(whole ? node->lft.row : decided != nullptr ? *decided : nullptr);
  }
  auto extended = routing::extend({.context = {*base_.topology, *base_.lid_map, in_.parallel, in_.stop},
                                   .old = rows,
                                   .layers = before.layers});
  if (in_.stop.stop_requested()) return std::unexpected(routing::RouteError{});
  if (!extended) return nullptr;
  settle_orphans(extended->routes);
  return finish(std::move(extended->routes), before.engine, RoutePart::Origin::repaired, nullptr,
                before.ranking);
}

/// LIDs without a port now keep the entries that switches hold, or lose them: such an entry never changes to
/// another port, so that no order of writes can make their packets go round.
void Routing::settle_orphans(routing::Routes& routes) const {
  const auto& topology = *base_.topology;
  std::size_t longest = 0;
  for (const auto& row : routes.rows) longest = std::max(longest, row ? row->size() : 0);
  std::vector<Lid> nobodys;
  for (std::size_t lid = 1; lid < longest; ++lid) {
    const Lid at{static_cast<std::uint16_t>(lid)};
    if (base_.lid_map->destination(at).sw == routing::kNoSwitch) nobodys.push_back(at);
  }
  in_.parallel.for_each(topology.switches(), [&](std::size_t s) {
    const auto* node = in_.subnet.find(topology.guid(static_cast<routing::SwitchIndex>(s)));
    auto& row = routes.rows[s];
    const bool untouched = node != nullptr && row == node->lft.row &&
                           node->lft.known.count() * routing::kLftBlock >= row->size();
    if (!row || untouched) return;
    std::shared_ptr<routing::LftRow> edited;
    for (const auto at : nobodys) {
      if (routing::entry(row.get(), at) == routing::kNoRoute) continue;
      const bool known = node != nullptr && node->lft.known.test(at.value() / routing::kLftBlock);
      if (known && routing::entry(node->lft.row.get(), at) == (*row)[at.value()]) continue;
      if (!edited) edited = std::make_shared<routing::LftRow>(*row);
      (*edited)[at.value()] = routing::kNoRoute;
    }
    if (edited) row = std::move(edited);
  });
}

/// What the switches hold, where enough of them hold anything to build on.
std::vector<routing::OldRow> Routing::held_tables() const {
  std::vector<routing::OldRow> held;
  std::size_t with_tables = 0;
  for (const auto& node : in_.subnet.nodes) {
    if (!node->is_switch() || base_.topology->find(node->guid()) == routing::kNoSwitch) continue;
    const bool whole = node->lft.row && node->switch_info && node->switch_info->linear_fdb_top != 0 &&
                       node->lft.known.count() * routing::kLftBlock >= node->lft.row->size();
    with_tables += whole ? 1U : 0U;
    held.push_back({node->guid(), whole ? node->lft.row : nullptr});
  }
  if (2 * with_tables < held.size()) held.clear();
  return held;
}

/// Switches that were not there when the tables were decided (silent for a while, say) and have tables keep
/// what is valid of them. True where there is one.
bool Routing::add_returned(std::vector<routing::OldRow>& old, const RoutePart& before) const {
  const auto known = old.size();
  for (auto& held : held_tables()) {
    if (held.row && before.find(held.guid) == nullptr) old.push_back(std::move(held));
  }
  std::ranges::sort(old, {}, &routing::OldRow::guid);
  return old.size() != known;
}

/// Tables of another SM, or of ourselves before a restart.
RoutePartOr Routing::adopt(std::vector<routing::OldRow> held) {
  auto fresh_part = fresh();
  if (!fresh_part) return fresh_part;
  const auto& rows = (*fresh_part)->rows;
  const auto same = [&](const routing::OldRow& old) {
    const auto* row = (*fresh_part)->find(old.guid);
    if (row == nullptr || !old.row) return false;
    const auto size = std::max(old.row->size(), (*row)->size());
    for (std::size_t lid = 0; lid < size; ++lid) {
      const Lid at{static_cast<std::uint16_t>(lid)};
      if (routing::entry(old.row.get(), at) != routing::entry(row->get(), at)) return false;
    }
    return true;
  };
  const bool all_same = held.size() == rows.size() && std::ranges::all_of(held, same);
  if (all_same || (*fresh_part)->layers.vls.by_port()) return fresh_part;
  // Tables longer than ours stay as long: there may be ports that we do not see.
  Lid top = base_.top;
  for (const auto& node : in_.subnet.nodes) {
    if (node->is_switch() && node->switch_info && node->lft.row)
      top =
          std::max(top, Lid{std::min<std::uint16_t>(node->switch_info->linear_fdb_top,
                                                    static_cast<std::uint16_t>(node->lft.row->size() - 1))});
  }
  std::swap(base_.top, top);
  RoutePartOr part = nullptr;
  if (in_.config.adopt.routes == config::AdoptRoutes::keep) {
    routing::Routes as_they_are;
    for (const auto& old : held) as_they_are.rows.push_back(long_enough(old.row, base_.top));
    as_they_are.layers = stored_layers(in_.stored, *base_.topology);
    part = finish(std::move(as_they_are), "adopted", RoutePart::Origin::adopted);
  }
  base_.roots = (*fresh_part)->roots;
  take_choice(**fresh_part);
  for (const auto& engine : engines_like(in_.config.routing, (*fresh_part)->engine)) {
    const auto* info = routing::find_engine(engine);
    const bool layered = info != nullptr && info->layered;
    if (part && !*part) part = layered ? repair_layers(held, engine) : repair(held, engine);
  }
  if (!part) return part;
  if (!*part) {
    std::swap(base_.top, top);
    return fresh_part;
  }
  auto adopted = std::make_shared<RoutePart>(**part);
  adopted->would_change = entries_differing(*adopted, **fresh_part);
  adopted->would_be = (*fresh_part)->engine;
  return adopted;
}

RoutePartOr Routing::decide() {
  if (in_.given != nullptr) return given(*in_.given);
  const auto* before = in_.previous != nullptr ? in_.previous->routes.get() : nullptr;
  if (in_.fresh == DecideInput::Fresh::same_ranking) {
    const bool none = before == nullptr || before->layers.count > 1;
    if (none || before->origin == RoutePart::Origin::adopted) return nullptr;
    base_.roots = before->roots;
    return fresh_by_ranking(*before);
  }
  if (in_.fresh != DecideInput::Fresh::no) return fresh();
  const bool instead = in_.instead != DecideInput::Instead::no;
  if (instead && (before == nullptr || !same_rules(before->config, in_.config.routing))) return nullptr;
  if (in_.adopting && in_.config.adopt.routes != config::AdoptRoutes::converge) {
    auto held = held_tables();
    of_another_ = true;
    if (!held.empty()) return adopt(std::move(held));
  } else if (before != nullptr && same_rules(before->config, in_.config.routing)) {
    std::vector<routing::OldRow> old;
    for (const auto& row : before->rows) old.push_back({row.node, row.row});
    const bool returned = add_returned(old, *before);
    of_another_ = before->verification.ok() && !before->verification.clean();
    base_.roots = before->roots;
    take_choice(*before);
    const bool adopted = before->origin == RoutePart::Origin::adopted;
    const auto engine = adopted ? engines_like(base_.config, before->would_be).front() : before->engine;
    base_.top = std::max(base_.top, before->origin == RoutePart::Origin::fresh ? base_.top : before->top);
    if (!before->layers.by_pair.empty()) {
      auto part = instead || before->layers.vls.by_port() ? RoutePartOr{nullptr} : repair_layers(old, engine);
      if (instead || !part || *part) return part;
      base_.not_repaired = std::move(not_repaired_);
      return fresh();
    }
    if (in_.instead == DecideInput::Instead::extend) return extend(*before);
    const bool follows = !returned && before->origin != RoutePart::Origin::adopted && before->topology &&
                         before->lid_map && before->reference && *before->reference == *base_.reference;
    const bool by_reference = !before->ranking;
    if (in_.instead == DecideInput::Instead::same_ranking) {
      if (by_reference) return nullptr;
      return repair(old, engine, follows ? before : nullptr, before->ranking);
    }
    if (follows && by_reference) {
      const auto part = repair(old, engine, before);
      if (!part || *part) return part;
    }
    auto part = repair(old, engine);
    if (part && !*part) part = repair_otherwise(old, engine, *before, follows);
    if (!part || *part) return part;
    base_.not_repaired = std::move(not_repaired_);
  }
  auto part = fresh();
  if (!part || before == nullptr) return part;
  auto ranked = std::make_shared<RoutePart>(**part);
  base_.roots = ranked->roots;
  ranked->ranking = ranking_of(ranked->engine);
  return ranked;
}

}  // namespace

RoutePartOr decide_routes(const DecideInput& in, const LidPart& lids, routing::TopologyInput input,
                          const LayerBudget& budget, DecideTimes& times) {
  auto part = Routing(in, lids, std::move(input), budget, times).decide();
  if (!part || !*part) return part;
  return with_layer_history(*part, in.previous != nullptr ? in.previous->routes.get() : nullptr, in.stored);
}

}  // namespace smd::sm::inline decisions
