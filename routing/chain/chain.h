// SPDX-License-Identifier: Apache-2.0
#pragma once
// A chain of engines in order of preference: the first whose tables are proven is used.

#include <expected>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "routing/engines/engine.h"
#include "routing/verify/report.h"

namespace smd::routing::inline chain {

struct ChainLink {
  std::string engine;  ///< a name of all_engines()
  RoutingOptions options{};
};

/// An engine that was not used, and the reason.
struct Refusal {
  std::string engine;
  std::string reason;
};

struct ChainOptions {
  /// Configured by the operator: accepts tables whose only fault is credit loops.
  bool allow_credit_loops = false;
  /// Called after each step on the caller's thread, for timing and progress.
  enum class Step { routed, verified };
  std::function<void(std::string_view engine, Step)> on_step;
};

struct Chosen {
  Routes routes;
  Verification verification;
  std::string engine;
  std::vector<Refusal> fell_back_from;
};

/// Runs the engines in order, then `updn` without roots, which always succeeds. Ignores `input.options`.
/// Fails only when stopped.
std::expected<Chosen, RouteError> route_with_chain(std::span<const ChainLink> chain, const EngineInput& input,
                                                   const ChainOptions& options = {});

}  // namespace smd::routing::inline chain
