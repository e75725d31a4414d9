// SPDX-License-Identifier: Apache-2.0
// The engine of "auto" that could not route what was left of the fabric, and what keeps the SLs of clients
// until it comes back.
#include "routing/repair/guid_layers.h"
#include "smd/decide/installed_engine.h"
#include "smd/decide/route_decision.h"

namespace smd::sm::inline decisions {

/// Clients have one SL to all: tables of several layers would change it for connections that are there.
bool RouteDecision::sls_are_all_one() const {
  using Fresh = DecideInput::Fresh;
  const bool asked = in_.fresh == Fresh::new_layers || in_.fresh == Fresh::any_engine;
  const auto* before = in_.previous != nullptr ? in_.previous->routes.get() : nullptr;
  if (asked || !has_active_end_port(in_.subnet)) return false;
  const routing::PairLayers one(base_.topology->switches(), 0);
  const auto* home = in_.stored.layers_home.get();
  if (home != nullptr && routing::layers_for(*base_.topology, *home, one).highest() != 0) return false;
  if (before == nullptr) return installed_engine(in_) && one_layer_in_use();
  const bool ours = before->origin != RoutePart::Origin::adopted || installed_engine(in_);
  return ours && !asks_for_others(in_.config.routing, *before) && before->layers.count == 1 &&
         !before->adopted_sls;
}

/// That of the tables; while nothing is missing the one that had to be left.
std::optional<routing::InstalledEngine> RouteDecision::installed() const {
  using Fresh = DecideInput::Fresh;
  auto found = installed_engine(in_);
  const auto* before = in_.previous != nullptr ? in_.previous->routes.get() : nullptr;
  const bool asks = in_.fresh == Fresh::canonical || in_.fresh == Fresh::any_engine;
  const bool left = found && before != nullptr && !before->left_engine.name.empty();
  if (left && asks && !lacks_any(base_))
    found = {before->left_engine.name, before->left_engine.roots, found->may_change};
  return found;
}

/// The engine that had to be left does not route the whole fabric: that of the tables stays.
bool RouteDecision::cannot_return(const std::optional<routing::InstalledEngine>& left,
                                  const std::string& chosen) const {
  const auto own = installed_engine(in_);
  return left && own && left->engine != own->engine && chosen != left->engine && chosen != own->engine &&
         !left->may_change;
}

/// Of tables that the operator has not asked for.
RoutePart::LeftEngine RouteDecision::left_engine(const std::string& engine) const {
  const auto* before = in_.previous != nullptr ? in_.previous->routes.get() : nullptr;
  if (before == nullptr || before->origin == RoutePart::Origin::adopted) {
    if (asks_for_others(in_.config.routing, in_.stored.engine)) return {};
    auto left = in_.stored.left_engine;
    // Or it is left now: something was lost while we were not there.
    const auto installed = installed_engine(in_);
    if (left.name.empty() && installed) left = {installed->engine, installed->roots};
    return left.name == engine ? RoutePart::LeftEngine{} : left;
  }
  const bool follows = !asks_for_others(in_.config.routing, *before) && !before->shape.empty();
  if (!follows) return {};
  auto left = before->left_engine;
  if (left.name.empty()) left = {before->engine, before->roots};
  return left.name == engine ? RoutePart::LeftEngine{} : left;
}

}  // namespace smd::sm::inline decisions
