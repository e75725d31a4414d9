// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whose tables the switches hold: an engine stays once its tables are installed, over a restart and a
// takeover, too.

#include <optional>

#include "routing/chain/chain.h"
#include "smd/decide/decide.h"
#include "smd/decide/decided.h"
#include "smd/decide/stored.h"

namespace smd::sm::inline decisions {

/// The engine of the part before, or of the store. Nothing where there is none, where [routing] asks for
/// other engines or roots than it did then, and (of the store) where no end port is Active: a fabric without
/// traffic is routed anew. Pure.
std::optional<routing::InstalledEngine> installed_engine(const DecideInput& in);

/// Whether clients may have SLs of paths: a port of a CA or router is Active. O(ports).
bool has_active_end_port(const Subnet& subnet);

/// Whether [routing] asks for other engines, or another use of SLs, than it did for these tables.
bool asks_for_others(const config::RoutingConfig& config, const RoutePart& part);
/// The same of the engine that is stored.
bool asks_for_others(const config::RoutingConfig& config, const Stored::Engine& stored);

/// After a restart: the stored engine, where [routing] asks for others and clients may have SLs of its
/// layers.
std::optional<routing::InstalledEngine> stored_engine_that_stays(const DecideInput& in);

/// What is to be stored of the part's engine. Tables of another SM or of a file have none: nothing.
std::optional<Stored::Engine> engine_to_store(const RoutePart& part);

}  // namespace smd::sm::inline decisions
