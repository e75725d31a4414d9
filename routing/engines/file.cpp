// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "routing/engines/engine.h"

namespace smd::routing::inline engines {
namespace {

std::expected<Routes, RouteError> run_file(const EngineInput& in) {
  const auto* const tables = in.options.tables.get();
  if (tables == nullptr || tables->empty())
    return std::unexpected(RouteError{RouteError::Cause::no_tables, {}});
  Routes routes;
  const std::size_t size = in.context.lids.row_size();
  std::size_t found = 0;
  for (SwitchIndex s = 0; s < in.context.topology.switches(); ++s) {
    const auto at = tables->find(in.context.topology.guid(s));
    const bool known = at != tables->end() && at->second != nullptr;
    found += known ? 1 : 0;
    if (known && at->second->size() == size) {
      routes.rows.push_back(at->second);
      continue;
    }
    auto row = std::make_shared<LftRow>(size, kNoRoute);
    if (known) std::copy_n(at->second->begin(), std::min(size, at->second->size()), row->begin());
    routes.rows.push_back(std::move(row));
  }
  if (found == 0 && in.context.topology.switches() != 0) {
    return std::unexpected(RouteError{RouteError::Cause::no_tables, {}});
  }
  return routes;
}

}  // namespace

extern const EngineInfo kFile{"file", "tables from a file, as opensm-lfts.dump or opensm.fdbs", run_file};

}  // namespace smd::routing::inline engines
