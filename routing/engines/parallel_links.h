// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which links of a fabric are parallel: opposite sides of a square of switches, and sides of a triangle. The
// first step to the dimensions of a mesh, torus, hypercube or HyperX.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

using LinkIndex = std::uint32_t;

/// The pairs of adjacent switches. All cables between two switches are one link here.
class SwitchLinks {
 public:
  /// The topology must outlive it.
  explicit SwitchLinks(const Topology& topology);
  std::size_t size() const { return ends_.size(); }
  /// Both switches of a link, the lower one first.
  std::pair<SwitchIndex, SwitchIndex> ends(LinkIndex link) const { return ends_[link]; }
  /// The link of neighbour group `g` of `s`.
  LinkIndex of(SwitchIndex s, std::size_t g) const { return of_[base_[s] + g]; }
  const Topology& topology() const { return *topology_; }

 private:
  const Topology* topology_;
  std::vector<std::pair<SwitchIndex, SwitchIndex>> ends_;
  std::vector<std::size_t> base_;
  std::vector<LinkIndex> of_;
};

/// In a product of graphs (a mesh is one of paths, a HyperX one of complete graphs) two links at a switch are
/// in different dimensions if they span a square without a diagonal; the opposite sides of it are in one
/// dimension. The links of a triangle are in one dimension. Both are true for what is left of a damaged
/// product, too.
struct ParallelLinks {
  std::vector<std::uint32_t> class_of;  ///< by link; classes are numbered by their first link
  std::size_t classes = 0;
  /// Classes that span a square, the lower one first; ascending, each pair once.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> crossing;
};
/// O(sum of the squares of the numbers of neighbours, times their number).
ParallelLinks find_parallel_links(const SwitchLinks& links);

}  // namespace smd::routing::inline engines
