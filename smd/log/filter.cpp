// SPDX-License-Identifier: Apache-2.0
#include "smd/log/filter.h"

#include <algorithm>

namespace smd::log {

bool Filter::passes(const Record& record) const {
  std::optional<Level> named;
  const auto take = [&](Level one) { named = std::max(named.value_or(Level::error), one); };
  if (const auto at = modules.find(record.module()); at != modules.end()) take(at->second);
  for (const auto guid : record.guids) {
    if (const auto at = guids.find(guid); at != guids.end()) take(at->second);
  }
  return record.level <= named.value_or(level);
}

Level Filter::widest() const {
  auto widest = level;
  for (const auto& [name, one] : modules) widest = std::max(widest, one);
  for (const auto& [guid, one] : guids) widest = std::max(widest, one);
  return widest;
}

Filter filter_of(const config::LogConfig& config) {
  Filter filter{.level = config.level};
  for (const auto& name : config.modules) filter.modules.emplace(name, Level::debug);
  for (const auto guid : config.guids) filter.guids.emplace(guid, Level::debug);
  return filter;
}

}  // namespace smd::log
