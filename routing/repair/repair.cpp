// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/repair.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "routing/engines/tree.h"
#include "routing/ranking/equivalent_by_ranking.h"
#include "routing/ranking/positions.h"
#include "routing/repair/affected_entries.h"
#include "routing/repair/repair_row.h"
#include "routing/repair/repair_unordered.h"
#include "routing/repair/stale_lids.h"

namespace smd::routing {
namespace {

/// Rows that one piece of work goes through with the same scratch memory.
constexpr std::size_t kRowsAtOnce = 16;

using Rows = std::vector<std::shared_ptr<const LftRow>>;

Rows rows_by_index(const RepairInput& in) {
  Rows rows(in.topology.switches());
  for (SwitchIndex s = 0; s < rows.size(); ++s) {
    const auto at = std::ranges::lower_bound(in.old, in.topology.guid(s), {}, &OldRow::guid);
    if (at != in.old.end() && at->guid == in.topology.guid(s)) rows[s] = at->row;
  }
  return rows;
}

/// The order of the widest fabric, for the switches of one of which that holds all.
Order restricted(const Topology& widest, const Order& wide, const Topology& topology) {
  Order order;
  order.tree = wide.tree;
  const std::size_t n = topology.switches();
  std::vector<std::uint32_t> wide_position;
  for (SwitchIndex s = 0; s < n; ++s) {
    const auto at = widest.find(topology.guid(s));
    order.rank.push_back(wide.rank[at]);
    wide_position.push_back(wide.position[at]);
  }
  order.position = positions_by(n, [&](SwitchIndex s) { return wide_position[s]; });
  return order;
}

struct Orders {
  Order now;
  std::optional<Order> before;
};

/// By the reference with all that is there now.
std::optional<Orders> find_orders(const RepairInput& in) {
  if (in.engine.order == nullptr) return std::nullopt;
  const auto reference = widened(in.reference, in.topology);
  std::optional<Topology> own;
  const auto* widest = in.before != nullptr ? &in.before->topology : nullptr;
  if (widest == nullptr || !remembers(reference, *widest)) widest = &own.emplace(to_input(reference));
  const auto wide = in.engine.order(*widest, in.options, in.parallel);
  if (!wide) return std::nullopt;
  Orders orders{restricted(*widest, *wide, in.topology), std::nullopt};
  if (in.before != nullptr && in.engine.keeps_order) {
    orders.before = own ? restricted(*widest, *wide, in.before->topology) : *wide;
  }
  return orders;
}

Repaired collect(std::vector<Mended>& mended) {
  Repaired result;
  for (auto& [row, replaced, withdrawn, added] : mended) {
    result.routes.rows.push_back(std::move(row));
    result.replaced += replaced;
    result.withdrawn += withdrawn;
    result.added += added;
  }
  return result;
}

/// What is wrong in each row, first; costs are needed only towards what that leads to.
template <class Cost>
std::optional<Repaired> replace_touched(const RepairInput& in, const Order& order, const Rows& old,
                                        std::span<const Run> runs, const Touched& touched) {
  const auto& topology = in.topology;
  std::vector<std::vector<Wrong>> wrong(topology.switches());
  for_ranges(in.parallel, wrong.size(), kRowsAtOnce, [&](std::size_t begin, std::size_t end) {
    if (in.stop.stop_requested()) return;
    Touched::Finder finder(touched);
    for (auto s = static_cast<SwitchIndex>(begin); s < end; ++s) {
      const auto found = finder.find(s, *old[s]);
      wrong[s].assign(found.begin(), found.end());
    }
  });
  std::vector<std::uint32_t> columns(topology.switches(), Reach::kNone);
  std::vector<SwitchIndex> destinations;
  for (const auto& list : wrong) {
    for (const auto& item : list) {
      auto& column = columns[item.destination];
      if (column != Reach::kNone) continue;
      column = static_cast<std::uint32_t>(destinations.size());
      destinations.push_back(item.destination);
    }
  }
  const Costs<Cost> costs(topology, &order, destinations, in.parallel);
  if (!costs.complete()) return std::nullopt;
  std::vector<Mended> mended(topology.switches());
  for_ranges(in.parallel, wrong.size(), kRowsAtOnce, [&](std::size_t begin, std::size_t end) {
    if (in.stop.stop_requested()) return;
    Touched::Finder finder(touched);
    Replacer<Cost> replacer(topology, in.lids, costs, runs, columns);
    for (auto s = static_cast<SwitchIndex>(begin); s < end; ++s) {
      mended[s].row = old[s];
      if (wrong[s].empty()) continue;
      finder.begin(s);
      auto row = std::make_shared<LftRow>(*old[s]);
      replacer.replace(s, wrong[s], [&](SwitchIndex to) { return finder.legal(to); }, *row, mended[s]);
      mended[s].row = std::move(row);
    }
  });
  return collect(mended);
}

/// Only what the change has touched. Nothing where that says too little.
std::optional<Repaired> mend_touched(const RepairInput& in, const Orders& orders, const Rows& old) {
  const bool whole = std::ranges::all_of(
      old, [&](const auto& row) { return row != nullptr && row->size() == in.lids.row_size(); });
  if (!orders.before || !whole) return std::nullopt;
  const auto runs = number_lids(in.topology, in.lids, in.topology.leaves());
  const Touched touched({in.before->topology, in.before->lids, *orders.before},
                        {in.topology, in.lids, orders.now}, runs, in.parallel);
  if (!touched.hosts_connected()) return std::nullopt;
  auto result = replace_touched<std::uint8_t>(in, orders.now, old, runs, touched);
  if (!result) result = replace_touched<std::uint16_t>(in, orders.now, old, runs, touched);
  return result;
}

/// Nothing where paths are too long for the costs.
template <class Cost>
std::optional<std::expected<Repaired, RouteError>> mend_all(const RepairInput& in, const Order& order,
                                                            const Rows& old) {
  const auto& topology = in.topology;
  std::vector<SwitchIndex> all(topology.switches());
  std::iota(all.begin(), all.end(), SwitchIndex{0});
  const Costs<Cost> costs(topology, &order, all, in.parallel);
  if (!costs.complete()) return std::nullopt;
  if (auto error = cut_off(topology, costs, all)) return std::unexpected(*std::move(error));
  const auto runs = number_lids(topology, in.lids, topology.leaves());
  const auto twins = find_twins(topology, order);
  std::vector<Mended> mended(topology.switches());
  for_ranges(in.parallel, mended.size(), kRowsAtOnce, [&](std::size_t begin, std::size_t end) {
    if (in.stop.stop_requested()) return;
    Mender<Cost> mender(topology, in.lids, order, costs, runs, twins);
    for (auto s = static_cast<SwitchIndex>(begin); s < end; ++s) mended[s] = mender.mend(s, old[s]);
  });
  if (in.stop.stop_requested()) return std::unexpected(RouteError{});
  return collect(mended);
}

}  // namespace

std::expected<Repaired, RouteError> repair(const RepairInput& in) {
  const auto old = rows_by_index(in);
  const auto orders = find_orders(in);
  if (orders) {
    auto result = mend_touched(in, *orders, old);
    if (in.stop.stop_requested()) return std::unexpected(RouteError{});
    if (result) {
      drop_circling_orphans(in.topology, in.lids, in.parallel, *result);
      return *std::move(result);
    }
  }
  auto result = orders ? mend_all<std::uint8_t>(in, orders->now, old)
                       : attach_all(in.topology, in.lids, old, in.parallel, in.stop);
  if (!result && orders) result = mend_all<std::uint16_t>(in, orders->now, old);
  if (!result) return std::unexpected(RouteError{});
  if (*result) drop_circling_orphans(in.topology, in.lids, in.parallel, **result);
  return *std::move(result);
}

}  // namespace smd::routing
