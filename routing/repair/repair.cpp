// SPDX-License-Identifier: Apache-2.0
#include "routing/repair/repair.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "routing/engines/tree.h"
#include "routing/repair/attach.h"
#include "routing/repair/mend.h"
#include "routing/repair/orphans.h"
#include "routing/topology/twins.h"

namespace smd::routing {
namespace {

/// Rows that one piece of work goes through with the same scratch memory.
constexpr std::size_t kGrain = 16;

using Rows = std::vector<std::shared_ptr<const LftRow>>;

Rows rows_by_index(const RepairInput& in) {
  Rows rows(in.topology.switches());
  for (SwitchIndex s = 0; s < rows.size(); ++s) {
    const auto at = std::ranges::lower_bound(in.old, in.topology.guid(s), {}, &OldRow::guid);
    if (at != in.old.end() && at->guid == in.topology.guid(s)) rows[s] = at->row;
  }
  return rows;
}

/// The order of the reference, for the switches that are there.
std::optional<Order> order_now(const RepairInput& in) {
  if (in.engine.order == nullptr) return std::nullopt;
  const Topology widest(to_input(widened(in.reference, in.topology)));
  const auto wide = in.engine.order(widest, in.options, in.parallel);
  if (!wide) return std::nullopt;
  Order order;
  order.tree = wide->tree;
  const std::size_t n = in.topology.switches();
  for (SwitchIndex s = 0; s < n; ++s) order.rank.push_back(wide->rank[widest.find(in.topology.guid(s))]);
  std::vector<SwitchIndex> sorted(n);
  std::iota(sorted.begin(), sorted.end(), SwitchIndex{0});
  std::ranges::sort(sorted, {}, [&](SwitchIndex s) { return std::pair(order.rank[s], s); });
  order.position.resize(n);
  for (std::uint32_t i = 0; i < n; ++i) order.position[sorted[i]] = i;
  return order;
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
  for_ranges(in.parallel, mended.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    if (in.stop.stop_requested()) return;
    Mender<Cost> mender(topology, in.lids, order, costs, runs, twins);
    for (auto s = static_cast<SwitchIndex>(begin); s < end; ++s) mended[s] = mender.mend(s, old[s]);
  });
  if (in.stop.stop_requested()) return std::unexpected(RouteError{});
  Repaired result;
  for (auto& [row, replaced, withdrawn, added] : mended) {
    result.routes.rows.push_back(std::move(row));
    result.replaced += replaced;
    result.withdrawn += withdrawn;
    result.added += added;
  }
  return result;
}

}  // namespace

std::expected<Repaired, RouteError> repair(const RepairInput& in) {
  const auto old = rows_by_index(in);
  const auto order = order_now(in);
  auto result = order ? mend_all<std::uint8_t>(in, *order, old)
                      : attach_all(in.topology, in.lids, old, in.parallel, in.stop);
  if (!result && order) result = mend_all<std::uint16_t>(in, *order, old);
  if (!result) return std::unexpected(RouteError{});
  if (*result) drop_circling_orphans(in.topology, in.lids, in.parallel, **result);
  return *std::move(result);
}

}  // namespace smd::routing
