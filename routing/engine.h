// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interface of every routing engine.

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mad/base/id.h"
#include "routing/distance/order.h"
#include "routing/parallel.h"
#include "routing/routes.h"
#include "routing/topology/lids.h"
#include "routing/topology/topology.h"

namespace smd::routing {

struct MinhopOptions {
  friend bool operator==(const MinhopOptions&, const MinhopOptions&) = default;
};

struct UpdnOptions {
  std::vector<Guid> root_guids;  ///< empty: an order of our own choice, which reaches every host
  friend bool operator==(const UpdnOptions&, const UpdnOptions&) = default;
};

/// One alternative an engine. An engine given another's options uses its own defaults.
using EngineOptions = std::variant<MinhopOptions, UpdnOptions>;

struct EngineInput {
  const Topology& topology;
  const LidMap& lids;
  EngineOptions options;
  unsigned vl_budget = 1;
  std::uint64_t seed = 0;
  const Parallel& parallel;
  std::stop_token stop;
};

struct RouteError {
  enum class Cause : std::uint8_t { stopped, no_such_root, no_legal_path };
  Cause cause = Cause::stopped;
  std::vector<Guid> guids;  ///< the roots that are not there; or the two leaves that have no path
};
std::string to_string(const RouteError& error);

/// Pure and stateless: same topology and LIDs, same bytes, whatever the order of the input or the threads.
using Engine = std::expected<Routes, RouteError> (*)(const EngineInput&);

/// What is up and what is down for an engine's paths: repaired tables go by it, too. Nothing: on this fabric
/// the engine has no such order.
using PathOrder = std::optional<Order> (*)(const Topology&, const EngineOptions&, const Parallel&);

std::expected<Routes, RouteError> minhop(const EngineInput& in);
std::expected<Routes, RouteError> updn(const EngineInput& in);

std::optional<Order> tree_order(const Topology& topology, const EngineOptions& options,
                                const Parallel& parallel);
std::optional<Order> updn_order(const Topology& topology, const EngineOptions& options,
                                const Parallel& parallel);

struct EngineInfo {
  std::string_view name, summary;
  Engine run;
  PathOrder order;
};
inline constexpr std::array kEngines{
    EngineInfo{"minhop", "a shortest path for every pair, spread evenly", minhop, tree_order},
    EngineInfo{"updn", "up then down from the roots: free of credit loops on any fabric", updn, updn_order},
};

/// Null where no engine has the name.
const EngineInfo* find_engine(std::string_view name);

}  // namespace smd::routing
