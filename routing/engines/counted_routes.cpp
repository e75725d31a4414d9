// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/counted_routes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "routing/engines/descending_paths.h"
#include "routing/quality/load.h"

namespace smd::routing::inline engines {
namespace {

/// Those that are best most often first.
constexpr std::array<CountingRule, 9> kRules{{{Descent::least_used_top, Ascent::least_used_port},
                                              {Descent::least_used_top, Ascent::together},
                                              {Descent::first, Ascent::least_used_port},
                                              {Descent::least_used_top, Ascent::least_used_way},
                                              {Descent::first, Ascent::together},
                                              {Descent::first, Ascent::least_used_way},
                                              {Descent::each_switch, Ascent::least_used_port},
                                              {Descent::each_switch, Ascent::together},
                                              {Descent::each_switch, Ascent::least_used_way}}};

}  // namespace

template <std::unsigned_integral Cost>
Rows route_by_counts(const EngineInput& in, std::span<const Columns<Cost>> columns,
                     std::span<const LidRun> runs, std::span<const EndIndex> hosts, bool even) {
  Rows best;
  auto least = std::numeric_limits<double>::infinity();
  const auto compare = [&](const Rows& rows, Weight highest) {
    const auto shifts = measure_few_shifts(in.context, {rows, {}}, hosts);
    const auto cost = cost_in_tree(static_cast<double>(highest), shifts);
    if (cost < least) best = rows;
    least = std::min(least, cost);
  };
  for (const auto& rule : std::span(kRules).first(std::min(kRules.size(), descending_passes(in.context)))) {
    const auto rows = route_by_descending_paths<Cost>(in, columns.front(), runs, rule);
    if (in.context.stop.stop_requested()) return rows;
    // Slow cables carry too much until they are relieved.
    bool as_they_are = in.context.topology.one_rate();
    const auto compare_moved = [&](Rows& moved, Rebalance until) {
      const auto highest = rebalance<Cost>(in, columns, moved, until);
      if (std::exchange(as_they_are, false)) compare(rows, highest.before);
      compare(moved, highest.after);
      return highest.splits;
    };
    if (even) {
      auto moved = rows;
      compare_moved(moved, Rebalance::counted);
      compare_moved(moved, Rebalance::chained);
    }
    auto moved = rows;
    if (!compare_moved(moved, Rebalance::damaged) || even) continue;
    moved = rows;
    compare_moved(moved, Rebalance::together);
  }
  return best;
}

template Rows route_by_counts<std::uint8_t>(const EngineInput&, std::span<const Columns<std::uint8_t>>,
                                            std::span<const LidRun>, std::span<const EndIndex>, bool);
template Rows route_by_counts<std::uint16_t>(const EngineInput&, std::span<const Columns<std::uint16_t>>,
                                             std::span<const LidRun>, std::span<const EndIndex>, bool);

}  // namespace smd::routing::inline engines
