// SPDX-License-Identifier: Apache-2.0
#include "routing/engines/engine.h"

#include <fmt/format.h>

#include <algorithm>

namespace smd::routing {

const EngineInfo* find_engine(std::string_view name) {
  const auto* const at = std::ranges::find(kEngines, name, &EngineInfo::name);
  return at != kEngines.end() ? at : nullptr;
}

std::string to_string(const RouteError& error) {
  switch (error.cause) {
    case RouteError::Cause::stopped:
      return "stopped";
    case RouteError::Cause::no_such_root:
      return fmt::format("none of the roots is a switch of this fabric: {}", fmt::join(error.guids, ", "));
    case RouteError::Cause::no_legal_path:
      return fmt::format("no path that goes up first and down then between the leaves {}",
                         fmt::join(error.guids, " and "));
    case RouteError::Cause::aggregation_cut_off:
      return fmt::format("no path that goes up first and down then between the leaf {}",
                         fmt::join(error.guids, " and the aggregation node "));
    case RouteError::Cause::not_a_tree:
      return fmt::format("not a tree: hosts hang on {}, which has {} beside or below it",
                         error.guids.empty() ? Guid{} : error.guids.front(),
                         error.guids.empty() ? Guid{} : error.guids.back());
    case RouteError::Cause::no_tables:
      return "no tables of this fabric's switches: [routing] tables names the file";
  }
  return "unknown";
}

}  // namespace smd::routing
