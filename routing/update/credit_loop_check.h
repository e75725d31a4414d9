// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps the steps of an update free of new credit loops.

#include <cstddef>
#include <stop_token>
#include <vector>

#include "routing/update/pending_writes.h"
#include "routing/verify/dependencies.h"

namespace smd::routing::inline update {

/// Remembers the dependencies of channels since the start, so that mostly only blocks that change need to be
/// examined. References must outlive it.
class CreditLoopCheck {
 public:
  /// Nothing is computed yet. `writes` is changed by take_back() only.
  CreditLoopCheck(const RoutingContext& in, const Routes& routes, PendingWrites& writes)
      : topology_(in.topology),
        lids_(in.lids),
        routes_(routes),
        parallel_(in.parallel),
        stop_(in.stop),
        writes_(writes) {}

  /// Defers chosen writes that close a new credit loop; false if there are none.
  bool take_back(Granularity grain);
  /// To be called after each emitted step: the cheap check is worthwhile again.
  void next_step() { plain_ = true; }

 private:
  using Graphs = std::vector<Dependencies>;  ///< one per layer

  /// Dependencies of each layer over all blocks, added by fn(block number, graphs).
  template <class Fn>
  Graphs over_blocks(const Fn& fn) const {
    const auto layers = layers_in_use(routes_.layers);
    const std::size_t grain =
        std::max<std::size_t>(1, writes_.blocks() / (std::size_t{parallel_.threads()} * 4));
    std::vector<Graphs> pieces((writes_.blocks() + grain - 1) / grain);
    for_ranges(parallel_, writes_.blocks(), grain, [&](std::size_t begin, std::size_t end) {
      auto& graphs = pieces[begin / grain];
      graphs.assign(layers, Dependencies(topology_));
      for (std::size_t b = begin; b < end && !stop_.stop_requested(); ++b) fn(b, graphs);
    });
    auto total = std::move(pieces.front());
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      for (std::size_t layer = 0; layer < layers; ++layer) total[layer].merge(pieces[i][layer]);
    }
    return total;
  }

  void add(const EgressSets& egress, std::size_t b, Graphs& graphs) const;
  /// Dependencies of the tables now, or (`both`) together with those of this step.
  Graphs dependencies(bool both) const;
  /// Dependencies of the tables now, read directly from the rows.
  Graphs dependencies_now() const;
  /// Whether all dependencies since the start, together with those of this step, are acyclic. Then no
  /// transition state has a credit loop, and only blocks that change need to be examined.
  bool plainly_free_of_credit_loops();
  std::vector<LidBits> closing(const TransitionState& state, LidBits lids,
                               const std::vector<std::size_t>& now,
                               const std::vector<std::size_t>& then) const;

  const Topology& topology_;
  const LidMap& lids_;
  const Routes& routes_;
  const Parallel& parallel_;
  std::stop_token stop_;
  PendingWrites& writes_;
  bool plain_ = true;  ///< whether the cheap check is worthwhile
  Graphs ever_;        ///< all dependencies since it was built, or more; empty: not built
};

}  // namespace smd::routing::inline update
