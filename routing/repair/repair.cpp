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

namespace smd::routing::inline repair {
namespace {

/// Rows per piece of work; a piece reuses its scratch memory.
constexpr std::size_t kRowsAtOnce = 16;

using Rows = std::vector<std::shared_ptr<const LftRow>>;

Rows rows_by_index(const RepairInput& in) {
  Rows rows(in.context.topology.switches());
  for (SwitchIndex s = 0; s < rows.size(); ++s) {
    const auto at = std::ranges::lower_bound(in.old, in.context.topology.guid(s), {}, &OldRow::guid);
    if (at != in.old.end() && at->guid == in.context.topology.guid(s)) rows[s] = at->row;
  }
  return rows;
}

bool has_all(const Topology& widest, const Topology& topology) {
  for (SwitchIndex s = 0; s < topology.switches(); ++s) {
    if (widest.find(topology.guid(s)) == kNoSwitch) return false;
  }
  return true;
}

/// The ranking of the widest fabric, restricted to the switches of a part of it.
SwitchRanking restricted(const Topology& widest, const SwitchRanking& wide, const Topology& topology) {
  SwitchRanking ranking;
  ranking.tree = wide.tree;
  const std::size_t n = topology.switches();
  std::vector<std::uint32_t> wide_position;
  for (SwitchIndex s = 0; s < n; ++s) {
    const auto at = widest.find(topology.guid(s));
    ranking.rank.push_back(wide.rank[at]);
    wide_position.push_back(wide.position[at]);
  }
  ranking.position = positions_by(n, [&](SwitchIndex s) { return wide_position[s]; });
  return ranking;
}

struct Rankings {
  SwitchRanking now;
  std::optional<SwitchRanking> before;
};

/// Rankings by the reference with everything that exists now, or as they are given.
std::optional<Rankings> find_rankings(const RepairInput& in) {
  if (in.engine.ranking == nullptr) return std::nullopt;
  if (in.ranking != nullptr) {
    Rankings rankings{by_index(*in.ranking, in.context.topology), std::nullopt};
    if (in.before != nullptr && in.engine.follows_ranking)
      rankings.before = by_index(*in.ranking, in.before->topology);
    return rankings;
  }
  const auto reference = merge(in.reference, in.context.topology);
  std::optional<Topology> own;
  const auto* widest = in.before != nullptr ? &in.before->topology : nullptr;
  if (widest == nullptr || !covers(reference, *widest)) widest = &own.emplace(to_input(reference));
  const auto wide = in.engine.ranking(*widest, in.options, in.context.parallel);
  if (!wide) return std::nullopt;
  Rankings rankings{restricted(*widest, *wide, in.context.topology), std::nullopt};
  // Without a place for a switch that was replaced since then, all entries are looked at.
  if (in.before != nullptr && in.engine.follows_ranking && has_all(*widest, in.before->topology)) {
    rankings.before = own ? restricted(*widest, *wide, in.before->topology) : *wide;
  }
  return rankings;
}

Repaired collect(std::vector<RepairedRow>& repaired) {
  Repaired result;
  for (auto& [row, replaced, withdrawn, added] : repaired) {
    result.routes.rows.push_back(std::move(row));
    result.replaced += replaced;
    result.withdrawn += withdrawn;
    result.added += added;
  }
  return result;
}

/// Finds the broken entries of all rows first, so that costs are needed only towards their destinations.
template <class Cost>
std::optional<Repaired> replace_affected(const RepairInput& in, const SwitchRanking& ranking, const Rows& old,
                                         std::span<const LidRun> runs, const AffectedEntries& affected) {
  const auto& topology = in.context.topology;
  std::vector<std::vector<BrokenEntry>> broken(topology.switches());
  for_ranges(in.context.parallel, broken.size(), kRowsAtOnce, [&](std::size_t begin, std::size_t end) {
    if (in.context.stop.stop_requested()) return;
    AffectedEntries::Finder finder(affected);
    for (auto s = static_cast<SwitchIndex>(begin); s < end; ++s) {
      const auto found = finder.find(s, *old[s]);
      broken[s].assign(found.begin(), found.end());
    }
  });
  std::vector<std::uint32_t> columns(topology.switches(), Reach::kNone);
  std::vector<SwitchIndex> destinations;
  for (const auto& list : broken) {
    for (const auto& item : list) {
      auto& column = columns[item.destination];
      if (column != Reach::kNone) continue;
      column = static_cast<std::uint32_t>(destinations.size());
      destinations.push_back(item.destination);
    }
  }
  const Costs<Cost> costs(topology, &ranking, destinations, in.context.parallel);
  if (!costs.complete()) return std::nullopt;
  std::vector<RepairedRow> repaired(topology.switches());
  for_ranges(in.context.parallel, broken.size(), kRowsAtOnce, [&](std::size_t begin, std::size_t end) {
    if (in.context.stop.stop_requested()) return;
    AffectedEntries::Finder finder(affected);
    EntryRepairer<Cost> entry_repairer(topology, in.context.lids, costs, runs, columns);
    for (auto s = static_cast<SwitchIndex>(begin); s < end; ++s) {
      repaired[s].row = old[s];
      if (broken[s].empty()) continue;
      finder.begin(s);
      auto row = std::make_shared<LftRow>(*old[s]);
      entry_repairer.replace(
          s, broken[s], [&](SwitchIndex to) { return finder.legal(to); }, *row, repaired[s]);
      repaired[s].row = std::move(row);
    }
  });
  return collect(repaired);
}

/// Repairs only what the change affects. Nothing if `before` does not permit that.
std::optional<Repaired> repair_affected(const RepairInput& in, const Rankings& rankings, const Rows& old) {
  const bool whole = std::ranges::all_of(
      old, [&](const auto& row) { return row != nullptr && row->size() == in.context.lids.row_size(); });
  if (!rankings.before || !whole) return std::nullopt;
  const auto runs = number_lids(in.context.topology, in.context.lids, in.context.topology.leaves());
  const AffectedEntries affected({in.before->topology, in.before->lids, *rankings.before},
                                 {in.context.topology, in.context.lids, rankings.now}, runs,
                                 in.context.parallel);
  if (!affected.hosts_connected()) return std::nullopt;
  auto result = replace_affected<std::uint8_t>(in, rankings.now, old, runs, affected);
  if (!result) result = replace_affected<std::uint16_t>(in, rankings.now, old, runs, affected);
  return result;
}

/// Nothing if paths are too long for the cost type.
template <class Cost>
std::optional<std::expected<Repaired, RouteError>> repair_all(const RepairInput& in,
                                                              const SwitchRanking& ranking, const Rows& old) {
  const auto& topology = in.context.topology;
  std::vector<SwitchIndex> all(topology.switches());
  std::iota(all.begin(), all.end(), SwitchIndex{0});
  const Costs<Cost> costs(topology, &ranking, all, in.context.parallel);
  if (!costs.complete()) return std::nullopt;
  if (auto error = cut_off(topology, costs, all)) return std::unexpected(*std::move(error));
  const auto runs = number_lids(topology, in.context.lids, topology.leaves());
  const auto equivalents = find_equivalent_switches(topology, ranking);
  std::vector<RepairedRow> repaired(topology.switches());
  for_ranges(in.context.parallel, repaired.size(), kRowsAtOnce, [&](std::size_t begin, std::size_t end) {
    if (in.context.stop.stop_requested()) return;
    RowRepairer<Cost> row_repairer(topology, in.context.lids, ranking, costs, runs, equivalents);
    for (auto s = static_cast<SwitchIndex>(begin); s < end; ++s) repaired[s] = row_repairer.repair(s, old[s]);
  });
  if (in.context.stop.stop_requested()) return std::unexpected(RouteError{});
  return collect(repaired);
}

}  // namespace

std::optional<SwitchRanking> repair_ranking(const RepairInput& in) {
  auto rankings = find_rankings(in);
  if (!rankings) return std::nullopt;
  return std::move(rankings->now);
}

// The ranking is that of the reference with everything that exists now. Entries of unassigned LIDs are kept
// unless they loop.
std::expected<Repaired, RouteError> repair_routes(const RepairInput& in) {
  const auto old = rows_by_index(in);
  const auto rankings = find_rankings(in);
  if (rankings) {
    auto result = repair_affected(in, *rankings, old);
    if (in.context.stop.stop_requested()) return std::unexpected(RouteError{});
    if (result) {
      drop_looping_stale_lids(in.context, *result);
      return *std::move(result);
    }
  }
  auto result =
      rankings ? repair_all<std::uint8_t>(in, rankings->now, old) : repair_unordered(in.context, old);
  if (!result && rankings) result = repair_all<std::uint16_t>(in, rankings->now, old);
  if (!result) return std::unexpected(RouteError{});
  if (*result) drop_looping_stale_lids(in.context, **result);
  return *std::move(result);
}

}  // namespace smd::routing::inline repair
