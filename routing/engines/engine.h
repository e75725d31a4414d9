// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interface of every routing engine.

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/id.h"
#include "routing/ranking/switch_ranking.h"
#include "routing/routes.h"
#include "routing/topology/context.h"

namespace smd::routing::inline engines {

/// Forwarding tables by GUID of the switch.
using Tables = std::map<Guid, std::shared_ptr<const LftRow>>;

/// What the operator says to engines. An engine reads the members that concern it and ignores the others.
struct RoutingOptions {
  std::vector<Guid> root_guids{};          ///< top switches of a tree; empty: the engine finds them
  std::shared_ptr<const Tables> tables{};  ///< of the engine `file`
  friend bool operator==(const RoutingOptions&, const RoutingOptions&) = default;
};

struct EngineInput {
  RoutingContext context;
  RoutingOptions options{};
  unsigned vl_budget = 1;
  std::uint64_t seed = 0;
};

struct RouteError {
  enum class Cause : std::uint8_t {
    stopped,
    no_such_root,
    no_legal_path,
    aggregation_cut_off,
    not_a_tree,
    no_tables
  };
  Cause cause = Cause::stopped;
  /// Roots that are not there; two leaves without a path; a leaf and an aggregation node without one; where a
  /// tree ends.
  std::vector<Guid> guids;
};
std::string to_string(const RouteError& error);

/// Pure and stateless: same topology and LIDs, same bytes, whatever the order of the input or the threads.
using Engine = std::expected<Routes, RouteError> (*)(const EngineInput&);

/// What is up and what is down for an engine's paths: repaired tables go by it, too. Nothing: on this fabric
/// the engine has no such order.
using EngineRanking = std::optional<SwitchRanking> (*)(const Topology&, const RoutingOptions&,
                                                       const Parallel&);

/// A row of the registry (engines/engine.cpp). Each engine defines its own in its .cpp.
struct EngineInfo {
  std::string_view name, summary;
  Engine run;
  EngineRanking ranking = nullptr;  ///< null: none on any fabric
  bool follows_ranking = false;     ///< all of its paths follow that ranking
};

/// All engines, in the order in which the documentation lists them.
std::span<const EngineInfo> all_engines();

/// Null where no engine has the name.
const EngineInfo* find_engine(std::string_view name);

}  // namespace smd::routing::inline engines
