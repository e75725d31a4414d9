// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which engines tests run, and running them.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "routing/engines/engine.h"
#include "tests/support/routing_fabrics.h"

namespace smd::routing {

/// All that compute tables.
inline std::vector<EngineInfo> computing_engines() {
  std::vector<EngineInfo> engines(all_engines().begin(), all_engines().end());
  std::erase_if(engines, [](const EngineInfo& engine) { return engine.name == "file"; });
  return engines;
}

/// The engine in the name of a test.
inline std::string test_name(const EngineInfo& engine) {
  std::string name(engine.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Those of them that route every whole tree, by its levels.
inline std::vector<EngineInfo> engines_for_trees() {
  auto engines = computing_engines();
  std::erase_if(engines, [](const EngineInfo& engine) {
    return engine.name == "dor" || engine.name == "sssp" || engine.name == "nue" || engine.layered;
  });
  return engines;
}

/// Those that refuse no fabric.
inline std::array<EngineInfo, 2> general_engines() { return {*find_engine("updn"), *find_engine("minhop")}; }

inline Routes routed_by(const EngineInfo& engine, const fabrics::Routable& fabric) {
  return *engine.run({.context = {fabric.topology, fabric.lids, Serial{}}});
}

inline Routes routed_by(std::string_view engine, const fabrics::Routable& fabric) {
  return routed_by(*find_engine(engine), fabric);
}

}  // namespace smd::routing
