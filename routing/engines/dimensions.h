// SPDX-License-Identifier: Apache-2.0
#pragma once
// The dimension of each link of a mesh, torus, hypercube or HyperX.

#include <cstdint>
#include <vector>

#include "routing/engines/parallel_links.h"

namespace smd::routing::inline engines {

inline constexpr std::uint8_t kNoDimension = 255;

struct Dimensions {
  std::size_t count = 0;         ///< 0: the fabric has no such structure
  std::vector<std::uint8_t> of;  ///< by link; kNoDimension where too little of the fabric is left to tell
};
/// Parallel links that meet and never span a square are of one dimension. Needs no whole fabric: squares that
/// miss a link tell nothing, and the others tell enough.
Dimensions find_dimensions(const SwitchLinks& links);

}  // namespace smd::routing::inline engines
