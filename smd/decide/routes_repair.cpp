// SPDX-License-Identifier: Apache-2.0
// Tables that were there before, mended where the fabric has changed.
#include <algorithm>
#include <utility>

#include "routing/ranking/reorient.h"
#include "routing/repair/extend.h"
#include "routing/repair/extend_layers.h"
#include "smd/decide/followed_lids.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/route_decision.h"
#include "smd/decide/tree_room.h"

namespace smd::sm::inline decisions {
namespace {

/// Forwarding tables of which some paths are taken out.
class WithdrawnRows {
 public:
  using Rows = std::vector<std::shared_ptr<const routing::LftRow>>;
  WithdrawnRows(Rows rows, const routing::LidMap& lids)
      : rows_(std::move(rows)), edited_(rows_.size()), lids_(rows_.size()) {
    for (std::size_t value = 1; value < lids.row_size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      if (const auto to = lids.destination(lid); to.sw != routing::kNoSwitch) lids_[to.sw].push_back(lid);
    }
  }
  /// The entries of `from` for all LIDs at `to`.
  void withdraw(routing::SwitchIndex from, routing::SwitchIndex to) {
    if (!rows_[from]) return;
    if (!edited_[from]) rows_[from] = edited_[from] = std::make_shared<routing::LftRow>(*rows_[from]);
    for (const auto lid : lids_[to]) {
      if (lid.value() < edited_[from]->size()) (*edited_[from])[lid.value()] = routing::kNoRoute;
    }
  }
  const Rows& rows() const { return rows_; }

