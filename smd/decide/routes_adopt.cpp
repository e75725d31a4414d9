// SPDX-License-Identifier: Apache-2.0
// Tables that switches hold: those of another SM, or of ourselves before a restart.
#include <algorithm>
#include <utility>

#include "routing/engines/engine.h"
#include "smd/decide/path_layers.h"
#include "smd/decide/route_chain.h"
#include "smd/decide/route_decision.h"

namespace smd::sm::inline decisions {

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

/// Tables of another SM, or of ourselves before a restart.
RoutePartOr RouteDecision::adopt(std::vector<routing::OldRow> held) {
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

}  // namespace smd::sm::inline decisions
