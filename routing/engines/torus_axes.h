// SPDX-License-Identifier: Apache-2.0
#pragma once
// Positions of switches in a torus or mesh of at most three dimensions.

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <vector>

#include "mad/base/torus_conf.h"
#include "routing/engines/engine.h"
#include "routing/topology/topology.h"

namespace smd::routing::inline engines {

inline constexpr std::size_t kTorusDimensions = base::TorusConf::kDimensions;
using TorusPlace = std::array<std::uint32_t, kTorusDimensions>;

struct TorusPlaces {
  std::array<std::uint32_t, kTorusDimensions> size{1, 1, 1};
  std::array<bool, kTorusDimensions> ring{};         ///< there is a link from the last place to the first
  std::vector<std::optional<TorusPlace>> of_switch;  ///< nothing: it has no place among the others
};

/// The places that follow from the cabling, by the sizes and the first whole seed of `conf`. Without one
/// (null) dimensions are sorted by size, the switch with the lowest index is the origin, and two dimensions
/// of two switches are a ring of four: it survives a broken cable. Fails with not_a_torus, no_seed or
/// other_torus.
std::expected<TorusPlaces, RouteError> find_torus_places(const Topology& topology,
                                                         const base::TorusConf* conf);

}  // namespace smd::routing::inline engines
