// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/installed_engine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "routing/engines/engine.h"

namespace smd::sm::inline decisions {
namespace {

/// What an engine was chosen by, as far as another choice would follow from another value.
std::string rules_of(const config::RoutingConfig& config) {
  return fmt::format("{} {}", fmt::join(config.engines, ","),
                     config.path_sl == config::PathSl::asked ? "asked" : "fixed");
}

}  // namespace

bool has_active_end_port(const Subnet& subnet) {
  return std::ranges::any_of(subnet.nodes, [](const NodePtr& node) {
    return !node->is_switch() && std::ranges::any_of(node->ports, [](const Port& port) {
      return port.info.port_state == PortState::active;
    });
  });
}

bool asks_for_others(const config::RoutingConfig& config, const RoutePart& part) {
  return rules_of(config) != rules_of(part.config);
}

bool asks_for_others(const config::RoutingConfig& config, const Stored::Engine& stored) {
  return rules_of(config) != stored.rules;
}

std::optional<routing::InstalledEngine> installed_engine(const DecideInput& in) {
  const auto* before = in.previous != nullptr ? in.previous->routes.get() : nullptr;
  const bool may_change = in.fresh == DecideInput::Fresh::any_engine;
  if (before != nullptr && before->origin != RoutePart::Origin::adopted) {
    const auto& config = in.config.routing;
    // Other roots than those that were found for it, or were configured then, are to count.
    if (asks_for_others(config, *before) || config.root_guids != before->config.root_guids)
      return std::nullopt;
    return routing::InstalledEngine{before->engine, before->roots, may_change};
  }
  const auto& stored = in.stored.engine;
  if (stored.name.empty() || asks_for_others(in.config.routing, stored)) return std::nullopt;
  if (!has_active_end_port(in.subnet)) return std::nullopt;
  return routing::InstalledEngine{stored.name, stored.roots, may_change};
}

std::optional<routing::InstalledEngine> stored_engine_that_stays(const DecideInput& in) {
  const auto& config = in.config.routing;
  const auto& stored = in.stored.engine;
  const bool in_use = in.stored.layers_now && has_active_end_port(in.subnet);
  if (!in_use || config.path_sl != config::PathSl::asked || !asks_for_others(config, stored))
    return std::nullopt;
  if (routing::find_engine(stored.name) == nullptr) return std::nullopt;
  return routing::InstalledEngine{stored.name, stored.roots};
}

std::optional<Stored::Engine> engine_to_store(const RoutePart& part) {
  if (part.origin == RoutePart::Origin::adopted || routing::find_engine(part.engine) == nullptr)
    return std::nullopt;
  // Of an engine that stays though others are configured a restart is to see just that.
  return Stored::Engine{.name = part.engine,
                        .roots = part.roots,
                        .rules = part.engine_waits.empty() ? rules_of(part.config) : std::string()};
}

}  // namespace smd::sm::inline decisions
