// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a fabric that is no tree was built as.

#include <cstdint>
#include <string>
#include <vector>

#include "routing/engines/lattice.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline chain {

struct Shape {
  enum class Kind : std::uint8_t {
    tree,
    mesh,
    torus,
    hypercube,
    hyperx,
    dragonfly,       ///< groups of switches that are all cabled with each other, and groups with each other
    dragonfly_plus,  ///< groups are leaves and spines, and spines of all groups are cabled with each other
    irregular
  };
  Kind kind = Kind::irregular;
  /// Of lattices the switches in each dimension, the most first; of dragonflies the number of groups and the
  /// switches of the largest.
  std::vector<std::uint32_t> sizes{};
  bool damaged = false;  ///< some cable or switch of that shape is missing
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// "torus 10x10x10", "damaged dragonfly of 9 groups of 4 switches", "irregular fabric".
std::string to_string(const Shape& shape);

/// Of a fabric that is no tree. Independent of names, GUIDs and port numbers. A ring of four is two
/// dimensions of two, so a torus 4x4 is a hypercube.
Shape find_shape(const Topology& topology);

/// Leaves and spines in groups whose spines are cabled with each other: engines for trees route it, too.
bool is_dragonfly_plus(const Topology& topology);

/// Whether leaves were built with different numbers of hosts or cables: fewer than nine of ten have the usual
/// number of hosts, or a tenth has two thirds of the most cables to switches or less, or one has less
/// than half of them. A cable that a few leaves lack is no difference.
bool leaves_differ(const Topology& topology);

/// Whether the members of a group of switches with the same switches above them lack cables that most of them
/// have, that are not dealt out in turns, and that no design leaves out. `topology` is a tree.
bool misses_uplinks(const Topology& topology);

}  // namespace smd::routing::inline chain
