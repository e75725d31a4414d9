// SPDX-License-Identifier: Apache-2.0
#pragma once
// [routing] engines as the chain that computes tables, and what it starts from.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "routing/chain/chain.h"
#include "routing/repair/reference_topology.h"
#include "routing/routes.h"
#include "routing/topology/topology.h"
#include "smd/decide/decided.h"

namespace smd::sm::inline decisions {

/// The engines of the configuration in its order, each with the same options. Pure.
std::vector<routing::ChainLink> chain_of(const config::RoutingConfig& config);

/// The engines that may change adopted tables: those of the configuration, of "auto" the one that it chooses
/// (empty: not known).
std::vector<std::string> engines_like(const config::RoutingConfig& config, const std::string& chosen);

/// One sentence on lists and files of [routing] that this engine does not read; empty: there are none. With
/// "auto", and where a chain falls back, that is known when the engine is. Pure.
std::string options_without_use(const config::RoutingConfig& config, std::string_view engine);
/// The same of the engine whose tables these are.
std::string options_without_use(const RoutePart& routes);

/// The fabric of `reference`, where that is wider than `now`.
std::optional<routing::Topology> wider(const routing::ReferenceTopology& reference,
                                       const routing::Topology& now);
/// The same, where one of the engines asks for it.
std::optional<routing::Topology> widest_for(const config::RoutingConfig& config,
                                            const routing::ReferenceTopology& reference,
                                            const routing::Topology& now);

/// The row, or a copy of it that reaches to the block of `top`, with no routes in what is added. `row` may be
/// null: no entries.
std::shared_ptr<const routing::LftRow> long_enough(std::shared_ptr<const routing::LftRow> row, Lid top);

}  // namespace smd::sm::inline decisions
