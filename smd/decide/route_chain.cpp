// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/route_chain.h"

#include <fmt/format.h>

#include <algorithm>

#include "smd/decide/decide.h"

namespace smd::sm::inline decisions {

std::vector<routing::ChainLink> chain_of(const config::RoutingConfig& config) {
  std::vector<routing::ChainLink> chain;
  const auto options = routing_options(config);
  for (const auto& name : config.engines) chain.push_back({name, options});
  return chain;
}

std::vector<std::string> engines_like(const config::RoutingConfig& config, const std::string& chosen) {
  if (config.engines.front() != routing::kAuto) return config.engines;
  return {chosen.empty() ? "updn" : chosen};
}

std::optional<routing::Topology> wider(const routing::ReferenceTopology& reference,
                                       const routing::Topology& now) {
  if (routing::covers(reference, now)) return std::nullopt;
  return routing::Topology(routing::to_input(reference));
}

std::optional<routing::Topology> widest_for(const config::RoutingConfig& config,
                                            const routing::ReferenceTopology& reference,
                                            const routing::Topology& now) {
  const bool asked = std::ranges::any_of(config.engines, [](const std::string& name) {
    const auto* engine = routing::find_engine(name);
    return name == routing::kAuto || (engine != nullptr && engine->by_position);
  });
  return asked ? wider(reference, now) : std::nullopt;
}

std::string options_without_use(const config::RoutingConfig& config, std::string_view engine) {
  const auto* info = routing::find_engine(engine);
  if (info == nullptr) return {};
  std::string unused;
  const auto look = [&](std::string_view key, bool given, bool used) {
    if (given && !used) unused += fmt::format("{}{}", unused.empty() ? "" : ", ", key);
  };
  look("root_guids", !config.root_guids.empty(), info->uses_roots);
  look("compute_nodes", !config.compute_nodes.empty(), info->spreads_roles);
  look("io_nodes", !config.io_nodes.empty(), info->spreads_roles);
  look("tables_file", config.loaded_tables != nullptr, engine == "file");
  look("torus_file", config.torus.has_value(), engine == "torus-2QoS");
  return unused.empty() ? unused : fmt::format("{} has no use for {}", engine, unused);
}

std::string options_without_use(const RoutePart& routes) {
  return options_without_use(routes.config, routes.engine);
}

std::shared_ptr<const routing::LftRow> long_enough(std::shared_ptr<const routing::LftRow> row, Lid top) {
  const std::size_t size = (std::size_t{top.value()} / routing::kLftBlock + 1) * routing::kLftBlock;
  if (row && row->size() >= size) return row;
  auto longer = row ? std::make_shared<routing::LftRow>(*row) : std::make_shared<routing::LftRow>();
  longer->resize(size, routing::kNoRoute);
  return longer;
}

}  // namespace smd::sm::inline decisions
