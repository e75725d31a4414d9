// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/edited_rows.h"

#include <algorithm>

#include "routing/repair/stale_lids.h"

namespace smd::routing::inline repair {

EditedRows::EditedRows(const RoutingContext& in, std::span<const std::shared_ptr<const LftRow>> old)
    : in_(in), old_(old) {
  for (const auto& row : old) {
    rows_.push_back(row ? std::make_shared<LftRow>(*row) : std::make_shared<LftRow>());
    rows_.back()->resize(std::max(rows_.back()->size(), in.lids.row_size()), kNoRoute);
  }
}

void EditedRows::trace(Lid lid, std::vector<bool>& arrives) const {
  const auto to = in_.lids.destination(lid).sw;
  enum class Seen : std::uint8_t { no, now, before };
  std::vector<Seen> seen(rows_.size(), Seen::no);
  arrives.assign(rows_.size(), false);
  arrives[to] = true;
  seen[to] = Seen::before;
  std::vector<SwitchIndex> path;
  for (SwitchIndex start = 0; start < rows_.size(); ++start) {
    path.clear();
    auto s = start;
    while (s != kNoSwitch && seen[s] == Seen::no) {
      seen[s] = Seen::now;
      path.push_back(s);
      s = in_.topology.peer(s, PortNum{at(s, lid)}).sw;
    }
    const bool there = s != kNoSwitch && arrives[s];
    for (const auto passed : path) {
      seen[passed] = Seen::before;
      arrives[passed] = there;
    }
  }
}

SwitchIndex EditedRows::lacking(const Destination& to, const std::vector<bool>& arrives) const {
  if (to.end == kNoEnd) return kNoSwitch;
  const auto& topology = in_.topology;
  for (SwitchIndex s = 0; s < rows_.size(); ++s) {
    if (arrives[s] || topology.component(s) != topology.component(to.sw)) continue;
    if (route_need(topology, s, to.end) == RouteNeed::required) return s;
  }
  return kNoSwitch;
}

Repaired EditedRows::finish(const Layers& layers) {
  Repaired result;
  result.routes.layers = layers;
  for (std::size_t s = 0; s < rows_.size(); ++s) {
    const auto& old = old_[s];
    for (std::size_t value = 0; value < rows_[s]->size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      const auto was = entry(old.get(), lid), is = (*rows_[s])[value];
      if (was == is) continue;
      ++(is == kNoRoute ? result.withdrawn : was == kNoRoute ? result.added : result.replaced);
    }
    const bool same = old && *old == *rows_[s];
    result.routes.rows.push_back(same ? old : std::shared_ptr<const LftRow>(rows_[s]));
  }
  drop_looping_stale_lids(in_, result);
  return result;
}

}  // namespace smd::routing::inline repair
