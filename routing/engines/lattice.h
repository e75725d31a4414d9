// SPDX-License-Identifier: Apache-2.0
#pragma once
// Coordinates of the switches of a mesh, torus, hypercube or HyperX, found from the cabling alone.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

struct Lattice {
  std::size_t dimensions = 0;
  /// `dimensions` numbers a switch; no two switches have the same. A switch that has no place among the
  /// others has numbers of its own. The order of the numbers of a dimension means nothing.
  std::vector<std::uint32_t> coordinates;

  /// The coordinates of a switch: `dimensions` numbers.
  std::span<const std::uint32_t> of(SwitchIndex s) const {
    return std::span(coordinates).subspan(s * dimensions, dimensions);
  }
};

/// Switches that differ in one coordinate only, with the cables between them: a path, a ring, or all cabled
/// with each other.
struct LatticeLines {
  std::vector<SwitchIndex> switches;  ///< line by line, ascending in the coordinate
  std::vector<std::uint32_t> begin;   ///< of each line in `switches`, and the end of the last
  /// Number of lines.
  std::size_t size() const { return begin.size() - 1; }
  /// The switches of line `i`, which is below size(), ascending in the coordinate.
  std::span<const SwitchIndex> line(std::size_t i) const {
    return std::span(switches).subspan(begin[i], begin[i + 1] - begin[i]);
  }
};

/// The lines of dimension `d`; each switch is in one.
LatticeLines lines_of(const Lattice& lattice, std::size_t d);

/// Whole or damaged: missing links and switches are left out as long as the others tell enough. Nothing for
/// other fabrics. Deterministic, independent of names and port numbers. Rings of four switches are found as
/// two dimensions of two.
std::optional<Lattice> find_lattice(const Topology& topology);

}  // namespace smd::routing::inline engines
