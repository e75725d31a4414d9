// SPDX-License-Identifier: Apache-2.0
// Tables that switches hold: those of another SM, or of ourselves before a restart.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "routing/engines/engine.h"
#include "routing/repair/guid_layers.h"
#include "smd/decide/adopted_layers.h"
#include "smd/decide/installed_engine.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/repaired_tables.h"
#include "smd/decide/route_chain.h"
#include "smd/decide/route_decision.h"

namespace smd::sm::inline decisions {
namespace {

/// Why our own tables of before do not stay.
constexpr const char* kNeedAsked =
    "they have several layers, and stay with [routing] path_sl = \"asked\" alone";

/// Tables longer than ours stay as long: there may be ports that we do not see. `top`: of ours.
Lid top_of_held(const Subnet& subnet, Lid top) {
  for (const auto& node : subnet.nodes) {
    if (!node->is_switch() || !node->switch_info || !node->lft.row) continue;
    const auto last = static_cast<std::uint16_t>(node->lft.row->size() - 1);
    top = std::max(top, Lid{std::min<std::uint16_t>(node->switch_info->linear_fdb_top, last)});
  }
  return top;
}

/// No pair has another layer than clients of the SM before us know.
bool has_first_layers(const RoutePart& part) {
  const auto* first = part.adopted_layers.get();
  return first == nullptr ||
         routing::pairs_differing(part.topology->switches(), *first, part.layers.by_pair) == 0;
}

}  // namespace

/// What the switches hold, where enough of them hold anything to build on.
std::vector<routing::OldRow> RouteDecision::held_tables() const {
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
bool RouteDecision::add_returned(std::vector<routing::OldRow>& old, const RoutePart& before) const {
  const auto known = old.size();
  for (auto& held : held_tables()) {
    if (held.row && before.find(held.guid) == nullptr) old.push_back(std::move(held));
  }
  std::ranges::sort(old, {}, &routing::OldRow::guid);
  return old.size() != known;
}

/// What is known of the SLs that clients have from another SM. Layers of our own that are stored say more.
void RouteDecision::take_sls_of_before() {
  const bool ours = in_.stored.layers_now || !in_.stored.engine.name.empty();
  if (ours || in_.config.routing.path_sl != config::PathSl::asked) return;
  const auto& file = in_.config.adopt.path_sl;
  auto found = adopted_layers(file ? *file : base::PathSlFile{}, *base_.topology, *base_.lid_map,
                              std::min(base_.vls, budget_.sls));
  if (file && found) sls_of_file_ = *found;
  if (sls_of_file_ && !sls_of_file_->layers.by_pair.empty())
    base_.adopted_layers = std::make_shared<const routing::PairLayers>(sls_of_file_->layers.by_pair);
  if (!found) not_repaired_ = found.error();
  AdoptedSls sls;
  if (found) sls = std::move(found->sls);
  if (!file) sls.sls.clear();
  base_.adopted_sls = std::make_shared<const AdoptedSls>(std::move(sls));
}

/// Null where verification refuses the tables as they are. `vls`: of the layers that are stored.
RoutePartOr RouteDecision::as_they_are(const std::vector<routing::OldRow>& held, const routing::VlMap& vls) {
  routing::Routes routes;
  for (const auto& old : held) routes.rows.push_back(long_enough(old.row, base_.top));
  routes.layers = sls_of_file_ ? sls_of_file_->layers : stored_layers(in_.stored, *base_.topology);
  if (!sls_of_file_ && !routes.layers.by_pair.empty()) routes.layers.vls = vls;
  if (!routes.layers.by_pair.empty() && in_.config.routing.path_sl == config::PathSl::fixed) {
    not_repaired_ = kNeedAsked;
    return nullptr;
  }
  if (sls_of_file_ && sls_of_file_->sls.otherwise != 0) {
    not_repaired_ = fault_on_adopted_sls(*in_.config.adopt.path_sl, *sls_of_file_,
                                         {*base_.topology, *base_.lid_map, in_.parallel, in_.stop}, routes);
    credit_loops_ = !not_repaired_.empty();
    if (credit_loops_) return nullptr;
  }
  return finish(std::move(routes), "adopted", RoutePart::Origin::adopted);
}

/// Fresh tables whose clients have the SLs of the file: these are the first ones of their pairs. As many as
/// possible keep them, the others are counted.
void RouteDecision::take_first_layers(RoutePart& part) const {
  part.adopted_layers = nullptr;
  if (!base_.adopted_sls) return;
  auto sls = *base_.adopted_sls;
  sls.sls.clear();
  const auto& file = in_.config.adopt.path_sl;
  if (file && !part.layers.by_pair.empty()) {
    const auto most = std::min(base_.vls, budget_.sls);
    routing::PairLayers first;
    if (part.layers.vls.by_port()) {
      first = sls_as_layers(*file, *base_.topology, *base_.lid_map, part.layers.count);
    } else {
      auto found = first_layers(*file, *base_.topology, *base_.lid_map, most);
      first = std::move(found.layers);
      sls.sls = std::move(found.sls);
    }
    const auto home = routing::merge({}, *base_.topology, first, routing::KeptLayer::now);
    keep_first_layers(home, {*base_.topology, *base_.lid_map, in_.parallel, in_.stop}, part);
    part.adopted_layers = std::make_shared<const routing::PairLayers>(std::move(first));
    part.sls_replaced = true;
  }
  part.adopted_sls = std::make_shared<const AdoptedSls>(std::move(sls));
}

/// Fresh tables in place of those of another SM. `refused`: those are others.
RoutePartOr RouteDecision::instead_of_held(const RoutePart& fresh_part, bool refused) const {
  auto part = std::make_shared<RoutePart>(fresh_part);
  take_first_layers(*part);
  auto reason = not_repaired_.empty() ? "they are not proven" : not_repaired_;
  if (not_repaired_.empty() && part->layers.vls.by_port())
    reason = fmt::format("{} uses tables of its own only", part->engine);
  const bool same = !refused && has_first_layers(*part);
  if (same) part->sls_replaced = false;
  if (in_.config.adopt.path_sl && base_.adopted_sls && !same)
    part->not_repaired = fmt::format("on the SLs of {}: {}", in_.config.adopt.path_sl_file, reason);
  const bool ours = in_.stored.layers_now || !in_.stored.engine.name.empty();
  if (refused && not_repaired_ == kNeedAsked) part->not_repaired = kNeedAsked;
  if (refused && !ours && part->not_repaired.empty())
    part->not_repaired =
        fmt::format("{}{}", reason,
                    in_.config.routing.path_sl == config::PathSl::fixed
                        ? "; tables of several layers stay with [routing] path_sl = \"asked\" alone"
                        : "");
  return part;
}

/// The configuration says that no tables are kept: clients have SLs from the SM before us all the same.
RoutePartOr RouteDecision::anew_for_clients() {
  auto part = fresh();
  if (!part || held_tables().empty()) return part;
  take_sls_of_before();
  auto noted = std::make_shared<RoutePart>(**part);
  take_first_layers(*noted);
  return noted;
}

/// The tables are our own, of one layer, and clients may have its SLs.
bool RouteDecision::one_layer_in_use() const {
  return !in_.stored.engine.name.empty() && !in_.stored.layers_now && has_active_end_port(in_.subnet);
}

/// As keeps_engine(), of tables of one layer that are ours from before a restart.
void RouteDecision::keep_stored_engine() {
  const auto& stored = in_.stored.engine;
  const auto& config = in_.config.routing;
  const bool asked = config.path_sl == config::PathSl::asked;
  if (stays_ || !asked || !one_layer_in_use() || !asks_for_others(config, stored)) return;
  if (routing::find_engine(stored.name) == nullptr) return;
  const auto part = fresh();
  if (!part || (*part)->layers.count == 1) return;
  if ((*part)->engine != stored.name) base_.engine_waits = (*part)->engine;
  stays_ = {stored.name, stored.roots};
  stays_in_one_layer_ = true;
}

/// Tables that we had repaired, or were writing, before a restart: they converge as they would have without
/// it.
RoutePartOr RouteDecision::repaired_again(const RoutePart& held, const RoutePart& fresh_part) {
  auto part = std::make_shared<RoutePart>(held);
  part->engine = fresh_part.engine;
  part->origin = RoutePart::Origin::repaired;
  part->roots = fresh_part.roots;
  part->by_load = fresh_part.by_load;
  part->shape = fresh_part.shape;
  part->why = fresh_part.why;
  part->left_engine = fresh_part.left_engine;
  return part;
}

/// Tables of another SM, or of ourselves before a restart.
RoutePartOr RouteDecision::adopt(std::vector<routing::OldRow> held) {
  auto fresh_part = fresh();
  if (!fresh_part) return fresh_part;
  take_sls_of_before();
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
  const bool same_rows = held.size() == rows.size() && std::ranges::all_of(held, same);
  // The VLs of such an engine are not those of the tables as they are: only its own are kept.
  const bool stand_in = stands_in(**fresh_part);
  const bool by_port = (*fresh_part)->layers.vls.by_port() && !stand_in && !one_layer_in_use();
  if (by_port || (same_rows && !sls_of_file_)) return instead_of_held(**fresh_part, !same_rows);
  const bool is_ours = are_ours(in_.stored.repaired_tables, base_, held);
  const bool is_repaired = is_ours && (*fresh_part)->engine == in_.stored.engine.name;
  auto top = top_of_held(in_.subnet, base_.top);
  std::swap(base_.top, top);
  const bool keeps = in_.config.adopt.routes == config::AdoptRoutes::keep;
  const bool too_many_sls = base_.adopted_sls && in_.config.adopt.path_sl && !sls_of_file_;
  const auto vls = stand_in ? (*fresh_part)->layers.vls : routing::VlMap{};
  RoutePartOr part = keeps && !too_many_sls ? as_they_are(held, vls) : RoutePartOr{nullptr};
  base_.roots = (*fresh_part)->roots;
  take_choice(**fresh_part);
  const auto refused = not_repaired_;
  // On SLs that are not proven, or that clients do not use, nothing is mended.
  const bool hopeless = too_many_sls || (sls_of_file_ && credit_loops_) || not_repaired_ == kNeedAsked;
  for (const auto& engine : engines_like(in_.config.routing, (*fresh_part)->engine)) {
    const auto* info = routing::find_engine(engine);
    const bool layered = info != nullptr && info->layered;
    if (part && !*part && !hopeless) part = layered ? repair_layers(held, engine) : repair(held, engine);
  }
  if (stand_in) part = standing_in(std::move(part));
  if (!part) return part;
  if (!*part) {
    std::swap(base_.top, top);
    if (!refused.empty()) not_repaired_ = refused;
    return instead_of_held(**fresh_part, true);
  }
  if (is_repaired) return repaired_again(**part, **fresh_part);
  auto adopted = std::make_shared<RoutePart>(**part);
  adopted->would_change = entries_differing(*adopted, **fresh_part);
  adopted->would_be = (*fresh_part)->engine;
  adopted->shape = base_.shape;
  adopted->left_engine = base_.left_engine;
  if (adopted->would_change != 0)
    adopted->why = fmt::format("{}{}tables that switches held are kept, those of {} would change {} entries",
                               adopted->shape, adopted->shape.empty() ? "" : ": ", adopted->would_be,
                               adopted->would_change);
  return adopted;
}

}  // namespace smd::sm::inline decisions
