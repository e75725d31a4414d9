// SPDX-License-Identifier: Apache-2.0
#pragma once
// Forwarding tables: kept where they are proven, repaired after a fault, computed by the engine where neither
// is possible or the operator asks for it.

#include <expected>
#include <memory>
#include <string>

#include "routing/engines/engine.h"
#include "routing/quality/load.h"
#include "smd/decide/decide.h"
#include "smd/decide/decided.h"

namespace smd::sm::inline decisions {

/// What layers may take.
struct LayerBudget {
  unsigned vls = 1;  ///< RoutePart::vls
  unsigned sls = 1;  ///< layers for which each class can have an SL
  /// Layers with which each class of QoS has VLs of its own; `vls` where there is one class.
  unsigned own_vls = 1;
  std::string limited_by = {};  ///< why `vls` is no more; empty where that needs no word
};

/// Pure. What is decided on is verified; fails only when stopped. Null only with `instead` or same_ranking.
std::expected<std::shared_ptr<const RoutePart>, routing::RouteError> decide_routes(
    const DecideInput& in, const LidPart& lids, routing::TopologyInput input, const LayerBudget& budget,
    DecideTimes& times);

/// Whether the part was made by these rules: what says when to converge, how long SLs are kept, and how many
/// threads compute, changes no table.
bool same_rules(const config::RoutingConfig& a, const config::RoutingConfig& b);

/// The next bounded step from the tables of `now` to the engine's own, verified. `done` is set by the last,
/// whose origin is `fresh`. Null where the step would not be proven: then the tables stay.
struct Converging {
  std::shared_ptr<const RoutePart> part;
  bool done = false;
};
/// `most_blocks`: LFT blocks that the step may change. Both parts are of one topology and LID map. Pure.
std::expected<Converging, routing::RouteError> converge_routes(const std::shared_ptr<const RoutePart>& now,
                                                               const RoutePart& goal, std::size_t most_blocks,
                                                               const routing::Parallel& parallel);

/// Whether a cable or a switch that was seen before is missing. Pure.
bool lacks_any(const RoutePart& part);

/// The name of a shape (empty: none was recognised) as it is said while something of it is missing, or is not
/// any more.
std::string shape_with_damage(const std::string& shape, bool had_lost, bool lost);

/// RoutePart::why with another name of the shape where it begins with one.
std::string why_with_shape(const std::string& why, const std::string& before, const std::string& now);

/// The load of the tables of a part, hosts in the order of its topology. Pure.
routing::RouteLoad load_of(const RoutePart& part, const routing::Parallel& parallel,
                           routing::LoadOfShifts shifts = routing::LoadOfShifts::yes);

/// Entries in which the tables of two parts differ, of switches that both have.
std::uint64_t entries_differing(const RoutePart& one, const RoutePart& other);

}  // namespace smd::sm::inline decisions
