// SPDX-License-Identifier: Apache-2.0
#include "routing/verify/trace_all.h"

#include <algorithm>

#include "routing/topology/equivalent_switches.h"
#include "routing/verify/dependencies.h"
#include "routing/verify/fault_counts.h"
#include "routing/verify/lid_block.h"

namespace smd::routing::inline verify {
namespace {

using Graphs = std::vector<Dependencies>;  ///< one per layer

/// The result for one piece of the LID space.
struct Piece {
  Verification found;
  Graphs graphs;
};

struct Job {
  const Topology& topology;
  const LidMap& lids;
  const Routes& routes;
  const Parallel& parallel;
  std::stop_token stop;
  unsigned layers;

  /// Calls fn(block, piece) for all blocks; pieces are in the order of LIDs.
  template <class Fn>
  std::vector<Piece> over_blocks(std::span<const SwitchIndex> equivalents, const Fn& fn) const {
    const std::size_t blocks = lids.row_size() / 64;
    const std::size_t grain = std::max<std::size_t>(1, blocks / (std::size_t{parallel.threads()} * 4));
    std::vector<Piece> pieces((blocks + grain - 1) / grain);
    for_ranges(parallel, blocks, grain, [&](std::size_t begin, std::size_t end) {
      auto& piece = pieces[begin / grain];
      piece.graphs.assign(layers, Dependencies(topology));
      LidBlock block(topology, lids, routes, equivalents);
      for (std::size_t i = begin; i < end && !stop.stop_requested(); ++i) {
        block.load(i);
        if (block.lids().live() != 0) fn(block, piece);
      }
    });
    return pieces;
  }

  void add_dependencies(const LidBlock& block, Graphs& graphs, const std::vector<LidBits>* crossing) const {
    for (unsigned layer = 0; layer < layers; ++layer) {
      graphs[layer].add(block.egress(), lids_of_layer(routes.layers, layer, block.lids().lid(0)), &routes,
                        block.lids().lid(0), crossing);
    }
  }
};

Graphs merged(std::vector<Piece>& pieces, std::span<const SwitchIndex> equivalents) {
  if (pieces.empty()) return {};
  auto graphs = std::move(pieces.front().graphs);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    for (std::size_t layer = 0; layer < graphs.size(); ++layer) graphs[layer].merge(pieces[i].graphs[layer]);
  }
  for (auto& graph : graphs) graph.share(equivalents);
  return graphs;
}

template <class T>
void take_first(std::vector<T>& into, std::vector<T>& from) {
  if (into.empty()) into = std::move(from);
}

Verification total(std::vector<Piece>& pieces) {
  Verification sum;
  for (auto& [found, graphs] : pieces) {
    sum.host_pairs_unreachable += found.host_pairs_unreachable;
    sum.aggregation_pairs_unreachable += found.aggregation_pairs_unreachable;
    sum.unrouted_by_rule += found.unrouted_by_rule;
    sum.unreachable_switch_pairs += found.unreachable_switch_pairs;
    sum.loops += found.loops;
    sum.dead_ends += found.dead_ends;
    take_first(sum.unreachable_example, found.unreachable_example);
    if (sum.aggregation_example.empty()) sum.aggregation_pair = found.aggregation_pair;
    take_first(sum.aggregation_example, found.aggregation_example);
    take_first(sum.loop_example, found.loop_example);
    take_first(sum.dead_end_example, found.dead_end_example);
  }
  return sum;
}

/// For each channel of a cycle a LID that leaves by it and then by the next one.
std::vector<Hop> with_lids(const Job& job, const std::vector<Dependencies::Channel>& cycle, unsigned layer) {
  std::vector<Hop> hops;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const auto& first = cycle[i];
    const auto& second = cycle[(i + 1) % cycle.size()];
    Hop hop{first.sw, first.out, Lid{}};
    for (std::uint32_t value = 1; value <= job.lids.top().value(); ++value) {
      const auto lid = Lid{static_cast<std::uint16_t>(value)};
      if (job.lids.destination(lid).sw == kNoSwitch || job.routes.layers.to(lid) != layer) continue;
      if (entry(job.routes.rows[first.sw].get(), lid) != first.out.value()) continue;
      if (entry(job.routes.rows[second.sw].get(), lid) != second.out.value()) continue;
      hop.lid = lid;
      break;
    }
    hops.push_back(hop);
  }
  return hops;
}

/// Number of cycles over all layers; `example` of the first one.
std::size_t count_cycles(const Job& job, const Graphs& graphs, std::vector<Hop>& example,
                         ChannelOrder* order = nullptr) {
  std::size_t count = 0;
  for (unsigned layer = 0; layer < graphs.size(); ++layer) {
    auto cycles = graphs[layer].cycles();
    count += cycles.count;
    if (order != nullptr) order->push_back(std::move(cycles.order));
    if (example.empty()) example = with_lids(job, cycles.example, layer);
  }
  return count;
}

}  // namespace

Verification trace_all(const RoutingContext& in, const Routes& routes) {
  const auto& [topology, lids, parallel, stop] = in;
  const Job job{topology, lids, routes, parallel, stop, layers_in_use(routes.layers)};
  const auto equivalents = find_equivalent_switches(topology);
  auto pieces = job.over_blocks(equivalents, [&](LidBlock& block, Piece& piece) {
    block.follow();
    FaultCounts(topology, lids, routes).add(block, piece.found);
    job.add_dependencies(block, piece.graphs, nullptr);
  });
  auto found = total(pieces);
  found.vls = found.layers = job.layers;

  // Every switch may send to every LID, so all entries count. Only if that closes cycles does it matter which
  // of them traffic between end ports closes.
  ChannelOrder order;
  auto graphs = merged(pieces, equivalents);
  const auto all_cycles = count_cycles(job, graphs, found.credit_loop_example, &order);
  if (all_cycles == 0) {
    ChannelWaits waits;
    for (auto& graph : graphs) waits.push_back(std::move(graph).waits());
    found.waits = std::make_shared<const ChannelWaits>(std::move(waits));
    found.order = std::make_shared<const ChannelOrder>(std::move(order));
    return found;
  }
  auto end_to_end = job.over_blocks({}, [&](LidBlock& block, Piece& piece) {
    const auto crossing = block.end_to_end();
    job.add_dependencies(block, piece.graphs, &crossing);
  });
  std::vector<Hop> example;
  found.credit_loops = count_cycles(job, merged(end_to_end, {}), example);
  if (found.credit_loops != 0) {
    found.credit_loop_example = std::move(example);
  } else {
    found.management_credit_loops = all_cycles;
  }
  return found;
}

}  // namespace smd::routing::inline verify
