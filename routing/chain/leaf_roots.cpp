// SPDX-License-Identifier: Apache-2.0
#include "routing/chain/leaf_roots.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "routing/chain/candidates.h"
#include "routing/engines/rank_order.h"
#include "routing/quality/load.h"
#include "routing/ranking/leaf_radius.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/verify/proof.h"

namespace smd::routing::inline chain {
namespace {

/// All leaves of a fabric of some 60 switches, four of one of 100.
constexpr std::uint64_t kTotalWork = 4 * kCompareAll;
constexpr std::uint64_t kFewest = 4, kMost = 32;

/// By component its leaves, those that are cabled alike together: a sample of them has some of each kind.
std::vector<std::vector<SwitchIndex>> leaves_by_component(const Topology& topology) {
  std::vector<std::vector<SwitchIndex>> leaves(topology.components());
  for (const auto leaf : full_leaves(topology)) leaves[topology.component(leaf)].push_back(leaf);
  const auto kind = [&](SwitchIndex s) {
    std::size_t around = 0;
    for (std::size_t g = 0; g < topology.groups(s); ++g) around += topology.groups(topology.group(s, g).peer);
    return std::tuple(topology.hosts(s), topology.groups(s), around);
  };
  for (auto& here : leaves)
    std::ranges::sort(here, {}, [&](SwitchIndex s) { return std::tuple(kind(s), s); });
  std::erase_if(leaves, [](const auto& here) { return here.empty(); });
  return leaves;
}

/// One leaf of each component at a time; a component with fewer leaves than another begins again.
std::vector<std::vector<SwitchIndex>> trials(const Topology& topology, std::size_t most) {
  std::vector<std::vector<SwitchIndex>> sets;
  auto leaves = leaves_by_component(topology);
  for (auto& here : leaves) here = sample_of(here, most);
  std::size_t longest = 0;
  for (const auto& here : leaves) longest = std::max(longest, here.size());
  for (std::size_t i = 0; i < longest; ++i) {
    auto& set = sets.emplace_back();
    for (const auto& here : leaves) set.push_back(here[i % here.size()]);
  }
  return sets;
}

}  // namespace

std::optional<RootedRoutes> best_leaf_root(const EngineInput& in) {
  const auto& topology = in.context.topology;
  const auto* const updn = find_engine("updn");
  const auto work = std::max<std::uint64_t>(search_work(topology), 1);
  if (work > kCompareAll || updn == nullptr) return std::nullopt;
  const auto hosts = rank_order(in.context, {});
  std::vector<std::pair<RouteLoad, RootedRoutes>> best;  // of equal load without shifts
  for (const auto& set : trials(topology, std::clamp(kTotalWork / work, kFewest, kMost))) {
    std::vector<Guid> roots;
    for (const auto s : set) roots.push_back(topology.guid(s));
    auto routes = updn->run({.context = in.context, .options = {.root_guids = roots}, .seed = in.seed});
    if (in.context.stop.stop_requested()) return std::nullopt;
    if (!routes) continue;
    const auto load = measure_load(in.context, *routes, hosts, LoadOfShifts::no);
    if (!best.empty() && best.front().first < load) continue;
    auto found = prove(in.context, *routes);
    if (!found || !found->clean()) continue;
    if (!best.empty() && load < best.front().first) best.clear();
    best.emplace_back(load, RootedRoutes{std::move(roots), {*std::move(routes), *std::move(found)}});
  }
  if (best.empty()) return std::nullopt;
  for (auto& [load, rooted] : best) {
    if (best.size() > 1) load = measure_load(in.context, rooted.tables.routes, hosts);
  }
  return std::move(std::ranges::min_element(best, {}, [](const auto& one) { return one.first; })->second);
}

}  // namespace smd::routing::inline chain
