// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "routing/engines/engine.h"

namespace smd::routing {

std::expected<Routes, RouteError> from_file(const EngineInput& in) {
  const auto* const options = std::get_if<FileOptions>(&in.options);
  const auto* const tables = options != nullptr ? options->tables.get() : nullptr;
  if (tables == nullptr || tables->empty())
    return std::unexpected(RouteError{RouteError::Cause::no_tables, {}});
  Routes routes;
  const std::size_t size = in.lids.row_size();
  std::size_t found = 0;
  for (SwitchIndex s = 0; s < in.topology.switches(); ++s) {
    const auto at = tables->find(in.topology.guid(s));
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
  if (found == 0 && in.topology.switches() != 0) {
    return std::unexpected(RouteError{RouteError::Cause::no_tables, {}});
  }
  return routes;
}

}  // namespace smd::routing
