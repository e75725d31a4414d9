// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which engines tests run.

#include <algorithm>
#include <array>
#include <vector>

#include "routing/engine.h"

namespace smd::routing {

/// All that compute tables.
inline std::vector<EngineInfo> computing_engines() {
  std::vector<EngineInfo> engines(kEngines.begin(), kEngines.end());
  std::erase_if(engines, [](const EngineInfo& engine) { return engine.name == "file"; });
  return engines;
}

/// Those that refuse no fabric.
inline std::array<EngineInfo, 2> general_engines() { return {*find_engine("updn"), *find_engine("minhop")}; }

}  // namespace smd::routing