 private:
  Rows rows_;
  std::vector<std::shared_ptr<routing::LftRow>> edited_;  ///< those of rows_ that are copies
  std::vector<std::vector<Lid>> lids_;                    ///< by switch
};

}  // namespace

/// Null where repair cannot do it, or what it did is not proven. `before`, if given: the proven tables that
/// `old` are. `ranking`: null for that of the reference.
RoutePartOr RouteDecision::repair(std::span<const routing::OldRow> old, const std::string& engine,
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
  auto part = finish(std::move(repaired->routes), engine, RoutePart::Origin::repaired, before, ranking);
  if (!part || !*part || info->ranking != nullptr) return part;
  return with_room(old, engine, *std::move(part));
}

/// `part`, a repair that takes what ways there are; where multicast trees were proven beside the paths before
/// and are not beside these, one whose ways leave room, if there is such.
RoutePartOr RouteDecision::with_room(std::span<const routing::OldRow> old, const std::string& engine,
                                     std::shared_ptr<const RoutePart> part) {
  const auto waits =
      waits_of_trees(in_.previous != nullptr ? in_.previous->multicast.get() : nullptr, *base_.topology);
  if (waits.empty() || part->layers.count != 1 || leaves_room(*part, in_.parallel, in_.stop)) return part;
  const auto rows = by_switch(old);
  const routing::PairLayers one(base_.topology->switches(), 0);
  auto made = routing::extend_layers({.context = {*base_.topology, *base_.lid_map, in_.parallel, in_.stop},
                                      .old = rows,
                                      .now = one,
                                      .home = one,
                                      .most_layers = 1,
                                      .reserved = waits});
  if (in_.stop.stop_requested()) return std::unexpected(routing::RouteError{});
  if (!made) return part;
  made->routes.layers = {};
  settle_orphans(made->routes);
  auto roomy = finish(std::move(made->routes), engine, RoutePart::Origin::repaired);
  if (!roomy) return roomy;
  not_repaired_.clear();
  return *roomy && leaves_room(**roomy, in_.parallel, in_.stop) ? roomy : part;
}

/// In the order of the topology's switches; null for those that have none.
std::vector<std::shared_ptr<const routing::LftRow>> RouteDecision::by_switch(
    std::span<const routing::OldRow> old) const {
  std::vector<std::shared_ptr<const routing::LftRow>> rows;
  for (routing::SwitchIndex s = 0; s < base_.topology->switches(); ++s) {
    const auto row = std::ranges::lower_bound(old, base_.topology->guid(s), {}, &routing::OldRow::guid);
    rows.push_back(row != old.end() && row->guid == base_.topology->guid(s) ? row->row : nullptr);
  }
  return rows;
}

/// Null where some host finds no path in any layer.
RoutePartOr RouteDecision::repair_layers(std::span<const routing::OldRow> old, const std::string& engine) {
  const auto rows = by_switch(old);
  const auto* before = in_.previous != nullptr ? in_.previous->routes.get() : nullptr;
  auto now = routing::layers_for(*base_.topology, layers_in_force(before, in_.stored));
  auto home = routing::layers_for(*base_.topology,
                                  in_.stored.layers_home ? *in_.stored.layers_home : routing::GuidLayers{});
  if (sls_of_file_ && !sls_of_file_->layers.by_pair.empty()) now = home = sls_of_file_->layers.by_pair;
  auto part = extend_in_layers(rows, engine, now, home);
  const auto moved = [&](const RoutePart& one) {
    return routing::pairs_differing(base_.topology->switches(), one.layers.by_pair, now);
  };
  if (!part || (*part && moved(**part) == 0)) return part;
  // More LIDs of a port, by other paths, need more room in the layers than there may be.
  const auto followed = with_followed_lids(rows, *base_.topology, *base_.lid_map, in_.stored);
  if (followed.empty()) return part;
  auto reason = std::exchange(not_repaired_, {});
  auto other = extend_in_layers(followed, engine, now, home);
  if (!other || (*other && (!*part || moved(**other) < moved(**part)))) return other;
  not_repaired_ = std::move(reason);
  return part;
}

RoutePartOr RouteDecision::extend_in_layers(std::span<const std::shared_ptr<const routing::LftRow>> rows,
                                            const std::string& engine, const routing::PairLayers& now,
                                            const routing::PairLayers& home) {
  auto extended =
      routing::extend_layers({.context = {*base_.topology, *base_.lid_map, in_.parallel, in_.stop},
                              .old = rows,
                              .now = now,
                              .home = home,
                              .most_layers = base_.vls});
  if (in_.stop.stop_requested()) return std::unexpected(routing::RouteError{});
  if (!extended) {
    not_repaired_ = routing::to_string(extended.error());
    return nullptr;
  }
  settle_orphans(extended->routes);
  return finish(std::move(extended->routes), engine, RoutePart::Origin::repaired);
}

/// Paths of pairs of switches that have another layer than at first are made anew in that one, where they fit
/// there. Null where that brings no pair back, or would move one that has its own.
RoutePartOr RouteDecision::return_pairs(std::span<const routing::OldRow> old, const std::string& engine,
                                        const RoutePart& before) {
  if (before.layers.by_pair.empty() || before.layers.vls.by_port() || !in_.stored.layers_home) return nullptr;
  const auto& topology = *base_.topology;
  const auto home = routing::layers_for(topology, *in_.stored.layers_home);
  const auto was = routing::layers_for(topology, layers_in_force(&before, in_.stored));
  WithdrawnRows rows(by_switch(old), *base_.lid_map);
  auto now = was;
  for (routing::SwitchIndex a = 0; a < topology.switches(); ++a) {
    for (routing::SwitchIndex b = 0; b < a; ++b) {
      const auto first = home.at(a, b), present = was.at(a, b);
      if (first == present || first >= base_.vls || present == routing::kNoLayer) continue;
      now.set(a, b, first);
      rows.withdraw(a, b);
      rows.withdraw(b, a);
    }
  }
  auto made = routing::extend_layers({.context = {*base_.topology, *base_.lid_map, in_.parallel, in_.stop},
                                      .old = rows.rows(),
                                      .now = now,
                                      .home = home,
                                      .most_layers = base_.vls});
  if (in_.stop.stop_requested()) return std::unexpected(routing::RouteError{});
  if (!made || made->routes.layers.by_pair.empty()) return nullptr;
  bool any = false;
  for (routing::SwitchIndex a = 0; a < topology.switches(); ++a) {
    for (routing::SwitchIndex b = 0; b < a; ++b) {
      const auto layer = made->routes.layers.by_pair.at(a, b), present = was.at(a, b);
      if (layer != present && present != routing::kNoLayer && layer != now.at(a, b)) return nullptr;
      any = any || (layer != present && present != routing::kNoLayer);
    }
  }
  if (!any) return nullptr;
  settle_orphans(made->routes);
  return finish(std::move(made->routes), engine, RoutePart::Origin::repaired);
}

/// The ranking that the engine has of the fabric as it is; null: that of the reference.
RankingPtr RouteDecision::ranking_of(const std::string& engine) const {
  const auto* info = routing::find_engine(engine);
  if (info == nullptr || info->ranking == nullptr || routing::covers(*base_.reference, *base_.topology))
    return nullptr;
  const auto ranking = info->ranking(*base_.topology, options(), in_.parallel);
  if (!ranking) return nullptr;
  return std::make_shared<const routing::GuidRanking>(routing::by_guid(*base_.topology, *ranking));
}

/// `ranking` (null: that of the reference) for the switches as they are.
std::optional<routing::SwitchRanking> RouteDecision::ranking_now(const routing::EngineInfo& engine,
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
RankingPtr RouteDecision::reoriented(const std::string& engine, const RankingPtr& ranking) const {
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
RoutePartOr RouteDecision::repair_otherwise(std::span<const routing::OldRow> old, const std::string& engine,
                                            const RoutePart& before, bool follows) {
  if (before.ranking) {
    auto part = repair(old, engine, follows ? &before : nullptr, before.ranking);
    if (!part || *part) return part;
  }
  if (const auto ranking = reoriented(engine, before.ranking)) return repair(old, engine, nullptr, ranking);
  return nullptr;
}

/// Null where hosts would be left without a way, or it is not proven.
RoutePartOr RouteDecision::extend(const RoutePart& before) {
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
void RouteDecision::settle_orphans(routing::Routes& routes) const {
  const auto& topology = *base_.topology;
  std::size_t longest = 0;
  for (const auto& row : routes.rows) longest = std::max(longest, row ? row->size() : 0);
  std::vector<Lid> unassigned;
  for (std::size_t lid = 1; lid < longest; ++lid) {
    const Lid at{static_cast<std::uint16_t>(lid)};
    if (base_.lid_map->destination(at).sw == routing::kNoSwitch) unassigned.push_back(at);
  }
  in_.parallel.for_each(topology.switches(), [&](std::size_t s) {
    const auto* node = in_.subnet.find(topology.guid(static_cast<routing::SwitchIndex>(s)));
    auto& row = routes.rows[s];
    const bool untouched = node != nullptr && row == node->lft.row &&
                           node->lft.known.count() * routing::kLftBlock >= row->size();
    if (!row || untouched) return;
    std::shared_ptr<routing::LftRow> edited;
    for (const auto at : unassigned) {
      if (routing::entry(row.get(), at) == routing::kNoRoute) continue;
      const bool known = node != nullptr && node->lft.known.test(at.value() / routing::kLftBlock);
      if (known && routing::entry(node->lft.row.get(), at) == (*row)[at.value()]) continue;
      if (!edited) edited = std::make_shared<routing::LftRow>(*row);
      (*edited)[at.value()] = routing::kNoRoute;
    }
    if (edited) row = std::move(edited);
  });
}

}  // namespace smd::sm::inline decisions
