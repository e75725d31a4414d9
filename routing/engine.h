// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interface of every routing engine.

#include <array>
#include <cstdint>
#include <expected>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mad/base/id.h"
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
  enum class Cause : std::uint8_t { stopped, no_such_root };
  Cause cause = Cause::stopped;
  std::vector<Guid> guids;  ///< the roots that are not there
};
std::string to_string(const RouteError& error);

/// Pure and stateless: same topology and LIDs, same bytes, whatever the order of the input or the threads.
using Engine = std::expected<Routes, RouteError> (*)(const EngineInput&);

std::expected<Routes, RouteError> minhop(const EngineInput& in);
std::expected<Routes, RouteError> updn(const EngineInput& in);

struct EngineInfo {
  std::string_view name, summary;
  Engine run;
};
inline constexpr std::array kEngines{
    EngineInfo{"minhop", "a shortest path for every pair, spread evenly", minhop},
    EngineInfo{"updn", "up then down from the roots: free of credit loops on any fabric", updn},
};

/// Null where no engine has the name.
const EngineInfo* find_engine(std::string_view name);

}  // namespace smd::routing
