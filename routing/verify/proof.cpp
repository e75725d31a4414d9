// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/proof.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "routing/verify/dependencies.h"
#include "routing/verify/lid_tile.h"
#include "routing/verify/next_switches.h"

namespace smd::routing::inline verify {
namespace {

/// The result of one thread, for the tiles that it took.
struct Share {
  std::unique_ptr<Dependencies> graph;
  Verification found;
};

/// Empty if something is wrong, or when stopped.
template <std::size_t kWords>
std::vector<Share> look_at_all(const Topology& topology, const LidMap& lids, const Routes& routes,
                               const Parallel& parallel, const std::stop_token& stop) {
  const NextSwitches next_switches(topology);
  const auto tiles = (lids.row_size() + LidTile<kWords>::kLids - 1) / LidTile<kWords>::kLids;
  std::vector<Share> shares(std::max(1U, parallel.threads()));
  std::atomic<std::size_t> next{0};
  std::atomic<bool> good{true};
  parallel.for_each(shares.size(), [&](std::size_t i) {
    auto& share = shares[i];
    share.graph = std::make_unique<Dependencies>(topology);
    LidTile<kWords> tile(topology, lids, routes, next_switches);
    for (auto at = next.fetch_add(1); at < tiles && good; at = next.fetch_add(1)) {
      if (stop.stop_requested() || !tile.add(at, *share.graph, share.found)) good = false;
    }
  });
  if (!good) shares.clear();
  return shares;
}

/// Whether the trace of all paths finds this example first.
bool before(const Hop& one, const Hop& other) {
  const auto place = [](const Hop& hop) { return std::tuple(hop.lid.value() / 64, hop.sw, hop.lid); };
  return place(one) < place(other);
}

Verification total(const std::vector<Share>& shares) {
  Verification sum;
  for (const auto& share : shares) {
    sum.unrouted_by_rule += share.found.unrouted_by_rule;
    sum.unreachable_switch_pairs += share.found.unreachable_switch_pairs;
    sum.aggregation_pairs_unreachable += share.found.aggregation_pairs_unreachable;
    const auto& example = share.found.aggregation_example;
    if (example.empty()) continue;
    if (!sum.aggregation_example.empty() && before(sum.aggregation_example.front(), example.front()))
      continue;
    sum.aggregation_example = example;
    sum.aggregation_pair = share.found.aggregation_pair;
  }
  return sum;
}

}  // namespace

std::optional<Verification> prove(const RoutingContext& in, const Routes& routes) {
  const auto& [topology, lids, parallel, stop] = in;
  if (layers_in_use(routes.layers) != 1) return std::nullopt;
  auto shares = [&]() -> std::vector<Share> {
    switch (NextSwitches::words_for(topology)) {
      case 1:
        return look_at_all<1>(topology, lids, routes, parallel, stop);
      case 2:
        return look_at_all<2>(topology, lids, routes, parallel, stop);
      case 4:
        return look_at_all<4>(topology, lids, routes, parallel, stop);
      default:
        return {};
    }
  }();
  if (shares.empty()) return std::nullopt;

  auto& graph = *shares.front().graph;
  for (std::size_t i = 1; i < shares.size(); ++i) graph.merge(*shares[i].graph);
  auto cycles = graph.cycles();
  if (cycles.count != 0) return std::nullopt;
  auto found = total(shares);
  found.order = std::make_shared<const ChannelOrder>(ChannelOrder{std::move(cycles.order)});
  found.waits = std::make_shared<const ChannelWaits>(ChannelWaits{std::move(graph).waits()});
  return found;
}

}  // namespace smd::routing::inline verify
